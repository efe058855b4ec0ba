// The modelled timeline of a function with addresses as text: how long each pipe is busy, and when, and the first instructions
// with their times and the user's lines.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../ir/printer.hpp"
#include "schedule.hpp"

namespace tessera {

/// A trace and when its events happen.
struct Timeline {
  StaticTrace walk;
  PipeSchedule schedule;
};

[[nodiscard]] inline Timeline timeline_of(const Function& f, const TraceOptions& options = {}) {
  Timeline t;
  t.walk = trace_of(f, options);
  t.schedule = schedule(f, t.walk.trace);
  return t;
}

namespace detail {

/// In the order in which data passes through them.
inline constexpr Pipe pipes_in_order[] = {Pipe::mte2, Pipe::mte1, Pipe::cube, Pipe::fix, Pipe::vector, Pipe::mte3, Pipe::scalar};

/// With so many digits behind the point, rounded.
[[nodiscard]] inline std::string decimal(double x, int digits) {
  std::int64_t unit = 1;
  for (int i = 0; i < digits; ++i) unit *= 10;
  const auto scaled = static_cast<std::int64_t>(x * static_cast<double>(unit) + 0.5);
  std::string behind = std::to_string(scaled % unit);
  behind.insert(0, static_cast<std::size_t>(digits) - std::min(behind.size(), static_cast<std::size_t>(digits)), '0');
  return std::to_string(scaled / unit) + (digits > 0 ? "." + behind : std::string());
}
[[nodiscard]] inline std::string padded(std::string_view text, std::size_t width, bool right = false) {
  const std::string fill(width > text.size() ? width - text.size() : 0, ' ');
  return right ? fill + std::string(text) : std::string(text) + fill;
}
[[nodiscard]] inline std::string padded(std::int64_t n, std::size_t width) { return padded(std::to_string(n), width, true); }

/// "f32[64,128]@Vec".
[[nodiscard]] inline std::string plain_text(const Type& t) {
  const std::string text = tessera::text(t);
  return t.is_tile() ? text.substr(5, text.size() - 6) : text;
}
/// "x = load f32[64,128]@Vec": the tile's name where it has one, the operation, and what it makes or stores.
[[nodiscard]] inline std::string instruction_text(const Function& f, OpId op) {
  const bool has_result = f.result_count(op) > 0;
  std::string text = has_result && !f.name_of(f.result(op)).empty() ? std::string(f.name_of(f.result(op)).c_str()) + " = " : std::string();
  text.append(f.info(op).name);
  if (has_result || f.operand_count(op) > 0) text.append(" ").append(plain_text(f.type(has_result ? f.result(op) : f.operand(op, 0))));
  return text;
}
/// "12", or "relu.hpp:12" where it is not the kernel's file.
[[nodiscard]] inline std::string line_text(const Function& f, OpId op) {
  const Location& at = f[op].location;
  return short_file(at) == short_file(f.location) ? std::to_string(at.line) : std::string(place_text(at).c_str());
}
/// "2048 cycles, 1.107 us at 1.85 GHz".
[[nodiscard]] inline std::string time_text(std::int64_t cycles) {
  return std::to_string(cycles) + " cycles, " + decimal(static_cast<double>(cycles) / (clock_ghz * 1e3), 3) + " us at " + decimal(clock_ghz, 2) + " GHz";
}
[[nodiscard]] inline std::string percent(std::int64_t part, std::int64_t whole) {
  return decimal(whole > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0, 1);
}

/// What a timeline takes for granted, a sentence each.
[[nodiscard]] inline std::vector<std::string> assumptions(const Function& f, const Timeline& t) {
  std::vector<std::string> list;
  const auto lines = [&](const std::vector<OpId>& where) {
    std::vector<std::string> each;
    for (const OpId op : where)
      if (const std::string line = line_text(f, op); std::find(each.begin(), each.end(), line) == each.end()) each.push_back(line);
    std::string text;
    for (const std::string& line : each) text.append(text.empty() ? "line " : ", ").append(line);
    return text;
  };
  if (t.schedule.ideal) list.push_back("no flags: nothing orders the pipes yet, and each instruction starts when its data permit");
  if (!t.walk.assumed_loops.empty())
    list.push_back("assumed: " + std::to_string(t.walk.trips) + (t.walk.trips == 1 ? " turn" : " turns") + " of loops that end at run time (" + lines(t.walk.assumed_loops) + ")");
  if (!t.walk.assumed_branches.empty()) list.push_back("assumed: the first block of branches on run-time values (" + lines(t.walk.assumed_branches) + ")");
  if (!t.walk.complete) list.push_back("incomplete: the first " + std::to_string(t.walk.trace.events.size()) + " events only");
  return list;
}

class TimelineText {
 public:
  TimelineText(const Function& f, const Timeline& t) : f_(f), t_(t), number_(f.operation_count()) {
    int n = 0;
    for (const OpId op : all_operations(f)) number_[op.index] = ++n;
  }

  [[nodiscard]] std::string text(std::size_t rows) {
    out_ = "timeline of " + std::string(f_.name.c_str()) + " on " + std::string(name(planned_arch(f_))) + ": " + time_text(t_.schedule.total) + ", modelled\n";
    for (const std::string& a : assumptions(f_, t_)) out_.append(a).append("\n");
    if (count() == 0) return out_ + "no instructions\n";
    pipes();
    instructions(rows);
    return std::move(out_);
  }

 private:
  static constexpr std::size_t chart_width = 64;

  [[nodiscard]] const std::vector<PipeEvent>& events() const { return t_.walk.trace.events; }
  [[nodiscard]] static bool is_instruction(const PipeEvent& e) { return e.kind == PipeEvent::Kind::instruction; }
  [[nodiscard]] std::size_t count() const { return static_cast<std::size_t>(std::count_if(events().begin(), events().end(), is_instruction)); }

  void pipes() {
    const std::int64_t total = t_.schedule.total;
    const std::size_t width = std::max<std::size_t>(4, std::to_string(total).size());
    out_.append("\npipe  ").append(padded("busy", width, true)).append("      %   0").append(padded(std::to_string(total), chart_width - 1, true)).append("\n");
    for (const Pipe p : pipes_in_order) {
      const std::int64_t busy = t_.schedule.busy[static_cast<std::size_t>(p)];
      if (busy == 0) continue;
      out_.append(padded(name(p), 4)).append("  ").append(padded(busy, width)).append(padded(percent(busy, total), 7, true));
      out_.append("  |").append(chart(p)).append("|\n");
    }
  }
  // '#' where a pipe is busy for half of a column's time at least, '-' where for less. Times are counted in parts of a cycle, so
  // that all columns are equally long.
  [[nodiscard]] std::string chart(Pipe p) const {
    constexpr auto columns = static_cast<std::int64_t>(chart_width);
    const std::int64_t column = std::max<std::int64_t>(1, t_.schedule.total);
    std::vector<std::int64_t> busy(chart_width);
    std::int64_t covered = 0;
    for (std::size_t i = 0; i < events().size(); ++i) {
      if (!is_instruction(events()[i]) || events()[i].pipe != p) continue;
      const TimeSpan span = t_.schedule.spans[i];
      for (std::int64_t at = std::max(span.start * columns, covered), end = span.end * columns; at < end;) {
        const std::int64_t number = at / column, until = std::min(end, (number + 1) * column);
        busy[static_cast<std::size_t>(number)] += until - at;
        at = until;
      }
      covered = std::max(covered, span.end * columns);
    }
    std::string text;
    for (const std::int64_t b : busy) text.push_back(b * 2 >= column ? '#' : b > 0 ? '-' : ' ');
    return text;
  }
  void instructions(std::size_t rows) {
    std::vector<std::vector<std::string>> table{{"", "start", "end", "cycles", "pipe", "instruction", "line"}};
    for (std::size_t i = 0; i < events().size() && table.size() <= rows; ++i) {
      const PipeEvent& e = events()[i];
      if (!is_instruction(e)) continue;
      const TimeSpan span = t_.schedule.spans[i];
      table.push_back({std::to_string(number_[e.op.index]), std::to_string(span.start), std::to_string(span.end), std::to_string(span.cycles()),
                       std::string(name(e.pipe)), instruction_text(f_, e.op), line_text(f_, e.op)});
    }
    std::vector<std::size_t> width(table[0].size());
    for (const auto& row : table)
      for (std::size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], row[i].size());
    out_.append("\n");
    for (const auto& row : table) {
      for (std::size_t i = 0; i < row.size(); ++i) out_.append("  ").append(padded(row[i], width[i], i != 4 && i != 5));
      out_.append("\n");
    }
    if (count() >= table.size()) out_.append("  and ").append(std::to_string(count() - table.size() + 1)).append(" more\n");
  }

  const Function& f_;
  const Timeline& t_;
  std::vector<int> number_;  // by operation: its place in the program
  std::string out_;
};

}  // namespace detail

inline constexpr std::size_t timeline_rows = 40;

/// The timeline as text, with the first `rows` instructions. A number in front of one is its place in the printed function.
[[nodiscard]] inline std::string timeline_text(const Function& f, const Timeline& t, std::size_t rows = timeline_rows) {
  return detail::TimelineText(f, t).text(rows);
}
[[nodiscard]] inline std::string timeline_text(const Function& f, const TraceOptions& options = {}) { return timeline_text(f, timeline_of(f, options)); }

}  // namespace tessera
