// Records functions by running their lambdas, callees first; defines what trace.hpp declares.
#pragma once

#include <exception>
#include <memory>
#include <type_traits>
#include <vector>

#include "caller_checks.hpp"
#include "function_recorder.hpp"
#include "trace.hpp"

namespace tessera::detail {

[[nodiscard]] inline Function run_recorded(const KernelEntry& kernel, Callees* callees) {
  static_assert(Function::any_target == KernelEntry::any_target);
  Function f;
  f.name = kernel.name();
  f.location = kernel.location();
  f.target = kernel.target();
  f.kind = kernel.kind();
  f.blocks = kernel.blocks();
  f.threads = kernel.threads();
  FunctionRecorder r(f, callees);
  r.set_location(kernel.location());
  try {
    kernel.run(r);
  } catch (const UserError&) {
    // What the user did first is what is reported.
    if (!r.error_is_an_exception()) r.throw_error();
    throw;
  } catch (const InternalError&) {
    throw;
  } catch (const std::exception& e) {
    if (!r.error_is_an_exception()) r.throw_error();
    fail(r.error() != nullptr ? r.error_location() : kernel.location(), Text("kernel: the lambda throws an exception (").append(e.what()).append(")"),
         "a kernel's lambda runs once, while it is recorded");
  }
  return f;
}

inline void check_threads(const KernelEntry& entry) {
  const Threads& t = entry.threads();
  for (int axis = 0; axis < 3; ++axis)
    if (t[axis] <= 0) refuse(breaks(rule::thread_extent_is_not_positive, arg(std::int64_t{axis}), arg(t[axis])), "simt", entry.location());
  // One by one: their product may be too large for an integer.
  std::int64_t total = 1;
  for (int axis = 0; axis < 3 && total <= max_threads; ++axis) total = t[axis] > max_threads ? t[axis] : total * t[axis];
  if (total > max_threads) refuse(breaks(rule::simt_has_too_many_threads, arg(total), arg(max_threads)), "simt", entry.location());
}

/// Records a program: each function once, when it is called first.
class ProgramTracer final : public Callees {
 public:
  std::size_t index_of(const KernelEntry& entry, const Location& at) override {
    for (std::size_t i = 0; i < entries_.size(); ++i)
      if (entries_[i] == &entry) return i;
    const Active active(*this, entry, at);
    if (entry.blocks() <= 0) refuse(breaks(rule::spmd_block_count_is_not_positive, arg(entry.blocks())), "spmd", entry.location());
    if (entry.blocks() > max_blocks) refuse(breaks(rule::spmd_block_count_is_too_large, arg(entry.blocks()), arg(max_blocks)), "spmd", entry.location());
    check_threads(entry);
    Function f = run_recorded(entry, this);
    if (runs_on_chip(f.kind)) {
      check_recorded(f);
    } else {
      check_recorded_caller(program_, f);
      upgrade_directions(program_, f);
    }
    require_own_name(f, entry);
    entries_.push_back(&entry);
    program_.functions.push_back(static_cast<Function&&>(f));
    return entries_.size() - 1;
  }
  std::shared_ptr<const Function> on_chip(const KernelEntry& entry, const Location& at) override {
    for (const OnChip& known : on_chip_)
      if (known.entry == &entry) return known.function;
    const Active active(*this, entry, at);
    check_threads(entry);
    Function f = run_recorded(entry, this);
    check_recorded(f);
    require_own_name(f, entry);
    on_chip_.push_back({&entry, std::make_shared<const Function>(static_cast<Function&&>(f))});
    return on_chip_.back().function;
  }
  [[nodiscard]] const Program& program() const override { return program_; }
  [[nodiscard]] Program take() { return static_cast<Program&&>(program_); }

 private:
  // What kernels hold: tile operations, and simt kernels that they launch.
  struct OnChip {
    const KernelEntry* entry;
    std::shared_ptr<const Function> function;
  };
  // While it lives, the function is being recorded.
  class Active {
   public:
    Active(ProgramTracer& tracer, const KernelEntry& entry, const Location& at) : list_(&tracer.active_) {
      tracer.refuse_recursion(entry, at);
      list_->push_back(&entry);
    }
    Active(const Active&) = delete;
    Active& operator=(const Active&) = delete;
    ~Active() { list_->pop_back(); }

   private:
    std::vector<const KernelEntry*>* list_;
  };
  void require_own_name(const Function& f, const KernelEntry& entry) const {
    bool taken = false;
    for (std::size_t i = 0; i < entries_.size(); ++i) taken = taken || (program_.functions[i].name == f.name && entries_[i] != &entry);
    for (const OnChip& other : on_chip_) taken = taken || (other.function->name == f.name && other.entry != &entry);
    if (taken) fail(f.location, Text("call: two functions of one program have the same name (").append(f.name).append(")"), "give each one a name of its own");
  }
  void refuse_recursion(const KernelEntry& entry, const Location& at) const {
    Text chain;
    bool active = false;
    for (const KernelEntry* e : active_) {
      active = active || e == &entry;
      if (active) chain.append(e->name()).append(" -> ");
    }
    if (active) fail(at, Text("call: a function calls itself (").append(chain).append(entry.name()).append(")"), "repeat calls by a loop: for (Index i : range(n)) { ... }");
  }

  Program program_;
  std::vector<const KernelEntry*> entries_, active_;
  std::vector<OnChip> on_chip_;
};

template <class FunctionOrProgram>
FunctionOrProgram traced(const KernelEntry& entry) {
  ProgramTracer tracer;
  static_cast<void>(tracer.index_of(entry, entry.location()));
  if constexpr (std::is_same_v<FunctionOrProgram, Program>) return tracer.take();
  else return static_cast<Function&&>(tracer.take().functions.back());
}

}  // namespace tessera::detail
