// The emitted C++ compiles with the public PTO tile library, and gives on its CPU simulator what our simulator gives.
// TESSERA_PTO_ISA names the library, in the environment or as a definition; TESSERA_PTO_ISA_COMPILER its compiler (clang++-19).
#include <cmath>
#include <iostream>
#include <list>
#include <optional>

#include "support/catch.hpp"
#include "support/cpu_simulator.hpp"
#include "support/pto_programs.hpp"
#include "tessera/driver/environment.hpp"
#include "tessera/driver/random_arguments.hpp"
#include "tessera/emit/pto_cpp.hpp"
#include "tessera/passes/pipeline.hpp"

using namespace tessera;
using namespace programs;  // NOLINT
using test::CpuSimulator;

namespace {

std::string library() {
#ifdef TESSERA_PTO_ISA
  return test::environment("TESSERA_PTO_ISA", TESSERA_PTO_ISA);
#else
  return test::environment("TESSERA_PTO_ISA", "");
#endif
}
bool absent() {
  if (!library().empty()) return false;
  std::cout << "skipped: TESSERA_PTO_ISA is not set\n";
  return true;
}

/// The largest error beside the numbers' own size, in steps of 2^-8 of what the type resolves.
double error_of(const HostTensor& got, const HostTensor& wanted) {
  double largest = 0;
  for (std::int64_t i = 0; i < got.size(); ++i) {
    const double g = got.get(i), w = wanted.get(i);
    if (g == w || (std::isnan(g) && std::isnan(w))) continue;
    const double d = std::abs(g - w) / std::max(1.0, std::abs(w));
    largest = std::max(largest, std::isnan(d) ? INFINITY : d);
  }
  return largest;
}
double allowed(DType d) { return d == f32 ? 1e-5 : d == f16 ? 4e-3 : d == bf16 ? 1.6e-2 : 0; }

/// Random arguments of a recorded kernel, and tensors for the results that its lowering made parameters.
struct Arguments {
  Arguments(const Function& recorded, const Function& lowered, std::uint64_t seed)
      : settings(driver::complete(recorded, seed, {})), given(recorded, seed, settings) {
    for (const Argument& a : given.list())
      if (a.tensor() != nullptr) tensors.push_back(*a.tensor());
    for (std::size_t i = given.list().size(); i < lowered.parameters.size(); ++i) {
      const Type& t = lowered.type(lowered.parameters[i].value);
      std::vector<std::int64_t> dims(t.dims, t.dims + t.rank);
      for (std::int64_t& d : dims)
        if (is_dynamic(d)) d = static_cast<std::int64_t>(settings.at(std::string(symbol_of(d).view())));
      tensors.emplace_back(t.dtype, dims);
    }
    std::size_t next = 0;
    for (std::size_t i = 0; i < lowered.parameters.size(); ++i) {
      if (lowered.type(lowered.parameters[i].value).is_tensor()) list.emplace_back(tensors[next++]);
      else list.push_back(given.list()[i]);
    }
  }
  Arguments(const Arguments&) = delete;
  driver::Settings settings;
  driver::RandomArguments given;
  std::vector<HostTensor> tensors;
  std::vector<Argument> list;
};

struct Limit {
  std::string_view kernel, reason;
};
/// What the simulator does otherwise than the hardware; these kernels are compiled only.
constexpr Limit limits[] = {
    {"paged_scores", "TLOAD fills all of a tile with its padding before it loads, so a load into a window erases what is beside it"},
};

/// Kernels that run on the CPU simulator, and what they give.
class Batch {
 public:
  explicit Batch(Arch arch) : arch_(arch), simulator_(library(), arch) {}

  /// `recorded`: what the arguments are random for. Where our simulator refuses them the kernel is compiled only.
  void add(const Function& recorded, const Function& lowered) {
    const std::string text = emit_pto_cpp(lowered, {.arch = arch_});
    Case& c = cases_.emplace_back();
    c.lowered = lowered;
    c.text = text;
    c.expected.emplace(recorded, c.lowered, 1);
    c.got.emplace(recorded, c.lowered, 1);
    try {
      SimulateOptions options;
      if (!has_sync(lowered)) options.pipe_checks = PipeChecks::off;  // operations one by one: the simulator there is in order
      static_cast<void>(simulate(c.lowered, c.expected->list, options));
    } catch (const UserError& e) {
      std::cout << "compiled only: " << lowered.name.c_str() << " for " << name(arch_) << " (random arguments are refused: " << e.diagnostic().message << ")\n";
      c.runs = false;
      return simulator_.add(c.text);
    }
    c.number = simulator_.add(c.lowered, c.text, c.got->list);
  }
  /// A kernel that is compiled only.
  void compile(const Function& lowered) {
    Case& c = cases_.emplace_back();
    c.lowered = lowered;
    c.text = emit_pto_cpp(lowered, {.arch = arch_});
    c.runs = false;
    simulator_.add(c.text);
  }
  void run() {
    if (!simulator_.build()) return find_faults();
    const bool all_ran = simulator_.run_all();
    for (Case& c : cases_)
      if (c.runs) check(c, all_ran);
  }

 private:
  struct Case {
    Function lowered;
    std::string text;
    std::optional<Arguments> expected, got;
    std::size_t number = 0;
    bool runs = true;
  };
  void find_faults() {
    for (const Case& c : cases_) {
      const bool compiles = simulator_.compiles(c.text);
      INFO(c.lowered.name.c_str() << " for " << name(arch_) << "\n" << c.text << simulator_.words());
      CHECK(compiles);
    }
  }
  // One that stops ends the process of all: then each runs in one of its own.
  void check(Case& c, bool all_ran) {
    const bool ran = all_ran || simulator_.run(c.number);
    if (ran) simulator_.take_results(c.number, c.lowered, c.got->list);
    INFO(c.lowered.name.c_str() << " for " << name(arch_) << "\n" << c.text << simulator_.words());
    CHECK(ran);
    for (std::size_t i = 0; ran && i < c.got->tensors.size(); ++i) {
      INFO("tensor " << i);
      CHECK(error_of(c.got->tensors[i], c.expected->tensors[i]) <= allowed(c.got->tensors[i].dtype()));
    }
  }

  Arch arch_;
  CpuSimulator simulator_;
  std::list<Case> cases_;
};

const Limit* limit_of(std::string_view kernel) {
  for (const Limit& l : limits)
    if (l.kernel == kernel) return &l;
  return nullptr;
}

}  // namespace

TEST_CASE("every example kernel gives the same numbers on the CPU simulator, with tile operations in place and as functions") {
  if (absent()) return;
  const Registry& kernels = Registry::instance();
  SourceFiles sources;
  REQUIRE(kernels.size() > 10);
  for (const Arch arch : {Arch::a3, Arch::a5}) {
    Batch batch(arch);
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      const Program p = driver::trace_all(kernels[i], sources);
      for (const Function& f : p.functions) {
        if (f.kind != FunctionKind::kernel || (f.target != Function::any_target && f.target != static_cast<int>(arch))) continue;
        const Function lowered = run_passes(f, full_pipeline(), {arch, true});
        const Limit* const limit = limit_of(std::string_view(f.name));
        if (!f.tileops.empty() && limit == nullptr) {
          Function called = f;
          called.name.append("_called");
          batch.add(called, run_passes(called, full_pipeline(), {arch, true, TileopForm::called}));
        }
        if (limit == nullptr) {
          batch.add(f, lowered);
          continue;
        }
        std::cout << "compiled only: " << limit->kernel << " (" << limit->reason << ")\n";
        batch.compile(lowered);
      }
    }
    batch.run();
  }
}

namespace {
/// What the simulator refuses to compile, or does with other numbers than the hardware, which is compiled only.
enum class Kind : std::uint8_t { refused, other_numbers };
struct OperationLimit {
  std::string_view operation;
  DTypeSet dtypes;  ///< none: all
  Kind kind;
  std::string_view reason;
  bool windows = false;  ///< of operands that are windows only
};
constexpr std::string_view no_dtype = "the simulator's instruction refuses the element type";
constexpr std::string_view one_type = "the simulator's instruction wants operands and result of one tile type";
constexpr std::string_view no_window = "the simulator's instruction takes no window of wider rows";
constexpr std::string_view no_infinity = "the simulator pads f16 with 0, since it knows no infinity of it";
constexpr std::string_view load_erases = "TLOAD fills all of a tile with its padding before it loads, so a load into a window erases what is beside it";
constexpr DTypeSet summed = dtypes(i8, u8, i16, u16, i32, u32);
constexpr OperationLimit operation_limits[] = {
    {"abs", {}, Kind::refused, one_type, true},
    {"add", {}, Kind::refused, one_type, true},
    {"part_add", dtypes(u16, u32), Kind::refused, no_dtype},
    {"part_mul", dtypes(u16, u32), Kind::refused, no_dtype},
    {"part_max", dtypes(u16, u32), Kind::refused, no_dtype},
    {"part_min", dtypes(u16, u32), Kind::refused, no_dtype},
    {"row_sum", dtypes(u16, u32), Kind::refused, no_dtype},
    {"col_sum", summed, Kind::refused, no_dtype},
    {"col_max", summed, Kind::refused, no_dtype},
    {"col_min", summed, Kind::refused, no_dtype},
    {"col_sum", {}, Kind::refused, no_window, true},
    {"col_max", {}, Kind::refused, no_window, true},
    {"col_min", {}, Kind::refused, no_window, true},
    {"scatter_strided", dtypes(i8, u8), Kind::refused, no_dtype},
    {"compare", dtypes(i8, u8, i16, u16, u32), Kind::refused, no_dtype},
    {"fillpad", dtypes(f16, bf16), Kind::other_numbers, no_infinity},
    {"fillpad_expand", dtypes(f16, bf16), Kind::other_numbers, no_infinity},
    {"gather_row", {}, Kind::other_numbers, load_erases},
    {"sort32", dtypes(f16), Kind::other_numbers, "TSORT32 of f16 writes each block of 32 over half of the one before"},
    {"random", {}, Kind::other_numbers, "the simulator puts the four words of a lane 64 columns apart, the instruction of a5 beside each other"},
    {"reinterpret", dtypes(bf16), Kind::other_numbers, "bf16 is f16 on the simulator, so the bits of a number are others"},
};
const OperationLimit* limit_of(const OpInfo& op, DType d, bool windows) {
  for (const OperationLimit& l : operation_limits)
    if (l.operation == op.name && (l.dtypes.bits == 0 || l.dtypes.contains(d)) && (windows || !l.windows)) return &l;
  return nullptr;
}
// One operation, where rules and emitter allow it. The name tells both.
void add_operation(Batch& batch, const OpInfo& op, DType d, Arch arch, bool windows) {
  Lowered l(std::string(op.name) + "_" + std::string(name(d)) + (windows ? "_windows" : "") + (op.level == Level::scalar ? "_scalar" : ""));
  l.windows = windows;
  try {
    const ValueId v = call(l, op, d, op.scratch != ScratchRule::none && &op != &ops::gather_flat);
    if (!v) return;
    sink(l, v);
    const Function planned = for_cpp(l, arch);
    const OperationLimit* const limit = op.level == Level::scalar ? nullptr : limit_of(op, d, windows);
    if (limit == nullptr) return batch.add(planned, planned);
    const bool compiles = limit->kind == Kind::other_numbers;
    std::cout << (compiles ? "compiled only: " : "not compiled: ") << l.f.name.c_str() << " for " << name(arch) << " (" << limit->reason << ")\n";
    if (compiles) batch.compile(planned);
    else static_cast<void>(emit_pto_cpp(planned, {.arch = arch}));
  } catch (const UserError&) { return; }
}
// Kernels and parameters that are called like what the library and its headers define.
void add_names(Batch& batch, Arch arch) {
  for (const std::string name : {"Tile", "AICORE", "printf", "exp", "launch_n1", "n1"}) {
    Lowered l(name);
    sink(l, l.op(ops::exp, {source(l, name == "n1" ? "NULL" : "__gm__", tile_type(f32, {32, 64}))}));
    batch.compile(for_cpp(l, arch));
  }
}
}  // namespace

TEST_CASE("every operation gives the same numbers for the element types of its table") {
  if (absent()) return;
  for (const Arch arch : {Arch::a3, Arch::a5}) {
    Batch batch(arch);
    add_names(batch, arch);
    for (const ops::Family& family : ops::families)
      for (const OpInfo* op : family)
        for (const DType d : all_dtypes) {
          if (op->level == Level::control || !accepts_on(*op, d, arch)) continue;
          add_operation(batch, *op, d, arch, false);
          if (op->level != Level::scalar && (d == f32 || d == i16)) add_operation(batch, *op, d, arch, true);
        }
    batch.run();
  }
}
