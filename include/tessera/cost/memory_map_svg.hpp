// The memory map of a function with addresses as SVG: for each space its buffers, in bytes upwards and in operations to the right.
// What the author reserves is grey.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "../passes/memory/map.hpp"
#include "svg.hpp"

namespace tessera {
namespace detail {

class MemoryMapDrawing {
 public:
  explicit MemoryMapDrawing(const Function& f) : f_(f), map_(f) {
    for (const OpId op : all_operations(f)) operations_.push_back(op);
    step_ = chart / static_cast<double>(std::max<std::size_t>(1, operations_.size()));
  }

  [[nodiscard]] svg::Drawing draw() {
    d_.text(0, 14, "memory of " + std::string(f_.name.c_str()) + " on " + std::string(name(planned_arch(f_))), "font-size=\"15\" font-weight=\"bold\"");
    d_.height = 24;
    bool empty = true;
    for (int s = Vec; s < space_count; ++s) empty = !space(static_cast<MemorySpace>(s)) && empty;
    if (empty) d_.text(0, 32, "no tiles", "fill=\"#666\"");
    else operations();
    d_.height += 16;
    return std::move(d_);
  }

 private:
  static constexpr double left = 96, chart = 1090;

  [[nodiscard]] double x(double operations) const { return left + operations * step_; }
  // An operation takes a column: it reads in the left half, and writes in the right one.
  [[nodiscard]] double begin_of(std::uint32_t moment) const { return place(moment, true); }
  [[nodiscard]] double end_of(std::uint32_t moment) const { return place(moment, false); }
  [[nodiscard]] double place(std::uint32_t moment, bool begins) const {
    const OpId op = map_.lives().operation_at(moment);
    if (!op) return x(0);
    const Span during = map_.lives().during(op);
    const double end = map_.number(op);
    if (moment > during.end) return x(end);
    return x(moment == during.begin ? end - (begins ? 1 : 0.5) : end - (begins ? 0.5 : 0));
  }

  /// Whether the space has buffers.
  bool space(MemorySpace s) {
    const Demand demand = map_.demand(s);
    std::vector<std::uint32_t> buffers = demand.buffers();
    const std::vector<Storage> reserved = map_.reserved(s);
    if (buffers.empty() && reserved.empty()) return false;
    map_.sort(buffers);
    const std::int64_t peak = map_.peak(s, buffers), limit = capacity(s, planned_arch(f_));
    const double top = d_.height + 22, height = std::clamp(14.0 * static_cast<double>(buffers.size() + reserved.size()), 64.0, 280.0);
    const double scale = height / static_cast<double>(peak);
    d_.text(0, top - 6, name(s), "font-size=\"13\" font-weight=\"bold\"");
    d_.text(left, top - 6, "peak " + std::to_string(peak) + " of " + std::to_string(limit) + " bytes; at least " + std::to_string(demand.least()) +
                               " are needed, at " + map_.moment(map_.lives().operation_at(demand.tightest())), "fill=\"#666\"");
    d_.rectangle(left, top, chart, height, "fill=\"#f6f6f6\"");
    for (std::int64_t bytes = 0, step = svg::binary_step(peak, static_cast<std::int64_t>(height / 28)); bytes <= peak; bytes += step) {
      const double at = top + height - static_cast<double>(bytes) * scale;
      d_.line(left, at, left + chart, at, "stroke=\"#e4e4e4\"");
      d_.text(left - 8, at + 4, std::to_string(bytes), "fill=\"#666\"", svg::Align::right);
    }
    for (const Storage& r : reserved) region(r, top + height, scale);
    for (std::size_t i = 0; i < buffers.size(); ++i) buffer(buffers[i], i, top + height, scale);
    d_.height = top + height + 8;
    return true;
  }
  void buffer(std::uint32_t b, std::size_t number, double bottom, double scale) {
    constexpr std::string_view colours[] = {"#7fb2e5", "#f2a65a", "#8fcf86", "#e4717a", "#b8a9c9", "#e6cf6b", "#9fd3c7", "#d7a9b8"};
    const ByteRange bytes = map_.range(b);
    const double height = std::max(1.5, static_cast<double>(bytes.bytes()) * scale);  // however small it is, it is seen
    const double top = bottom - static_cast<double>(bytes.begin) * scale - height;
    const std::string style = "fill=\"" + std::string(colours[number % std::size(colours)]) + (height > 4 ? "\" stroke=\"#fff\" stroke-width=\"0.7\"" : "\"");
    const std::string what = map_.name_of(b) + ", line " + std::to_string(map_.line(b)) + "\n" + std::to_string(bytes.bytes()) + " bytes from " +
                             std::to_string(bytes.begin) + "\nneeded: " + map_.needed(b);
    for (const auto& [from, to] : pieces(b)) {
      d_.rectangle(from, top, to - from, height, style, what);
      d_.label(from, top, to - from, height, map_.name_of(b), "pointer-events=\"none\"");
    }
  }
  void region(const Storage& r, double bottom, double scale) {
    const double height = std::max(1.5, static_cast<double>(r.bytes) * scale), top = bottom - static_cast<double>(r.address) * scale - height;
    const std::string what = r.name.str() + ", reserved";
    d_.rectangle(left, top, chart, height, "fill=\"#c8c8c8\"",
                 what + ", line " + std::to_string(r.location.line) + "\n" + std::to_string(r.bytes) + " bytes from " + std::to_string(r.address));
    d_.label(left, top, chart, height, what, "pointer-events=\"none\"");
  }
  // Its spans on the page; those that touch are one.
  [[nodiscard]] std::vector<std::pair<double, double>> pieces(std::uint32_t b) const {
    std::vector<std::pair<double, double>> list;
    for (const Span& s : map_.lives().spans(b)) {
      const double from = begin_of(s.begin), to = std::max(end_of(s.end), from + step_ / 2);
      if (!list.empty() && from <= list.back().second) list.back().second = std::max(to, list.back().second);
      else list.push_back({from, to});
    }
    return list;
  }

  // --- below: loops and branches, and the operations by number or, where there is room, by name ---
  void operations() {
    double lowest = 0;
    for (const OpId op : operations_)
      if (f_.block_count(op) > 0) lowest = std::max(lowest, region(op));
    d_.height += lowest + 12;
    const bool names = step_ >= 14;
    const std::int64_t step = svg::decimal_step(static_cast<std::int64_t>(operations_.size()), 50);
    for (std::size_t i = 0; i < operations_.size(); ++i) {
      const std::int64_t number = static_cast<std::int64_t>(i) + 1;
      const double at = x(static_cast<double>(number) - 0.5);
      if (number % step == 0) d_.text(at, d_.height, std::to_string(number), "fill=\"#666\"", svg::Align::middle);
      const OpInfo& info = f_.info(operations_[i]);
      if (names && info.level != Level::control && info.level != Level::scalar) slanted(at, d_.height + 12, info.name);
    }
    d_.text(left - 8, d_.height, "operation", "fill=\"#666\"", svg::Align::right);
    if (names) d_.height += 86;
  }
  void slanted(double at, double top, std::string_view what) {
    d_.text(at, top, what, "fill=\"#666\" transform=\"rotate(-55 " + svg::number(at) + " " + svg::number(top) + ")\"", svg::Align::right);
  }
  // Its height below the maps.
  double region(OpId op) {
    const OpId last = last_inside(op);
    int depth = 0;
    for (BlockId b = f_[op].parent; f_[b].owner; b = f_[f_[b].owner].parent) ++depth;
    const double from = x(map_.number(op) - 1), to = x(map_.number(last)), top = d_.height + depth * 15;
    const std::string what = std::string(f_.info(op).name) + ", line " + std::to_string(f_[op].location.line);
    d_.rectangle(from, top, to - from, 12, "fill=\"#ececf4\" stroke=\"#99a\" stroke-width=\"0.5\"", what);
    d_.label(from, top, to - from, 12, what, "fill=\"#556\" font-size=\"10\" pointer-events=\"none\"");
    return depth * 15 + 18;
  }
  [[nodiscard]] OpId last_inside(OpId op) const {
    while (f_.block_count(op) > 0) op = f_[f_.block(op, f_.block_count(op) - 1)].last;
    return op;
  }

  const Function& f_;
  const BufferMap map_;
  std::vector<OpId> operations_;  // of the program
  double step_ = 0;               // of an operation
  svg::Drawing d_;
};

}  // namespace detail

[[nodiscard]] inline svg::Drawing memory_map_drawing(const Function& f) {
  if (!has_addresses(f)) throw InternalError("memory_map: " + std::string(f.name.c_str()) + " has no addresses");
  return detail::MemoryMapDrawing(f).draw();
}
/// A file with the memory map of a function with addresses.
[[nodiscard]] inline std::string memory_map_svg(const Function& f) { return svg::page({memory_map_drawing(f)}); }

}  // namespace tessera
