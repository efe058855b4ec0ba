// The outside of an emitted function, which emitters and the manifest must see alike: which names are identifiers, and the
// order of its arguments.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "diagnostic.hpp"
#include "function.hpp"

namespace tessera {
namespace detail {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_'; }

// The emitted function is compiled as C++, with C linkage.
inline constexpr std::string_view reserved_words[] = {
    "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case", "catch", "char",
    "char16_t", "char32_t", "char8_t", "class", "co_await", "co_return", "co_yield", "compl", "concept", "const",
    "const_cast", "consteval", "constexpr", "constinit", "continue", "decltype", "default", "delete", "do", "double",
    "dynamic_cast", "else", "enum", "explicit", "export", "extern", "false", "float", "for", "friend", "goto", "if",
    "inline", "int", "long", "main", "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr", "operator",
    "or", "or_eq", "private", "protected", "public", "register", "reinterpret_cast", "requires", "return", "short",
    "signed", "sizeof", "static", "static_assert", "static_cast", "struct", "switch", "template", "this",
    "thread_local", "throw", "true", "try", "typedef", "typeid", "typename", "union", "unsigned", "using", "virtual",
    "void", "volatile", "wchar_t", "while", "xor", "xor_eq"};

}  // namespace detail

/// Letters, digits and '_', and no digit in front.
[[nodiscard]] constexpr bool is_identifier(std::string_view text) {
  for (const char c : text)
    if (!detail::is_word(c)) return false;
  return !text.empty() && !detail::is_digit(text[0]);
}
/// Throws UserError where a kernel's name cannot be that of a file and of a function in the emitted code.
inline void check_kernel_name(std::string_view name, const Location& at) {
  if (!is_identifier(name))
    fail(at, "kernel: the name is not an identifier (" + std::string(name) + ")", "use letters, digits and '_', and no digit in front");
  if (std::find(std::begin(detail::reserved_words), std::end(detail::reserved_words), name) != std::end(detail::reserved_words))
    fail(at, "kernel: the name is a word of C++ (" + std::string(name) + ")", "the emitted function is compiled as C++: use another name");
}

/// A name that no parameter has yet: the wanted one, or that with a number behind it.
[[nodiscard]] inline Text unused_parameter_name(const Function& f, std::string_view wanted) {
  const auto taken = [&](const Text& name) {
    return std::any_of(f.parameters.begin(), f.parameters.end(), [&](const Parameter& p) { return p.name == name; });
  };
  Text name(wanted);
  for (std::int64_t n = 1; taken(name); ++n) name = Text(wanted).append(n);
  return name;
}

/// The named dims in the order in which the emitted function takes them, behind its tensors and scalars: as the parameters
/// name them first, then those that only the body names.
[[nodiscard]] inline std::vector<std::int64_t> argument_dims(const Function& f) {
  std::vector<std::int64_t> dims;
  const auto add = [&](std::int64_t d) {
    if (is_dynamic(d) && std::find(dims.begin(), dims.end(), d) == dims.end()) dims.push_back(d);
  };
  for (const Parameter& p : f.parameters)
    for (int i = 0; i < f.type(p.value).rank; ++i) add(f.type(p.value).dims[i]);
  for (const ValueId v : f.symbols()) add(f[v].integer);
  return dims;
}

/// An argument of the emitted function.
struct FunctionArgument {
  enum class Kind : std::uint8_t { tensor, scalar, dim };
  Kind kind = Kind::tensor;
  std::size_t parameter = 0;  ///< of tensors and scalars: the position in Function::parameters
  std::int64_t dim = 0;       ///< of dims
};
/// The arguments of a lowered function in the order in which it is called: the tensors in the order of the parameters
/// (results among them, behind the others), then the scalars, then the named dims.
[[nodiscard]] inline std::vector<FunctionArgument> function_arguments(const Function& f) {
  using Kind = FunctionArgument::Kind;
  std::vector<FunctionArgument> list;
  for (const Kind kind : {Kind::tensor, Kind::scalar})
    for (std::size_t i = 0; i < f.parameters.size(); ++i)
      if (f.type(f.parameters[i].value).is_tensor() == (kind == Kind::tensor)) list.push_back({kind, i, 0});
  for (const std::int64_t d : argument_dims(f)) list.push_back({Kind::dim, 0, d});
  return list;
}

}  // namespace tessera
