// What keeps the pages true: every fenced block of a page is compiled, quoted from a file, or compared with real output. An
// HTML comment in front of a block says which:
//   <!-- compile: kernel -->        declarations of kernels; one namespace for a page, with `using namespace tessera`
//   <!-- compile: body -->          statements of a kernel's lambda; the first line is `// parameters: <type> <name>, ...`
//   <!-- mistake -->                such statements, one line of which is refused: `// error: <regex of the first error line>`
//   <!-- compile: file name -->     a file as it stands (of any language); further blocks of the name continue it
//   <!-- quoted: path -->           each line stands in that file, in this order
//   <!-- ir: k after pass -->       what `<generator> lower k --print-after-all` prints (`ir: k as recorded`;
//                                   `ir: k called after pass`: with --tileop call)
//   <!-- output: name -->           each line stands in the output of the command of that name, in this order
//   <!-- no compile -->             a fragment
#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

struct Block {
  std::size_t line = 0;  ///< of the first line of its text, from 1
  std::string language, directive;
  std::vector<std::string> text;
};
struct Page {
  fs::path path;
  std::vector<std::string> lines;
  std::vector<Block> blocks;
};

bool starts_with(const std::string& text, const std::string& with) { return text.rfind(with, 0) == 0; }
std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r"), last = text.find_last_not_of(" \t\r");
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}
/// What stands behind `word`, or nothing where the text does not begin with it.
bool behind(const std::string& text, const std::string& word, std::string& rest) {
  if (!starts_with(text, word)) return false;
  rest = trimmed(text.substr(word.size()));
  return true;
}
std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}
std::vector<std::string> read_lines(const fs::path& path) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error("cannot read " + path.string());
  std::ostringstream text;
  text << in.rdbuf();
  return lines_of(text.str());
}
Page read_page(const fs::path& path) {
  Page page{path, read_lines(path), {}};
  bool inside = false;
  for (std::size_t i = 0; i < page.lines.size(); ++i) {
    const std::string& line = page.lines[i];
    if (starts_with(line, "```")) {
      inside = !inside;
      if (!inside) continue;
      Block b{i + 2, trimmed(line.substr(3)), {}, {}};
      const std::string above = i > 0 ? trimmed(page.lines[i - 1]) : "";
      if (starts_with(above, "<!--")) b.directive = trimmed(above.substr(4, above.size() - 7));
      page.blocks.push_back(b);
    } else if (inside) {
      page.blocks.back().text.push_back(line);
    }
  }
  return page;
}
std::string place(const Page& page, const Block& b) { return page.path.string() + ":" + std::to_string(b.line) + ": "; }
std::string identifier(const fs::path& path) {
  std::string out = path.stem().string();
  for (char& c : out)
    if (c == '-' || c == '.') c = '_';
  return out;
}
void write_if_changed(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ostringstream old;
  if (std::ifstream in(path); in) old << in.rdbuf();
  if (!fs::exists(path) || old.str() != text) std::ofstream(path) << text;
}

/// The first line of a block of statements names their parameters.
std::string parameters(const Page& page, const Block& b) {
  std::string rest;
  if (b.text.empty() || !behind(b.text[0], "// parameters:", rest))
    throw std::runtime_error(place(page, b) + "error: the block does not begin with `// parameters: `");
  return rest;
}
/// A case of a compile-fail test, see tests/reject/README.
std::string mistake_case(const Page& page, const Block& b, int number) {
  std::string out = "#elif CASE == " + std::to_string(number) + "\nvoid test(" + parameters(page, b) + ") {\n";
  const std::string mark = "// error: ";
  for (std::string line : b.text) {
    if (const std::size_t at = line.find(mark); at != std::string::npos) line.replace(at, mark.size(), "// expect: ");
    out.append(line).append("\n");
  }
  return out + "}\n";
}

/// Writes <directory>/<page>.cpp with the kernels and bodies of a page, <page>_mistakes.cpp, and its files into
/// <directory>/<page>/.
int extract(const Page& page, const fs::path& directory) {
  const std::string name = identifier(page.path);
  std::ostringstream kernels;
  std::string mistakes;
  int mistake_count = 0;
  std::map<std::string, std::string> files;
  kernels << "#include <tessera/kernel.hpp>\n\nnamespace doc_" << name << " {\nusing namespace tessera;\n";
  for (const Block& b : page.blocks) {
    const std::string line = "#line " + std::to_string(b.line) + " " + '"' + page.path.string() + "\"\n";
    std::string rest, text;
    for (const std::string& t : b.text) text.append(t).append("\n");
    if (b.directive == "compile: kernel") {
      kernels << line << text;
    } else if (b.directive == "compile: body") {
      const std::string own = "doc_" + name + "_" + std::to_string(b.line);
      kernels << "inline const auto " << own << " = kernel(\"" << own << "\", [](" << parameters(page, b) << ") {\n"
              << line << text << "});\n";
    } else if (b.directive == "mistake") {
      mistakes.append(mistake_case(page, b, ++mistake_count));
    } else if (behind(b.directive, "compile: file", rest)) {
      files[rest].append(text);
    }
  }
  kernels << "}  // namespace doc_" << name << "\n";
  write_if_changed(directory / (name + ".cpp"), kernels.str());
  if (mistake_count > 0)
    write_if_changed(directory / (name + "_mistakes.cpp"),
                     "#include <tessera/kernel.hpp>\nusing namespace tessera;\n#if CASE == 0\nvoid test() {}\n" + mistakes + "#endif\n");
  for (const auto& [file, text] : files) write_if_changed(directory / name / file, text);
  return 0;
}

// --- checks ---
/// Whether a word is a number with an exponent: its digits depend on the C library.
bool is_small_number(const std::string& word) {
  return word.find("e-") != std::string::npos && word.find_first_not_of("0123456789.e-") == std::string::npos;
}
/// A line without what differs between machines: width of columns, directories, digits of small numbers.
std::string normal(const std::string& line) {
  std::istringstream in(line);
  std::string out;
  for (std::string word; in >> word;) {
    const std::size_t slash = word.rfind('/');
    if (slash != std::string::npos && slash + 1 < word.size()) word.erase(0, slash + 1);
    out.append(out.empty() ? "" : " ").append(is_small_number(word) ? "#" : word);
  }
  return out;
}
/// The first line of `wanted` that does not stand in `all`, in order; the count of lines when all of them do.
std::size_t first_missing(const std::vector<std::string>& wanted, const std::vector<std::string>& all) {
  std::size_t next = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const std::string line = normal(wanted[i]);
    if (line.empty() || line == "..." || line == "// ..." || starts_with(line, "$ ")) continue;
    while (next < all.size() && normal(all[next]) != line) ++next;
    if (next++ >= all.size()) return i;
  }
  return wanted.size();
}
std::string output_of(const std::string& command) {
  FILE* const pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot run " + command);
  std::string out;
  char buffer[4096];
  while (std::size_t n = std::fread(buffer, 1, sizeof buffer, pipe)) out.append(buffer, n);
  const int status = pclose(pipe);
  if (!WIFEXITED(status) || WEXITSTATUS(status) == 127) throw std::runtime_error("cannot run " + command + "\n" + out);
  return out;
}

bool known(const Block& b) {
  for (const char* d : {"compile: kernel", "compile: body", "mistake", "no compile"})
    if (b.directive == d) return true;
  for (const char* d : {"compile: file ", "quoted: ", "ir: ", "output: "})
    if (starts_with(b.directive, d)) return true;
  return false;
}
std::string without_code(const std::string& line) {
  std::string out;
  bool inside = false;
  for (const char c : line) {
    if (c == '`') inside = !inside;
    else if (!inside) out.push_back(c);
  }
  return out;
}
/// Targets of `[text](target)` outside of code.
std::vector<std::pair<std::size_t, std::string>> links(const Page& page) {
  std::vector<std::pair<std::size_t, std::string>> list;
  bool inside = false;
  for (std::size_t i = 0; i < page.lines.size(); ++i) {
    if (starts_with(page.lines[i], "```")) inside = !inside;
    const std::string line = inside ? "" : without_code(page.lines[i]);
    for (std::size_t at = line.find("]("); at != std::string::npos; at = line.find("](", at + 2))
      list.emplace_back(i + 1, line.substr(at + 2, line.find(')', at) - at - 2));
  }
  return list;
}
/// The anchor of a heading, as it is made on the web.
std::string anchor(const std::string& heading) {
  std::string out;
  for (const char c : trimmed(heading.substr(heading.find_first_not_of('#')))) {
    if (c >= 'A' && c <= 'Z') out.push_back(static_cast<char>(c - 'A' + 'a'));
    else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_') out.push_back(c);
    else if (c == ' ') out.push_back('-');
  }
  return out;
}
bool has_anchor(const fs::path& path, const std::string& wanted) {
  for (const std::string& line : read_lines(path))
    if (starts_with(line, "#") && anchor(line) == wanted) return true;
  return false;
}
/// Each C++, IR and CMake block says what it is; quotations and links hold.
int check(const Page& page, const fs::path& root) {
  int faults = 0;
  const auto fault = [&](const std::string& text) {
    std::cerr << text << '\n';
    ++faults;
  };
  for (const Block& b : page.blocks) {
    const bool needs = b.language == "cpp" || b.language == "ir" || b.language == "cmake";
    if ((needs || !b.directive.empty()) && !known(b))
      fault(place(page, b) + "error: the block does not say how it is checked (" + b.language + ")\n" +
            "  hint: put a comment in front of it, see docs/generate/blocks.cpp");
    std::string file;
    if (!behind(b.directive, "quoted:", file)) continue;
    const std::size_t missing = first_missing(b.text, read_lines(root / file));
    if (missing < b.text.size()) fault(place(page, b) + "error: not in " + file + ": " + b.text[missing]);
  }
  for (const auto& [line, link] : links(page)) {
    if (link.find("://") != std::string::npos) continue;
    const std::size_t hash = link.find('#');
    const fs::path target = hash == 0 ? page.path : page.path.parent_path() / link.substr(0, hash);
    if (!fs::exists(target) || (hash != std::string::npos && !has_anchor(target, link.substr(hash + 1))))
      fault(page.path.string() + ":" + std::to_string(line) + ": error: the link leads nowhere (" + link + ")");
  }
  return faults;
}

/// What the generator prints for one kernel, by "as recorded", "after <pass>". `called`: tile operations stay functions.
std::map<std::string, std::vector<std::string>> stages(const std::string& generator, const std::string& kernel, bool called) {
  std::map<std::string, std::vector<std::string>> all;
  std::string stage;
  for (const std::string& line : lines_of(output_of(generator + " lower " + kernel + " --print-after-all" + (called ? " --tileop call" : "")))) {
    if (behind(line, "// " + kernel + ":", stage)) continue;
    if (stage.empty()) throw std::runtime_error(line);
    if (!line.empty()) all[stage].push_back(line);
  }
  return all;
}
/// Compares the IR blocks of a page with real output, or writes them.
int ir(Page page, const std::string& generator, bool write) {
  std::map<std::string, std::map<std::string, std::vector<std::string>>> known_kernels;
  int faults = 0;
  for (auto b = page.blocks.rbegin(); b != page.blocks.rend(); ++b) {  // from the end: line numbers stay
    std::string wanted;
    if (!behind(b->directive, "ir:", wanted)) continue;
    const std::string kernel = wanted.substr(0, wanted.find(' '));
    std::string stage = trimmed(wanted.substr(kernel.size()));
    const bool called = behind(stage, "called ", stage);
    const std::string known = kernel + (called ? " called" : "");
    if (known_kernels.find(known) == known_kernels.end()) known_kernels[known] = stages(generator, kernel, called);
    const std::vector<std::string>& real = known_kernels[known][stage];
    if (real.empty()) throw std::runtime_error(place(page, *b) + "error: there is no such stage (" + wanted + ")");
    if (real == b->text) continue;
    if (write) {
      const auto first = page.lines.begin() + static_cast<std::ptrdiff_t>(b->line - 1);
      page.lines.erase(first, first + static_cast<std::ptrdiff_t>(b->text.size()));
      page.lines.insert(page.lines.begin() + static_cast<std::ptrdiff_t>(b->line - 1), real.begin(), real.end());
      continue;
    }
    std::cerr << place(page, *b) << "error: the IR is not what the library prints (" << wanted
              << ")\n  hint: cmake --build --preset dev --target docs_update\n";
    ++faults;
  }
  if (write) {
    std::string text;
    for (const std::string& line : page.lines) text.append(line).append("\n");
    write_if_changed(page.path, text);
  }
  return faults;
}
/// Compares the output blocks of a name with what the command prints.
int output(const Page& page, const std::string& name, const std::string& command) {
  int faults = 0;
  const std::vector<std::string> real = lines_of(output_of(command));
  for (const Block& b : page.blocks) {
    std::string wanted;
    if (!behind(b.directive, "output:", wanted) || wanted != name) continue;
    const std::size_t missing = first_missing(b.text, real);
    if (missing == b.text.size()) continue;
    std::cerr << place(page, b) << "error: " << name << " does not print: " << b.text[missing] << '\n';
    ++faults;
  }
  if (faults > 0)
    for (const std::string& line : real) std::cerr << "  | " << line << '\n';
  return faults;
}

int run(const std::vector<std::string>& arguments) {
  const std::string mode = arguments.empty() ? "" : arguments[0];
  if (mode == "extract" && arguments.size() == 3) return extract(read_page(arguments[1]), arguments[2]);
  if (mode == "output" && arguments.size() == 4) return output(read_page(arguments[1]), arguments[2], arguments[3]);
  int faults = 0;
  if (mode == "check" && arguments.size() > 2) {
    for (std::size_t i = 2; i < arguments.size(); ++i) faults += check(read_page(arguments[i]), arguments[1]);
    return faults;
  }
  if ((mode == "check-ir" || mode == "write-ir") && arguments.size() > 2) {
    for (std::size_t i = 2; i < arguments.size(); ++i) faults += ir(read_page(arguments[i]), arguments[1], mode == "write-ir");
    return faults;
  }
  std::cerr << "usage: blocks extract <page> <directory>\n"
               "       blocks output <page> <name> <command>\n"
               "       blocks check <source directory> <page>...\n"
               "       blocks check-ir|write-ir <generator> <page>...\n";
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(std::vector<std::string>(argv + 1, argv + argc)) == 0 ? 0 : 1;
  } catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return 1;
  }
}
