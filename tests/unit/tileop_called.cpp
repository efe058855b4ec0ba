// Tile operations that stay functions: the text of the function and of its calls, one function for equal bodies, what is refused,
// and the order of the pipes around calls.
#include "support/catch.hpp"
#include "support/ir.hpp"
#include "tessera/compile.hpp"
#include "tessera/emit/pto_cpp.hpp"
#include "tessera/emit/pto_mlir.hpp"
#include "tessera/ir/printer.hpp"
#include "tessera/ir/walk.hpp"
#include "tessera/kernel.hpp"
#include "tessera/passes/inline_tileops.hpp"
#include "tessera/passes/pass.hpp"

using namespace tessera;
using tessera::test::contains;
using tessera::test::golden;

namespace {

using T = Tile<Shape<16, 64>, f32, Vec>;
using X = Tensor<Shape<16, 64>, f32>;
using Long = Tensor<Shape<dyn<"S">, 64>, f32>;

inline const auto softmax_rows = tileop("softmax_rows", params("x"), [](T x) {
  auto e = exp(x - row_max(x));
  return e / row_sum(e);
});
inline const auto scale = tileop("scale", params("x", "s"), [](T x, Scalar<f32> s) { return x * s; });
inline const auto add_to = tileop("add_to", params("y", "x"), [](InOut<T> y, T x) { y = y + x; });
inline const auto centre = tileop("centre", params("x", "i", "out"), [](Long x, Index i, Out<Long> out) {
  auto t = load<Shape<16, 64>>(x, at(i, 0), clamped);
  store(t - row_max(t), out, at(i, 0));
});
inline const auto product_on = tileop("product_on", params("c", "a", "b"), [](InOut<Tile<Shape<16, 32>, f32, Acc>> c, Tile<Shape<16, 64>, f16, Left> a, Tile<Shape<64, 32>, f16, Right> b) {
  c = matmul_acc(c, a, b);
});

const auto twice = kernel("twice", params("x"), [](X x) { return softmax_rows(softmax_rows(x)); });
const auto scales = kernel("scales", params("x", "s"), [](X x, Scalar<f32> s) { return scale(scale(scale(x, 2.0f), 3.0f), s); });
const auto tails = kernel("tails", params("x", "y", "out"), [](Long x, X y, Out<Long> out) {
  for (Index i : range(0, dim(x, 0), 16)) store(softmax_rows(load<Shape<16, 64>>(x, at(i, 0), clamped)), out, at(i, 0));
  store(softmax_rows(load<Shape<16, 64>>(y, at(0, 0))), out, at(0, 0));
});
const auto sums = kernel("sums", params("x", "out"), [](Tensor<Shape<64, 64>, f32> x, Out<X> out) {
  Var y = full<Shape<16, 64>, f32>(0.0f);
  for (Index i : range(0, 64, 16)) add_to(y, slice<Shape<16, 64>>(x, at(i, 0)));
  out = y;
});
const auto products = kernel("products", params("a", "b", "out"), [](Tensor<Shape<16, 128>, f16> a, Tensor<Shape<128, 32>, f16> b, Out<Tensor<Shape<16, 32>, f32>> out) {
  Var c = matmul(move<Left>(load<Shape<16, 64>, Mat>(a, at(0, 0))), move<Right>(load<Shape<64, 32>, Mat>(b, at(0, 0))));
  product_on(c, move<Left>(load<Shape<16, 64>, Mat>(a, at(0, 64))), move<Right>(load<Shape<64, 32>, Mat>(b, at(64, 0))));
  store(c, out, at(0, 0));
});
const auto mixed = kernel("mixed", params("x", "a", "b"), [](X x, Tensor<Shape<16, 64>, f16> a, Tensor<Shape<64, 32>, f16> b) {
  return results(softmax_rows(x), matmul(a, b));
});
const auto centred = kernel("centred", params("x", "out"), [](Long x, Out<Long> out) {
  for (Index i : range(0, dim(x, 0), 16)) centre(x, i, out);
});
// Two calls on tiles of their own, with one argument that both read.
const auto apart = kernel("apart", params("x", "y", "z", "a", "b"), [](X x, X y, X z, Out<X> a, Out<X> b) {
  auto shared = load<Shape<16, 64>>(z, at(0, 0));
  Var first = load<Shape<16, 64>>(x, at(0, 0)), second = load<Shape<16, 64>>(y, at(0, 0));
  add_to(first, shared);
  store(first, a, at(0, 0));
  add_to(second, shared);
  store(second, b, at(0, 0));
});
// So few bytes that the second call waits for the first one on a3.
using Small = Tensor<Shape<8, 32>, f32>;
inline const auto add_small = tileop("add_small", params("y", "x"), [](InOut<Tile<Shape<8, 32>, f32, Vec>> y, Tile<Shape<8, 32>, f32, Vec> x) { y = y + x; });
const auto in_order = kernel("in_order", params("x", "y", "a"), [](Small x, Small y, Out<Small> a) {
  auto t = load<Shape<8, 32>>(x, at(0, 0));
  Var sum = load<Shape<8, 32>>(y, at(0, 0));
  add_small(sum, t);
  add_small(sum, t);
  store(sum, a, at(0, 0));
});

template <class K>
Function lowered(const K& k, Arch arch = Arch::a3, bool synchronised = true) {
  return lower(k.trace(), {.arch = arch, .level = 3, .pipelining = false, .tileops = TileopForm::called, .synchronise = synchronised});
}
template <class K>
std::string pto_text(const K& k, int level = 2) {
  return emit_pto_mlir(lowered(k, Arch::a3, false), {.level = level, .comments = false});
}
template <class K>
std::string cpp_text(const K& k, Arch arch = Arch::a3) {
  return emit_pto_cpp(lowered(k, arch), {.arch = arch, .comments = false});
}
template <class Emit>
std::string refusal(Emit&& emit) {
  try {
    return "no error: " + emit();
  } catch (const UserError& e) { return e.diagnostic().message + "\n" + e.diagnostic().hint; }
}
int count(const std::string& text, std::string_view what) {
  int n = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}
std::string part(const std::string& text, std::string_view from, std::string_view to) {
  const std::size_t begin = text.find(from), end = text.find(to, begin);
  return begin == std::string::npos || end == std::string::npos ? "none in\n" + text : text.substr(begin, end - begin);
}
// Instructions, bodies in braces, `MTE2>V0!` for a flag that is raised, `MTE2>V0?` for one that is waited for, `|V|` for a barrier.
void write_order(const Function& f, BlockId b, std::string& out) {
  for (OpId op = f[b].first; op; op = f.next(op)) {
    const auto pipe = [&](AttrKey key) { return std::string(name(static_cast<Pipe>(f.attr(op, key)))); };
    if (f.is(op, ops::barrier)) out += "|" + pipe(AttrKey::pipe) + "| ";
    else if (is_sync(f.info(op))) out += pipe(AttrKey::pipe) + ">" + pipe(AttrKey::to_pipe) + std::to_string(f.attr(op, AttrKey::event)) + (f.is(op, ops::set_flag) ? "! " : "? ");
    else if (pipe_of(f, op) != Pipe::none && f.info(op).level != Level::scalar) out += std::string(f.info(op).name) + " ";
    for (int k = 0; k < f.block_count(op); ++k) {
      out += std::string(f.info(op).name) + " { ";
      write_order(f, f.block(op, k), out);
      out += "} ";
    }
  }
}
template <class K>
std::string order(const K& k, Arch arch = Arch::a3) {
  const Function f = lowered(k, arch);
  std::string out;
  write_order(f, f.body(), out);
  out.pop_back();
  return out;
}

}  // namespace

TEST_CASE("a tile operation that stays a function is a block, in front of which stands what it writes") {
  const Pass* const passes[] = {&inline_tileops};
  PassOptions options;
  options.verify = true;
  const std::string text = print(run_passes(scales.trace(), {passes, 1}, {Arch::a3, false, TileopForm::called}, options));
  INFO(text);
  CHECK(contains(text, "  %1 = tile.create() : tile<f32[16,64]@Vec>\n"
                       "  %2, %3 = tileop @scale(%0) carry(%4 = %1, %s_1 = 2.0:f32) : tile<f32[16,64]@Vec>, f32 {\n"
                       "    %5 = tile.muls(%0, %s_1) : tile<f32[16,64]@Vec>\n"
                       "    yield %5, %s_1\n"
                       "  }\n"));
  CHECK(contains(text, " = tileop @scale("));
}

TEST_CASE("in .pto text one function, and calls with what the assembler orders them by") {
  const std::string text = pto_text(twice), row = "!pto.tile_buf<vec, 16x64xf32>", wide = "!pto.tile_buf<vec, 16x128xf32>", column = "!pto.tile_buf<vec, 16x1xf32, blayout=col_major>";
  INFO(text);
  CHECK(contains(text, "  func.func private @softmax_rows(%x: " + row + ", %out: " + row + ", %tmp1: " + wide + ", %tmp2: " + column + ", %tmp3: " + row + ") attributes {"));
  CHECK(contains(text, ") attributes {pto.ptodsl.subkernel_helper = \"simd\", pto.tileop.kind = \"vector\", pto.tileop.pipe_footprint = [\"PIPE_V\"], "
                       "pto.tileop.effects = [\"read\", \"write\", \"write\", \"write\", \"write\"]} {\n"));
  CHECK(contains(text, "    pto.trowmax ins(%x, %tmp1 : " + row + ", " + wide + ") outs(%tmp2 : " + column + ")\n"));
  CHECK(contains(text, "    func.call @softmax_rows(%x_tile.1, %2, %3, %4, %5) : ("));
  CHECK(count(text, "func.func private") == 1);
  CHECK(count(text, "func.call @softmax_rows(") == 2);
}

TEST_CASE("equal bodies are one function, whatever numbers and addresses they are called with") {
  for (const int level : {2, 3}) {
    CHECK(count(pto_text(scales, level), "func.func private") == 1);
    CHECK(count(pto_text(scales, level), "func.call @scale(") == 3);
    CHECK(count(pto_text(sums, level), "\"readwrite\", \"read\"") + count(pto_text(sums, level), "\"read\", \"readwrite\"") == 1);
    // A tile that is valid in part is another type.
    CHECK(count(pto_text(tails, level), "func.func private @softmax_rows(") == 1);
    CHECK(count(pto_text(tails, level), "func.func private @softmax_rows_2(") == 1);
  }
  CHECK(count(cpp_text(scales), "static AICORE inline void") == 1);
  CHECK(count(cpp_text(scales), "  scales_scale(") == 3);
  CHECK(count(cpp_text(twice), "static AICORE inline void twice_softmax_rows(") == 1);
}

TEST_CASE("a cube function") {
  CHECK(contains(pto_text(products), "subkernel_helper = \"cube\", pto.tileop.kind = \"cube\", pto.tileop.pipe_footprint = [\"PIPE_M\"]"));
  CHECK(contains(cpp_text(products), "#if defined(__DAV_CUBE__)"));
}

TEST_CASE("in C++ a function gets addresses, and is called with those that are planned") {
  const std::string text = cpp_text(twice);
  INFO(text);
  CHECK(contains(text, "static AICORE inline void twice_softmax_rows(int64_t x_at, int64_t out_at, int64_t tile_at"));
  CHECK(contains(text, "  Tile<TileType::Vec, float, 16, 64> x;\n  TASSIGN(x, x_at);\n"));
  CHECK(contains(text, "  TASSIGN(row_expand_div, out_at);\n"));
  CHECK(contains(text, "  twice_softmax_rows(0, 12288, 4096, "));
}

TEST_CASE("what the assembler cannot take as a call is refused by name; C++ takes it") {
  CHECK(refusal([] { return pto_text(centred); }) ==
        "load: the body of a tile operation that is called only computes (centre, pipe MTE2)\n"
        "move data in the kernel; or let its body take the place of calls, --tileop inline");
  CHECK(refusal([] { return emit_pto_mlir(lowered(twice, Arch::a3, false), {.assembler = Assembler::v0_27}); }) ==
        "tileop: softmax_rows: assembler 0.27 has no calls of tile operations\n"
        "emit for assembler 0.60; or let its body take the place of calls, --tileop inline");
  CHECK(refusal([] { return pto_text(mixed); }) ==
        "tileop: softmax_rows: the kernel mixes matrix and vector instructions\n"
        "make it two kernels with a tensor between them; or let its body take the place of calls, --tileop inline");
  CHECK(contains(cpp_text(mixed), "static AICORE inline void mixed_softmax_rows("));
  const std::string text = cpp_text(centred);
  CHECK(count(text, "static AICORE inline void centred_centre(int64_t i, ") == 1);
  CHECK(part(text, "static AICORE", "extern") .find("TLOAD") != std::string::npos);
}

TEST_CASE("a body has flags of its own only, and what it waits for stands in front of it") {
  CHECK(order(centred) == "V>MTE20! MTE3>V0! for { V>MTE20? MTE3>V0? tileop { load MTE2>V0! MTE2>V0? row_max |V| row_expand_sub V>MTE30! V>MTE30? store } V>MTE20! MTE3>V0! } V>MTE20? MTE3>V0?");
  CHECK(order(in_order) == "load load MTE2>V0! MTE2>V0? tileop { add } |V| tileop { add } V>MTE30! V>MTE30? store");
  CHECK(order(in_order, Arch::a5) == "load load MTE2>V0! MTE2>V0? tileop { add } tileop { add } V>MTE30! V>MTE30? store");
}

TEST_CASE("calls on tiles of their own overlap; a tile that both read orders nothing") {
  CHECK(order(apart) == 
        "load load MTE2>V0! load MTE2>V1! MTE2>V0? tileop { add } V>MTE30! V>MTE30? store MTE2>V1? tileop { add } V>MTE31! V>MTE31? store");
}

TEST_CASE("bytes of a call stand apart as long as it runs") {
  const Function f = lowered(twice);
  for (const OpId op : all_operations(f)) {
    if (!f.is(op, ops::tileop_body)) continue;
    std::vector<ByteRange> ranges;
    for (OpId o = f[f.block(op)].first; o; o = f.next(o))
      for_each_access(f, o, [&](ValueId v, bool) {
        if (const ByteRange r = byte_range(f, v); std::find(ranges.begin(), ranges.end(), r) == ranges.end()) ranges.push_back(r);
      });
    CHECK(ranges.size() == 5);
    for (std::size_t i = 0; i < ranges.size(); ++i)
      for (std::size_t k = 0; k < i; ++k) CHECK_FALSE(ranges[i].overlaps(ranges[k]));
  }
}
