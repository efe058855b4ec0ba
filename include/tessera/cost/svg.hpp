// A small writer of SVG: shapes with tooltips, on a page of drawings one below the other. Equal calls give equal bytes, whatever
// the locale is.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::svg {

/// With one digit behind the point.
[[nodiscard]] inline std::string number(double x) {
  const auto tenths = static_cast<std::int64_t>(x * 10 + (x < 0 ? -0.5 : 0.5));
  const std::int64_t whole = tenths / 10, rest = tenths < 0 ? -(tenths % 10) : tenths % 10;
  std::string text = tenths < 0 && whole == 0 ? "-0" : std::to_string(whole);
  return rest == 0 ? (text == "-0" ? "0" : text) : text + "." + std::to_string(rest);
}
[[nodiscard]] inline std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') out.append("&lt;");
    else if (c == '>') out.append("&gt;");
    else if (c == '&') out.append("&amp;");
    else if (c == '"') out.append("&quot;");
    else out.push_back(c);
  }
  return out;
}

/// What a letter of a label takes, about.
inline constexpr double letter_width = 5.8;

enum class Align : std::uint8_t { left, middle, right };

/// Shapes in a frame of its own. `style` is further attributes.
class Drawing {
 public:
  double width = 1200, height = 0;

  void rectangle(double x, double y, double w, double h, std::string_view style, std::string_view tooltip = {}) {
    open("rect");
    attribute("x", x);
    attribute("y", y);
    attribute("width", w);
    attribute("height", h);
    close("rect", style, tooltip);
  }
  void line(double x1, double y1, double x2, double y2, std::string_view style, std::string_view tooltip = {}) {
    open("line");
    attribute("x1", x1);
    attribute("y1", y1);
    attribute("x2", x2);
    attribute("y2", y2);
    close("line", style, tooltip);
  }
  void text(double x, double y, std::string_view what, std::string_view style = {}, Align align = Align::left) {
    constexpr std::string_view anchors[] = {"", " text-anchor=\"middle\"", " text-anchor=\"end\""};
    open("text");
    attribute("x", x);
    attribute("y", y);
    body_.append(anchors[static_cast<int>(align)]);
    if (!style.empty()) body_.append(" ").append(style);
    body_.append(">").append(escaped(what)).append("</text>\n");
  }
  /// A label in a box: all of it, or a part of it that can be told from others; else none.
  void label(double x, double y, double w, double h, std::string_view what, std::string_view style = {}) {
    constexpr std::size_t least = 6;
    const auto room = static_cast<std::size_t>(w > 4 ? (w - 4) / letter_width : 0);
    if (h < 11 || (room < what.size() && room < least + 2)) return;
    const std::string shown = room < what.size() ? std::string(what.substr(0, room - 2)) + ".." : std::string(what);
    text(x + w / 2, y + h / 2 + 4, shown, style, Align::middle);
  }
  [[nodiscard]] const std::string& body() const { return body_; }

 private:
  void open(std::string_view element) { body_.append("<").append(element); }
  void attribute(std::string_view name, double x) { body_.append(" ").append(name).append("=\"").append(number(x)).append("\""); }
  void close(std::string_view element, std::string_view style, std::string_view tooltip) {
    if (!style.empty()) body_.append(" ").append(style);
    if (tooltip.empty()) return static_cast<void>(body_.append("/>\n"));
    body_.append("><title>").append(escaped(tooltip)).append("</title></").append(element).append(">\n");
  }

  std::string body_;
};

/// A file with the drawings one below the other.
[[nodiscard]] inline std::string page(const std::vector<Drawing>& drawings) {
  constexpr double margin = 16;
  double width = 0, height = margin;
  std::string body;
  for (const Drawing& d : drawings) {
    body.append("<g transform=\"translate(").append(number(margin)).append(" ").append(number(height)).append(")\">\n").append(d.body()).append("</g>\n");
    width = width > d.width ? width : d.width;
    height += d.height + margin;
  }
  const std::string size[] = {number(width + 2 * margin), number(height)};
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + size[0] + "\" height=\"" + size[1] + "\" viewBox=\"0 0 " + size[0] + " " + size[1] +
         "\" font-family=\"sans-serif\" font-size=\"11\" fill=\"#222\">\n"
         "<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"6\" markerHeight=\"6\" orient=\"auto\">"
         "<path d=\"M0 0L8 4L0 8z\" fill=\"#444\"/></marker></defs>\n"
         "<rect width=\"" + size[0] + "\" height=\"" + size[1] + "\" fill=\"#fff\"/>\n" + body + "</svg>\n";
}

/// The smallest of 1, 2, 5, 10, 20, 50, ... that divides a range into at most `most` parts.
[[nodiscard]] constexpr std::int64_t decimal_step(std::int64_t range, std::int64_t most) {
  std::int64_t step = 1;
  for (int i = 0; step * most < range; ++i) step = i % 3 == 1 ? step / 2 * 5 : step * 2;
  return step;
}
/// The same of powers of two.
[[nodiscard]] constexpr std::int64_t binary_step(std::int64_t range, std::int64_t most) {
  std::int64_t step = 1;
  while (step * most < range) step *= 2;
  return step;
}

}  // namespace tessera::svg
