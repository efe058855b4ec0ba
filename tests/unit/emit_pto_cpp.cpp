// C++ for the tile library: what single operations become, flags and barriers, names, and what is refused.
#include "support/catch.hpp"
#include "support/pto_programs.hpp"
#include "tessera/emit/pto_cpp.hpp"
#include "tessera/ops/sync.hpp"
#include "tessera/passes/insert_sync.hpp"

using namespace programs;

namespace {

std::string cpp_of(const Lowered& l, Arch arch = Arch::a3) { return emit_pto_cpp(for_cpp(l, arch), {.arch = arch}); }
/// The text of one operation on f32, or another type.
std::string cpp_of(const OpInfo& op, DType d = f32, Arch arch = Arch::a3) {
  Lowered l("k");
  sink(l, call(l, op, d, op.scratch != ScratchRule::none));
  return cpp_of(l, arch);
}
bool contains(const std::string& text, std::string_view part) {
  if (text.find(part) != std::string::npos) return true;
  UNSCOPED_INFO(part << "\n is not in\n" << text);
  return false;
}
std::string refusal(const Lowered& l, Arch arch = Arch::a3) {
  try {
    return cpp_of(l, arch);
  } catch (const UserError& e) { return e.diagnostic().text(); }
}

}  // namespace

TEST_CASE("an instruction is called as the descriptor says, in capitals, result first") {
  CHECK(contains(cpp_of(ops::maximum), "  TMAX(maximum, x_tile, y_tile);  // kernel.cpp:3\n"));
  CHECK(contains(cpp_of(ops::row_expand_sub), "TROWEXPANDSUB(row_expand_sub, x_tile, y_tile);"));
  CHECK(contains(cpp_of(ops::row_sum), "TROWSUM(row_sum, x_tile, scratch);"));
  CHECK(contains(cpp_of(ops::adds), "TADDS(adds, x_tile, s);"));
  CHECK(contains(cpp_of(ops::full), "TEXPANDS(full, s);"));
  CHECK(contains(cpp_of(ops::cast), "TCVT(cast, x_tile, RoundMode::CAST_RINT, SaturationMode::OFF);"));
  CHECK(contains(cpp_of(ops::compares), "TCMPS(compares, x_tile, s, CmpMode::LT);"));
  CHECK(contains(cpp_of(ops::select), "TSEL(select, compare, x_tile, y_tile, scratch);"));
  CHECK(contains(cpp_of(ops::fillpad), "TFILLPAD(fillpad, x_tile);"));
  CHECK(contains(cpp_of(ops::fillpad), "Tile<TileType::Vec, float, 32, 64, BLayout::RowMajor, 32, 64, SLayout::NoneBox, 512, PadValue::Min> fillpad;"));
  CHECK(contains(cpp_of(ops::fillpad_expand), "TFILLPAD<TFillPadMode::Expand>(fillpad_expand, x_tile);"));
  CHECK(contains(cpp_of(ops::gather_mask), "TGATHER<decltype(gather_mask), decltype(x_tile), MaskPattern::P1010>(gather_mask, x_tile);"));
  CHECK(contains(cpp_of(ops::scatter_strided), "TSCATTER<MaskPattern::P0100, ScatterAxis::SCATTER_ROW>(tile, x_tile);"));
  CHECK(contains(cpp_of(ops::merge_sort2), "TMRGSORT<decltype(merge_sort2), decltype(scratch), decltype(x_tile), decltype(y_tile), false>(merge_sort2, taken, scratch, x_tile, y_tile);"));
  CHECK(contains(cpp_of(ops::random, u32, Arch::a5), "TRANDOM<7>(random, key, counter);"));
  CHECK(contains(cpp_of(ops::read), "const float n = x_tile.GetValue(197);"));
  CHECK(contains(cpp_of(ops::write), "x_tile.SetValue(197, s);"));
  CHECK(contains(cpp_of(ops::matmul_acc, f16), "TMATMUL_ACC(matmul, matmul, "));
}

TEST_CASE("the more exact form of an instruction is asked for by its algorithm") {
  Lowered l("k");
  const ValueId x = source(l, "x", tile_type(f32, {32, 64}));
  sink(l, l.op(ops::exp, {x}, {int_attr(AttrKey::high_precision, 1)}));
  CHECK(contains(cpp_of(l), "TEXP<ExpAlgorithm::HIGH_PRECISION>(exp, x_tile);"));
}

TEST_CASE("a window is a tile of its own at its address, with the rows of the whole") {
  Lowered l("k");
  const ValueId x = source(l, "x", tile_type(f32, {32, 64})), n = l.parameter("row", index_scalar);
  const ValueId w = l.op(ops::slice, {x, l.index(8), l.index(32)}, {}, tile_type(f32, {16, 32}));
  const ValueId at_run_time = l.op(ops::slice, {x, n, l.index(0)}, {}, tile_type(f32, {1, 64}));
  l.store(l.op(ops::exp, {w}), l.parameter("a", tensor_type(f32, {16, 32}), Direction::out));
  sink(l, l.op(ops::exp, {at_run_time}));
  const std::string text = cpp_of(l);
  CHECK(contains(text, "Tile<TileType::Vec, float, 16, 64, BLayout::RowMajor, 16, 32> x_tile_window;\n  TASSIGN(x_tile_window, 2176);"));
  CHECK(contains(text, "Tile<TileType::Vec, float, 1, 64> x_tile_window_2;\n  TASSIGN(x_tile_window_2, row * 64 * 4);"));
}

TEST_CASE("a Mat tile is read transposed where it is, and moved in parts") {
  CHECK(contains(cpp_of(ops::transpose_view, f16), "Tile<TileType::Mat, half, 64, 32, BLayout::RowMajor, 64, 32, SLayout::ColMajor> b_tile_2;\n  TASSIGN(b_tile_2, "));
  Lowered l("k");
  const ValueId a = source(l, "a", tile_type(f16, {32, 64}, Mat)), n = l.parameter("n", index_scalar);
  const ValueId part = l.op(ops::slice, {a, l.index(16), n}, {}, tile_type(f16, {16, 32}, Mat));
  const ValueId left = l.op(ops::move, {part}, {}, tile_type(f16, {16, 32}, Left));
  sink(l, l.op(ops::matmul, {left, source(l, "b", tile_type(f16, {32, 32}, Right))}));
  CHECK(contains(cpp_of(l), "TEXTRACT(move, a_tile, 16, n);"));
  CHECK(contains(cpp_of(l), "#if defined(__DAV_CUBE__)"));
}

TEST_CASE("flags and barriers are those of the function") {
  Lowered l("k");
  const ValueId x = source(l, "x", tile_type(f32, {32, 64}));
  const auto pipe = [](AttrKey key, Pipe p) { return int_attr(key, static_cast<std::int64_t>(p)); };
  const Attr flag[] = {pipe(AttrKey::pipe, Pipe::mte2), pipe(AttrKey::to_pipe, Pipe::vector), int_attr(AttrKey::event, 3)};
  const auto control = [&](const OpInfo& op, std::vector<Attr> attrs) { l.b.emit(op, std::vector<ValueId>{}, attrs, Type{}); };
  control(ops::set_flag, {std::begin(flag), std::end(flag)});
  control(ops::wait_flag, {std::begin(flag), std::end(flag)});
  control(ops::barrier, {pipe(AttrKey::pipe, Pipe::vector)});
  const ValueId y = l.op(ops::exp, {x});
  l.store(y, l.parameter("out", tensor_type(f32, {32, 64}), Direction::out));
  SECTION("a barrier of all pipes is added at the end") {}
  SECTION("where there is none") { control(ops::barrier, {pipe(AttrKey::pipe, Pipe::none)}); }
  l.finish();
  const std::string text = cpp_of(l);
  CHECK(contains(text, "  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID3);\n  wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID3);\n  pipe_barrier(PIPE_V);\n"));
  const std::size_t first = text.find("pipe_barrier(PIPE_ALL);");
  CHECK(first != std::string::npos);
  CHECK(text.find("pipe_barrier(PIPE_ALL);", first + 1) == std::string::npos);
}

TEST_CASE("what matrix and vector cores run does not compile for hardware") {
  Lowered l("both");
  const ValueId a = source(l, "a", tile_type(f16, {16, 32}, Left)), product = l.op(ops::matmul, {a, source(l, "b", tile_type(f16, {32, 32}, Right))});
  const ValueId moved = l.op(ops::move, {product}, {}, tile_type(f32, {16, 32}));
  sink(l, l.op(ops::exp, {moved}));
  CHECK(contains(cpp_of(l), "#if !defined(__CPU_SIM)\n"
                            "#error \"both mixes matrix and vector instructions, which run on separate cores that these flags do not order\"\n"
                            "#endif\n\nextern \"C\" __global__ AICORE void kernel_both("));
  CHECK(cpp_of(ops::exp).find("#error") == std::string::npos);
  CHECK(cpp_of(ops::matmul_acc, f16).find("#error") == std::string::npos);
}

TEST_CASE("scalars wrap as the simulator's do, and names are neither the language's nor the library's") {
  Lowered l("k");
  const ValueId a = l.parameter("half", scalar_type(i32)), b = l.parameter("float", scalar_type(u8)), c = l.parameter("T_1", scalar_type(f32));
  const ValueId out = l.parameter("x y", tensor_type(i32, {64}), Direction::out);
  l.op(ops::write, {out, l.op(ops::scalar_mul, {a, l.f.constant(i32, std::int64_t{-2147483647} - 1)}), l.index(3)});
  l.op(ops::scalar_add, {b, b});
  l.op(ops::scalar_max, {c, l.f.constant(f32, -1.0 / 0.0)});
  l.op(ops::scalar_neg, {c});
  l.finish();
  const std::string text = cpp_of(l);
  CHECK(contains(text, "void kernel_k(__gm__ int32_t* x_y, int32_t half_, uint8_t float_, float T_1_) {"));
  CHECK(contains(text, "static_cast<int32_t>(static_cast<uint32_t>(half_) * static_cast<uint32_t>(INT32_MIN));"));
  CHECK(contains(text, "const uint8_t n_2 = static_cast<uint8_t>(static_cast<uint32_t>(float_) + static_cast<uint32_t>(float_));"));
  CHECK(contains(text, "(T_1_ > -__builtin_inff() || T_1_ != T_1_) ? T_1_ : -__builtin_inff();"));
  CHECK(contains(text, "x_y[3] = n;"));
  CHECK(contains(text, "dcci("));
}

TEST_CASE("names of macros, types and functions that the text or the headers it includes need are kept apart") {
  cpp::Names names;
  for (const std::string_view taken : {"NULL", "NAN", "INT32_MAX", "M_PI", "AICORE", "Tile", "TADD", "Coord", "__gm__", "_Atomic", "assert", "stdout", "errno",
                                       "cache_line_t", "set_mask_norm", "float8_e4m3_t", "std"})
    CHECK(names.unique(taken) == std::string(taken) + "_");
  for (const std::string_view free : {"K", "BN", "exp", "printf", "_row", "tile"}) CHECK(names.unique(free) == free);
}

TEST_CASE("a kernel may be called like anything that the library defines, and like a function that launches another one") {
  for (const std::string name : {"Tile", "AICORE", "printf", "launch_n1"}) {
    Lowered l(name.c_str());
    sink(l, l.op(ops::exp, {source(l, "__gm__", tile_type(f32, {32, 64}))}));
    const std::string text = cpp_of(l);
    CHECK(contains(text, "AICORE void kernel_" + name + "(__gm__ float* __gm___, __gm__ float* "));
    CHECK(contains(text, "extern \"C\" void launch_" + name + "(uint32_t blocks, void* stream, void* __gm___, "));
    CHECK(contains(text, "  kernel_" + name + "<<<blocks, nullptr, stream>>>("));
  }
}

TEST_CASE("names are numbered in their order, also when they are many") {
  cpp::Names names;
  for (const std::string_view expected : {"x", "x_2"}) CHECK(names.unique(expected) == expected);
  CHECK(names.unique("x") == "x_3");
  CHECK(names.unique("x_2") == "x_2_2");
  CHECK(names.unique("x") == "x_4");
  // In a time that grows with the square of their number this takes minutes.
  std::string last;
  for (int i = 0; i < 100'000; ++i) last = names.unique("exp");
  CHECK(last == "exp_100000");
}

TEST_CASE("C++ is refused by name, at the user's line, with a hint") {
  Lowered wide("k");
  wide.windows = true;
  sink(wide, call(wide, ops::transpose, f32, true));
  CHECK(refusal(wide) == "/home/user/kernel.cpp:4: error: transpose: the instruction takes no window of wider rows (operand 0: 64 of 80 columns)\n"
                         "  hint: copy the window first, move<Vec>(...), or emit the kernel as .pto");
  Lowered inside("k");
  const ValueId x = source(inside, "x", tile_type(f32, {32, 64}));
  sink(inside, inside.op(ops::exp, {inside.op(ops::slice, {x, inside.index(1), inside.index(3)}, {}, tile_type(f32, {8, 8}))}));
  CHECK(contains(refusal(inside), "kernel.cpp:2: error: slice: the window does not start at a whole block of 32 bytes (byte 268)\n  hint: "));
  Lowered matches("k");
  sink(matches, call(matches, ops::find_positions, f32));
  CHECK(contains(refusal(matches), "error: find_positions: the tile library takes the number in a tile, and not as a scalar\n  hint: emit the kernel as .pto"));
}

TEST_CASE("a function without addresses for the target is a contradiction") {
  Lowered l("k");
  sink(l, call(l, ops::exp, f32));
  CHECK_THROWS_AS(emit_pto_cpp(l.f), InternalError);
  CHECK_THROWS_AS(emit_pto_cpp(for_cpp(l), {.arch = Arch::a5}), InternalError);
}

TEST_CASE("a function whose pipes nothing orders is refused, also where it needs no flag") {
  for (const bool needs_flags : {true, false}) {
    Lowered l("k");
    if (needs_flags) sink(l, call(l, ops::exp, f32));
    else l.finish();
    const Function planned = plan_memory.run(l.f, {Arch::a3});
    std::string said;
    try {
      said = emit_pto_cpp(planned);
    } catch (const UserError& e) { said = e.diagnostic().text(); }
    CHECK(said == "kernel.cpp:1: error: emit_pto_cpp: nothing orders the pipes of the function, and the tile library adds no flags (k)\n"
                  "  hint: lower it with {.synchronise = true}");
    const Function synchronised = insert_sync.run(planned, {Arch::a3});
    CHECK(contains(emit_pto_cpp(synchronised), "void kernel_k("));
    CHECK_FALSE(plan_memory.run(synchronised, {Arch::a3}).synchronised);  // its flags were for other addresses
  }
}
