// Runs one function: binds arguments and named dims, runs its blocks, and gives results back; defines what run.hpp declares.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "calls.hpp"
#include "control.hpp"
#include "run.hpp"

namespace tessera::simulator {

inline std::string parameter_text(const Parameter& p, std::size_t number) {
  return p.name.empty() ? "parameter " + std::to_string(number) : std::string(p.name.c_str());
}
/// Rank, dtype and static dims must be the parameter's; named dims are bound, and must agree.
inline void bind_shape(Engine& e, const Function& f, std::size_t number, const HostTensor& t) {
  const Parameter& p = f.parameters[number];
  const Type& type = f.type(p.value);
  const std::string who = parameter_text(p, number);
  if (t.dtype() != type.dtype)
    fail(p.location,
         "simulate: the argument has another element type (" + who + ": " + std::string(name(t.dtype())) +
             ", parameter " + std::string(name(type.dtype)) + ")",
         "pass a tensor of the parameter's type");
  bool fits = t.rank() == type.rank;
  for (int i = 0; fits && i < type.rank; ++i) {
    if (!is_dynamic(type.dims[i])) {
      fits = t.dim(i) == type.dims[i];
      continue;
    }
    const auto known =
        std::find_if(e.symbols().begin(), e.symbols().end(), [&](const auto& s) { return s.first == type.dims[i]; });
    if (known == e.symbols().end()) e.set_symbol(type.dims[i], t.dim(i));
    else if (known->second != t.dim(i))
      fail(p.location,
           "simulate: dim " + std::string(symbol_of(type.dims[i]).view()) + " has two sizes (" +
               std::to_string(known->second) + ", in " + who + " " + std::to_string(t.dim(i)) + ")",
           "dims of one name have one size");
  }
  if (fits) return;
  std::string wanted = "[";
  for (int i = 0; i < type.rank; ++i) wanted.append(i == 0 ? "" : ", ").append(tessera::detail::dim_text(type.dims[i]));
  fail(p.location,
       "simulate: the argument has another shape (" + who + ": " + HostTensor::shape_text(t.dims()) + ", parameter " +
           wanted + "])",
       "pass a tensor of the parameter's shape");
}
inline Number bind_number(const Parameter& p, std::size_t number, DType d, const Argument& a) {
  if (is_float(d)) return make_number(d, a.real());
  if (!a.is_integer())
    fail(p.location, "simulate: the argument is not an integer (" + parameter_text(p, number) + ")", "pass an integer");
  return make_number(d, a.integer());
}
/// Refuses one array for two parameters of which the kernel writes one.
inline void check_overlaps(const Function& f, const std::vector<Argument>& arguments) {
  for (std::size_t i = 0; i < arguments.size() && i < f.parameters.size(); ++i)
    for (std::size_t k = 0; k < i && arguments[i].tensor() != nullptr; ++k) {
      const Parameter &a = f.parameters[k], &b = f.parameters[i];
      if (arguments[k].tensor() == arguments[i].tensor() && (a.direction != Direction::in || b.direction != Direction::in))
        fail(b.location, "simulate: one array is given for two parameters, and the kernel writes it (" + parameter_text(a, k) + ", " + parameter_text(b, i) + ")",
             "parameters do not overlap: pass a copy, or make it one InOut parameter");
    }
}
inline std::shared_ptr<Data> bind_memory(const HostTensor& t, Direction direction) {
  if (direction == Direction::out) return std::make_shared<Data>(t.dtype(), box_of(t.dims()));
  return std::make_shared<Data>(from_host(t));
}
/// A value that a function returns.
inline HostTensor result_to_host(const Engine& e, OpId end, int i) {
  const Function& f = e.function();
  const ValueId v = f.operand(end, i);
  if (f.type(v).is_scalar()) {
    HostTensor t(f.type(v).dtype, {});
    const Number n = e.number(v);
    is_float(n.dtype) ? t.set(0, n.real) : t.set_integer(0, n.integer);
    return t;
  }
  const Data& d = e.read(end, v);
  HostTensor t(d.dtype, std::vector<std::int64_t>(d.dims.dims, d.dims.dims + d.dims.rank));
  check_returned(e, end, i);
  to_host(d, t);
  return t;
}
inline Unwritten unwritten_of(const Data& d) {
  Unwritten u{d.poison_count(), {}};
  if (u.count == 0) return u;
  const auto at = std::find(d.known.begin(), d.known.end(), std::uint8_t{0}) - d.known.begin();
  const Box index = index_of(d.dims, at);
  u.first.assign(index.dims, index.dims + index.rank);
  return u;
}

/// Binds an argument to a parameter; gives the memory of a tensor.
inline std::shared_ptr<Data> bind_argument(Engine& engine, std::size_t i, const Argument& a, std::shared_ptr<Data> memory) {
  const Function& f = engine.function();
  const Parameter& p = f.parameters[i];
  const Type& type = f.type(p.value);
  if (type.is_scalar() != (a.tensor() == nullptr))
    fail(p.location, "simulate: a number and a tensor are exchanged (" + parameter_text(p, i) + ")",
         "pass tensors for tensors, numbers for scalars");
  if (type.is_scalar()) {
    engine.set_number(p.value, bind_number(p, i, type.dtype, a));
    return nullptr;
  }
  bind_shape(engine, f, i, *a.tensor());
  if (p.direction != Direction::in && a.writable() == nullptr)
    fail(p.location, "simulate: the argument cannot be written (" + parameter_text(p, i) + ")",
         "pass a tensor that is not const");
  if (memory == nullptr) memory = bind_memory(*a.tensor(), p.direction);
  engine.set_memory(p.value, memory, p.direction);
  return memory;
}

/// `unwritten`: receives by parameter what no store reached.
inline SimulationResult run_function(const Function& f, const Program* program, const std::vector<Argument>& arguments,
                                     const SimulateOptions& options, std::vector<Unwritten>& unwritten) {
  if (arguments.size() != f.parameters.size())
    fail(f.location,
         "simulate: the count of arguments is not that of the parameters (" + std::to_string(arguments.size()) + ", " +
             std::to_string(f.parameters.size()) + ")",
         "pass one argument for each parameter");
  check_overlaps(f, arguments);
  std::vector<std::shared_ptr<Data>> memories(arguments.size());
  SimulationResult out;
  const std::int64_t blocks = f.kind == FunctionKind::spmd ? f.blocks : 1;
  SharedTensors shared(blocks);
  BlockResults returned;
  for (std::int64_t block = 0; block < blocks; ++block) {
    Engine engine(f, f.kind == FunctionKind::spmd ? callee_options(options, f.kind, f, block) : options, program);
    for (std::size_t i = 0; i < arguments.size(); ++i) memories[i] = bind_argument(engine, i, arguments[i], memories[i]);
    if (block == 0)
      for (const std::shared_ptr<Data>& d : memories) shared.add(d);
    const OpId end = engine.run();
    add_statistics(out.statistics, engine.statistics);
    if (blocks > 1) returned.add(engine, end, block);
    if (block + 1 < blocks) continue;
    if (end && f.is(end, ops::return_op))
      for (int i = 0; i < f.operand_count(end); ++i) out.results.push_back(result_to_host(engine, end, i));
  }
  unwritten.resize(arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (memories[i] == nullptr || f.parameters[i].direction == Direction::in) continue;
    memories[i]->dims = box_of(arguments[i].tensor()->dims());  // a view may have left its own
    to_host(*memories[i], *arguments[i].writable());
    unwritten[i] = unwritten_of(*memories[i]);
  }
  return out;
}

template <class FunctionOrProgram>
SimulationResult run(const FunctionOrProgram& f, const std::vector<Argument>& arguments, const SimulateOptions& options) {
  std::vector<Unwritten> unwritten;
  SimulationResult out;
  if constexpr (std::is_same_v<FunctionOrProgram, Program>) out = run_function(f.entry(), &f, arguments, options, unwritten);
  else out = run_function(f, nullptr, arguments, options, unwritten);
  out.unwritten_ = std::move(unwritten);
  return out;
}

}  // namespace tessera::simulator
