// Broadcasts of any shapes: what they compute on every level, the operations that they become, extents, and refusals.
#include <functional>

#include "support/convert.hpp"
#include "support/lowering.hpp"

#include <tessera/simulate.hpp>

using namespace tessera;
using tessera::test::contains;
using tessera::test::op_names;

namespace broadcast_shapes {

// The element of x that stands at an index of the result.
template <class X>
double at_result(const X& x, const Type& own, const Type& wide, std::int64_t i) {
  std::int64_t from = 0, step = 1;
  for (int axis = wide.rank - 1; axis >= 0; --axis) {
    const std::int64_t n = i % wide.dims[axis], dim = detail::dim_of_operand(own, axis, wide.rank);
    i /= wide.dims[axis];
    if (axis < wide.rank - own.rank) continue;
    from += dim == 1 ? 0 : n * step;
    step *= dim;
  }
  return x.get(from);
}

template <DType D, class A, class B>
void check_numbers(const char* name) {
  using X = Tensor<A, D>;
  using Y = Tensor<B, D>;
  static const auto k = kernel(name, [](X a, Y b) {
    return results(a - b, b - a, b * a, maximum(a, b));
  });
  auto a = random<X>(1);
  auto b = random<Y>(2);
  if constexpr (D == i32) {  // no product wraps
    for (std::int64_t i = 0; i < type_of<X>.elements(); ++i) a.set(i, static_cast<double>(i % 17 - 5));
    for (std::int64_t i = 0; i < type_of<Y>.elements(); ++i) b.set(i, static_cast<double>(i % 13 - 7));
  }
  constexpr Type own = type_of<X>, other = type_of<Y>, wide = detail::broadcast_shape(own, other);
  for (const Arch arch : {Arch::a3, Arch::a5}) {
    INFO(name);
    simulate_every_level(k.trace(), std::vector<Argument>{Argument(a), Argument(b)}, {.arch = arch});
    const auto r = simulate(k, SimulateOptions{.arch = arch}, a, b);
    const auto& [difference, opposite, product, larger] = r;
    bool equal = true;
    for (std::int64_t i = 0; i < wide.elements(); ++i) {
      const double x = at_result(a, own, wide, i), y = at_result(b, other, wide, i);
      const auto is = [&](const auto& t, double value) { equal = equal && t.get(i) == value; };
      const auto rounded = [](double v) { return D == f32 ? static_cast<double>(static_cast<float>(v)) : v; };
      is(difference, rounded(x - y)), is(opposite, rounded(y - x)), is(product, rounded(x * y)), is(larger, std::max(x, y));
    }
    CHECK(equal);
  }
}

}  // namespace broadcast_shapes
using namespace broadcast_shapes;

TEST_CASE("operators broadcast as numpy does, in both orders") {
  check_numbers<f32, Shape<8, 1>, Shape<8, 16>>("column");
  check_numbers<f32, Shape<1, 16>, Shape<8, 16>>("row");
  check_numbers<f32, Shape<8, 1>, Shape<1, 16>>("outer");
  check_numbers<f32, Shape<2, 3, 4>, Shape<2, 3, 1>>("column_of_pages");
  check_numbers<i32, Shape<2, 3, 4>, Shape<3, 4>>("page");
  check_numbers<f32, Shape<2, 3, 4>, Shape<2, 1, 4>>("row_of_each_page");
  check_numbers<f32, Shape<2, 3, 4>, Shape<1, 3, 1>>("column_of_every_page");
  check_numbers<f32, Shape<2, 1, 4>, Shape<1, 3, 4>>("both");
}
TEST_CASE("operators broadcast shapes of rank 1 to 6") {
  check_numbers<i32, Shape<1>, Shape<5>>("one");
  check_numbers<f32, Shape<4>, Shape<1, 1>>("one_in_two");
  check_numbers<i32, Shape<2, 1, 3, 1>, Shape<4, 1, 5>>("four");
  check_numbers<f32, Shape<16, 1, 8>, Shape<16, 5, 8>>("rows_of_blocks");
  check_numbers<f32, Shape<2, 1, 1>, Shape<2, 3, 1>>("columns");
  check_numbers<i32, Shape<2, 1, 2, 1, 2>, Shape<2, 1, 5, 1>>("five");
  check_numbers<f32, Shape<2, 1, 2, 1, 2, 1>, Shape<1, 2, 1, 2, 1, 3>>("six");
}

namespace {

using namespace tessera::test;

// What broadcast_to becomes on 2-D tiles; the numbers are compared behind every pass.
std::string lowered_names(const std::vector<std::int64_t>& from, const std::vector<std::int64_t>& to, DType d = f32) {
  Recording k;
  const ValueId x = k.tensor("x", d, from), o = k.tensor("o", d, to, Direction::out);
  const ValueId t = k.load(x, from, std::vector<ValueId>(from.size(), k.index(0)));
  const ValueId r = k.op(ops::broadcast_to, {t}, {}, shaped_type(d, to, Vec));
  k.store(r, o, std::vector<ValueId>(to.size(), k.index(0)));
  k.returns();
  static_cast<void>(lower_tiles(k.f(), Arch::a5));
  return op_names(lower_tiles(k.f()).flat);
}

}  // namespace

TEST_CASE("broadcast_to becomes as few operations as the shapes allow") {
  CHECK(lowered_names({3, 4}, {1, 3, 4}) == "load store");
  CHECK(lowered_names({1, 4}, {2, 3, 4}) == "load col_expand store");
  CHECK(lowered_names({2, 3, 1}, {2, 3, 4}) == "load row_expand store");
  CHECK(lowered_names({3, 4}, {2, 3, 4}) == "load create assemble assemble store");
  CHECK(lowered_names({3, 4}, {9, 3, 4}) == "load create for{mul assemble yield} store");
  CHECK(lowered_names({2, 1, 4}, {2, 3, 4}) == "load create slice col_expand assemble slice col_expand assemble store");
  CHECK(lowered_names({9, 1, 4}, {9, 3, 4}) == "load create for{slice col_expand mul assemble yield} store");
  // Rows of whole blocks: the repetitions stand side by side.
  CHECK(lowered_names({16, 1, 8}, {16, 2, 8}) == "load create assemble assemble reshape store");
  CHECK(lowered_names({4, 1, 3, 8}, {1, 4, 1, 3, 8}) == "load store");
  CHECK(lowered_names({4, 1, 3, 8}, {4, 2, 3, 8}) == "load reshape create assemble assemble reshape store");
  CHECK(lowered_names({3, 1, 8}, {3, 20, 8}) == "load create slice col_expand assemble slice col_expand assemble slice col_expand assemble store");
  // A page of one column, and one element.
  CHECK(lowered_names({1, 3, 1}, {2, 3, 4}) == "load row_expand create assemble assemble store");
  CHECK(lowered_names({2, 1, 1}, {2, 3, 1}) == "load row_expand create assemble assemble assemble reshape slice store");
  CHECK(lowered_names({1}, {7, 1}) == "load reshape row_expand reshape store");
  CHECK(lowered_names({1}, {7}) == "load reshape row_expand reshape store");
  CHECK(lowered_names({4}, {3, 4}, i8) == "load reshape col_expand store");
}

TEST_CASE("an operator takes the form with a column or a row where there is one") {
  const auto names = [](const Function& f) { return op_names(f); };
  static const auto middle = kernel("middle", [](Tensor<Shape<2, 1, 4>, f32> a, Tensor<Shape<2, 3, 1>, f32> b) { return results(a - b, b - a, b + a); });
  CHECK(names(middle.trace()) == "broadcast_to row_expand_sub row_expand broadcast_to sub broadcast_to row_expand_add");
  static const auto integers = kernel("integers", [](Tensor<Shape<8, 16>, i32> a, Tensor<Shape<8, 1>, i32> b) { return results(a / b, a & b); });
  CHECK(names(integers.trace()) == "row_expand div row_expand bit_and");
  static const auto compared = kernel("compared", [](Tensor<Shape<8, 16>, f32> a, Tensor<Shape<1, 16>, f32> b) { return results(select(a < b, a, 0), select(b < a, a, 0)); });
  CHECK(names(compared.trace()) == "col_expand compare full select col_expand compare full select");
}

TEST_CASE("a tail of rows goes on into what is repeated") {
  using X = Tensor<Shape<dyn<"S">, 3, 8>, f32>;
  static const auto tail = kernel("tail", params("x", "w", "out"), [](X x, Tensor<Shape<3, 8>, f32> w, Out<X> out) {
    Index s = dim(x, 0);
    for (Index i : range(0, s, 4)) {
      auto rows = min(4, s - i);
      auto t = load<Shape<4, 3, 8>>(x, at(i, 0, 0), valid(rows, 3, 8));
      auto m = row_max(t);
      auto page = load<Shape<3, 8>>(w, at(0, 0));
      store((t - page) / (m + 4.0f) + broadcast_to<Shape<4, 3, 8>>(load<Shape<4, 1, 8>>(x, at(i, 0, 0), valid(rows, 1, 8))), out, at(i, 0, 0));
    }
  });
  const auto x = random<X>(1, {{"S", 7}});
  const auto w = random<Tensor<Shape<3, 8>, f32>>(2);
  for (const Arch arch : {Arch::a3, Arch::a5}) {
    auto out = zeros<X>({{"S", 7}});
    simulate_every_level(tail.trace(), std::vector<Argument>{Argument(x), Argument(w), Argument(out)}, {.arch = arch});
    simulate(tail, SimulateOptions{.arch = arch}, x, w, out);
    for (int i = 0; i < 7; ++i)
      for (int j = 0; j < 3; ++j) {
        float m = x(i, j, 0);
        for (int l = 1; l < 8; ++l) m = std::max(m, x(i, j, l));
        for (int l = 0; l < 8; ++l) CHECK(out(i, j, l) == (x(i, j, l) - w(j, l)) / (m + 4.0f) + x(i, 0, l));
      }
  }
}

namespace {

// x [8,16] divided by the column y, with valid rows as given
std::string divided(const std::function<ValueId(Recording&, ValueId)>& of_x, const std::function<ValueId(Recording&, ValueId)>& of_y,
                    const OpInfo& op = ops::row_expand_div) {
  Recording k;
  const ValueId x = k.tensor("x", f32, {8, 16}), y = k.tensor("y", f32, {8, 1}), n = k.scalar("n", index_type);
  const ValueId zero = k.index(0);
  const ValueId a = k.slice(x, {8, 16}, {zero, zero}, {of_x(k, n), k.index(16)});
  const ValueId b = k.slice(y, {8, 1}, {zero, zero}, {of_y(k, n), k.index(1)});
  k.returns({k.op(op, {a, b})});
  return refusal(k);
}

}  // namespace

TEST_CASE("what is repeated has to be valid wherever the other operand is (C37)") {
  const auto rows = [](std::int64_t m) { return [m](Recording& k, ValueId) { return k.index(m); }; };
  const auto least = [](std::int64_t m) { return [m](Recording& k, ValueId n) { return k.b().min(n, k.index(m)); }; };
  CHECK(contains(divided(rows(7), rows(6)),
                 "error: row_expand_div: the operand that is repeated is not known to be valid wherever the other one is (axis 0: 6 of 7)\n"
                 "  hint: give both operands the same valid extents, or fill the repeated one: fillpad(x)"));
  CHECK(contains(divided(least(5), rows(4)), "(axis 0: 4 of a run-time extent)"));
  CHECK(contains(divided(rows(4), least(5), ops::row_expand_sub), "row_expand_sub: the operand that is repeated is not known"));
  CHECK(contains(divided(rows(6), rows(6)), "no error"));
  CHECK(contains(divided(rows(6), rows(7)), "no error"));
  CHECK(contains(divided(least(5), rows(5)), "no error"));
  CHECK(contains(divided(least(5), least(5)), "no error"));
  Recording k;
  const ValueId x = k.tensor("x", f32, {8, 16}), y = k.tensor("y", f32, {8, 1}), zero = k.index(0);
  k.returns({k.op(ops::row_expand_div, {x, k.slice(y, {8, 1}, {zero, zero}, {k.index(8), zero})})});
  CHECK(contains(refusal(k), "(axis 1: 0 of 1)"));
}

namespace {

std::string streamed_text(const std::vector<std::int64_t>& from, const std::vector<std::int64_t>& to, bool twice = false) {
  Recording k;
  const ValueId x = k.tensor("x", f16, from), o = k.tensor("o", f16, to, Direction::out);
  const ValueId r = k.op(ops::broadcast_to, {x}, {}, shaped_type(f16, to));
  k.store(r, o, std::vector<ValueId>(to.size(), k.index(0)));
  k.returns(twice ? std::vector<ValueId>{k.op(ops::abs, {r})} : std::vector<ValueId>{});
  return op_names(conversion(k));
}

}  // namespace

TEST_CASE("a broadcast that is only stored makes no tile of its own (C62, C63, C64)") {
  Recording k;
  const ValueId x = k.tensor("x", f16, {1, 4, 16}), o = k.tensor("o", f16, {2, 4, 16}, Direction::out);
  k.store(k.op(ops::broadcast_to, {x}, {}, shaped_type(f16, {2, 4, 16})), o, {k.index(0), k.index(0), k.index(0)});
  k.returns();
  CHECK(converted(k) == golden(R"(
kernel @k(%x: in f16[1,4,16], %o: out f16[2,4,16]) {
  %x_tile = tile.load(%x, 0, 0, 0) : tile<f16[1,4,16]@Vec>
  for %0 = 0 to 2 step 1 {
    tile.store(%x_tile, %o, %0, 0, 0)
    yield
  }
  return
}
)"));
  CHECK(streamed_text({2, 1, 16}, {2, 4, 16}) == "for{load col_expand store yield}");
  CHECK(streamed_text({4, 16}, {2, 4, 16}) == "load for{store yield}");
  CHECK(streamed_text({2, 1, 4, 16}, {2, 3, 4, 16}) == "load for{store yield}");
  CHECK(streamed_text({2, 4, 1}, {2, 4, 16}) == "load broadcast_to store");
  CHECK(streamed_text({1, 1, 16}, {2, 4, 16}) == "load broadcast_to store");
  CHECK(streamed_text({2, 1, 16}, {2, 4, 16}, true) == "load broadcast_to store abs store");
  CHECK(streamed_text({2, 4, 16}, {2, 4, 16}) == "load broadcast_to store");
}

TEST_CASE("a stored broadcast has the numbers of its tensor-level meaning") {
  using X = Tensor<Shape<1, 4, 8>, f16>;
  using Y = Tensor<Shape<2, 1, 8>, f16>;
  using R = Tensor<Shape<2, 4, 8>, f16>;
  static const auto k = kernel("stored", params("x", "y", "w", "out"), [](X x, Y y, Tensor<Shape<2, 4, 1>, f16> w, Out<R> out) {
    out = broadcast_to<Shape<2, 4, 8>>(x);
    return results(broadcast_to<Shape<2, 4, 8>>(y), broadcast_to<Shape<2, 4, 8>>(w), broadcast_to<Shape<2, 4, 8>>(abs(y)));
  });
  const auto x = random<X>(1);
  const auto y = random<Y>(2);
  const auto w = random<Tensor<Shape<2, 4, 1>, f16>>(3);
  for (const Arch arch : {Arch::a3, Arch::a5}) {
    auto out = zeros<R>();
    simulate_every_level(k.trace(), std::vector<Argument>{Argument(x), Argument(y), Argument(w), Argument(out)}, {.arch = arch});
    const auto [rows, columns, moved] = simulate(k, SimulateOptions{.arch = arch}, x, y, w, out);
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 4; ++j)
        for (int l = 0; l < 8; ++l) {
          CHECK(out(i, j, l) == x(0, j, l));
          CHECK(rows(i, j, l) == y(i, 0, l));
          CHECK(columns(i, j, l) == w(i, j, 0));
          CHECK(static_cast<float>(moved(i, j, l)) == std::fabs(static_cast<float>(y(i, 0, l))));
        }
  }
}

TEST_CASE("columns of pages are reduced page by page") {
  using X = Tensor<Shape<2, 3, 5, 8>, f32>;
  static const auto k = kernel("reduced", [](X x) { return results(x - col_max(x), x / (col_sum(x * x) + 1.0f)); });
  const auto x = random<X>(1);
  const auto [centred, scaled] = simulate(k, x);
  for (int a = 0; a < 2; ++a)
    for (int b = 0; b < 3; ++b)
      for (int l = 0; l < 8; ++l) {
        float m = x(a, b, 0, l);
        for (int j = 0; j < 5; ++j) m = std::max(m, x(a, b, j, l));
        for (int j = 0; j < 5; ++j) CHECK(centred(a, b, j, l) == x(a, b, j, l) - m);
      }
  static_cast<void>(scaled);
}

TEST_CASE("quotients of columns, rows and matrices") {
  using M = Tensor<Shape<8, 16>, f32>;
  using Column = Tensor<Shape<8, 1>, f32>;
  using Row = Tensor<Shape<1, 16>, f32>;
  static const auto k = kernel("quotients", [](M m, Column c, Row r) { return results(m / c, c / m, m / r, c / r); });
  const auto m = random<M>(1);
  const auto c = random<Column>(2);
  const auto r = random<Row>(3);
  for (const Arch arch : {Arch::a3, Arch::a5}) {
    const auto [mc, cm, mr, cr] = simulate(k, SimulateOptions{.arch = arch}, m, c, r);
    for (int i = 0; i < 8; ++i)
      for (int j = 0; j < 16; ++j) {
        CHECK(mc(i, j) == m(i, j) / c(i, 0));
        CHECK(cm(i, j) == c(i, 0) / m(i, j));
        CHECK(mr(i, j) == m(i, j) / r(0, j));
        CHECK(cr(i, j) == c(i, 0) / r(0, j));
      }
  }
}
TEST_CASE("a quotient is valid where both operands are") {
  using M = Tensor<Shape<8, 16>, f32>;
  static const auto k = kernel("tails", [](M a, M b, Out<M> out) {
    auto x = load<Shape<8, 16>>(a, at(0, 0), valid(7, 16));
    auto y = load<Shape<8, 16>>(b, at(0, 0), valid(8, 5));
    store(x / y, out, at(0, 0));
  });
  const auto a = random<M>(1), b = random<M>(2);
  auto out = filled<M>(-1);
  simulate(k, a, b, out);
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 16; ++j) CHECK(out(i, j) == (i < 7 && j < 5 ? a(i, j) / b(i, j) : -1));
}
