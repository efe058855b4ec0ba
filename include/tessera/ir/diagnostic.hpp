// Errors that a user can cause: one diagnostic each, `file:line: error: <op>: <what> (<numbers>)` and a hint.
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "../ops/descriptor.hpp"

namespace tessera {

/// A place in the user's source.
struct Location {
  const char* file = "";
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

struct Diagnostic {
  Location location;
  std::string message;  ///< "<op>: <what is wrong> (<numbers>)"
  std::string hint;

  /// The two lines that a user reads. Only the file's name is printed when `short_path` is set.
  [[nodiscard]] std::string text(bool short_path = false) const {
    std::string_view file = location.file;
    if (short_path) file.remove_prefix(file.find_last_of('/') + 1);
    std::string out;
    if (!file.empty()) out.append(file).append(":").append(std::to_string(location.line)).append(": ");
    out.append("error: ").append(message);
    if (!hint.empty()) out.append("\n  hint: ").append(hint);
    return out;
  }
};

/// Thrown where a user's program is wrong; a driver prints the diagnostic.
class UserError : public std::exception {
 public:
  explicit UserError(Diagnostic d) : diagnostic_(std::move(d)), text_(diagnostic_.text()) {}
  [[nodiscard]] const Diagnostic& diagnostic() const { return diagnostic_; }
  [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }

 private:
  Diagnostic diagnostic_;
  std::string text_;
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

[[noreturn]] inline void fail(const Location& at, std::string message, std::string hint = {}) {
  throw UserError({at, std::move(message), std::move(hint)});
}

namespace detail {

inline std::string dim_text(std::int64_t dim) {
  return is_dynamic(dim) ? std::string(symbol_of(dim).view()) : std::to_string(dim);
}
inline std::string text_of(const RuleArg& a) {
  switch (a.kind) {
    case RuleArg::dim: return dim_text(a.value);
    case RuleArg::dtype: return std::string(name(static_cast<DType>(a.value)));
    case RuleArg::space: return std::string(name(static_cast<MemorySpace>(a.value)));
    default: return std::to_string(a.value);
  }
}

}  // namespace detail

/// The diagnostic of a broken rule: its text with the operation and the numbers filled in.
[[nodiscard]] inline Diagnostic diagnose(const Verdict& v, std::string_view op, const Location& at) {
  const RuleInfo& r = info(v.broken);
  std::string message(r.text);
  if (const auto p = message.find("{op}"); p != std::string::npos) message.replace(p, 4, op);
  std::string numbers;
  for (int i = 0; i < v.arg_count; ++i) {
    if (v.args[i].kind == RuleArg::op) continue;
    numbers.append(numbers.empty() ? "" : ", ").append(detail::text_of(v.args[i]));
  }
  if (!numbers.empty()) message.append(" (").append(numbers).append(")");
  return {at, std::move(message), std::string(r.hint)};
}

}  // namespace tessera
