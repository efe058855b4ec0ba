// Name hints from the user's source: a value whose line reads `auto scores = q * k;` is called scores in dumps and emitted
// text. A file that cannot be read gives no names; nothing here fails.
#pragma once

#include <fstream>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "program.hpp"
#include "signature.hpp"

namespace tessera {

/// Lines of source files, each file read once.
class SourceFiles {
 public:
  /// A line, counted from 1; empty where there is none.
  [[nodiscard]] std::string_view line(const char* file, std::uint32_t number) {
    const std::vector<std::string>& lines = lines_of(file);
    return number >= 1 && number <= lines.size() ? std::string_view(lines[number - 1]) : std::string_view();
  }

 private:
  const std::vector<std::string>& lines_of(const char* file) {
    if (file == last_) return *last_lines_;
    const auto [found, is_new] = files_.try_emplace(file);
    if (is_new) {
      std::ifstream in(file);
      for (std::string text; std::getline(in, text);) found->second.push_back(text);
    }
    last_ = file;
    return *(last_lines_ = &found->second);
  }

  std::unordered_map<std::string, std::vector<std::string>> files_;
  const char* last_ = nullptr;
  const std::vector<std::string>* last_lines_ = nullptr;
};

namespace detail {

/// The code of a line: without a comment at its end, and with nothing between quotes.
inline std::string code_of(std::string_view line) {
  std::string code;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line.substr(i, 2) == "//" || line.substr(i, 2) == "/*") break;
    code.push_back(line[i]);
    const bool quote = line[i] == '"' || (line[i] == '\'' && (i == 0 || !is_word(line[i - 1])));
    if (!quote) continue;
    const char mark = line[i];
    for (++i; i < line.size() && line[i] != mark; ++i)
      if (line[i] == '\\') ++i;
    code.push_back(mark);
  }
  return code;
}
/// The identifier that ends before position `end`, blanks aside.
inline std::string_view word_before(std::string_view code, std::size_t end) {
  while (end > 0 && code[end - 1] == ' ') --end;
  std::size_t begin = end;
  while (begin > 0 && is_word(code[begin - 1])) --begin;
  return begin < end && !is_digit(code[begin]) ? code.substr(begin, end - begin) : std::string_view();
}
constexpr bool is_assignment(std::string_view code, std::size_t i) {
  constexpr std::string_view compound = "=<>!+-*/%&|^[";
  return code[i] == '=' && (i + 1 == code.size() || code[i + 1] != '=') &&
         (i == 0 || compound.find(code[i - 1]) == std::string_view::npos);
}
/// The variable that the last assignment of a line gives a value; none when the line hands its value on by `return`.
inline std::string assigned_name(std::string_view line) {
  const std::string code = code_of(line);
  std::string_view name;
  std::size_t at = 0;
  for (std::size_t i = 0; i < code.size(); ++i)
    if (is_assignment(code, i)) {
      const std::string_view word = word_before(code, i);
      if (!word.empty() && word.data() != code.data() && word.data()[-1] == '.') continue;  // a member: {.size = 64}
      name = word, at = i;
    }
  const std::string_view value = std::string_view(code).substr(at);
  if (value.find("return") != std::string_view::npos || value.find("kernel(") != std::string_view::npos || value.find("tileop(") != std::string_view::npos) return {};
  return std::string(name);
}
/// The counters of the loops that begin on a line: `for (Index i : range(8))`.
inline std::vector<std::string> counter_names(std::string_view line) {
  const std::string code = code_of(line);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (code[i] != ':' || (i + 1 < code.size() && code[i + 1] == ':') || (i > 0 && code[i - 1] == ':')) continue;
    if (const std::string_view name = word_before(code, i); !name.empty()) names.emplace_back(name);
  }
  return names;
}

struct NamedLine {
  OpId root;  ///< the last operation with a result
  std::vector<OpId> loops;  ///< in the order of the source
};

inline void name_counters(Function& f, const std::vector<OpId>& loops, std::string_view line) {
  const std::vector<std::string> names = counter_names(line);
  for (std::size_t i = 0; i < loops.size() && i < names.size(); ++i) {
    const ValueId counter = f[f.block(loops[i])].arguments[0];
    if (f[counter].name == 0) f.set_name(counter, names[i]);
  }
}

}  // namespace detail

/// Names values of a recorded function that have no name: of each line the result of its last operation, and counters.
inline void name_from_source(Function& f, SourceFiles& files) noexcept {
  try {
    for (std::vector<std::shared_ptr<const Function>>* const list : {&f.tileops, &f.launched})
      for (std::shared_ptr<const Function>& held : *list) {
        const auto named = std::make_shared<Function>(*held);
        name_from_source(*named, files);
        held = named;
      }
    // Lines in the order of their first operation, so that equal functions get equal names.
    std::unordered_map<const char*, std::unordered_map<std::uint32_t, std::size_t>> known;
    std::vector<detail::NamedLine> lines;
    for (std::uint32_t i = 0; i < f.operation_count(); ++i) {
      const OpId op{i};
      const Location& at = f[op].location;
      if (at.line == 0 || !f[op].parent) continue;
      const auto [found, is_new] = known[at.file].try_emplace(at.line, lines.size());
      if (is_new) lines.emplace_back();
      detail::NamedLine& line = lines[found->second];
      if (f.is(op, ops::for_loop)) line.loops.push_back(op);
      else if (f.result_count(op) == 1 && (f.info(op).level != Level::control || f.is(op, ops::call))) line.root = op;
    }
    for (const detail::NamedLine& line : lines) {
      const OpId any = line.root ? line.root : line.loops.empty() ? OpId{} : line.loops[0];
      if (!any) continue;
      const std::string_view text = files.line(f[any].location.file, f[any].location.line);
      detail::name_counters(f, line.loops, text);
      if (!line.root || f[f.result(line.root)].name != 0) continue;
      if (const std::string name = detail::assigned_name(text); !name.empty()) f.set_name(f.result(line.root), name);
    }
  } catch (...) {  // NOLINT(bugprone-empty-catch): without memory there are no hints
  }
}
inline void name_from_source(Function& f) noexcept {
  SourceFiles files;
  name_from_source(f, files);
}

inline void name_from_source(Program& p, SourceFiles& files) noexcept {
  for (Function& f : p.functions) name_from_source(f, files);
}
inline void name_from_source(Program& p) noexcept {
  SourceFiles files;
  name_from_source(p, files);
}

}  // namespace tessera
