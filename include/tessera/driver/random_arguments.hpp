// Arguments for a run of a kernel: random tensors and small numbers that its operations can take.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "../ir/program.hpp"
#include "../ir/signature.hpp"
#include "../ops/all.hpp"
#include "../simulate/array.hpp"
#include "../simulate/run.hpp"

namespace tessera::driver {

/// Values that the user sets: of run-time dims and of scalar parameters, by name.
using Settings = std::map<std::string, double>;

/// What is drawn for names that are not set. Dims are more than one window of 16, and most leave a tail; integers are small
/// and not negative, so that windows at offsets made from them stay inside. Floats are odd multiples of 1/64 in (-1, 1):
/// short, and never zero.
inline constexpr std::int64_t smallest_dim = 17, largest_dim = 100;
inline constexpr std::int64_t largest_integer = 3;
/// All tensors of a run together.
inline constexpr std::int64_t largest_run = std::int64_t{1} << 30;

namespace detail {

/// What integer elements of a parameter must keep to.
struct Limits {
  PositionRange positions;
  bool read = false;     ///< single elements are read
  bool divides = false;  ///< zero is no divisor
};
inline bool passes_on(const OpInfo& op) {
  return &op == &ops::load || &op == &ops::slice || &op == &ops::reshape || &op == &ops::transpose || &op == &ops::move ||
         &op == &ops::view;
}
/// The parameter that a call hands an operand to.
inline ValueId receiving(const Function& callee, int operand) { return callee.parameters[static_cast<std::size_t>(operand)].value; }

/// What an operation takes the elements of an operand for; of run-time dims the smallest counts.
inline PositionRange positions_of(const Function& f, OpId op, int operand) {
  const OpInfo& info = f.info(op);
  if (info.positions == nullptr) return {};
  std::vector<OperandInfo> operands;
  for (const ValueId v : f.operands(op)) {
    Type t = f.type(v);
    for (int i = 0; i < t.rank; ++i)
      if (is_dynamic(t.dims[i])) t.dims[i] = smallest_dim;
    operands.push_back({t});
  }
  const auto attrs = f.attrs(op);
  return info.positions({operands.data(), static_cast<int>(operands.size()), {}, attrs.begin(), static_cast<int>(attrs.size())}, operand);
}
/// What suits two uses.
inline PositionRange common(const PositionRange& a, const PositionRange& b) {
  if (a.below == 0 || b.below == 0) return a.below == 0 ? b : a;
  return {std::min(a.below, b.below), a.distinct || b.distinct};
}
/// `p`: the program that the function is of, for its calls; may be null.
inline void collect_limits(const Program* p, const Function& f, ValueId v, Limits& limits) {
  f.for_each_use(v, [&](OpId op, int operand) {
    const OpInfo& info = f.info(op);
    if (&info == &ops::launch) return collect_limits(nullptr, launched(f, op), receiving(launched(f, op), operand), limits);
    if (p != nullptr && &info == &ops::call) return collect_limits(p, callee(*p, f, op), receiving(callee(*p, f, op), operand), limits);
    if (operand == 0 && passes_on(info)) collect_limits(p, f, f.result(op), limits);
    if (access_of(info, operand) == Access::read && info.level != Level::tensor) limits.read = true;
    limits.positions = common(limits.positions, positions_of(f, op, operand));
    if (operand == info.divisor) limits.divides = true;
  });
}

/// Whether a scalar divides, or is the step of a loop, on its own or as a part of a larger one: then it is not zero.
inline bool divides(const Program* p, const Function& f, ValueId v) {
  bool found = false;
  f.for_each_use(v, [&](OpId op, int operand) {
    const OpInfo& info = f.info(op);
    if (&info == &ops::launch) found = found || divides(nullptr, launched(f, op), receiving(launched(f, op), operand));
    if (p != nullptr && &info == &ops::call) found = found || divides(p, callee(*p, f, op), receiving(callee(*p, f, op), operand));
    found = found || operand == info.divisor ||
            (operand == 2 && &info == &ops::for_loop) ||
            (info.level == Level::scalar && f.result_count(op) > 0 && divides(p, f, f.result(op)));
  });
  return found;
}

}  // namespace detail

/// A name that a setting can have, in one function: a run-time dim or a scalar parameter.
struct SettingName {
  std::string name;
  DType dtype = index_type;
  bool is_dim = false;
  bool divides = false;
};
[[nodiscard]] inline std::vector<SettingName> setting_names(const Function& f, const Program* program = nullptr) {
  std::vector<SettingName> names;
  for (const Parameter& p : f.parameters)
    if (const Type& t = f.type(p.value); t.is_scalar())
      names.push_back({std::string(std::string_view(p.name)), t.dtype, false, detail::divides(program, f, p.value)});
  for (const std::int64_t d : argument_dims(f)) names.push_back({std::string(symbol_of(d).view()), index_type, true, false});
  return names;
}

namespace detail {

/// Integers up to here are exact in a setting.
inline constexpr double largest_setting = 0x1p53;

/// What is wrong with a setting of that name; empty when nothing is.
inline std::string fault_of(const SettingName& n, double x) {
  if (!n.is_dim && is_float(n.dtype)) return {};
  const std::string what = n.is_dim ? "a run-time dim" : "a parameter of type " + std::string(name(n.dtype));
  if (!(std::abs(x) <= largest_setting) || x != std::trunc(x)) return what + " takes integers";
  if (n.is_dim && x < 0) return what + " takes no negative numbers";
  const auto integer = static_cast<std::int64_t>(x);
  const bool is_unsigned = info(n.dtype).kind == DTypeKind::unsigned_integer;
  if (simulator::wrapped(n.dtype, integer) != integer || (is_unsigned && x < 0))
    return what + " does not hold the number";
  return {};
}
inline double random_setting(const SettingName& n, std::uint64_t seed) {
  std::uint64_t state = seed;
  const std::uint64_t bits = tessera::detail::next_random(state) >> 16;
  const auto between = [&](std::int64_t low, std::int64_t high) {
    return static_cast<double>(low + static_cast<std::int64_t>(bits % static_cast<std::uint64_t>(high - low + 1)));
  };
  if (n.is_dim) return between(smallest_dim, largest_dim);
  if (is_float(n.dtype)) return (2 * between(-32, 31) + 1) / 64;
  return between(n.divides ? 1 : 0, n.dtype == boolean ? 1 : largest_integer);
}

}  // namespace detail

/// A number for each name that the function has: what is set, and random ones that depend on the seed alone.
[[nodiscard]] inline Settings complete(const Function& f, std::uint64_t seed, const Settings& given, const Program* program = nullptr) {
  Settings all;
  std::uint64_t position = 0;
  for (const SettingName& n : setting_names(f, program)) {
    const auto set = given.find(n.name);
    ++position;
    all.emplace(n.name, set != given.end() ? set->second : detail::random_setting(n, seed * 1000 + position));
  }
  return all;
}
/// As it is set: "ROWS=40 mode=2". Empty when there is nothing to set.
[[nodiscard]] inline std::string text(const Settings& settings) {
  std::string out;
  for (const auto& [name, number] : settings) out.append(fmt::format("{}{}={}", out.empty() ? "" : " ", name, number));
  return out;
}

/// Random arguments of a recorded function. They own their tensors and outlive the runs that use `list()`.
class RandomArguments {
 public:
  /// `settings` holds every name of the function, see complete(). Throws UserError when the tensors are too large.
  RandomArguments(const Program& p, std::uint64_t seed, const Settings& settings) : RandomArguments(p.entry(), seed, settings, &p) {}
  /// `program`: the one that the function is of; null for a kernel.
  RandomArguments(const Function& f, std::uint64_t seed, const Settings& settings, const Program* program = nullptr) : program_(program) {
    tensors_.reserve(f.parameters.size());
    for (std::size_t i = 0; i < f.parameters.size(); ++i) {
      const Parameter& p = f.parameters[i];
      const Type& t = f.type(p.value);
      if (t.is_tensor()) {
        list_.emplace_back(tensor(f, p, seed * 1000 + i, settings));
        continue;
      }
      const double x = settings.at(std::string(std::string_view(p.name)));
      if (is_float(t.dtype)) list_.emplace_back(x);
      else list_.emplace_back(static_cast<std::int64_t>(x));
    }
  }
  RandomArguments(const RandomArguments&) = delete;
  RandomArguments& operator=(const RandomArguments&) = delete;

  [[nodiscard]] const std::vector<Argument>& list() const { return list_; }

 private:
  void count_bytes(const Parameter& p, DType dtype, const std::vector<std::int64_t>& dims) {
    double bytes = static_cast<double>(bytes_of(dtype, 1));
    for (const std::int64_t d : dims) bytes *= static_cast<double>(d);
    bytes_ += bytes;
    if (bytes_ > static_cast<double>(largest_run))
      fail(p.location,
           fmt::format("check: the tensors are too large ({}: {}; {:.0f} bytes in all, at most {})", std::string_view(p.name),
                       HostTensor::shape_text(dims), bytes_, largest_run),
           "set smaller run-time dims");
  }
  HostTensor& tensor(const Function& f, const Parameter& p, std::uint64_t seed, const Settings& settings) {
    const Type& t = f.type(p.value);
    std::vector<std::int64_t> dims(t.dims, t.dims + t.rank);
    for (std::int64_t& d : dims)
      if (is_dynamic(d)) d = static_cast<std::int64_t>(settings.at(std::string(symbol_of(d).view())));
    count_bytes(p, t.dtype, dims);
    HostTensor& made = tensors_.emplace_back(t.dtype, std::move(dims));
    fill_random(made, seed);
    if (is_float(t.dtype)) return made;
    detail::Limits limits;
    detail::collect_limits(program_, f, p.value, limits);
    for (std::int64_t i = 0; i < made.size(); ++i) {
      const std::int64_t x = made.integer(i);
      if (limits.positions.distinct) made.set_integer(i, (i + static_cast<std::int64_t>(seed % 8)) % limits.positions.below);
      else if (limits.positions.below > 0) made.set_integer(i, (x + 8 + i) % limits.positions.below);
      else if (limits.read) made.set_integer(i, x & 3);  // an offset or a count, perhaps
      else if (limits.divides && x == 0) made.set_integer(i, 3);
    }
    return made;
  }

  const Program* program_;
  double bytes_ = 0;
  std::vector<HostTensor> tensors_;
  std::vector<Argument> list_;
};

}  // namespace tessera::driver
