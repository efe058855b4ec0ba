// What is wrong with the order of pipes in a trace, in words.
#pragma once

#include <string>

#include "accesses.hpp"
#include "pipe_trace.hpp"

namespace tessera {

/// A fault, and the operation where it shows.
struct PipeFault {
  OpId op;
  std::string what;
};

namespace detail {

/// How an access is said in a fault.
enum class AccessKind : std::uint8_t { reads, writes, adds };
[[nodiscard]] constexpr AccessKind kind_of(const TraceAccess& a) {
  return a.adds ? AccessKind::adds : a.writes ? AccessKind::writes : AccessKind::reads;
}
/// Whether two accesses to the same bytes may come in any order.
[[nodiscard]] constexpr bool commute(AccessKind a, AccessKind b) { return a == b && a != AccessKind::writes; }

/// Whether one event may follow another without a barrier in a pipe that overlaps itself, as far as an access of the second one
/// goes.
[[nodiscard]] inline bool in_step(const Function& f, Arch arch, const PipeTrace& t, std::uint32_t first, std::uint32_t second, const TraceAccess& of_second) {
  const PipeEvent &a = t.events[first], &b = t.events[second];
  return of_second.space != Gm && runner(a) == runner(b) && overlaps_itself(runner(b), arch) && has_addresses(f) &&
         follows_in_step(f, a.op, b.op, of_second.space, {of_second.begin, of_second.end});
}

/// The words of faults in one trace.
class PipeWords {
 public:
  PipeWords(const Function& f, const PipeTrace& t) : f_(f), t_(t) {}

  /// "set_flag (k.cpp:7)"
  [[nodiscard]] std::string operation(const PipeEvent& e) const {
    return std::string(f_.info(e.op).name) + " (" + place_text(f_[e.op].location).str() + ")";
  }
  /// "add (k.cpp:7, V)"
  [[nodiscard]] std::string instruction(const PipeEvent& e) const {
    std::string text = operation(e);
    text.back() = ',';
    return text.append(" ").append(name(runner(e))).append(")");
  }
  /// "MTE2 -> V event 0"
  [[nodiscard]] static std::string flag(const PipeEvent& e) {
    return std::string(name(e.pipe)).append(" -> ").append(name(e.to_pipe)).append(" event ").append(std::to_string(e.event));
  }
  /// "bytes 0 to 1024 of Vec", of parameters by name.
  [[nodiscard]] std::string bytes(const TraceAccess& a, std::int64_t begin, std::int64_t end) const {
    const std::string range = std::to_string(begin) + " to " + std::to_string(end) + " of ";
    if (a.space != Gm) return "bytes " + range + std::string(name(a.space));
    const std::string parameter = a.tensor < f_.parameters.size() ? f_.parameters[a.tensor].name.c_str() : "";
    const std::string whose = parameter.empty() ? "parameter " + std::to_string(a.tensor) : parameter;
    return a.base == 0 ? "bytes " + range + whose : "bytes of " + whose;
  }
  /// One instruction does what has to wait for another one. `a`: the access at fault; `b`: of `earlier`, with bytes of it.
  [[nodiscard]] PipeFault conflict(const PipeEvent& later, const TraceAccess& a, const PipeEvent& earlier, const TraceAccess& b) const {
    constexpr const char* does[] = {" reads ", " writes ", " adds to "};
    constexpr const char* done[] = {" may not have read yet", " may not have written yet", " may not have added to yet"};
    const bool same_base = a.base == b.base;
    const std::int64_t begin = same_base && b.begin > a.begin ? b.begin : a.begin, end = same_base && b.end < a.end ? b.end : a.end;
    return {later.op, instruction(later) + does[static_cast<int>(kind_of(a))] + bytes(a, begin, end) + ", which " + instruction(earlier) +
                          done[static_cast<int>(kind_of(b))]};
  }

 private:
  const Function& f_;
  const PipeTrace& t_;
};

/// Whether an event is one that a core has: pipes and numbers of flags are in range.
[[nodiscard]] constexpr bool is_flag(const PipeEvent& e) {
  return e.pipe != Pipe::none && e.to_pipe != Pipe::none && e.pipe != e.to_pipe && e.event < event_count;
}
/// A number below pipe_count * pipe_count * event_count for a flag.
[[nodiscard]] constexpr std::size_t flag_number(const PipeEvent& e) {
  return (static_cast<std::size_t>(e.pipe) * pipe_count + static_cast<std::size_t>(e.to_pipe)) * event_count + e.event;
}
inline constexpr std::size_t flag_total = std::size_t{pipe_count} * pipe_count * event_count;

}  // namespace detail
}  // namespace tessera
