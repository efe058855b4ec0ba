// What random programs have in common: numbers from a seed, a kernel with the arguments of its run, and values with what is
// known of their elements.
#pragma once

#include <deque>
#include <limits>

#include <tessera/simulate/run.hpp>

#include "ir.hpp"

namespace tessera::test {

/// Equal on every machine for equal seeds.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15u) {}
  [[nodiscard]] std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(n));
  }
  [[nodiscard]] std::int64_t between(std::int64_t least, std::int64_t most) { return least + below(most - least + 1); }
  [[nodiscard]] bool chance(int percent) { return below(100) < percent; }
  template <class T>
  [[nodiscard]] T one_of(std::initializer_list<T> list) {
    return list.begin()[below(static_cast<std::int64_t>(list.size()))];
  }
  template <class T>
  [[nodiscard]] const T& one_of(const std::vector<T>& list) {
    return list[static_cast<std::size_t>(below(static_cast<std::int64_t>(list.size())))];
  }

 private:
  std::uint64_t next() {
    std::uint64_t x = state_ += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
  }
  std::uint64_t state_;
};

inline constexpr double unbounded = std::numeric_limits<double>::infinity();

/// A tensor or tile of a program. `bound`: the largest magnitude of its elements; `whole`: they are whole numbers.
struct Known {
  ValueId id;
  double bound = unbounded;
  bool whole = false;
  bool partial = false;  ///< valid in part
  bool empty = false;  ///< and perhaps not at all
  bool memory = false;  ///< a parameter
};
using Scope = std::vector<Known>;
/// An index and the largest number that it has in the run; the smallest is 0.
struct Counter {
  ValueId id;
  std::int64_t most = 0;
};

/// What random kernels are about: all that there is, or tiles of rank 3 to 6 and batches of products.
enum class Focus { any, pages };

/// A kernel with the arguments of its one run. At most `budget` statements: with fewer, the same program ends earlier.
class RandomProgram {
 public:
  RandomProgram(std::uint64_t seed, int budget)
      : random(seed), budget_(budget), blocks_(1 + static_cast<std::int64_t>(seed % 3)), block_(static_cast<std::int64_t>(seed / 3) % blocks_) {}
  RandomProgram(const RandomProgram&) = delete;
  RandomProgram& operator=(const RandomProgram&) = delete;

  Recording k;

  /// Arguments for one run, on copies of the tensors.
  struct Run {
    std::deque<HostTensor> tensors;
    std::vector<Argument> arguments;
    SimulateOptions options;  ///< one of a few blocks of a launch
  };
  [[nodiscard]] Run run() const {
    Run r{tensors_, {}, {}};
    r.options.blocks = blocks_;
    r.options.block = block_;
    for (const Bound& b : bound_) {
      if (b.tensor >= 0) r.arguments.emplace_back(r.tensors[static_cast<std::size_t>(b.tensor)]);
      else if (b.is_real) r.arguments.emplace_back(b.real);
      else r.arguments.emplace_back(b.integer);
    }
    return r;
  }

 protected:
  Random random;

  [[nodiscard]] Function& f() { return k.f(); }
  [[nodiscard]] const Type& type(ValueId v) { return k.f().type(v); }
  [[nodiscard]] const Type& type(const Known& v) { return k.f().type(v.id); }
  [[nodiscard]] bool spend() { return budget_-- > 0; }
  [[nodiscard]] bool spent() const { return budget_ <= 0; }

  // --- parameters ---
  [[nodiscard]] std::string fresh_name(std::string_view letter) {
    return std::string(letter) + std::to_string(f().parameters.size());
  }
  /// Small numbers; `positions` > 0: numbers below it.
  ValueId tensor(DType d, const std::vector<std::int64_t>& dims, Direction direction, std::int64_t positions = 0,
                 bool whole = true) {
    for (const std::int64_t dim : dims)
      if (is_dynamic(dim)) static_cast<void>(f().symbol(dim));
    std::vector<std::int64_t> sizes = dims;
    for (std::int64_t& dim : sizes)
      if (is_dynamic(dim)) dim = dynamic_size;
    const ValueId v = k.tensor(fresh_name(direction == Direction::in ? "x" : "o"), d, dims, direction);
    HostTensor& t = tensors_.emplace_back(d, sizes);
    for (std::int64_t i = 0; i < t.size(); ++i) {
      const std::int64_t n = positions > 0 ? random.below(positions) : random.below(9) - 4;
      t.set(i, static_cast<double>(n) / (whole ? 1 : 4));
    }
    bound_.push_back({static_cast<int>(tensors_.size()) - 1, 0, 0, false});
    return v;
  }
  /// Positions below `limit`, no two of one row equal: rows are no longer than that.
  ValueId distinct_positions(DType d, const std::vector<std::int64_t>& dims, std::int64_t limit) {
    const ValueId v = tensor(d, dims, Direction::in, limit);
    HostTensor& t = tensors_.back();
    const std::int64_t width = dims.back();
    for (std::int64_t i = 0; i < t.size(); ++i)
      if (i % width != 0) t.set_integer(i, (t.integer(i - 1) + 1) % limit);
    return v;
  }
  Counter index_parameter(std::int64_t value) {
    bound_.push_back({-1, value, 0, false});
    return {k.scalar(fresh_name("n"), index_type), value};
  }
  ValueId number_parameter(DType d) {
    const std::int64_t n = random.between(1, 3);
    bound_.push_back({-1, n, static_cast<double>(n), is_float(d)});
    return k.scalar(fresh_name("s"), d);
  }
  ValueId constant(DType d, std::int64_t n) {
    return is_float(d) ? k.constant(d, static_cast<double>(n)) : f().constant(d, n);
  }

  // --- attributes ---
  static Attr attr(AttrKey key, std::int64_t n) { return int_attr(key, n); }

  // --- operands ---
  /// An index in [0, room], known or not.
  ValueId offset(std::int64_t room, const std::vector<Counter>& counters) {
    if (room <= 0 || random.chance(25)) return k.index(0);
    if (random.chance(35)) return k.index(random.between(0, room));
    if (!counters.empty() && random.chance(60)) {
      const Counter c = random.one_of(counters);
      if (c.most > 0 && room / c.most > 0 && random.chance(70))
        return k.b().mul(c.id, k.index(random.between(1, room / c.most)));
      return k.b().min(c.id, k.index(room));
    }
    return index_parameter(random.between(0, room)).id;
  }
  /// One of the last, mostly.
  template <class Fits>
  [[nodiscard]] const Known* any(const Scope& scope, Fits&& fits) {
    std::vector<const Known*> list;
    for (const Known& v : scope)
      if (fits(v)) list.push_back(&v);
    if (list.empty()) return nullptr;
    const auto n = static_cast<std::int64_t>(list.size());
    return list[static_cast<std::size_t>(std::max(random.below(n), random.below(n)))];
  }
  // --- operations that both levels have ---
  /// An operation on the bits of `x`, an integer; other(positions) makes a second operand like it: numbers, or shifts below that.
  template <class Other>
  Known bits(const Known& x, Other&& other) {
    const DType d = type(x).dtype;
    const std::int64_t n = random.between(0, 7), kind = random.below(10);
    const auto done = [&](ValueId v, double bound) {
      return Known{v, bound < 100 ? bound : unbounded, true, x.partial, x.empty, false};
    };
    if (kind == 0 && info(d).bits == 16) return done(k.op(ops::bit_not, {x.id}), x.bound + 1);
    if (kind < 4) {
      const Known y = other(0);
      const OpInfo& op = *random.one_of({&ops::bit_and, &ops::bit_or, &ops::bit_xor});
      return done(k.op(op, {x.id, y.id}), 2 * std::max(x.bound, y.bound) + 1);
    }
    if (kind < 6) {
      const Known by = other(8);
      return done(k.op(random.chance(50) ? ops::shl : ops::shr, {x.id, by.id}), unbounded);
    }
    const ValueId s = random.chance(30) ? number_parameter(d) : constant(d, n);
    if (kind < 8) return done(k.op(random.chance(50) ? ops::shls : ops::shrs, {x.id, s}), unbounded);
    const OpInfo& op = *random.one_of({&ops::bit_ands, &ops::bit_ors, &ops::bit_xors});
    return done(k.op(op, {x.id, s}), 2 * std::max(x.bound, 7.0) + 1);
  }
  /// An operation on the parts of two values that are valid, `y` after one of its extents became smaller, perhaps.
  Known parts(const Known& x, Known y) {
    const Type t = type(x);
    if (!y.partial && random.chance(70)) {
      const std::int64_t axis = random.chance(50) ? 0 : t.rank - 1;
      std::vector<ValueId> operands{y.id};
      for (int i = 0; i < t.rank; ++i) {
        const std::int64_t reach = i == axis ? random.between(1, t.dims[i]) : t.dims[i];
        operands.push_back(i == axis && random.chance(40) ? index_parameter(reach).id : k.index(reach));
      }
      y.id = k.op(ops::set_valid_shape, operands);
    }
    const OpInfo& op = *random.one_of({&ops::part_add, &ops::part_mul, &ops::part_max, &ops::part_min});
    const ValueId r = random.chance(50) ? k.op(op, {x.id, y.id}) : k.op(op, {y.id, x.id});
    const double bound = &op == &ops::part_mul ? (x.bound + 1) * (y.bound + 1) : x.bound + y.bound;
    return {r, is_float(t.dtype) || bound < 10000 ? bound : unbounded, x.whole && y.whole, !f().fully_valid(r),
            x.empty && y.empty, false};
  }
  [[nodiscard]] static std::vector<std::int64_t> dims_of(const Type& t) { return {t.dims, t.dims + t.rank}; }

  std::int64_t dynamic_size = 5;  ///< of the dim S

 private:
  struct Bound {
    int tensor = -1;
    std::int64_t integer = 0;
    double real = 0;
    bool is_real = false;
  };
  std::deque<HostTensor> tensors_;
  std::vector<Bound> bound_;
  int budget_;
  std::int64_t blocks_, block_;
};

}  // namespace tessera::test
