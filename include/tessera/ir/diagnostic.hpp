// Errors that a user can cause: one diagnostic each, `file:line: error: <op>: <what> (<numbers>)` and a hint.
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>

#include "../core/pool.hpp"
#include "../ops/descriptor.hpp"

namespace tessera {

/// A place in the user's source.
struct Location {
  const char* file = "";
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

/// The file's name, without its folder.
[[nodiscard]] constexpr std::string_view short_file(const Location& at) {
  std::string_view file = at.file;
  file.remove_prefix(file.find_last_of('/') + 1);
  return file;
}
/// "softmax.cpp:9"; "?" where the place is not known.
[[nodiscard]] inline Text place_text(const Location& at) {
  return at.file[0] == 0 ? Text("?") : Text(short_file(at)).append(":").append(at.line);
}

namespace detail {
inline Text diagnostic_text(std::string_view file, std::uint32_t line, std::string_view message, std::string_view hint) {
  Text text;
  if (!file.empty()) text.append(file).append(":").append(line).append(": ");
  text.append("error: ").append(message);
  if (!hint.empty()) text.append("\n  hint: ").append(hint);
  return text;
}
}  // namespace detail

struct Diagnostic {
  Location location;
  std::string message;  ///< "<op>: <what is wrong> (<numbers>)"
  std::string hint;

  /// The two lines that a user reads. Only the file's name is printed when `short_path` is set.
  [[nodiscard]] std::string text(bool short_path = false) const {
    return detail::diagnostic_text(short_path ? short_file(location) : location.file, location.line, message, hint);
  }
};

/// Thrown where a user's program is wrong; a driver prints the diagnostic.
class UserError : public std::exception {
 public:
  struct texts {};  // tells this constructor from the one that takes a diagnostic
  UserError(texts, const Location& at, const Text& message, const Text& hint)
      : location_(at), message_(message), hint_(hint), text_(detail::diagnostic_text(at.file, at.line, message, hint)) {}
  explicit UserError(const Diagnostic& d) : UserError(texts{}, d.location, d.message, d.hint) {}
  [[nodiscard]] Diagnostic diagnostic() const { return {location_, message_.str(), hint_.str()}; }
  [[nodiscard]] const Location& location() const { return location_; }
  [[nodiscard]] std::string_view message() const { return message_; }
  [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }

 private:
  Location location_;
  Text message_, hint_, text_;
};

/// Thrown where the library contradicts itself; `what()` names the pass or part and shows the IR where there is one.
class InternalError : public std::exception {
 public:
  explicit InternalError(const std::string& text) : text_("internal error: " + text) {}
  /// Without the words in front.
  [[nodiscard]] std::string text() const { return text_.substr(std::string_view("internal error: ").size()); }
  [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

[[noreturn]] inline void fail(const Location& at, const Text& message, const Text& hint = {}) {
  throw UserError(UserError::texts{}, at, message, hint);
}

namespace detail {

inline void append_number(Text& text, const RuleArg& a) {
  switch (a.kind) {
    case RuleArg::dim:
      if (is_dynamic(a.value)) text.append(symbol_of(a.value).view());
      else text.append(a.value);
      break;
    case RuleArg::dtype: text.append(name(static_cast<DType>(a.value))); break;
    case RuleArg::space: text.append(name(static_cast<MemorySpace>(a.value))); break;
    default: text.append(a.value);
  }
}
inline std::string dim_text(std::int64_t dim) {
  Text text;
  append_number(text, arg_dim(dim));
  return text;
}

/// The text of a broken rule, with the operation and the numbers filled in.
[[nodiscard]] inline Text rule_text(const Verdict& v, std::string_view op) {
  const std::string_view pattern = info(v.broken).text;
  constexpr std::string_view mark = "{op}";
  Text text;
  const std::size_t p = pattern.find(mark);
  if (p == std::string_view::npos) text.append(pattern);
  else text.append(pattern.substr(0, p)).append(op).append(pattern.substr(p + mark.size()));
  bool first = true;
  for (int i = 0; i < v.arg_count; ++i) {
    if (v.args[i].kind == RuleArg::op) continue;
    text.append(first ? " (" : ", ");
    append_number(text, v.args[i]);
    first = false;
  }
  if (!first) text.append(")");
  return text;
}

}  // namespace detail

/// The diagnostic of a broken rule.
[[nodiscard]] inline Diagnostic diagnose(const Verdict& v, std::string_view op, const Location& at) {
  return {at, detail::rule_text(v, op), std::string(info(v.broken).hint)};
}
/// Reports a broken rule.
[[noreturn]] inline void refuse(const Verdict& v, std::string_view op, const Location& at) {
  throw UserError(UserError::texts{}, at, detail::rule_text(v, op), info(v.broken).hint);
}

}  // namespace tessera
