// The `.pto` text and the C++ of whole kernels, byte for byte. TESSERA_UPDATE_GOLDEN=1 rewrites the files.
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "support/catch.hpp"
#include "support/pto_kernels.hpp"
#include "tessera/emit/pto_cpp.hpp"
#include "tessera/emit/pto_mlir.hpp"
#include "tessera/ir/addresses.hpp"
#include "tessera/passes/memory/map.hpp"
#include "tessera/passes/plan_memory.hpp"

using namespace programs;

namespace {

void compare_with_file(const std::string& file, const std::string& text, const std::string& folder = "pto") {
  const std::string path = std::string(TESSERA_TEST_DIR) + "/golden/" + folder + "/" + file;
  if (std::getenv("TESSERA_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  std::ifstream in(path, std::ios::binary);
  const std::string expected{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  INFO(path);
  REQUIRE(text == expected);
}

}  // namespace

TEST_CASE("kernels for a3 are written as expected") {
  for (const NamedKernel& k : kernels) {
    const LoweredKernel l = k.make();
    compare_with_file(std::string(k.name) + ".a3.pto", emit_pto_mlir(l->f, {.arch = Arch::a3}));
  }
}

TEST_CASE("at level 3 tiles have addresses; the memory map tells them") {
  for (const NamedKernel& k : kernels) {
    const Function f = plan_memory.run(k.make()->f, {Arch::a3});
    compare_with_file(std::string(k.name) + ".a3.level3.pto", emit_pto_mlir(f, {.arch = Arch::a3, .level = 3}));
    compare_with_file(std::string(k.name) + ".a3.memory.txt", memory_map(f));
    CHECK_FALSE(address_fault(f));
    // The assembler plans at level 2, and must be told what fits in place only.
    const std::string planned = emit_pto_mlir(f, {.arch = Arch::a3});
    if (k.make == full_space) compare_with_file("full_space.a3.in_place.pto", planned);
    else CHECK(planned == emit_pto_mlir(k.make()->f, {.arch = Arch::a3}));
  }
  const Function f = plan_memory.run(matmul_loop()->f, {Arch::a5});
  compare_with_file("matmul_loop.a5.level3.pto", emit_pto_mlir(f, {.arch = Arch::a5, .level = 3}));
}

TEST_CASE("the left operand's layout is the target's") {
  compare_with_file("matmul_loop.a5.pto", emit_pto_mlir(matmul_loop()->f, {.arch = Arch::a5}));
}

TEST_CASE("a window of a tile has another name in assembler 0.27") {
  Lowered l("windows");
  const Type t = tensor_type(f32, {32, 64});
  const ValueId x = l.load(l.parameter("x", t), tile_type(f32, {32, 64}));
  const ValueId y = l.op(ops::slice, {x, l.index(8), l.index(16)}, {}, tile_type(f32, {8, 16}));
  const ValueId z = l.op(ops::assemble, {x, l.op(ops::exp, {y}), l.index(0), l.index(0)});
  l.store(z, l.parameter("out", t, Direction::out));
  l.finish();
  compare_with_file("windows.a3.v0_27.pto", emit_pto_mlir(l.f, {.assembler = Assembler::v0_27, .comments = false}));
  compare_with_file("windows.a3.pto", emit_pto_mlir(l.f, {.comments = false, .locations = true}));
}

TEST_CASE("kernels as C++ are written as expected") {
  for (const NamedKernel& k : kernels) {
    const std::string_view chosen[] = {"vector_add", "softmax", "matmul_loop", "dynamic_tail", "scalar_if", "while_sum", "columns", "mixed_loop"};
    if (std::find(std::begin(chosen), std::end(chosen), k.name) == std::end(chosen)) continue;
    const Function f = for_cpp(*k.make());
    const std::string text = emit_pto_cpp(f);
    compare_with_file(std::string(k.name) + ".a3.cpp", text, "cpp");
    CHECK(emit_pto_cpp(f) == text);
  }
}
