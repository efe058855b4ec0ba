// What it costs to trace, lower and emit a kernel, as a module and as C++ with its flags: time for each stage and operation,
// memory for each operation, and how both grow from 10 to 100,000 operations.
//   bench_lowering [--json <file>] [--quick]     exit code 1: a budget does not hold
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <tessera/compile.hpp>

using namespace tessera;

namespace {

// CPU time of the process: others may use the machine.
double now() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_nsec) / 1e3;
}

// Budgets.
constexpr double most_us_of_a_small_kernel = 1000;  // 20 operations, without verification
constexpr double most_us_per_operation = 2;         // trace + names + lower + emit
constexpr double most_us_of_cpp = 5;                // the text of one operation
constexpr double most_us_of_flags = 20;             // of one operation among 100,000; in smaller kernels, insert_sync tries
constexpr double most_us_of_tried_flags = 200;      // to do without each of them
constexpr double most_growth = 1.5;                 // time per operation, 100,000 against 1,000
constexpr double most_growth_of_cpp = 2;            // the same of C++
constexpr double most_bytes_per_operation = 1024;   // of a function, and of the process at its peak

// --- the kernels ---
using Matrix = Shape<64, 64>;

// Ten operations: every second value is named, the others stand inside an expression.
template <class V>
V ten_operations(const V& t, const V& u) {
  auto a = t * u + t;
  auto b = maximum(a - 1.0f, u);
  auto c = abs(b) * 0.5f;
  auto d = minimum(c + a, u);
  return exp(d) - b;
}
// Each value has a name of its own.
template <class V>
V ten_named_operations(const V& t, const V& u) {
  auto a = t * u;
  auto b = a + t;
  auto c = b - 1.0f;
  auto d = maximum(c, u);
  auto e = abs(d);
  auto f = e * 0.5f;
  auto g = f + b;
  auto h = minimum(g, u);
  auto i = exp(h);
  return i - d;
}

/// A chain of `operations` on whole values: a C++ loop inside the lambda, the kernel itself has none.
auto tile_chain(long operations) {
  return kernel("tile_chain_" + std::to_string(operations), [operations](Tensor<Matrix, f32> x, Tensor<Matrix, f32> y, Out<Tensor<Matrix, f32>> out) {
    Tile<Matrix, f32, Vec> u = load<Matrix>(y, at(0, 0));
    std::vector<Tile<Matrix, f32, Vec>> values(1, load<Matrix>(x, at(0, 0)));
    for (long i = 0; i < operations; i += 10) values.push_back(ten_operations(values.back(), u));
    store(values.back(), out, at(0, 0));
  });
}
auto named_chain(long operations) {
  return kernel("named_chain_" + std::to_string(operations), [operations](Tensor<Matrix, f32> x, Tensor<Matrix, f32> y, Out<Tensor<Matrix, f32>> out) {
    Tile<Matrix, f32, Vec> u = load<Matrix>(y, at(0, 0));
    std::vector<Tile<Matrix, f32, Vec>> values(1, load<Matrix>(x, at(0, 0)));
    for (long i = 0; i < operations; i += 10) values.push_back(ten_named_operations(values.back(), u));
    store(values.back(), out, at(0, 0));
  });
}
auto tensor_chain(long operations) {
  return kernel("tensor_chain_" + std::to_string(operations), [operations](Tensor<Matrix, f32> x, Tensor<Matrix, f32> y) {
    std::vector<Tensor<Matrix, f32>> values(1, x);
    for (long i = 0; i < operations; i += 10) values.push_back(ten_operations(values.back(), y));
    return values.back();
  });
}
/// Instructions of three pipes, each of which waits for another one: for the way to C++.
auto window_chain(long operations) {
  return kernel("window_chain_" + std::to_string(operations), [operations](Tensor<Matrix, f32> x, Out<Tensor<Matrix, f32>> out) {
    for (long i = 0; i < operations; i += 3) store(exp(load<Matrix>(x, at(0, 0))), out, at(0, 0));
  });
}
auto softmax() {
  return kernel("softmax", [](Tensor<Shape<64, 128>, f32> x) {
    auto e = exp(x - row_max(x));
    return e / row_sum(e);
  });
}

// --- measuring ---
constexpr int stage_count = 12;
constexpr std::string_view stages[stage_count] = {"trace", "names", "convert", "flatten", "legalize", "spaces", "buffers", "memory", "emit", "total", "sync", "C++"};
constexpr int sync_stage = 10, cpp_stage = 11;  // behind the total, of which they are no part

struct Measured {
  double microseconds[stage_count] = {};  ///< of the whole kernel, without verification
  double verified = 0;                    ///< total with verification between the passes
  long operations = 0;                    ///< recorded
  long function_bytes = 0;                ///< the larger of the recorded and the lowered function
  long text_bytes = 0;
  long peak_bytes = 0;                    ///< growth of the process while all stages run once
};

double since(double& start) {
  const double end = now(), us = end - start;
  start = end;
  return us;
}
long peak() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * 1024;
}

/// Up to the module; returns the lowered function.
template <class K>
Function run_once(const K& kernel, bool verify, double (&us)[stage_count], Measured& m) {
  const double begin = now();
  double start = begin;
  Function f = kernel.trace();
  us[0] = since(start);
  name_from_source(f);
  us[1] = since(start);
  PassOptions options;
  options.verify = verify;
  options.before = [&](const Pass&, const Function&) { start = now(); };
  int stage = 2;
  options.after = [&](const Pass&, const Function&) { us[stage++] = since(start); };
  m.operations = static_cast<long>(f.operation_count());
  m.function_bytes = static_cast<long>(f.memory_bytes());
  Function lowered = run_passes(std::move(f), default_pipeline(), {Arch::a3}, options);
  start = now();
  const std::string text = emit_pto_mlir(lowered, {.arch = Arch::a3});
  us[8] = since(start);
  us[9] = now() - begin;
  m.function_bytes = std::max(m.function_bytes, static_cast<long>(lowered.memory_bytes()));
  m.text_bytes = static_cast<long>(text.size());
  return lowered;
}
/// The way to C++.
void run_cpp(const Function& lowered, double (&us)[stage_count]) {
  double start = now();
  const Function synchronised = insert_sync.run(lowered, {Arch::a3});
  us[sync_stage] = since(start);
  const std::string text = emit_pto_cpp(synchronised, {.arch = Arch::a3});
  us[cpp_stage] = since(start);
}

template <class K>
Measured measure(const K& kernel, double seconds) {
  Measured m;
  const long before = peak();
  double us[stage_count] = {};
  const Function lowered = run_once(kernel, false, us, m);
  m.peak_bytes = peak() - before;
  run_cpp(lowered, us);
  std::copy(us, us + stage_count, m.microseconds);
  static_cast<void>(run_once(kernel, true, us, m));
  m.verified = us[9];
  const double end = now() + seconds * 1e6;
  for (int runs = 0; runs < 5 || now() < end; ++runs) {  // the least of each: the machine may be busy
    static_cast<void>(run_once(kernel, false, us, m));
    run_cpp(lowered, us);
    for (int i = 0; i < stage_count; ++i) m.microseconds[i] = std::min(m.microseconds[i], us[i]);
    if (runs % 4 != 0) continue;
    static_cast<void>(run_once(kernel, true, us, m));
    m.verified = std::min(m.verified, us[9]);
  }
  return m;
}

/// In a process of its own, so that neither memory nor caches tell of the kernels before.
template <class Make>
Measured isolated(Make&& make, double seconds) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("pipe");
  const pid_t child = fork();
  if (child == 0) {
    const Measured m = measure(make(), seconds);
    const bool sent = write(ends[1], &m, sizeof m) == sizeof m;
    _exit(sent ? 0 : 1);
  }
  close(ends[1]);
  Measured m;
  const bool received = read(ends[0], &m, sizeof m) == sizeof m;
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (!received || status != 0) throw std::runtime_error("a measuring process failed");
  return m;
}

struct Row {
  std::string kernel;
  long wished = 0;
  Measured m;
  [[nodiscard]] double per_operation(int stage) const { return m.microseconds[stage] / static_cast<double>(m.operations); }
};

struct Budget {
  std::string what, unit;
  double value = 0, limit = 0;
  [[nodiscard]] bool holds() const { return value <= limit; }
};

std::vector<Budget> budgets(const std::vector<Row>& rows) {
  std::vector<Budget> list;
  for (const Row& r : rows)
    if (r.wished == 20) list.push_back({r.kernel + ", " + std::to_string(r.m.operations) + " operations", "us", r.m.microseconds[9], most_us_of_a_small_kernel});
  for (const Row& r : rows) {
    if (r.wished < 1000) continue;
    const std::string what = r.kernel + ", " + std::to_string(r.wished) + " operations";
    list.push_back({what + ", flags", "us/op", r.per_operation(sync_stage), r.wished < 100000 ? most_us_of_tried_flags : most_us_of_flags});
    list.push_back({what + ", C++", "us/op", r.per_operation(cpp_stage), most_us_of_cpp});
    if (r.kernel == "window_chain") continue;
    list.push_back({what, "us/op", r.per_operation(9), most_us_per_operation});
    list.push_back({what + ", function", "bytes/op", static_cast<double>(r.m.function_bytes) / static_cast<double>(r.m.operations), most_bytes_per_operation});
    if (r.wished == 100000)  // below, what the process needs anyway outweighs it
      list.push_back({what + ", process", "bytes/op", static_cast<double>(r.m.peak_bytes) / static_cast<double>(r.m.operations), most_bytes_per_operation});
  }
  for (const Row& large : rows)
    for (const Row& small : rows)
      if (large.wished == 100000 && small.wished == 1000 && large.kernel == small.kernel) {
        const std::string what = large.kernel + ", 100000 against 1000";
        list.push_back({what, "x", large.per_operation(9) / small.per_operation(9), most_growth});
        list.push_back({what + ", C++", "x", large.per_operation(cpp_stage) / small.per_operation(cpp_stage), most_growth_of_cpp});
      }
  return list;
}

void print_table(const std::vector<Row>& rows) {
  fmt::print("{:<14}{:>8}", "us/op", "ops");
  for (const std::string_view s : stages) fmt::print("{:>9}", s);
  fmt::print("{:>9}{:>11}{:>8}{:>8}{:>8}\n", "verified", "total us", "fn B", "text B", "peak B");
  for (const Row& r : rows) {
    const auto n = static_cast<double>(r.m.operations);
    fmt::print("{:<14}{:>8}", r.kernel, r.m.operations);
    for (int i = 0; i < stage_count; ++i) fmt::print("{:>9.3f}", r.per_operation(i));
    fmt::print("{:>9.3f}{:>11.1f}{:>8.0f}{:>8.0f}{:>8.0f}\n", r.m.verified / n, r.m.microseconds[9], static_cast<double>(r.m.function_bytes) / n,
               static_cast<double>(r.m.text_bytes) / n, static_cast<double>(r.m.peak_bytes) / n);
  }
}

void write_json(const std::string& path, const std::vector<Row>& rows, const std::vector<Budget>& list) {
  std::ofstream out(path);
  out << "{\n  \"kernels\": [";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Measured& m = rows[i].m;
    out << fmt::format("{}\n    {{\"kernel\": \"{}\", \"operations\": {}, \"us\": {{", i == 0 ? "" : ",", rows[i].kernel, m.operations);
    for (int s = 0; s < stage_count; ++s) out << fmt::format("\"{}\": {:.3f}, ", stages[s], m.microseconds[s]);
    out << fmt::format("\"verified\": {:.3f}}}, \"function_bytes\": {}, \"text_bytes\": {}, \"peak_bytes\": {}}}", m.verified, m.function_bytes, m.text_bytes, m.peak_bytes);
  }
  out << "\n  ],\n  \"budgets\": [";
  for (std::size_t i = 0; i < list.size(); ++i)
    out << fmt::format("{}\n    {{\"what\": \"{}\", \"unit\": \"{}\", \"value\": {:.3f}, \"limit\": {}, \"holds\": {}}}", i == 0 ? "" : ",",
                       list[i].what, list[i].unit, list[i].value, list[i].limit, list[i].holds());
  out << "\n  ]\n}\n";
}

}  // namespace

int main(int argc, char** argv) {
  std::string json;
  double seconds = 1;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--json") == 0 && i + 1 < argc) json = argv[++i];
    else if (std::strcmp(argv[i], "--quick") == 0) seconds = 0.1;
    else return fmt::print(stderr, "usage: {} [--json <file>] [--quick]\n", argv[0]), 2;
  }
  std::vector<Row> rows;
  rows.push_back({"softmax", 5, isolated(softmax, seconds)});
  for (const long n : {10L, 20L, 100L, 1000L, 10000L, 100000L}) {
    rows.push_back({"tile_chain", n, isolated([n] { return tile_chain(n); }, seconds)});
    rows.push_back({"named_chain", n, isolated([n] { return named_chain(n); }, seconds)});
    rows.push_back({"window_chain", n, isolated([n] { return window_chain(n); }, seconds)});
    rows.push_back({"tensor_chain", n, isolated([n] { return tensor_chain(n); }, seconds)});
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.kernel < b.kernel; });
  print_table(rows);
  const std::vector<Budget> list = budgets(rows);
  bool all = true;
  fmt::print("\n{:<44}{:>12}{:>10}\n", "budget", "measured", "limit");
  for (const Budget& b : list) {
    all = all && b.holds();
    fmt::print("{:<44}{:>12.2f}{:>10} {:<9} {}\n", b.what, b.value, b.limit, b.unit, b.holds() ? "holds" : "DOES NOT HOLD");
  }
  if (!json.empty()) write_json(json, rows, list);
  return all ? 0 : 1;
}
