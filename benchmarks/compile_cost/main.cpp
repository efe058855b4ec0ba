// What a kernel file costs to compile, as a ratio to a file that includes only <vector> and <string>: CPU time and peak
// memory of the compiler. The measured sources are generated here; runs are interleaved, so that noise hits all alike.
//   bench_compile_cost --include <directory>... [--compiler <name>]... [--runs <n>] [--json <file>]
// Exit code 1: a budget does not hold.
#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

extern char** environ;  // NOLINT: as POSIX declares it

namespace {

// --- the measured sources ---
constexpr const char* chain[] = {
    "x + y", "%s * x", "%s - y", "%s * 2.0f", "%s - row_max(%s)", "%s / y", "sqrt(%s)", "abs(%s) + x", "maximum(%s, y)", "%s + 1.0f", "exp(%s)",
};
std::string replaced(std::string text, const std::string& by) {
  for (std::size_t at; (at = text.find("%s")) != std::string::npos;) text.replace(at, 2, by);
  return text;
}
/// `kernels` kernels over as many shapes, with `operations` operations altogether.
std::string kernels(int kernels, int operations) {
  std::string s("#include <tessera/kernel.hpp>\nnamespace my_kernels {\nusing namespace tessera;\n");
  for (int k = 0; k < kernels; ++k) {
    const std::string n = std::to_string(k), tensor = std::string("Tensor<Shape<16, ").append(std::to_string(8 * (k + 1))).append(">, f32>");
    s.append("inline const auto k").append(n).append(" = kernel(\"k").append(n).append("\", [](");
    s.append(tensor).append(" x, ").append(tensor).append(" y) {\n");
    int made = 0;
    std::string last;
    const int wanted = operations / kernels;
    for (int i = 0; made < wanted; ++i) {
      const std::string form = chain[i == 0 ? 0 : 1 + (i - 1) % 10];
      made += form == "%s - row_max(%s)" || form == "abs(%s) + x" ? 2 : 1;
      const std::string t = std::string("t").append(std::to_string(i));
      s.append("  auto ").append(t).append(" = ").append(replaced(form, last)).append(";\n");
      last = t;
    }
    s.append("  return ").append(last).append(";\n});\n");
  }
  return s.append("}\n");
}
constexpr const char* softmax = R"(#include <tessera/kernel.hpp>
namespace my_kernels {
using namespace tessera;
inline const auto softmax = kernel("softmax", [](Tensor<Shape<64, 128>, f32> x) {
  auto e = exp(x - row_max(x));
  return e / row_sum(e);
});
}
)";

struct Source {
  std::string name;
  std::string text;
};
enum : std::size_t { unit, header, small, ten, hundred, shapes_25, shapes_100, source_count };
std::vector<Source> sources() {
  return {{"vector+string", "#include <string>\n#include <vector>\n"},
          {"kernel.hpp", "#include <tessera/kernel.hpp>\n"},
          {"softmax", softmax},
          {"10_ops", kernels(1, 10)},
          {"100_ops", kernels(1, 100)},
          {"100_ops_25_shapes", kernels(25, 100)},
          {"1000_ops_100_shapes", kernels(100, 1000)}};
}

// --- measuring ---
struct Cost {
  double seconds = 0;  ///< user and system time of the compiler and what it starts
  long kib = 0;        ///< of its largest process
};
Cost run(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& a : command) arguments.push_back(const_cast<char*>(a.c_str()));  // NOLINT: posix_spawn does not write
  arguments.push_back(nullptr);
  pid_t child = 0;
  if (posix_spawnp(&child, arguments[0], nullptr, nullptr, arguments.data(), environ) != 0) throw std::runtime_error("cannot start " + command[0]);
  int status = 0;
  rusage usage{};
  wait4(child, &status, 0, &usage);
  if (status != 0) throw std::runtime_error(command[0] + " refuses " + command.back());
  const auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6; };
  return {seconds(usage.ru_utime) + seconds(usage.ru_stime), usage.ru_maxrss};
}

struct Case {
  std::string compiler, mode;  ///< mode: -fsyntax-only, -O0, -O2
  std::size_t source = 0;
  std::vector<double> seconds = {};
  std::vector<long> kib = {};
  [[nodiscard]] double least() const { return *std::min_element(seconds.begin(), seconds.end()); }
  [[nodiscard]] double median() const {
    std::vector<double> sorted = seconds;
    std::sort(sorted.begin(), sorted.end());
    return sorted[sorted.size() / 2];
  }
  [[nodiscard]] long least_kib() const { return *std::min_element(kib.begin(), kib.end()); }
};

struct Options {
  std::vector<std::string> compilers, includes;
  int runs = 5;
  std::string json;
};

std::vector<Case> cases(const Options& options) {
  std::vector<Case> list;
  for (const std::string& compiler : options.compilers)
    for (const char* mode : {"-fsyntax-only", "-O0", "-O2"})
      for (std::size_t s = 0; s < source_count; ++s)
        if (s <= header || std::strcmp(mode, "-fsyntax-only") != 0) list.push_back({compiler, mode, s});
  return list;
}
void measure(std::vector<Case>& list, const std::vector<Source>& all, const Options& options, const std::filesystem::path& directory) {
  for (int i = 0; i < options.runs; ++i) {
    for (Case& c : list) {
      std::vector<std::string> command{c.compiler, "-std=c++20", c.mode};
      for (const std::string& include : options.includes) command.push_back("-I" + include);
      if (c.mode[1] == 'O') command.insert(command.end(), {"-c", "-o", (directory / "out.o").string()});
      command.push_back((directory / (all[c.source].name + ".cpp")).string());
      const Cost cost = run(command);
      c.seconds.push_back(cost.seconds);
      c.kib.push_back(cost.kib);
    }
    std::fprintf(stderr, "run %d of %d\n", i + 1, options.runs);
  }
}

const Case& find(const std::vector<Case>& list, const Case& like, std::size_t source) {
  for (const Case& c : list)
    if (c.compiler == like.compiler && c.mode == like.mode && c.source == source) return c;
  throw std::logic_error("no such case");
}

// --- budgets ---
struct Budget {
  std::string what;
  double value = 0, limit = 0;  ///< limit 0: none, for information
  [[nodiscard]] bool holds() const { return limit == 0 || value <= limit; }
};
Budget budget(const std::vector<Case>& list, const Case& c) {
  const auto against = [&](std::size_t other) { return c.least() / find(list, c, other).least(); };
  if (c.mode == "-fsyntax-only") return c.source == header ? Budget{"x vector+string", against(unit), 2.2} : Budget{};
  if (c.source <= header || c.mode != "-O0") return {};
  switch (c.source) {
    case small:
    case ten: return {"x kernel.hpp", against(header), 1.5};
    case hundred: return {"x kernel.hpp", against(header), 2};
    case shapes_25: return {"x kernel.hpp", against(header), 4};
    default: return {"ms/operation", (c.least() - find(list, c, header).least()), 10};  // 1000 operations
  }
}

bool report(const std::vector<Case>& list, const std::vector<Source>& all) {
  bool hold = true;
  std::printf("%-12s %-14s %-20s %8s %8s %8s %8s %8s   %s\n", "compiler", "mode", "source", "min s", "median s", "x unit", "MiB", "x unit", "budget");
  for (const Case& c : list) {
    const Case& one = find(list, c, unit);
    std::printf("%-12s %-14s %-20s %8.3f %8.3f %8.2f %8.1f %8.2f", c.compiler.c_str(), c.mode.c_str(), all[c.source].name.c_str(), c.least(), c.median(),
                c.least() / one.least(), static_cast<double>(c.least_kib()) / 1024, static_cast<double>(c.least_kib()) / static_cast<double>(one.least_kib()));
    const Budget b = budget(list, c);
    if (b.limit > 0) std::printf("   %.2f %s, at most %.1f%s", b.value, b.what.c_str(), b.limit, b.holds() ? "" : "  DOES NOT HOLD");
    std::printf("\n");
    hold = hold && b.holds();
  }
  return hold;
}
void write_json(const std::string& path, const std::vector<Case>& list, const std::vector<Source>& all) {
  std::ofstream out(path);
  out << "[";
  for (const Case& c : list) {
    const Case& one = find(list, c, unit);
    const Budget b = budget(list, c);
    out << (&c == list.data() ? "\n" : ",\n") << "  {\"compiler\": \"" << c.compiler << "\", \"mode\": \"" << c.mode << "\", \"source\": \"" << all[c.source].name
        << "\", \"min_s\": " << c.least() << ", \"median_s\": " << c.median() << ", \"kib\": " << c.least_kib() << ", \"time_ratio\": " << c.least() / one.least();
    if (b.limit > 0) out << ", \"budget\": {\"unit\": \"" << b.what << "\", \"value\": " << b.value << ", \"limit\": " << b.limit << ", \"holds\": " << (b.holds() ? "true" : "false") << "}";
    out << "}";
  }
  out << "\n]\n";
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string key = argv[i], value = argv[i + 1];
    if (key == "--include") options.includes.push_back(value);
    else if (key == "--compiler") options.compilers.push_back(value);
    else if (key == "--runs") options.runs = std::max(1, std::atoi(value.c_str()));
    else if (key == "--json") options.json = value;
    else throw std::runtime_error("unknown option " + key);
  }
  if (argc % 2 == 0 || options.includes.empty())
    throw std::runtime_error("usage: bench_compile_cost --include <directory>... [--compiler <name>]... [--runs <n>] [--json <file>]");
  if (options.compilers.empty()) options.compilers = {"g++", "clang++-19"};
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Options options = parse(argc, argv);
    std::string name = (std::filesystem::temp_directory_path() / "tessera_compile_cost.XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a directory: " + name);
    const std::filesystem::path directory(name);
    const std::vector<Source> all = sources();
    for (const Source& s : all) std::ofstream(directory / (s.name + ".cpp")) << s.text;
    std::vector<Case> list = cases(options);
    measure(list, all, options, directory);
    std::filesystem::remove_all(directory);
    if (!options.json.empty()) write_json(options.json, list, all);
    return report(list, all) ? 0 : 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "bench_compile_cost: %s\n", e.what());
    return 2;
  }
}
