#include <limits>

#include "support/catch.hpp"
#include "support/pto_kernels.hpp"
#include "tessera/emit/pto_mlir.hpp"

using namespace programs;

namespace {

std::string number(double d) {
  std::string text;
  pto::append_float(text, d);
  return text;
}
std::string type_text(const pto::TileKey& k, Arch arch = Arch::a3) {
  std::string text;
  pto::append_tile_type(text, k, arch);
  return text;
}
bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// The diagnostic of a program that cannot be written.
template <class Build>
std::string refusal(Build&& build, const EmitOptions& options = {}) {
  Lowered l("k");
  build(l);
  l.finish();
  try {
    const std::string text = emit_pto_mlir(l.f, options);
  } catch (const UserError& e) { return e.diagnostic().text(true); } catch (const InternalError& e) {
    return e.what();
  }
  return "";
}
const Type wide = tile_type(f32, {32, 64});
ValueId loaded(Lowered& l, const Type& t = wide) { return l.load(l.parameter("x", with_space(t, Gm)), t); }

}  // namespace

TEST_CASE("floating literals read back as the same number") {
  CHECK(number(0) == "0.0");
  CHECK(number(-0.0) == "-0.0");
  CHECK(number(1) == "1.0");
  CHECK(number(0.1) == "0.1");
  CHECK(number(1e-6) == "1.0e-06");
  CHECK(number(-2.5e20) == "-2.5e+20");
}

TEST_CASE("infinities and NaN are written by their bits, which the assembler does not fold to a float") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  CHECK_FALSE(pto::is_special(3.4028235e38, f32));
  CHECK(pto::is_special(1e39, f32));
  CHECK_FALSE(pto::is_special(65519, f16));
  CHECK(pto::is_special(65520, f16));
  CHECK_FALSE(pto::is_special(3.39e38, bf16));
  CHECK(pto::is_special(-3.4e38, bf16));
  CHECK(pto::special_bits(infinity, f32) == 0x7F800000);
  CHECK(pto::special_bits(-infinity, f32) == -0x800000);
  CHECK(pto::special_bits(-infinity, f16) == -0x400);
  CHECK(pto::special_bits(infinity, bf16) == 0x7F80);
  CHECK(pto::special_bits(std::numeric_limits<double>::quiet_NaN(), f32) == 0x7FC00000);
  Lowered l("fills");
  for (const double x : {infinity, -infinity, infinity})
    l.store(l.op(ops::full, {l.f.constant(f16, x)}, {}, tile_type(f16, {1, 16})),
            l.parameter("out", tensor_type(f16, {1, 16}), Direction::out));
  l.finish();
  const std::string text = emit_pto_mlir(l.f, {});
  CHECK(text.find("    %c31744_i16 = arith.constant 31744 : i16\n"
                  "    %c63_i64 = arith.constant 63 : i64\n"
                  "    %launch.block = pto.get_block_idx\n"
                  "    %launch.zero = arith.shrui %launch.block, %c63_i64 : i64\n"
                  "    %cst1.zero = arith.trunci %launch.zero : i64 to i16\n"
                  "    %cst1.bits = arith.ori %cst1.zero, %c31744_i16 : i16\n"
                  "    %cst1 = arith.bitcast %cst1.bits : i16 to f16\n"
                  "    %cm1024_i16 = arith.constant -1024 : i16\n"
                  "    %cst2.zero = arith.trunci %launch.zero : i64 to i16\n") != std::string::npos);
  CHECK(text.find("%cst3") == std::string::npos);
}

TEST_CASE("a cast sees rows of equal dims, rounds as it is meant, and clamps floats to integers") {
  Lowered l("casts");
  const ValueId x = loaded(l, tile_type(f32, {8, 24}));
  const auto cast = [&](DType d, Rounding r) {
    const Attr rounding = Lowered::attr(AttrKey::rounding, static_cast<std::int64_t>(r));
    const ValueId y = l.op(ops::cast, {x}, {rounding}, tile_type(d, {8, 24}));
    l.store(y, l.parameter("out", tensor_type(d, {8, 24}), Direction::out));
  };
  cast(f16, Rounding::floor);
  cast(i32, Rounding::none);
  l.finish();
  const std::string text = emit_pto_mlir(l.f, {.comments = false});
  INFO(text);
  CHECK(text.find("%3 = pto.subview %2[%c0, %c0] sizes [8, 24] : !pto.tile_buf<vec, 8x32xf16, valid=8x24> -> "
                  "!pto.tile_buf<vec, 8x24xf16>\n"
                  "    pto.tcvt ins(%1 {rmode = #pto<round_mode FLOOR>} : !pto.tile_buf<vec, 8x24xf32>) outs(%3 : "
                  "!pto.tile_buf<vec, 8x24xf16>)\n") != std::string::npos);
  CHECK(text.find("pto.tcvt ins(%1 {rmode = #pto<round_mode RINT>, satmode = #pto<saturation_mode ON>} : "
                  "!pto.tile_buf<vec, 8x24xf32>) outs(") != std::string::npos);
}

TEST_CASE("a window of a reshaped column is copied as a row") {
  Lowered l("part");
  const ValueId row = l.op(ops::exp, {loaded(l, tile_type(f32, {1, 40}))});
  const ValueId column = l.op(ops::reshape, {row}, {}, tile_type(f32, {40, 1}));
  const ValueId part = l.op(ops::slice, {column, l.index(8), l.index(0)}, {}, tile_type(f32, {16, 1}));
  l.store(part, l.parameter("out", tensor_type(f32, {16, 1}), Direction::out));
  l.finish();
  const std::string text = emit_pto_mlir(l.f, {.comments = false});
  INFO(text);
  CHECK(text.find("pto.subview") == std::string::npos);
  CHECK(text.find("pto.textract ins(") != std::string::npos);
}

TEST_CASE("tile types state what differs from the default") {
  CHECK(type_text({f32, Vec, Layout::nd, Pad::null, 16, 64, 16, 64}) == "!pto.tile_buf<vec, 16x64xf32>");
  CHECK(type_text({u8, Vec, Layout::nd, Pad::max, 16, 64, -1, 40}) ==
        "!pto.tile_buf<vec, 16x64xui8, valid=?x40, pad=2>");
  CHECK(type_text({f32, Vec, Layout::dn, Pad::null, 16, 1, 16, 1}) ==
        "!pto.tile_buf<vec, 16x1xf32, blayout=col_major>");
  CHECK(type_text({f16, Mat, Layout::zn, Pad::null, 16, 16, 16, 16}) ==
        "!pto.tile_buf<mat, 16x16xf16, blayout=row_major, slayout=col_major>");
  CHECK(type_text({f16, Left, Layout::nz, Pad::null, 16, 16, 16, 16}, Arch::a3) ==
        "!pto.tile_buf<left, 16x16xf16, blayout=row_major, slayout=row_major>");
  CHECK(type_text({f16, Left, Layout::nz, Pad::null, 16, 16, 16, 16}, Arch::a5) ==
        "!pto.tile_buf<left, 16x16xf16, blayout=col_major, slayout=row_major>");
  CHECK(type_text({f32, Acc, Layout::nz, Pad::null, 16, 16, 16, 16}) ==
        "!pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>");
}

TEST_CASE("tile types are found again after the table has grown") {
  pto::TileTypes types(Arch::a3);
  std::vector<std::uint32_t> ids;
  for (std::int64_t n = 1; n < 500; ++n) ids.push_back(types.find({f32, Vec, Layout::nd, Pad::null, n, 8 * n, n, -1}));
  for (std::int64_t n = 1; n < 500; ++n) {
    const pto::TileKey k{f32, Vec, Layout::nd, Pad::null, n, 8 * n, n, -1};
    CHECK(types.find(k) == ids[static_cast<std::size_t>(n - 1)]);
    CHECK(types.text(types.find(k)) == type_text(k));
  }
}

TEST_CASE("arguments: tensors, scalars, named dims; names are the user's unless taken") {
  Lowered l("k");
  l.parameter("s", scalar_type(u32));
  l.parameter("c64", tensor_type(u8, {dyn<"N">, dyn<"M">, 8}));
  l.parameter("N", tensor_type(f32, {dyn<"M">, 8}));
  l.parameter("true", scalar_type(boolean));
  l.parameter("", scalar_type(bf16));
  l.finish();
  const std::string text = emit_pto_mlir(l.f);
  CHECK(contains(text,
                 "func.func @k(%c64_: !pto.ptr<ui8>, %N: !pto.ptr<f32>, %s: i32, %true_: i1, %arg4: bf16, %N_: index, "
                 "%M: index)"));
}

TEST_CASE("equal functions give equal bytes") {
  for (const NamedKernel& k : kernels) CHECK(emit_pto_mlir(k.make()->f) == emit_pto_mlir(k.make()->f));
}

TEST_CASE("the user's line stands behind an instruction, as comment or location") {
  const LoweredKernel l = vector_add();
  CHECK(contains(emit_pto_mlir(l->f), "  // kernel.cpp:3\n"));
  CHECK_FALSE(contains(emit_pto_mlir(l->f, {.comments = false}), "//"));
  CHECK(contains(emit_pto_mlir(l->f, {.comments = false, .locations = true}), " loc(\"kernel.cpp\":3:1)\n"));
}

TEST_CASE("one instruction for each operation on tiles that runs on a pipe") {
  for (const NamedKernel& k : kernels) {
    const std::string_view name = k.name;
    if (name == "nested_looks" || name == "integer_windows" || name == "column_windows")
      continue;  // windows that have to be copied
    const LoweredKernel l = k.make();
    const std::string text = emit_pto_mlir(l->f, {.comments = false});
    const auto count = [&](const std::string& word) {
      int n = 0;
      for (std::size_t p = text.find(word); p != std::string::npos; p = text.find(word, p + 1)) ++n;
      return n;
    };
    int operations = 0;
    for (std::uint32_t i = 0; i < l->f.operation_count(); ++i) {
      const OpInfo& op = l->f.info(OpId{i});
      const bool scalar_memory =
          (op.form == PtoForm::read || op.form == PtoForm::write) && l->f.type(l->f.operand(OpId{i}, 0)).is_tensor();
      if (op.level != Level::scalar && op.pipe != Pipe::none && !scalar_memory) ++operations;
    }
    INFO(k.name);
    CHECK(count(" pto.t") - count(" = pto.treshape") == operations);
  }
}

TEST_CASE("what the assembler refuses is an error at the user's line") {
  CHECK(refusal([](Lowered& l) { l.op(ops::read, {loaded(l, tile_type(u8, {32, 64})), l.index(0), l.index(0)}); }) ==
        "kernel.cpp:2: error: read: elements of a tile of unsigned integers cannot be accessed (u8)\n  hint: use a "
        "signed element type");
  CHECK(contains(
      refusal([](Lowered& l) { l.load(l.parameter("x", tensor_type(f32, {32, 8})), tile_type(f32, {32, 1})); }),
      "load: a column of a row-major tensor has no instruction (the tensor's last dim is 8)"));
  CHECK(contains(refusal([](Lowered& l) {
    const std::int64_t box[] = {2, 16, 64};
    const ValueId x = l.parameter("x", tensor_type(f16, {4, 32, 64}));
    l.op(ops::load, {x, l.index(0), l.index(0), l.index(0)}, {l.f.list_attr(AttrKey::window, {box, 3})},
         tile_type(f16, {32, 64}, Mat));
  }),
                 "load: the window is not one band of the tensor (axis 1: 16 of 32)"));
  CHECK(contains(refusal([](Lowered& l) {
    const ValueId x = loaded(l, tile_type(f16, {32, 64}, Mat));
    l.op(ops::transpose_view, {x});
    l.op(ops::move, {x}, {}, tile_type(f16, {32, 64}, Left));
  }),
                 "transpose_view: only a tile that is loaded for it, and read in no other way"));
  CHECK(contains(refusal([](Lowered& l) { l.op(ops::row_max, {loaded(l)}); }, {.assembler = Assembler::v0_27}),
                 "row_max: assembler 0.27 wants a scratch tile"));
  Lowered odd("a-b");
  odd.finish();
  CHECK_THROWS_AS(emit_pto_mlir(odd.f), UserError);
}

TEST_CASE("element types and scratch that the older assembler does not do without") {
  const auto words = [](const OpInfo& op, DType d, Arch arch, bool scratch = false) {
    Lowered l("k");
    sink(l, call(l, op, d, scratch));
    try {
      static_cast<void>(emit_pto_mlir(l.f, {.arch = arch, .assembler = Assembler::v0_27}));
    } catch (const UserError& e) { return std::string(e.diagnostic().message.c_str()); }
    return std::string();
  };
  CHECK(words(ops::bit_and, i32, Arch::a3) == "bit_and: assembler 0.27 does not have it for i32 on a3");
  CHECK(words(ops::bit_or, u32, Arch::a3) == "bit_or: assembler 0.27 does not have it for u32 on a3");
  CHECK(words(ops::bit_xor, i32, Arch::a3, true) == "bit_xor: assembler 0.27 does not have it for i32 on a3");
  CHECK(words(ops::full, bf16, Arch::a5) == "full: assembler 0.27 does not have it for bf16 on a5");
  CHECK(words(ops::bit_xors, i16, Arch::a3) == "bit_xors: assembler 0.27 wants a scratch tile");
  for (const Arch arch : {Arch::a3, Arch::a5}) {
    CHECK(words(ops::bit_and, i16, arch).empty());
    CHECK(words(ops::bit_xors, i16, arch, true).empty());
    CHECK(words(ops::full, f32, arch).empty());
  }
  CHECK(words(ops::bit_xor, i32, Arch::a5, true).empty());
}

TEST_CASE("tiles are allocated in whole blocks, and valid where they have data") {
  const auto text = [](const Type& t) {
    Lowered l("k");
    loaded(l, t);
    l.finish();
    return emit_pto_mlir(l.f, {.comments = false});
  };
  CHECK(contains(text(tile_type(f32, {6, 4})), "pto.alloc_tile : !pto.tile_buf<vec, 6x8xf32, valid=6x4>\n"));
  CHECK(contains(text(tile_type(f16, {8, 1})),
                 "pto.alloc_tile : !pto.tile_buf<vec, 16x1xf16, valid=8x1, blayout=col_major>\n"));
  CHECK(
      contains(text(tile_type(f16, {24, 32}, Mat)),
               "pto.alloc_tile : !pto.tile_buf<mat, 32x32xf16, valid=24x32, blayout=col_major, slayout=row_major>\n"));
}

TEST_CASE("extents that are known at run time survive a reshape") {
  Lowered l("k");
  const ValueId x = l.parameter("x", tensor_type(f32, {16, 64})), n = l.parameter("n", index_scalar);
  const ValueId t = l.op(ops::load, {x, l.index(0), l.index(0), n, l.index(64)}, {Lowered::attr(AttrKey::has_valid, 1)},
                         tile_type(f32, {16, 64}));
  Type row = tile_type(f32, {1, 16});
  l.op(ops::reshape, {l.op(ops::row_max, {t})}, {}, row);
  l.finish();
  const std::string text = emit_pto_mlir(l.f, {.comments = false});
  CHECK(contains(text,
                 "%3 = pto.treshape %2 : !pto.tile_buf<vec, 16x1xf32, valid=?x1, blayout=col_major> -> "
                 "!pto.tile_buf<vec, 1x16xf32, valid=?x?>\n"
                 "    pto.set_validshape %3, %c1, %n : !pto.tile_buf<vec, 1x16xf32, valid=?x?>\n"));
}

TEST_CASE("what a pass should have done is an internal error") {
  CHECK(contains(refusal([](Lowered& l) { l.f[loaded(l)].buffer = no_index; }), "the result has no buffer"));
  CHECK(contains(
      refusal([](Lowered& l) { l.load(l.parameter("x", tensor_type(f32, {2, 16, 64})), tile_type(f32, {2, 16, 64})); }),
      "a tile of rank 3 is not flattened"));
  CHECK(contains(refusal([](Lowered& l) { l.op(ops::exp, {l.parameter("x", tensor_type(f32, {32, 64}))}); }),
                 "an operand is not a tile"));
  CHECK(contains(refusal([](Lowered& l) {
    const ValueId x = loaded(l), y = l.op(ops::exp, {x});
    l.into(y, l.op(ops::slice, {x, l.index(0), l.index(0)}, {}, tile_type(f32, {8, 64})));
  }),
                 "a view is not in the buffer of its source"));
}

TEST_CASE("windows: what the assembler takes no window of is copied, and only read") {
  const std::string text = emit_pto_mlir(nested_looks()->f, {.comments = false});
  CHECK(contains(text,
                 "pto.textract ins(%9, %c8, %c8 : !pto.tile_buf<vec, 64x32xf32>, index, index) outs(%10 : "
                 "!pto.tile_buf<vec, 8x16xf32>)"));
  CHECK(contains(text,
                 "pto.textract ins(%38, %39, %c16 : !pto.tile_buf<mat, 64x64xf16, blayout=col_major, "
                 "slayout=row_major>, index, index) outs(%40 : !pto.tile_buf<left, 16x32xf16"));
  const auto write_into_window = [](Lowered& l) {
    const ValueId flat = l.op(ops::reshape, {loaded(l)}, {}, tile_type(f32, {64, 32}));
    const ValueId window = l.op(ops::slice, {flat, l.index(8), l.index(8)}, {}, tile_type(f32, {8, 16}));
    l.op(ops::write, {window, l.f.constant(f32, 1.0), l.index(0), l.index(0)});
  };
  CHECK(
      contains(refusal(write_into_window), "kernel.cpp:4: error: write: a part of a reshaped tile cannot be written"));
  CHECK(contains(refusal([](Lowered& l) {
    const ValueId m = l.op(ops::slice, {loaded(l, tile_type(f16, {64, 64}, Mat)), l.index(16), l.index(0)}, {},
                           tile_type(f16, {16, 64}, Mat));
    l.op(ops::move, {m}, {}, tile_type(f16, {16, 64}, Bias));
  }),
                 "move: a part of a Mat tile goes to Left or Right only (Bias)"));
  CHECK(contains(refusal(
                     [](Lowered& l) {
    l.op(ops::reshape, {l.op(ops::slice, {loaded(l), l.index(0), l.index(0)}, {}, tile_type(f32, {8, 32}))}, {},
         tile_type(f32, {4, 64}));
  }, {.assembler = Assembler::v0_27}),
                 "reshape: assembler 0.27 does not copy a window in Vec on a3"));
}

TEST_CASE("a function has a kind only where the assembler cannot find the sections of the two cores") {
  for (const NamedKernel& k : kernels) {
    const std::string name = k.name;
    INFO(name);
    CHECK(contains(emit_pto_mlir(k.make()->f), "pto.kernel_kind") == (name == "mixed_loop" || name == "nested_looks"));
  }
}

TEST_CASE("a tile that is read transposed is loaded transposed") {
  const std::string text = emit_pto_mlir(batched_page()->f, {.comments = false});
  CHECK(contains(text,
                 "%b.transposed.2 = pto.make_tensor_view %b, shape = [%c128, %c128], strides = [%c1, %c128] {layout = "
                 "#pto.layout<dn>}"));
  CHECK(contains(text, "!pto.tile_buf<mat, 128x64xf16, blayout=row_major, slayout=col_major>"));
}

TEST_CASE("an element's position in a tile counts with the columns of its storage") {
  Lowered l("k");
  const ValueId x = loaded(l), window = l.op(ops::slice, {x, l.index(8), l.index(16)}, {}, tile_type(f32, {8, 16}));
  l.op(ops::write, {l.parameter("out", tensor_type(f32, {4, 8}), Direction::out),
                    l.op(ops::read, {window, l.index(2), l.index(3)}), l.index(1), l.index(2)});
  l.finish();
  const std::string text = emit_pto_mlir(l.f, {.comments = false});
  CHECK(contains(text, ", %c131 : !pto.tile_buf<vec, 8x16xf32>, index) outs : f32"));
  CHECK(contains(text, "pto.store_scalar %3, %out[%c10] : !pto.ptr<f32>, f32"));
}

TEST_CASE("every descriptor is written for the element types of its table") {
  int written = 0;
  for (const Arch arch : {Arch::a3, Arch::a5})
    for (const ops::Family& family : ops::families)
      for (const OpInfo* op : family)
        for (const DType d : all_dtypes) {
          if (op->level == Level::control || !accepts_on(*op, d, arch)) continue;
          Lowered l("k");
          try {
            const ValueId v = call(l, *op, d);
            if (!v) continue;
            sink(l, v);
          } catch (const UserError&) {
            continue;  // the rule knows better than the table
          }
          if (op == &ops::assemble && info(d).bits == 64) continue;
          INFO(op->name << " " << name(d) << " " << name(arch));
          // Unsigned elements of tiles are the only thing that a rule accepts and the text cannot say.
          const bool refused = is_integer(d) && !contains(std::string(name(d)), "i") &&
                               (op == &ops::read || op == &ops::write);
          if (refused) CHECK_THROWS_AS(emit_pto_mlir(l.f, {.arch = arch}), UserError);
          else CHECK_FALSE(emit_pto_mlir(l.f, {.arch = arch}).empty());
          ++written;
        }
  CHECK(written > 900);
}

TEST_CASE("assembler 0.27 moves no window within Vec on a3") {
  const auto emitted = [](Arch arch, Assembler assembler) {
    Lowered l("k");
    l.windows = true;
    sink(l, l.op(ops::move, {source(l, "x", tile_type(f32, {16, 64}))}, {}, tile_type(f32, {16, 64})));
    return emit_pto_mlir(l.f, {.arch = arch, .assembler = assembler});
  };
  CHECK(contains(emitted(Arch::a3, Assembler::v0_60), "pto.tinsert"));
  CHECK(contains(emitted(Arch::a5, Assembler::v0_27), "pto.tinsert"));
  try {
    static_cast<void>(emitted(Arch::a3, Assembler::v0_27));
    FAIL("not refused");
  } catch (const UserError& e) {
    CHECK(e.diagnostic().message == "move: assembler 0.27 copies no window of a wider tile");
    CHECK(e.diagnostic().hint == "emit for assembler 0.60, or load the part from the tensor");
  }
}
