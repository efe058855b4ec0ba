// Kernels with flags and barriers, in tests: two ways to set them that need no thought, and what happens when one is taken out.
#pragma once

#include <tessera/ir/pipe_check.hpp>
#include <tessera/ir/pipe_replay.hpp>
#include <tessera/ir/sync_check.hpp>

#include <tessera/passes/insert_sync.hpp>

namespace tessera::test {

// --- making ---
/// A flag or a barrier behind an operation, on its line.
inline OpId insert_behind(Function& f, OpId anchor, const OpInfo& info, Pipe pipe, Pipe to = Pipe::none, std::int64_t event = 0) {
  std::vector<Attr> attrs{int_attr(AttrKey::pipe, static_cast<std::int64_t>(pipe))};
  if (&info != &ops::barrier) {
    attrs.push_back(int_attr(AttrKey::to_pipe, static_cast<std::int64_t>(to)));
    attrs.push_back(int_attr(AttrKey::event, event));
  }
  const OpId made = f.new_operation(info, {}, attrs, f[anchor].location);
  f.set_results(made, {});
  f.insert_after(f[anchor].parent, anchor, made);
  return made;
}
/// A barrier of all pipes behind every instruction: right, whatever the program is.
[[nodiscard]] inline Function with_barriers(const Function& planned) {
  Function f = planned;
  const auto count = static_cast<std::uint32_t>(f.operation_count());
  for (std::uint32_t o = 0; o < count; ++o)
    if (f[OpId{o}].parent && pipe_of(f, {o}) != Pipe::none && f.info({o}).level != Level::scalar) insert_behind(f, {o}, ops::barrier, Pipe::none);
  return f;
}
/// Each instruction waits for the one in front of it: by a flag from pipe to pipe, at loops and branches by barriers of all pipes.
[[nodiscard]] inline Function with_flags(const Function& planned) {
  Function f = planned;
  const auto count = static_cast<std::uint32_t>(f.operation_count());
  const auto is_instruction = [&](OpId op) { return pipe_of(f, op) != Pipe::none && f.info(op).level != Level::scalar; };
  for (std::uint32_t o = 0; o < count; ++o) {
    const OpId op{o};
    if (!f[op].parent || !is_instruction(op)) continue;
    OpId next = f.next(op);
    while (next && f.block_count(next) == 0 && !is_instruction(next)) next = f.next(next);
    const Pipe from = pipe_of(f, op);
    if (!next || f.block_count(next) > 0) insert_behind(f, op, ops::barrier, Pipe::none);
    else if (const Pipe to = pipe_of(f, next); to == from) insert_behind(f, op, ops::barrier, from);
    else insert_behind(f, insert_behind(f, op, ops::set_flag, from, to, o % event_count), ops::wait_flag, from, to, o % event_count);
  }
  return f;
}
/// What the pass makes of a kernel with planned memory.
[[nodiscard]] inline Function synchronised(const Function& planned) { return insert_sync.run(planned, {planned_arch(planned)}); }

// --- taking out ---
/// A barrier, or a pair of set_flag and wait_flag in one block with all that raises and lowers the same flag in between (of a
/// loop that carries it).
using SyncUnit = std::vector<OpId>;

namespace detail {
inline std::int64_t flag_of(const Function& f, OpId op) {
  return (f.attr(op, AttrKey::pipe) * pipe_count + f.attr(op, AttrKey::to_pipe)) * event_count + f.attr(op, AttrKey::event);
}
inline void flags_inside(const Function& f, OpId op, std::int64_t flag, SyncUnit& unit) {
  for (int k = 0; k < f.block_count(op); ++k)
    for (OpId o = f[f.block(op, k)].first; o; o = f.next(o)) {
      flags_inside(f, o, flag, unit);
      if (is_sync(f.info(o)) && !f.is(o, ops::barrier) && flag_of(f, o) == flag) unit.push_back(o);
    }
}
inline void sync_units(const Function& f, BlockId b, std::vector<SyncUnit>& units) {
  for (OpId op = f[b].first; op; op = f.next(op)) {
    for (int k = 0; k < f.block_count(op); ++k) sync_units(f, f.block(op, k), units);
    if (f.is(op, ops::barrier)) units.push_back({op});
    if (!f.is(op, ops::set_flag)) continue;
    SyncUnit unit{op};
    for (OpId o = f.next(op); o; o = f.next(o)) {
      flags_inside(f, o, flag_of(f, op), unit);
      if (!f.is(o, ops::wait_flag) || flag_of(f, o) != flag_of(f, op)) continue;
      unit.push_back(o);
      units.push_back(unit);
      break;
    }
  }
}
}  // namespace detail

[[nodiscard]] inline std::vector<SyncUnit> sync_units(const Function& f) {
  std::vector<SyncUnit> units;
  detail::sync_units(f, f.body(), units);
  return units;
}
[[nodiscard]] inline Function without(const Function& f, const SyncUnit& unit) {
  Function g = f;
  for (const OpId op : unit) g.erase(op);
  return g;
}
/// The trace without what the unit did.
[[nodiscard]] inline PipeTrace without(PipeTrace t, const SyncUnit& unit) {
  std::erase_if(t.events, [&](const PipeEvent& e) { return std::find(unit.begin(), unit.end(), e.op) != unit.end(); });
  return t;
}

/// What finds that a function is not synchronised.
struct SyncFindings {
  std::string verifier, check, replay;  ///< of all runs, and of one run's trace
  [[nodiscard]] bool found() const { return !verifier.empty() || !check.empty() || !replay.empty(); }
};
/// `trace`: of a run of it.
[[nodiscard]] inline SyncFindings sync_findings(const Function& f, const PipeTrace& trace, int replays = 20) {
  SyncFindings s;
  if (const auto fault = sync_fault(f)) s.verifier = fault->what;
  if (const auto fault = pipe_fault(f, trace, planned_arch(f))) s.check = fault->what;
  if (const auto fault = replay_fault(f, trace, planned_arch(f), replays)) s.replay = fault->what;
  return s;
}

}  // namespace tessera::test
