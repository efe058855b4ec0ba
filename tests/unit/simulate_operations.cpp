// Every operation, with known right values, on tensors and on tiles.
#include "support/run_function.hpp"

#include <tessera/ops/all.hpp>
#include <tessera/simulate/table.hpp>

using namespace tessera_test;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

// Runs an operation on whole tensors, or on tiles between loads and a store.
HostTensor run(bool tiles, const OpInfo& op, const std::vector<HostTensor>& inputs, const std::vector<Attr>& attrs,
               const Type& requested) {
  TestFunction k;
  std::vector<ValueId> operands;
  std::vector<Argument> arguments;
  for (const HostTensor& t : inputs) {
    const bool scalar = t.rank() == 0;
    const ValueId p = scalar ? k.scalar(t.dtype()) : k.tensor(t.dtype(), t.dims());
    const bool cube = op.tensor_spaces[operands.size() < 2 ? operands.size() : 2].contains(Mat) && &op == &ops::matmul;
    operands.push_back(scalar || !tiles ? p : k.load_whole(p, cube ? Mat : Vec));
    if (!scalar) arguments.emplace_back(t);
    else if (is_float(t.dtype())) arguments.emplace_back(t.get(0));
    else arguments.emplace_back(t.integer(0));
  }
  Type wanted = requested;
  if (wanted.is_tensor() && tiles) wanted = lowered(wanted);
  const ValueId r = k.b.value(op, operands, attrs, wanted);
  if (!tiles || k.f.type(r).is_scalar()) {
    k.returns({r});
    return simulate(k.f, arguments).results.at(0);
  }
  const Type out = with_space(k.f.type(r), Gm);
  HostTensor result(out.dtype, std::vector<std::int64_t>(out.dims, out.dims + out.rank));
  k.store(r, k.parameter(out, Direction::out));
  k.returns({});
  arguments.emplace_back(result);
  const SimulationResult done = simulate(k.f, arguments);
  CHECK(done.unwritten(arguments.size() - 1).count == 0);
  return result;
}
// At both levels where the operation has both.
std::vector<double> result_of(const OpInfo& op, const std::vector<HostTensor>& inputs,
                              const std::vector<Attr>& attrs = {}, const Type& requested = {}) {
  if (op.level == Level::tile) return run(true, op, inputs, attrs, requested).values();
  const HostTensor tensor = run(false, op, inputs, attrs, requested);
  if (op.level == Level::shaped) CHECK(run(true, op, inputs, attrs, requested) == tensor);
  return tensor.values();
}
HostTensor row(DType d, const std::vector<double>& values) {
  return host(d, {1, static_cast<std::int64_t>(values.size())}, values);
}
HostTensor number(DType d, double x) { return host(d, {}, {x}); }
using V = std::vector<double>;

}  // namespace

TEST_CASE("every operation has a function") {
  for (const ops::Family& family : ops::families)
    for (const OpInfo* op : family) {
      CAPTURE(op->name);
      CHECK((simulator::find_entry(*op) != nullptr) == (op->level != Level::control));
    }
}
TEST_CASE("every function's operation is in one family") {
  for (const auto& [op, entry] : simulator::entries()) {
    CAPTURE(op->name);
    int found = 0;
    for (const ops::Family& family : ops::families)
      for (const OpInfo* member : family) found += member == op ? 1 : 0;
    CHECK(found == 1);
  }
}

TEST_CASE("unary operations") {
  for (const DType d : {f32, f16}) {
    CAPTURE(name(d));
    CHECK(result_of(ops::neg, {row(d, {1, -2, 0})}) == V{-1, 2, 0});
    CHECK(result_of(ops::abs, {row(d, {1, -2, -0.0, -inf})}) == V{1, 2, 0, inf});
    CHECK(result_of(ops::exp, {row(d, {0, -inf, 1000})}) == V{1, 0, inf});
    CHECK(result_of(ops::log, {row(d, {1, 0})}) == V{0, -inf});
    CHECK(result_of(ops::sqrt, {row(d, {4, 0, 0.25})}) == V{2, 0, 0.5});
    CHECK(result_of(ops::rsqrt, {row(d, {4, 0.25})}) == V{0.5, 2});
    CHECK(result_of(ops::recip, {row(d, {4, -0.5})}) == V{0.25, -2});
    CHECK(result_of(ops::relu, {row(d, {4, -0.5})}) == V{4, 0});
    CHECK(result_of(ops::lrelu, {row(d, {4, -0.5, 0, inf}), number(f32, 0.25)}) == V{4, -0.125, 0, inf});
  }
  CHECK(result_of(ops::exp, {row(f32, {1})}) == V{static_cast<double>(static_cast<float>(std::exp(1.0)))});
  CHECK(result_of(ops::exp, {row(f16, {1})}) == V{2.71875});
  CHECK(result_of(ops::neg, {row(i16, {5, -32768})}) == V{-5, -32768});
  CHECK(result_of(ops::neg, {row(u16, {1, 0})}) == V{65535, 0});
  CHECK(result_of(ops::neg, {row(bf16, {1, -3})}) == V{-1, 3});
  CHECK(result_of(ops::relu, {row(i32, {-7, 7})}) == V{0, 7});
}

TEST_CASE("binary operations") {
  for (const DType d : {f32, f16, i32, i16}) {
    CAPTURE(name(d));
    const HostTensor a = row(d, {7, -7, 0}), b = row(d, {2, 2, 5});
    CHECK(result_of(ops::add, {a, b}) == V{9, -5, 5});
    CHECK(result_of(ops::sub, {a, b}) == V{5, -9, -5});
    CHECK(result_of(ops::mul, {a, b}) == V{14, -14, 0});
    CHECK(result_of(ops::maximum, {a, b}) == V{7, 2, 5});
    CHECK(result_of(ops::minimum, {a, b}) == V{2, -7, 0});
    CHECK(result_of(ops::div, {a, b}) == (is_float(d) ? V{3.5, -3.5, 0} : V{3, -3, 0}));
    CHECK(result_of(ops::fmod, {a, b}) == V{1, -1, 0});
  }
  CHECK(result_of(ops::add, {row(f16, {2048}), row(f16, {1})}) == V{2048});   // rounds to even
  CHECK(result_of(ops::add, {row(f16, {2050}), row(f16, {1})}) == V{2052});
  CHECK(result_of(ops::mul, {row(f16, {300}), row(f16, {300})}) == V{inf});
  CHECK(result_of(ops::add, {row(bf16, {256}), row(bf16, {1})}) == V{256});
  CHECK(result_of(ops::add, {row(f32, {16777216}), row(f32, {1})}) == V{16777216});
  CHECK(result_of(ops::add, {row(i16, {32767}), row(i16, {1})}) == V{-32768});
  CHECK(result_of(ops::sub, {row(u32, {0}), row(u32, {1})}) == V{4294967295.0});
  CHECK(result_of(ops::mul, {row(i32, {65536}), row(i32, {65536})}) == V{0});
  CHECK(result_of(ops::div, {row(i32, {-2147483648.0}), row(i32, {-1})}) == V{-2147483648.0});
  CHECK(result_of(ops::maximum, {row(u16, {65535}), row(u16, {1})}) == V{65535});
  CHECK(result_of(ops::div, {row(f32, {1, -1}), row(f32, {0, 0})}) == V{inf, -inf});
  CHECK(std::isnan(result_of(ops::maximum, {row(f32, {std::nan("")}), row(f32, {1})})[0]));
  CHECK(std::isnan(result_of(ops::minimum, {row(f32, {1}), row(f32, {std::nan("")})})[0]));
}
TEST_CASE("an integer division by zero is an error") {
  CHECK(error_of([] { (void)result_of(ops::div, {row(i32, {1}), row(i32, {0})}); }) ==
        "kernel.cpp:10: error: div: an integer is divided by zero (1 / 0)\n  hint: guard the divisor: max(n, 1)");
  CHECK(error_of([] { (void)result_of(ops::fmods, {row(i32, {1}), number(i32, 0)}); }) ==
        "kernel.cpp:10: error: fmods: an integer is divided by zero (1 % 0)\n  hint: guard the divisor: max(n, 1)");
}
TEST_CASE("remainders have the sign of the dividend and are exact") {
  CHECK(result_of(ops::fmod, {row(f32, {5.5, -5.5, 5.5, 1e30}), row(f32, {2, 2, -2, 0.75})}) ==
        V{1.5, -1.5, 1.5, std::fmod(static_cast<double>(1e30f), 0.75)});
  CHECK(result_of(ops::fmod, {row(u16, {65535}), row(u16, {256})}) == V{255});
  CHECK(result_of(ops::fmod, {row(i32, {-2147483648.0}), row(i32, {-1})}) == V{0});
  CHECK(std::isnan(result_of(ops::fmods, {row(f32, {1}), number(f32, 0)})[0]));
}

TEST_CASE("operations on bits") {
  for (const DType d : {i8, u8, i16, u16, i32, u32}) {
    CAPTURE(name(d));
    const HostTensor a = row(d, {12, 5, 0}), b = row(d, {10, 3, 1}), n = row(d, {3, 0, 7});
    CHECK(result_of(ops::bit_and, {a, b}) == V{8, 1, 0});
    CHECK(result_of(ops::bit_or, {a, b}) == V{14, 7, 1});
    CHECK(result_of(ops::bit_xor, {a, b}) == V{6, 6, 1});
    CHECK(result_of(ops::shl, {a, n}) == V{96, 5, 0});
    CHECK(result_of(ops::shr, {a, n}) == V{1, 5, 0});
    CHECK(result_of(ops::bit_ands, {a, number(d, 6)}) == V{4, 4, 0});
    CHECK(result_of(ops::bit_ors, {a, number(d, 6)}) == V{14, 7, 6});
    CHECK(result_of(ops::bit_xors, {a, number(d, 6)}) == V{10, 3, 6});
    CHECK(result_of(ops::shls, {a, number(d, 2)}) == V{48, 20, 0});
    CHECK(result_of(ops::shrs, {a, number(d, 2)}) == V{3, 1, 0});
    const double all = simulator::to_double(d, simulator::largest_integer(d)),
                 least = simulator::to_double(d, simulator::smallest_integer(d));
    CHECK(result_of(ops::bit_not, {row(d, {all, least})}) == V{least, all});
  }
  // the sign is copied to the right, and what leaves on the left is lost
  CHECK(result_of(ops::shr, {row(i16, {-32768, -1}), row(i16, {15, 4})}) == V{-1, -1});
  CHECK(result_of(ops::shrs, {row(u16, {32768}), number(u16, 15)}) == V{1});
  CHECK(result_of(ops::shls, {row(i8, {65}), number(i8, 1)}) == V{-126});
  CHECK(result_of(ops::shl, {row(u8, {255}), row(u8, {7})}) == V{128});
  CHECK(result_of(ops::bit_xor, {row(i32, {-1}), row(i32, {1})}) == V{-2});
}
TEST_CASE("a shift past the bits is an error") {
  for (const double n : {-1.0, 16.0, 32767.0}) {
    CHECK(error_of([&] { (void)result_of(ops::shl, {row(i16, {1}), row(i16, {n})}); }) ==
          "kernel.cpp:10: error: shl: the amount is not below the count of bits (" + std::to_string(static_cast<int>(n)) +
              ", i16)\n  hint: shift by 0 to bits - 1");
    CHECK(error_of([&] { (void)result_of(ops::shrs, {row(i16, {1}), number(i16, n)}); }) ==
          "kernel.cpp:10: error: shrs: the amount is not below the count of bits (" + std::to_string(static_cast<int>(n)) +
              ", i16)\n  hint: shift by 0 to bits - 1");
  }
  CHECK(result_of(ops::shrs, {row(i16, {-2}), number(i16, 15)}) == V{-1});
}
TEST_CASE("a constant shift past the bits is found when it is recorded") {
  TestFunction k;
  const ValueId x = k.tensor(i16, {1, 16});
  CHECK(error_of([&] { (void)k.b.value(ops::shls, {x, k.f.constant(i16, std::int64_t{16})}); }) ==
        "kernel.cpp:10: error: shls: the amount is not below the count of bits (16, i16)\n  hint: shift by 0 to bits - 1");
}

TEST_CASE("parts: both where both are valid, elsewhere the one that is") {
  const HostTensor a = host(f32, {2, 3}, {1, 2, 3, 4, 5, 6}), b = host(f32, {2, 3}, {10, 0.5, 30, 40, -1, 60});
  CHECK(result_of(ops::part_add, {a, b}) == V{11, 2.5, 33, 44, 4, 66});
  CHECK(result_of(ops::part_mul, {a, b}) == V{10, 1, 90, 160, -5, 360});
  CHECK(result_of(ops::part_max, {a, b}) == V{10, 2, 30, 40, 5, 60});
  CHECK(result_of(ops::part_min, {a, b}) == V{1, 0.5, 3, 4, -1, 6});
  CHECK(result_of(ops::part_add, {row(i16, {32767}), row(i16, {1})}) == V{-32768});
}

TEST_CASE("operations with a scalar") {
  for (const DType d : {f32, f16, i32, i16}) {
    CAPTURE(name(d));
    const HostTensor a = row(d, {7, -7}), s = number(d, 2);
    CHECK(result_of(ops::adds, {a, s}) == V{9, -5});
    CHECK(result_of(ops::subs, {a, s}) == V{5, -9});
    CHECK(result_of(ops::muls, {a, s}) == V{14, -14});
    CHECK(result_of(ops::divs, {a, s}) == (is_float(d) ? V{3.5, -3.5} : V{3, -3}));
    CHECK(result_of(ops::fmods, {a, s}) == V{1, -1});
    if (!is_float(d)) continue;
    CHECK(result_of(ops::maximums, {a, s}) == V{7, 2});
    CHECK(result_of(ops::minimums, {a, s}) == V{2, -7});
  }
  CHECK(result_of(ops::adds, {row(i16, {32767}), number(i16, 1)}) == V{-32768});
  CHECK(result_of(ops::muls, {row(f16, {3}), number(f16, 0.1)}) == V{0.2998046875});  // 0.1 is rounded first
}

TEST_CASE("casts") {
  const auto cast = [](const HostTensor& x, DType to, Rounding mode = Rounding::none) {
    return result_of(ops::cast, {x}, {attribute(AttrKey::rounding, static_cast<std::int64_t>(mode))},
                     with_dtype(tensor_type(f32, {1}), to));
  };
  CHECK(cast(row(f32, {1 + 0x1p-11, 1e6}), f16) == V{1, inf});
  CHECK(cast(row(f32, {2049, -2049}), f16, Rounding::round) == V{2050, -2050});
  CHECK(cast(row(f32, {2049, -2049}), f16, Rounding::floor) == V{2048, -2050});
  CHECK(cast(row(f32, {2049, -2049}), f16, Rounding::ceil) == V{2050, -2048});
  CHECK(cast(row(f32, {2049, -2049}), f16, Rounding::trunc) == V{2048, -2048});
  CHECK(cast(row(f32, {2049, 2050}), f16, Rounding::odd) == V{2050, 2050});
  CHECK(cast(row(f16, {1.5, -2}), f32) == V{1.5, -2});
  CHECK(cast(row(bf16, {1.5, -2}), f32) == V{1.5, -2});
  CHECK(cast(row(f32, {1.001}), bf16, Rounding::rint) == V{1});
  CHECK(cast(row(f32, {2.5, 3.5, -2.5}), i32, Rounding::rint) == V{2, 4, -2});
  CHECK(cast(row(f32, {2.5, 3.5, -2.5}), i32, Rounding::round) == V{3, 4, -3});
  CHECK(cast(row(f32, {2.5, -2.5}), i32, Rounding::trunc) == V{2, -2});
  CHECK(cast(row(f32, {1e9, -1e9}), i16) == V{32767, -32768});
  CHECK(cast(row(f32, {std::nan("")}), i32) == V{0});
  CHECK(cast(row(i32, {70000, -1}), i16) == V{4464, -1});
  CHECK(cast(row(i32, {-1}), u8) == V{255});
  CHECK(cast(row(i32, {16777217}), f32) == V{16777216});
  CHECK(cast(row(i32, {16777217}), f32, Rounding::ceil) == V{16777218});
  CHECK(cast(row(u8, {255}), f16) == V{255});
  CHECK(cast(row(i32, {100000}), f16) == V{inf});
}

TEST_CASE("broadcasts") {
  const HostTensor x = host(f32, {2, 3}, {1, 2, 3, 4, 5, 6}), column = host(f32, {2, 1}, {2, 4}),
                   line = host(f32, {1, 3}, {1, 2, 6});
  CHECK(result_of(ops::row_expand_add, {x, column}) == V{3, 4, 5, 8, 9, 10});
  CHECK(result_of(ops::row_expand_sub, {x, column}) == V{-1, 0, 1, 0, 1, 2});
  CHECK(result_of(ops::row_expand_mul, {x, column}) == V{2, 4, 6, 16, 20, 24});
  CHECK(result_of(ops::row_expand_div, {x, column}) == V{0.5, 1, 1.5, 1, 1.25, 1.5});
  CHECK(result_of(ops::row_expand_max, {x, column}) == V{2, 2, 3, 4, 5, 6});
  CHECK(result_of(ops::row_expand_min, {x, column}) == V{1, 2, 2, 4, 4, 4});
  CHECK(result_of(ops::col_expand_add, {x, line}) == V{2, 4, 9, 5, 7, 12});
  CHECK(result_of(ops::col_expand_sub, {x, line}) == V{0, 0, -3, 3, 3, 0});
  CHECK(result_of(ops::col_expand_mul, {x, line}) == V{1, 4, 18, 4, 10, 36});
  CHECK(result_of(ops::col_expand_div, {x, line}) == V{1, 1, 0.5, 4, 2.5, 1});
  CHECK(result_of(ops::col_expand_max, {x, line}) == V{1, 2, 6, 4, 5, 6});
  CHECK(result_of(ops::col_expand_min, {x, line}) == V{1, 2, 3, 1, 2, 6});
  CHECK(result_of(ops::row_expand_expdif, {x, host(f32, {2, 1}, {2, 6})}) ==
        result_of(ops::exp, {host(f32, {2, 3}, {-1, 0, 1, -2, -1, 0})}));
  CHECK(result_of(ops::col_expand_expdif, {x, line}) == result_of(ops::exp, {host(f32, {2, 3}, {0, 0, -3, 3, 3, 0})}));
  // the difference is rounded first: 2048 - 1/2 is 2048 in f16
  CHECK(result_of(ops::col_expand_expdif, {row(f16, {0.5}), row(f16, {2048})}) == V{0});
  CHECK(result_of(ops::row_expand, {column}, {}, tensor_type(f32, {2, 3})) == V{2, 2, 2, 4, 4, 4});
  CHECK(result_of(ops::col_expand, {line}, {}, tensor_type(f32, {2, 3})) == V{1, 2, 6, 1, 2, 6});
  // rank 3, and a row of lower rank
  const HostTensor deep = host(i32, {2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(result_of(ops::row_expand_add, {deep, host(i32, {2, 2, 1}, {10, 20, 30, 40})}) ==
        V{11, 12, 23, 24, 35, 36, 47, 48});
  CHECK(result_of(ops::col_expand_mul, {deep, host(i32, {2}, {1, 10})}) == V{1, 20, 3, 40, 5, 60, 7, 80});
  CHECK(result_of(ops::col_expand_mul, {deep, host(i32, {1, 1, 2}, {1, 10})}) == V{1, 20, 3, 40, 5, 60, 7, 80});
}

TEST_CASE("reductions") {
  const HostTensor x = host(f32, {2, 3}, {1, 5, 3, -4, -6, -5});
  CHECK(result_of(ops::row_sum, {x}) == V{9, -15});
  CHECK(result_of(ops::row_max, {x}) == V{5, -4});
  CHECK(result_of(ops::row_min, {x}) == V{1, -6});
  CHECK(result_of(ops::col_sum, {x}) == V{-3, -1, -2});
  CHECK(result_of(ops::col_max, {x}) == V{1, 5, 3});
  CHECK(result_of(ops::col_min, {x}) == V{-4, -6, -5});
  CHECK(result_of(ops::row_prod, {x}) == V{15, -120});
  CHECK(result_of(ops::col_prod, {x}) == V{-4, -30, -15});
  CHECK(result_of(ops::row_prod, {host(i16, {1, 2}, {256, 128})}) == V{-32768});
  CHECK(result_of(ops::col_prod, {host(i32, {2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8})}) == V{3, 8, 35, 48});
  // f16 multiplies in f32 and rounds once: 300 * 300 / 1000 does not overflow
  CHECK(result_of(ops::row_prod, {row(f16, {300, 300, 0.0009765625})}) == V{87.875});
  CHECK(result_of(ops::row_sum, {host(i16, {1, 2}, {32767, 1})}) == V{-32768});
  CHECK(result_of(ops::row_sum, {host(i32, {2, 1, 2}, {1, 2, 3, 4})}) == V{3, 7});
  CHECK(result_of(ops::col_sum, {host(i32, {2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8})}) == V{4, 6, 12, 14});
  // f16 adds in f32 and rounds once: 2048 + 1 + 1 is 2050, not 2048
  CHECK(result_of(ops::row_sum, {row(f16, {2048, 1, 1})}) == V{2050});
  // f32 adds in its own type, in order
  CHECK(result_of(ops::row_sum, {row(f32, {16777216, 1, 1})}) == V{16777216});
}

TEST_CASE("matrix products") {
  for (const DType d : {f32, f16, bf16, i8}) {
    CAPTURE(name(d));
    const HostTensor a = host(d, {2, 3}, {1, 2, 3, 4, 5, 6}), b = host(d, {3, 2}, {1, -1, 2, 0, 0, 3});
    const HostTensor r = run(false, ops::matmul, {a, b}, {}, {});
    CHECK(r.dtype() == (is_float(d) ? f32 : i32));
    CHECK(r.values() == V{5, 8, 14, 14});
    const HostTensor at = host(d, {3, 2}, {1, 4, 2, 5, 3, 6}), bt = host(d, {2, 3}, {1, 2, 0, -1, 0, 3});
    CHECK(run(false, ops::matmul, {at, bt},
              {attribute(AttrKey::transpose_lhs, 1), attribute(AttrKey::transpose_rhs, 1)}, {}) == r);
    const HostTensor c = host(is_float(d) ? f32 : i32, {2, 2}, {100, 200, 300, 400});
    CHECK(run(false, ops::matmul_acc, {c, a, b}, {}, {}).values() == V{105, 208, 314, 414});
  }
  SECTION("batches broadcast") {
    const HostTensor a = host(f32, {2, 1, 1, 2}, {1, 2, 3, 4}), b = host(f32, {2, 2, 1}, {1, 1, 10, 10});
    const HostTensor r = run(false, ops::matmul, {a, b}, {}, {});
    CHECK(r.dims() == std::vector<std::int64_t>{2, 2, 1, 1});
    CHECK(r.values() == V{3, 30, 7, 70});
  }
  SECTION("products of f16 are not rounded to f16") {
    CHECK(run(false, ops::matmul, {row(f16, {2048, 1}), host(f16, {2, 1}, {1, 1})}, {}, {}).values() == V{2049});
  }
  SECTION("f32 adds in the order of k") {
    CHECK(run(false, ops::matmul, {row(f32, {16777216, 1, 1}), host(f32, {3, 1}, {1, 1, 1})}, {}, {}).values() ==
          V{16777216});
  }
  SECTION("i32 wraps") {
    const HostTensor c = host(i32, {1, 1}, {2147483647});
    CHECK(run(false, ops::matmul_acc, {c, row(i8, {1}), row(i8, {1})}, {}, {}).values() == V{-2147483648.0});
  }
}

TEST_CASE("operations that make or reorder elements") {
  const HostTensor x = host(i32, {2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK(result_of(ops::full, {number(f16, 0.1)}, {}, tensor_type(f16, {1, 2})) == V{0.0999755859375, 0.0999755859375});
  CHECK(result_of(ops::full, {number(i8, -3)}, {}, tensor_type(i8, {1, 2})) == V{-3, -3});
  CHECK(result_of(ops::arange, {number(i32, 5)}, {}, tensor_type(i32, {1, 3})) == V{5, 6, 7});
  CHECK(result_of(ops::arange, {number(i16, -32767)}, {attribute(AttrKey::descending, 1)}, tensor_type(i16, {1, 3})) ==
        V{-32767, -32768, 32767});
  CHECK(result_of(ops::reshape, {x}, {}, tensor_type(i32, {3, 2})) == V{1, 2, 3, 4, 5, 6});
  CHECK(result_of(ops::transpose, {x}) == V{1, 4, 2, 5, 3, 6});
  const HostTensor deep = host(i32, {2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(result_of(ops::transpose, {deep}, {attribute(AttrKey::axis, 0), attribute(AttrKey::other_axis, 1)}) ==
        V{1, 2, 5, 6, 3, 4, 7, 8});
  CHECK(result_of(ops::transpose, {deep}) == V{1, 3, 2, 4, 5, 7, 6, 8});
  CHECK(run(false, ops::gather, {x, host(i32, {2, 2}, {2, 0, 1, 1})}, {}, {}).values() == V{3, 1, 5, 5});
  CHECK(result_of(ops::gather_flat, {x, host(i32, {1, 4}, {5, 0, 3, 3})}) == V{6, 1, 4, 4});
  CHECK(run(false, ops::gather, {x, host(i32, {1, 3}, {1, 0, 1})}, {attribute(AttrKey::axis, 0)}, {}).values() == V{4, 2, 6});
  const HostTensor four = host(i32, {2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}), at_row = host(i32, {1, 2}, {2, 0}), two = host(i32, {1, 2}, {8, 9});
  const auto pattern = [](MaskPattern p) { return attribute(AttrKey::pattern, static_cast<std::int64_t>(p)); };
  CHECK(result_of(ops::gather_mask, {four}, {pattern(MaskPattern::P1010)}, scalar_type(i32)) == V{2, 4, 6, 8});
  CHECK(result_of(ops::gather_mask, {four}, {pattern(MaskPattern::P0100)}, scalar_type(i32)) == V{3, 7});
  CHECK(run(false, ops::gather_mask, {host(f32, {1, 2}, {1, -2})}, {pattern(MaskPattern::P1111)}, tensor_type(i32, {1, 2})).values() ==
        V{0x3F800000, -0x40000000});
  CHECK(run(false, ops::scatter, {x, at_row, two}, {}, {}).values() == V{9, 2, 8, 4, 5, 6});
  CHECK(run(false, ops::scatter_mask, {four, host(i32, {2, 2}, {-1, -2, -3, -4})}, {pattern(MaskPattern::P0101)}, {}).values() ==
        V{-1, 2, -2, 4, -3, 6, -4, 8});
  CHECK(run(false, ops::scatter_update, {x, host(i32, {1, 1}, {1}), host(i32, {1, 3}, {7, 8, 9})}, {}, {}).values() == V{1, 2, 3, 7, 8, 9});
  CHECK(run(true, ops::scatter_flat, {x, two, host(i32, {1, 2}, {4, 1})}, {}, {}).values() == V{0, 9, 0, 0, 8, 0});
  CHECK(run(true, ops::scatter_strided, {four, host(i32, {2, 1}, {-1, -2})}, {pattern(MaskPattern::P1000)}, {}).values() ==
        V{0, 0, 0, -1, 0, 0, 0, -2});
  CHECK(run(true, ops::move, {x}, {}, tensor_type(i32, {2, 3})) == x);
  const HostTensor at0 = number(index_type, 1), at1 = number(index_type, 2);
  CHECK(result_of(ops::read, {x, at0, at1}) == V{6});
  CHECK(run(true, ops::write, {x, number(i32, 9), at0, at1}, {}, {}).values() == V{1, 2, 3, 4, 5, 9});
  CHECK(result_of(ops::slice, {x, number(index_type, 0), at0}, {}, tensor_type(i32, {2, 2})) == V{2, 3, 5, 6});
  CHECK(result_of(ops::assemble, {x, host(i32, {1, 2}, {8, 9}), at0, at0}) == V{1, 2, 3, 4, 8, 9});
}

TEST_CASE("fillpad fills what is not valid") {
  struct Row {
    DType d;
    double zero, max, min;
  };
  const Row rows[] = {
      {f32, 0, inf, -inf},      {f16, 0, inf, -inf},     {bf16, 0, inf, -inf}, {i8, 0, 127, -128},
      {u8, 0, 255, 0},          {i16, 0, 32767, -32768}, {u16, 0, 65535, 0},   {i32, 0, 2147483647, -2147483648.0},
      {u32, 0, 4294967295.0, 0}};
  for (const Row& r : rows) {
    CAPTURE(name(r.d));
    for (const auto& [pad, fill] : {std::pair{Pad::zero, r.zero}, {Pad::max, r.max}, {Pad::min, r.min}}) {
      TestFunction k;
      const ValueId x = k.tensor(r.d, {2, 3});
      const ValueId t =
          k.load(x, {k.b.index(0), k.b.index(0), k.b.index(1), k.b.index(2)}, tile_type(r.d, {2, 3}), true);
      k.store(k.b.value(ops::fillpad, {t}, {attribute(AttrKey::pad, static_cast<std::int64_t>(pad))}),
              k.tensor(r.d, {2, 3}, Direction::out));
      HostTensor out(r.d, {2, 3});
      (void)simulate(k.f, {host(r.d, {2, 3}, {1, 2, 3, 4, 5, 6}), out});
      CHECK(out.values() == V{1, 2, fill, fill, fill, fill});
    }
  }
}

TEST_CASE("scalar operations") {
  const auto of = [](const OpInfo& op, DType d, std::vector<double> values, std::vector<Attr> attrs = {},
                     Type requested = {}) {
    std::vector<HostTensor> inputs;
    for (const double v : values) inputs.push_back(number(d, v));
    return run(false, op, inputs, attrs, requested).get(0);
  };
  for (const DType d : {i32, i64, index_type, u8}) {
    CAPTURE(name(d));
    CHECK(of(ops::scalar_add, d, {7, 2}) == 9);
    CHECK(of(ops::scalar_sub, d, {7, 2}) == 5);
    CHECK(of(ops::scalar_mul, d, {7, 2}) == 14);
    CHECK(of(ops::scalar_div, d, {7, 2}) == 3);
    CHECK(of(ops::scalar_rem, d, {7, 2}) == 1);
    CHECK(of(ops::scalar_min, d, {7, 2}) == 2);
    CHECK(of(ops::scalar_max, d, {7, 2}) == 7);
    CHECK(of(ops::scalar_and, d, {6, 3}) == 2);
    CHECK(of(ops::scalar_or, d, {6, 3}) == 7);
  }
  CHECK(of(ops::scalar_div, i32, {-7, 2}) == -3);
  CHECK(of(ops::scalar_rem, i32, {-7, 2}) == -1);
  CHECK(of(ops::scalar_neg, i8, {-128}) == -128);
  CHECK(of(ops::scalar_neg, f32, {1.5}) == -1.5);
  CHECK(of(ops::scalar_add, f32, {16777216, 1}) == 16777216);
  CHECK(of(ops::scalar_add, f16, {2048, 1}) == 2048);
  CHECK(of(ops::scalar_div, f32, {7, 2}) == 3.5);
  CHECK(of(ops::scalar_add, i8, {127, 1}) == -128);
  CHECK(of(ops::scalar_not, boolean, {1}) == 0);
  CHECK(of(ops::scalar_cast, f32, {2.75}, {}, scalar_type(i32)) == 2);
  CHECK(of(ops::scalar_cast, f32, {-2.75}, {}, scalar_type(i32)) == -2);
  CHECK(of(ops::scalar_cast, i32, {16777217}, {}, scalar_type(f32)) == 16777216);
  CHECK(of(ops::scalar_cast, i32, {300}, {}, scalar_type(u8)) == 44);
  const double a[] = {1, 2, 2}, b[] = {2, 2, 1};
  const bool expected[6][3] = {{false, true, false}, {true, false, true},  {true, false, false},
                               {true, true, false},  {false, false, true}, {false, true, true}};
  for (int how = 0; how < 6; ++how)
    for (int i = 0; i < 3; ++i) {
      CAPTURE(how, i);
      for (const DType d : {f32, i32, u64})
        CHECK((of(ops::scalar_compare, d, {a[i], b[i]}, {attribute(AttrKey::compare, how)}) != 0) == expected[how][i]);
    }
  CHECK(error_of([&] { (void)of(ops::scalar_rem, i32, {7, 0}); }) ==
        "kernel.cpp:10: error: rem: an integer is divided by zero (7 % 0)\n  hint: guard the divisor: max(n, 1)");
}
TEST_CASE("u64 scalars are unsigned") {
  TestFunction k;
  const ValueId a = k.scalar(u64), b = k.scalar(u64);
  k.returns({k.b.value(ops::scalar_div, {a, b}), k.b.value(ops::scalar_max, {a, b}),
             k.b.value(ops::scalar_compare, {a, b}, {attribute(AttrKey::compare, 2)})});
  const SimulationResult r = simulate(k.f, {std::int64_t{-1}, 2});
  CHECK(r.results[0].integer(0) == std::numeric_limits<std::int64_t>::max());
  CHECK(r.results[1].integer(0) == -1);
  CHECK(r.results[2].integer(0) == 0);
}
TEST_CASE("select and block numbers") {
  TestFunction k;
  const ValueId c = k.scalar(boolean), a = k.scalar(f32), b = k.scalar(f32);
  k.returns(
      {k.b.value(ops::scalar_select, {c, a, b}), k.b.value(ops::block_index, {}), k.b.value(ops::block_count, {}),
       k.b.value(ops::subblock_index, {}), k.b.value(ops::subblock_count, {})});
  SimulateOptions options;
  options.block = 3;
  options.blocks = 8;
  options.subblock = 1;
  options.subblocks = 2;
  const SimulationResult r = simulate(k.f, {0, 1.5, 2.5}, options);
  CHECK(r.results[0].get(0) == 2.5);
  CHECK(r.results[1].integer(0) == 3);
  CHECK(r.results[2].integer(0) == 8);
  CHECK(r.results[3].integer(0) == 1);
  CHECK(r.results[4].integer(0) == 2);
  CHECK(simulate(k.f, {1, 1.5, 2.5}).results[0].get(0) == 1.5);
}
