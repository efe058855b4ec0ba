// The modelled timeline of a function with addresses as SVG: a lane for each pipe, instructions as boxes, flags as arrows.
#pragma once

#include <string>
#include <vector>

#include "svg.hpp"
#include "timeline.hpp"

namespace tessera {
namespace detail {

class TimelineDrawing {
 public:
  TimelineDrawing(const Function& f, const Timeline& t) : f_(f), t_(t), scale_(chart / static_cast<double>(std::max<std::int64_t>(1, t.schedule.total))) {
    for (const Pipe p : pipes_in_order)
      if (t.schedule.busy[static_cast<std::size_t>(p)] > 0) lanes_.push_back(p);
  }

  [[nodiscard]] svg::Drawing draw() {
    heading();
    axis();
    for (std::size_t i = 0; i < lanes_.size(); ++i) lane(i);
    if (t_.schedule.flags.size() <= most_flags) flags();
    barriers();
    d_.height = bottom() + 30;
    return std::move(d_);
  }

 private:
  static constexpr double left = 96, chart = 1090, lane_height = 34, lane_distance = 50;
  static constexpr std::size_t most_flags = 1000;

  [[nodiscard]] const std::vector<PipeEvent>& events() const { return t_.walk.trace.events; }
  [[nodiscard]] double x(std::int64_t cycle) const { return left + static_cast<double>(cycle) * scale_; }
  [[nodiscard]] double y(std::size_t lane) const { return top_ + static_cast<double>(lane) * lane_distance; }
  [[nodiscard]] double bottom() const { return y(lanes_.size()) - (lane_distance - lane_height) + 8; }
  /// The lane of a pipe that has one; none: as many as there are.
  [[nodiscard]] std::size_t lane_of(Pipe p) const { return static_cast<std::size_t>(std::find(lanes_.begin(), lanes_.end(), p) - lanes_.begin()); }
  [[nodiscard]] static std::string fill_of(Pipe p) {
    constexpr std::string_view colours[pipe_count] = {"#bbb", "#b8a9c9", "#f2a65a", "#e4717a", "#9fd3c7", "#7fb2e5", "#8fcf86", "#e6cf6b"};
    return "fill=\"" + std::string(colours[static_cast<int>(p)]) + "\" stroke=\"#fff\" stroke-width=\"0.5\"";
  }

  void heading() {
    d_.text(0, 14, "timeline of " + std::string(f_.name.c_str()) + " on " + std::string(name(planned_arch(f_))), "font-size=\"15\" font-weight=\"bold\"");
    d_.text(left + chart, 14, time_text(t_.schedule.total) + ", modelled", {}, svg::Align::right);
    top_ = 24;
    std::vector<std::string> notes = assumptions(f_, t_);
    if (!t_.schedule.ideal && !t_.schedule.flags.empty())
      notes.push_back(t_.schedule.flags.size() <= most_flags ? "arrows: flags; grey: a pipe waits; red: barriers"
                                                             : "grey: a pipe waits; red: barriers; " + std::to_string(t_.schedule.flags.size()) + " flags are not drawn");
    for (const std::string& n : notes) d_.text(0, top_ += 15, n, "fill=\"#666\"");
    top_ += 16;
  }
  void axis() {
    const std::int64_t step = svg::decimal_step(t_.schedule.total, 12);
    for (std::int64_t c = 0; c <= t_.schedule.total; c += step) {
      d_.line(x(c), top_ - 6, x(c), bottom(), "stroke=\"#e4e4e4\"");
      d_.text(x(c), bottom() + 14, std::to_string(c), "fill=\"#666\"", svg::Align::middle);
    }
    d_.text(left - 8, bottom() + 14, "cycles", "fill=\"#666\"", svg::Align::right);
  }

  // --- one pipe ---
  void lane(std::size_t number) {
    const Pipe p = lanes_[number];
    const std::int64_t busy = t_.schedule.busy[static_cast<std::size_t>(p)];
    d_.text(0, y(number) + 14, name(p), "font-size=\"13\" font-weight=\"bold\"");
    d_.text(0, y(number) + 28, std::to_string(busy) + "  " + percent(busy, t_.schedule.total) + " %", "fill=\"#666\"");
    d_.rectangle(left, y(number), chart, lane_height, "fill=\"#f6f6f6\"");
    waits(p, y(number));
    boxes(p, y(number));
  }
  void waits(Pipe p, double top) {
    for (std::size_t i = 0; i < events().size(); ++i) {
      const PipeEvent& e = events()[i];
      const TimeSpan span = t_.schedule.spans[i];
      if (e.kind != PipeEvent::Kind::wait_flag || e.to_pipe != p || static_cast<double>(span.cycles()) * scale_ < 0.5) continue;
      d_.rectangle(x(span.start), top + lane_height / 2 - 2, x(span.end) - x(span.start), 4, "fill=\"#c8c8c8\"",
                   name_of(e) + ": waits from " + std::to_string(span.start) + " to " + std::to_string(span.end));
    }
  }
  // What is too short to be seen is drawn with its neighbours.
  struct Run {
    TimeSpan span;
    std::size_t count = 0;
  };
  void boxes(Pipe p, double top) {
    Run run;
    for (std::size_t i = 0; i < events().size(); ++i) {
      const PipeEvent& e = events()[i];
      if (e.kind != PipeEvent::Kind::instruction || e.pipe != p) continue;
      const TimeSpan span = t_.schedule.spans[i];
      const bool seen = static_cast<double>(span.cycles()) * scale_ >= 1;
      const bool follows = run.count > 0 && static_cast<double>(span.start - run.span.end) * scale_ < 0.5 && static_cast<double>(run.span.cycles()) * scale_ < 2;
      if (seen || !follows) flush(run, p, top);
      if (seen) box(e, span, top);
      else run = {{run.count > 0 ? run.span.start : span.start, span.end}, run.count + 1};
    }
    flush(run, p, top);
  }
  void box(const PipeEvent& e, TimeSpan span, double top) {
    const double from = x(span.start), width = x(span.end) - from;
    d_.rectangle(from, top, width, lane_height, fill_of(e.pipe),
                 instruction_text(f_, e.op) + "\nline " + line_text(f_, e.op) + ", " + std::to_string(span.start) + " to " +
                     std::to_string(span.end) + " (" + std::to_string(span.cycles()) + " cycles)");
    d_.label(from, top, width, lane_height, f_.info(e.op).name, "pointer-events=\"none\"");
  }
  void flush(Run& run, Pipe p, double top) {
    if (run.count > 0)
      d_.rectangle(x(run.span.start), top, std::max(0.5, x(run.span.end) - x(run.span.start)), lane_height, fill_of(p),
                   std::to_string(run.count) + (run.count == 1 ? " instruction, " : " instructions, ") + std::to_string(run.span.start) + " to " +
                       std::to_string(run.span.end));
    run = {};
  }

  // --- order ---
  [[nodiscard]] static std::string name_of(const PipeEvent& e) {
    return std::string(name(e.pipe)) + " to " + std::string(name(e.to_pipe)) + ", flag " + std::to_string(e.event);
  }
  void flags() {
    for (const auto& [set, wait] : t_.schedule.flags) {
      const PipeEvent& e = events()[wait];
      const std::size_t from = lane_of(e.pipe), to = lane_of(e.to_pipe);
      if (from == lanes_.size() || to == lanes_.size()) continue;
      const bool down = from < to;
      const std::int64_t raised = t_.schedule.spans[set].end, goes_on = t_.schedule.spans[wait].end;
      d_.line(x(raised), y(from) + (down ? lane_height : 0), x(goes_on), y(to) + (down ? 0 : lane_height),
              std::string("stroke=\"#444\" stroke-width=\"0.8\" marker-end=\"url(#arrow)\"") + (down ? "" : " stroke-dasharray=\"3 2\""),
              name_of(e) + ": raised at " + std::to_string(raised) + ", waited for until " + std::to_string(goes_on));
    }
  }
  void barriers() {
    for (std::size_t i = 0; i < events().size(); ++i) {
      const PipeEvent& e = events()[i];
      if (e.kind != PipeEvent::Kind::barrier) continue;
      const bool all = e.pipe == Pipe::none;
      const std::size_t at = lane_of(e.pipe);
      if (!all && at == lanes_.size()) continue;
      const double when = x(t_.schedule.spans[i].end);
      d_.line(when, all ? top_ - 3 : y(at) - 3, when, all ? bottom() - 5 : y(at) + lane_height + 3, "stroke=\"#c22\" stroke-width=\"1.2\"",
              "barrier of " + std::string(name(e.pipe)) + " at " + std::to_string(t_.schedule.spans[i].end));
    }
  }

  const Function& f_;
  const Timeline& t_;
  const double scale_;  // of a cycle
  double top_ = 0;
  std::vector<Pipe> lanes_;
  svg::Drawing d_;
};

}  // namespace detail

[[nodiscard]] inline svg::Drawing timeline_drawing(const Function& f, const Timeline& t) { return detail::TimelineDrawing(f, t).draw(); }

/// A file with the timeline.
[[nodiscard]] inline std::string timeline_svg(const Function& f, const Timeline& t) { return svg::page({timeline_drawing(f, t)}); }
[[nodiscard]] inline std::string timeline_svg(const Function& f, const TraceOptions& options = {}) { return timeline_svg(f, timeline_of(f, options)); }

}  // namespace tessera
