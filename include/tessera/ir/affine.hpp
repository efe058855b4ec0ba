// Integers of a walk over a function that knows no numbers: a constant and multiples of atoms, which stand for what is not
// known. What is computed alike is equal, so that two windows can be told apart, and two branches on one condition go one way.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "../ops/all.hpp"
#include "function.hpp"

namespace tessera {

struct Affine {
  struct Term {
    std::uint32_t atom = 0;
    std::int64_t factor = 0;
    friend constexpr bool operator==(const Term&, const Term&) = default;
  };
  std::int64_t constant = 0;
  std::vector<Term> terms;  // by atom; no factor is 0

  [[nodiscard]] bool is_constant() const { return terms.empty(); }
  friend bool operator==(const Affine&, const Affine&) = default;
};

/// a + factor * b; nothing where a number is too large.
[[nodiscard]] inline std::optional<Affine> sum(const Affine& a, const Affine& b, std::int64_t factor) {
  Affine r;
  const auto add = [](std::int64_t x, std::int64_t y, std::int64_t times, std::int64_t& to) {
    std::int64_t product = 0;
    return !__builtin_mul_overflow(y, times, &product) && !__builtin_add_overflow(x, product, &to);
  };
  if (!add(a.constant, b.constant, factor, r.constant)) return {};
  for (std::size_t i = 0, k = 0; i < a.terms.size() || k < b.terms.size();) {
    const bool left = k == b.terms.size() || (i < a.terms.size() && a.terms[i].atom <= b.terms[k].atom);
    const bool right = i == a.terms.size() || (k < b.terms.size() && b.terms[k].atom <= a.terms[i].atom);
    Affine::Term t{left ? a.terms[i].atom : b.terms[k].atom, 0};
    if (!add(left ? a.terms[i].factor : 0, right ? b.terms[k].factor : 0, factor, t.factor)) return {};
    if (t.factor != 0) r.terms.push_back(t);
    i += left ? 1 : 0;
    k += right ? 1 : 0;
  }
  return r;
}

/// What the scalar operations of a function give, without the numbers of its parameters.
class AffineValues {
 public:
  explicit AffineValues(const Function& f) : f_(f), values_(f.value_count()) {}

  [[nodiscard]] Affine of(ValueId v) {
    const Value& value = f_[v];
    if (value.kind == ValueKind::constant) return is_float(value.type.dtype) ? fresh() : Affine{value.integer, {}};
    if (value.kind == ValueKind::symbol || (value.kind == ValueKind::argument && value.owner == f_.body().index)) return atom({0, v.index});
    return values_[v.index];
  }
  void set(ValueId v, const Affine& a) { values_[v.index] = a; }
  [[nodiscard]] Affine fresh() { return atom({1, ++count_}); }
  /// An operation that gives a scalar.
  void evaluate(OpId op) {
    std::optional<Affine> r = f_.info(op).level == Level::scalar ? known(op) : std::nullopt;
    if (!r) r = f_.info(op).level == Level::scalar ? computed(op) : fresh();
    set(f_.result(op), *r);
  }
  /// A number for what is equal: the same for equal keys, from 1.
  [[nodiscard]] std::uint32_t number(std::vector<std::int64_t> key) {
    return numbers_.emplace(std::move(key), static_cast<std::uint32_t>(numbers_.size() + 1)).first->second;
  }
  static void append(std::vector<std::int64_t>& key, const Affine& a) {
    key.push_back(static_cast<std::int64_t>(a.terms.size()));
    for (const Affine::Term& t : a.terms) {
      key.push_back(t.atom);
      key.push_back(t.factor);
    }
  }

 private:
  [[nodiscard]] Affine atom(std::vector<std::int64_t> key) { return {0, {{number(std::move(key)), 1}}}; }
  [[nodiscard]] Affine computed(OpId op) {
    std::vector<std::int64_t> key{2, static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(&f_.info(op))), static_cast<std::int64_t>(f_.type(f_.result(op)).dtype)};
    for (const Attr& a : f_.attrs(op)) key.push_back(a.integer);
    for (int i = 0; i < f_.operand_count(op); ++i) {
      const Affine x = of(f_.operand(op, i));
      key.push_back(x.constant);
      append(key, x);
    }
    return atom(std::move(key));
  }
  [[nodiscard]] std::optional<Affine> known(OpId op) {
    const Type result = f_.type(f_.result(op));
    if (f_.operand_count(op) == 0 || is_float(result.dtype)) return {};
    const Affine a = of(f_.operand(op, 0));
    if (f_.is(op, ops::scalar_cast)) return cast(f_.type(f_.operand(op, 0)).dtype, result.dtype, a);
    if (f_.is(op, ops::scalar_not)) return sum({1, {}}, a, -1);
    if (f_.operand_count(op) < 2) return {};
    const Affine b = of(f_.operand(op, 1));
    if (f_.is(op, ops::scalar_select)) {
      if (!a.is_constant()) return {};
      return a.constant != 0 ? b : of(f_.operand(op, 2));
    }
    if (f_.type(f_.operand(op, 0)).dtype == boolean) return logical(op, a, b);
    if (f_.type(f_.operand(op, 0)).dtype != index_type) return {};
    if (f_.is(op, ops::scalar_add)) return sum(a, b, 1);
    if (f_.is(op, ops::scalar_sub)) return sum(a, b, -1);
    if (f_.is(op, ops::scalar_mul) && (a.is_constant() || b.is_constant())) return a.is_constant() ? sum({}, b, a.constant) : sum({}, a, b.constant);
    const std::optional<Affine> difference = sum(a, b, -1);
    if (difference && difference->is_constant()) {
      const std::int64_t d = difference->constant;
      if (f_.is(op, ops::scalar_min)) return d <= 0 ? a : b;
      if (f_.is(op, ops::scalar_max)) return d >= 0 ? a : b;
      if (f_.is(op, ops::scalar_compare)) return Affine{compares(static_cast<Compare>(f_.attr(op, AttrKey::compare)), d, std::int64_t{0}) ? 1 : 0, {}};
    }
    if (!a.is_constant() || !b.is_constant() || b.constant == 0 || b.constant == -1) return {};
    if (f_.is(op, ops::scalar_div)) return Affine{a.constant / b.constant, {}};
    if (f_.is(op, ops::scalar_rem)) return Affine{a.constant % b.constant, {}};
    return {};
  }
  [[nodiscard]] static std::optional<Affine> cast(DType from, DType to, const Affine& a) {
    if (is_float(from) || from == u64) return {};
    if (to == index_type) return a;
    const bool small = a.is_constant() && a.constant >= 0 && a.constant < 128;
    return small && to != boolean ? std::optional<Affine>(a) : std::nullopt;
  }
  [[nodiscard]] std::optional<Affine> logical(OpId op, const Affine& a, const Affine& b) const {
    for (const auto& [x, other] : {std::pair{a, b}, std::pair{b, a}}) {
      if (!x.is_constant()) continue;
      if (f_.is(op, ops::scalar_and)) return x.constant != 0 ? other : Affine{0, {}};
      if (f_.is(op, ops::scalar_or)) return x.constant != 0 ? Affine{1, {}} : other;
    }
    return {};
  }

  const Function& f_;
  std::vector<Affine> values_;
  std::map<std::vector<std::int64_t>, std::uint32_t> numbers_;
  std::uint32_t count_ = 0;
};

}  // namespace tessera
