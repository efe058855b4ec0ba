// Arguments for a run of a kernel: random tensors and small numbers that its operations can take.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "../ops/all.hpp"
#include "../simulate/array.hpp"
#include "../simulate/run.hpp"

namespace tessera::driver {

/// Values that the user sets: of run-time dims and of scalar parameters, by name.
using Settings = std::map<std::string, double>;

/// Sizes of run-time dims and scalar integers that are not set. 40 is two windows of 16 rows and a tail.
inline constexpr std::int64_t default_dim = 40;
inline constexpr std::int64_t default_integer = 2;

namespace detail {

inline double setting(const Settings& settings, std::string_view name, double otherwise) {
  const auto found = settings.find(std::string(name));
  return found != settings.end() ? found->second : otherwise;
}

/// What integer elements of a parameter must keep to.
struct Limits {
  std::int64_t positions = 0;  ///< they are positions below this; 0: they are not
  bool divides = false;        ///< zero is no divisor
};
inline bool passes_on(const OpInfo& op) {
  return &op == &ops::load || &op == &ops::slice || &op == &ops::reshape || &op == &ops::transpose || &op == &ops::move;
}
inline void collect_limits(const Function& f, ValueId v, Limits& limits) {
  f.for_each_use(v, [&](OpId op, int operand) {
    const OpInfo& info = f.info(op);
    if (operand == 0 && passes_on(info)) collect_limits(f, f.result(op), limits);
    if (operand != 1) return;
    const Type& x = f.type(f.operand(op, 0));
    if (&info == &ops::gather) limits.positions = x.last();
    if (&info == &ops::gather_flat) limits.positions = x.elements();
    if (&info == &ops::div || &info == &ops::row_expand_div || &info == &ops::col_expand_div) limits.divides = true;
  });
}

}  // namespace detail

/// The names that a setting of this function can have.
[[nodiscard]] inline std::vector<std::string> setting_names(const Function& f) {
  std::vector<std::string> names;
  for (const ValueId v : f.symbols()) names.emplace_back(symbol_of(f[v].integer).view());
  for (const Parameter& p : f.parameters)
    if (f.type(p.value).is_scalar()) names.emplace_back(std::string_view(p.name));
  return names;
}

/// Random arguments of a recorded function. They own their tensors and outlive the runs that use `list()`.
class RandomArguments {
 public:
  RandomArguments(const Function& f, std::uint64_t seed, const Settings& settings) {
    tensors_.reserve(f.parameters.size());
    for (std::size_t i = 0; i < f.parameters.size(); ++i) {
      const Parameter& p = f.parameters[i];
      const Type& t = f.type(p.value);
      if (t.is_tensor()) list_.emplace_back(tensor(f, p, seed * 1000 + i, settings));
      else if (is_float(t.dtype)) list_.emplace_back(detail::setting(settings, p.name, random_number(seed * 1000 + i)));
      else
        list_.emplace_back(
            static_cast<std::int64_t>(detail::setting(settings, p.name, static_cast<double>(default_integer))));
    }
  }
  RandomArguments(const RandomArguments&) = delete;
  RandomArguments& operator=(const RandomArguments&) = delete;

  [[nodiscard]] const std::vector<Argument>& list() const { return list_; }

 private:
  HostTensor& tensor(const Function& f, const Parameter& p, std::uint64_t seed, const Settings& settings) {
    const Type& t = f.type(p.value);
    std::vector<std::int64_t> dims(t.dims, t.dims + t.rank);
    for (std::int64_t& d : dims)
      if (is_dynamic(d))
        d = static_cast<std::int64_t>(detail::setting(settings, symbol_of(d).view(), static_cast<double>(default_dim)));
    HostTensor& made = tensors_.emplace_back(t.dtype, std::move(dims));
    fill_random(made, seed);
    if (is_float(t.dtype)) return made;
    detail::Limits limits;
    detail::collect_limits(f, p.value, limits);
    for (std::int64_t i = 0; i < made.size(); ++i) {
      const std::int64_t x = made.integer(i);
      if (limits.positions > 0) made.set_integer(i, (x + 8 + i) % limits.positions);
      else if (limits.divides && x == 0) made.set_integer(i, 3);
    }
    return made;
  }
  static double random_number(std::uint64_t seed) {
    HostTensor one(f32, {});
    fill_random(one, seed);
    return one.get(0);
  }

  std::vector<HostTensor> tensors_;
  std::vector<Argument> list_;
};

}  // namespace tessera::driver
