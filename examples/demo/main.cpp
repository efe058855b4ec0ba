// tessera_demo --out DIR: every example kernel is lowered, written as DIR/<name>.pto (and for a5, which alone has simt kernels, as
// DIR/a5/<name>.pto), and its lowered program is simulated and compared with a reference in double precision. One line each.
#include <cstdio>
#include <exception>
#include <string>

#include <tessera/driver.hpp>

#include "references.hpp"

namespace demo {
namespace {

using namespace tessera;

struct Row {
  std::size_t tensor_operations = 0, tile_operations = 0, instructions = 0;
  std::uint64_t bytes = 0;
  double error = 0, allowed = 0;
};

std::size_t count_operations(const Function& f) {
  std::size_t n = 0;
  for (const OpId op : all_operations(f))
    if (f.is(op, ops::call)) ++n;
    else if (f.is(op, ops::to_tile) || f.is(op, ops::to_tensor)) continue;
    else if (f.info(op).level == Level::shaped || f.info(op).level == Level::tensor || f.info(op).level == Level::tile) ++n;
  return n;
}
/// Lines of a module that begin with a tile instruction.
std::size_t count_instructions(const std::string& pto) {
  std::size_t n = 0;
  for (std::size_t at = 0; at != std::string::npos; at = pto.find('\n', at)) {
    at = pto.find_first_not_of("\n ", at);
    if (at != std::string::npos && pto.compare(at, 5, "pto.t") == 0) ++n;
  }
  return n;
}

Numbers numbers(const Argument& a) {
  if (a.tensor() == nullptr) return {{}, {a.is_integer() ? static_cast<double>(a.integer()) : a.real()}};
  return {a.tensor()->dims(), a.tensor()->values()};
}
/// Infinite where one side is NaN.
double error_of(const HostTensor& got, const Numbers& wanted) {
  if (got.dims() != wanted.dims) return std::numeric_limits<double>::infinity();
  double largest = 0;
  for (std::int64_t i = 0; i < got.size(); ++i) {
    const double w = wanted.values[static_cast<std::size_t>(i)], d = tessera::detail::difference(got.get(i), w);
    if (d != 0) largest = std::max(largest, d / std::max(1.0, std::abs(w)));
  }
  return largest;
}

/// Runs the lowered function once and returns its largest error.
double run(const Function& recorded, const Function& lowered, const Reference& reference, const Setting& setting,
           Row& row) {
  const std::vector<driver::SettingName> names = driver::setting_names(recorded);
  for (const auto& [name, value] : setting)
    if (std::none_of(names.begin(), names.end(), [&](const auto& n) { return n.name == name; }))
      fail(recorded.location, "demo: the kernel has no run-time dim or scalar of this name (" + name + ")",
           "correct examples/demo/references.cpp");
  const driver::RandomArguments arguments(recorded, 1, driver::complete(recorded, 1, setting));
  std::vector<Argument> list = arguments.list();
  std::vector<Numbers> inputs;
  std::vector<const HostTensor*> outputs;
  for (const Argument& a : list) inputs.push_back(numbers(a));
  for (std::size_t i = 0; i < list.size(); ++i)
    if (recorded.parameters[i].direction != Direction::in) outputs.push_back(list[i].tensor());
  const std::vector<Numbers> wanted = reference.compute(inputs);
  Statistics done;
  SimulateOptions options;
  options.agreement = Agreement::off;
  options.statistics = &done;
  const std::vector<HostTensor> results = simulate_lowered(recorded, lowered, list, options);
  for (const HostTensor& r : results) outputs.push_back(&r);
  if (row.bytes == 0) row.bytes = done.gm_bytes_read + done.gm_bytes_written;
  if (outputs.size() != wanted.size()) return std::numeric_limits<double>::infinity();
  double largest = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) largest = std::max(largest, error_of(*outputs[i], wanted[i]));
  return largest;
}

/// Everything about one kernel; the files are added to `a3` and `a5`. Throws where the kernel is wrong.
Row process(const KernelEntry& kernel, driver::OutputFiles& a3, driver::OutputFiles& a5) {
  SourceFiles sources;
  Row row;
  const Function recorded = driver::trace(kernel, sources);
  row.tensor_operations = count_operations(recorded);
  const Reference* const reference = find_reference(driver::name_of(kernel));
  if (reference == nullptr)
    fail(kernel.location(), "demo: the kernel has no reference (" + driver::name_of(kernel) + ")",
         "add one to examples/demo/references.cpp");
  row.allowed = reference->allowed;
  for (const Arch arch : {Arch::a3, Arch::a5}) {
    if (recorded.kind == FunctionKind::simt && arch == Arch::a3) continue;
    const Function lowered = lower(recorded, {.arch = arch});
    const std::string text = emit_pto_mlir(lowered, {.arch = arch});
    (arch == Arch::a3 ? a3 : a5).add(driver::name_of(kernel) + ".pto", text);
    if (arch == Arch::a3 || recorded.kind == FunctionKind::simt) {
      row.tile_operations = count_operations(lowered);
      row.instructions = count_instructions(text);
    }
    for (const Setting& setting : reference->runs)
      row.error = std::max(row.error, run(recorded, lowered, *reference, setting, row));
  }
  return row;
}

int demonstrate(const std::string& directory) {
  const driver::Environment env{Registry::instance(), std::cout, std::cerr};
  driver::Errors errors(std::cerr);
  driver::check_registry(env.kernels, errors);
  driver::OutputFiles a3(directory), a5(directory + "/a5");
  std::size_t count = 0, good = 0;
  std::puts("kernel             tensor ops  tile ops  PTO instr.   GM bytes      error    allowed");
  driver::Selection(env, {}).for_each([&](const KernelEntry& kernel) {
    if (kernel.kind() == FunctionKind::tileop) return;  // it runs in the kernels that call it
    Row row;
    ++count;
    const bool done = errors.attempt(&kernel, [&] { row = process(kernel, a3, a5); });
    const bool ok = done && row.error <= row.allowed;
    good += ok ? 1 : 0;
    if (done && !ok) std::fputs(("allowed: " + find_reference(driver::name_of(kernel))->why + "\n").c_str(), stderr);
    std::fputs(fmt::format("{:<18} {:>10} {:>9} {:>11} {:>10} {:>10.2e} {:>10.2e}  {}\n", driver::name_of(kernel),
                           row.tensor_operations, row.tile_operations, row.instructions, row.bytes, row.error,
                           row.allowed, ok ? "ok" : "FAILED")
                   .c_str(),
               stdout);
    std::fflush(stdout);
  });
  const bool written = errors.attempt(nullptr, [&] { static_cast<void>(a3.commit() + a5.commit()); });
  std::puts(
      fmt::format("{} of {} kernels are right; .pto files in {} (a3) and {}/a5", good, count, directory, directory)
          .c_str());
  return good == count && written && !errors.any() ? 0 : 1;
}

}  // namespace
}  // namespace demo

int main(int argc, char** argv) {
  if (argc != 3 || std::string(argv[1]) != "--out") {
    std::fputs("usage: tessera_demo --out DIR\n", stderr);
    return 2;
  }
  try {
    return demo::demonstrate(argv[2]);
  } catch (const std::exception& e) {
    std::fputs(fmt::format("tessera_demo: {}\n", e.what()).c_str(), stderr);
    return 3;
  }
}
