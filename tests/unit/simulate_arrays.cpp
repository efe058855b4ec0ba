// Typed arrays, and the comparison of two levels of a function.
#include "support/run_function.hpp"
#include "tessera/simulate/kernel.hpp"
#include "tessera/simulate/run_both.hpp"

using namespace tessera_test;

namespace {
using Matrix = Tensor<Shape<2, 3>, f32>;
using Rows = Tensor<Shape<dyn<"S">, 2>, i16>;
using Signed = Tensor<Shape<64>, i8>;
using Unsigned = Tensor<Shape<64>, u8>;
using Bits = Tensor<Shape<64>, boolean>;
}  // namespace

TEST_CASE("arrays own typed elements") {
  auto a = zeros<Matrix>();
  CHECK(max_abs_diff(a, 0) == 0);
  a(1, 2) = 2.5f;
  CHECK(a.get(5) == 2.5);
  const auto b = from_values<Matrix>({1, 2, 3, 4, 5, 6});
  CHECK(b(1, 0) == 4.0f);
  CHECK(filled<Matrix>(7)(0, 0) == 7.0f);
  auto h = filled<Tensor<Shape<2>, f16>>(1 + 0x1p-11);
  CHECK(static_cast<float>(h(0)) == 1.0f);
  h(1) = Eigen::half(3.0f);
  CHECK(h.get(1) == 3);
  CHECK(row_sums(b) == std::vector<double>{6, 15});
  CHECK(error_of([&] { (void)b(2, 0); }) ==
        "error: array: an index is out of bounds (axis 0: index 2, dim 2)\n  hint: indices lie in [0, dim)");
  CHECK(error_of([&] { (void)b(0, -1); }) != "");
  CHECK(error_of([] { (void)from_values<Matrix>({1}); }) ==
        "error: from_values: the count of values is not that of the elements (1, 6)\n  hint: give one value for each "
        "element");
}
TEST_CASE("run-time dims get their size by name") {
  auto a = zeros<Rows>({{"S", 5}});
  CHECK(a.dims() == std::vector<std::int64_t>{5, 2});
  a(4, 1) = -3;
  CHECK(a.get(9) == -3);
  CHECK(random<Rows>(1, {{"S", 40}}).size() == 80);
  CHECK(from_values<Rows>({1, 2}, {{"S", 1}})(0, 1) == 2);
  CHECK(error_of([] { (void)zeros<Rows>({{"T", 5}}); }) ==
        "error: array: a run-time dim has no size (S)\n  hint: give it by name: {{\"S\", 40}}");
}
TEST_CASE("random elements depend on the seed alone") {
  const auto a = random<Matrix>(1);
  CHECK(a == random<Matrix>(1));
  CHECK_FALSE(a == random<Matrix>(2));
  for (const double x : a.values()) CHECK(std::abs(x) <= 1);
  for (const double x : random<Signed>(3).values()) CHECK((x >= -8 && x <= 7));
  for (const double x : random<Unsigned>(3).values()) CHECK((x >= 0 && x <= 15));
  for (const double x : random<Bits>(3).values()) CHECK((x == 0 || x == 1));
  CHECK(a(0, 0) ==
        static_cast<float>(static_cast<double>(0x910A2DEC89025CC1u >> 11) * 0x1p-52 - 1));  // SplitMix64's first number
}
TEST_CASE("differences") {
  const double inf = std::numeric_limits<double>::infinity(), not_a_number = std::nan("");
  const auto a = from_values<Matrix>({1, 2, 3, 4, 5, 6}), b = from_values<Matrix>({1, 2, 3, 4, 5, 8.5});
  CHECK(max_abs_diff(a, b) == 2.5);
  CHECK(max_abs_diff(a, 1.0f) == 5);
  CHECK(max_abs_diff(row_sums(a), 6) == 9);
  CHECK(max_abs_diff(row_sums(a), row_sums(b)) == 2.5);
  CHECK(max_abs_diff(filled<Matrix>(not_a_number), filled<Matrix>(not_a_number)) == 0);
  CHECK(max_abs_diff(filled<Matrix>(not_a_number), a) == inf);
  CHECK(max_abs_diff(filled<Matrix>(inf), filled<Matrix>(inf)) == 0);
  CHECK(error_of([&] { (void)max_abs_diff(a, zeros<Rows>({{"S", 3}})); }) ==
        "error: max_abs_diff: the shapes differ ([2, 3], [3, 2])\n  hint: compare tensors of one shape");
}
TEST_CASE("an array takes over a tensor of its type only") {
  CHECK(Array<Matrix>(HostTensor(f32, {2, 3})).size() == 6);
  CHECK(Array<Rows>(HostTensor(i16, {9, 2})).dim(0) == 9);
  CHECK(error_of([] {
    (void)Array<Matrix>(HostTensor(f32, {3, 2}));
  }).find("array: the tensor has another type (f32[3, 2])") != std::string::npos);
  CHECK(error_of([] { (void)Array<Matrix>(HostTensor(f16, {2, 3})); }) != "");
}
TEST_CASE("arguments are checked against a kernel's parameters when compiling") {
  struct K {
    using parameter_types = tessera::detail::type_list<Tensor<Shape<2, 3>, f32>, Out<Rows>, Scalar<f32>, Index>;
  };
  STATIC_REQUIRE(simulates_with<K, Array<Matrix>&, Array<Rows>&, float, int>);
  STATIC_REQUIRE(simulates_with<K, const Array<Matrix>&, HostTensor&, int, long>);
  STATIC_REQUIRE(simulates_with<K, HostTensor, Array<Tensor<Shape<4, 2>, i16>>&, int, int>);
  STATIC_REQUIRE_FALSE(simulates_with<K, Array<Matrix>&, const Array<Rows>&, float, int>);  // an output
  STATIC_REQUIRE_FALSE(simulates_with<K, Array<Matrix>&, Array<Rows>, float, int>);
  STATIC_REQUIRE_FALSE(simulates_with<K, Array<Tensor<Shape<3, 2>, f32>>&, Array<Rows>&, float, int>);
  STATIC_REQUIRE_FALSE(simulates_with<K, Array<Tensor<Shape<2, 3>, f16>>&, Array<Rows>&, float, int>);
  STATIC_REQUIRE_FALSE(simulates_with<K, Array<Matrix>&, Array<Rows>&, float>);
  STATIC_REQUIRE_FALSE(simulates_with<K, float, Array<Rows>&, float, int>);
}

TEST_CASE("a lowering that means something else is found") {
  TestFunction meaning;
  meaning.f.name = "twice";
  const ValueId x = meaning.tensor(f16, {1, 2});
  meaning.returns({meaning.b.value(ops::add, {x, x})});
  const auto lowered = [](const OpInfo& op, double factor) {
    auto k = std::make_unique<TestFunction>();
    const ValueId t = k->load_whole(k->tensor(f16, {1, 2}));
    k->store(k->b.value(op, {t, k->f.constant(f16, factor)}), k->tensor(f16, {1, 2}, Direction::out));
    k->returns({});
    return k;
  };
  const HostTensor in = host(f16, {1, 2}, {1, 1.5});
  CHECK(simulate_lowered(meaning.f, lowered(ops::muls, 2)->f, {in}).at(0).values() == std::vector<double>{2, 3});
  CHECK(error_of([&] { (void)simulate_lowered(meaning.f, lowered(ops::muls, 3)->f, {in}); }) ==
        "internal error: simulate: twice: the lowered kernel gives another result 0 than its tensor-level meaning "
        "(element [0, 0]: 3.000000 instead of 2.000000)");
  SimulateOptions options;
  options.agreement = Agreement::off;
  CHECK(simulate_lowered(meaning.f, lowered(ops::muls, 3)->f, {in}, options).at(0).values() ==
        std::vector<double>{3, 4.5});
  // 2.001953125 is the neighbour of 2 in f16
  CHECK(simulate_lowered(meaning.f, lowered(ops::muls, 2.001953125)->f, {host(f16, {1, 2}, {1, 1})}).at(0).get(0) ==
        2.001953125);
  options.agreement = Agreement::exact;
  CHECK(error_of([&] {
    (void)simulate_lowered(meaning.f, lowered(ops::muls, 2.001953125)->f, {host(f16, {1, 2}, {1, 1})}, options);
  }) != "");
  Statistics statistics;
  options.statistics = &statistics;
  (void)simulate_lowered(meaning.f, lowered(ops::muls, 2)->f, {in}, options);
  CHECK(statistics.count(ops::muls) == 1);
  CHECK(statistics.gm_bytes_written == 4);
}
TEST_CASE("an error that only the lowered function has is the lowering's") {
  TestFunction meaning, lowered;
  lowered.f.name = "k";
  meaning.returns({meaning.b.value(ops::full, {meaning.f.constant(f32, 1.0)}, {}, tensor_type(f32, {1, 1}))});
  lowered.store(lowered.b.value(ops::create, {}, {}, tile_type(f32, {1, 1})),
                lowered.tensor(f32, {1, 1}, Direction::out));
  CHECK(error_of([&] { (void)simulate_lowered(meaning.f, lowered.f, {}); })
            .find("internal error: simulate: k: the lowered kernel fails where its tensor-level meaning does not: "
                  "kernel.cpp:10: error: store: an uninitialised") == 0);
  SimulateOptions options;
  options.agreement = Agreement::off;
  CHECK(error_of([&] {
    (void)simulate_lowered(meaning.f, lowered.f, {}, options);
  }).find("kernel.cpp:10: error: store: an uninitialised") == 0);
}
TEST_CASE("written arguments are compared, and run-time dims of results come from the arguments") {
  TestFunction meaning, wrong;
  for (TestFunction* k : {&meaning, &wrong}) {
    const ValueId o = k->parameter(tensor_type(i32, {dyn<"S">}), Direction::inout);
    const ValueId n = k->b.value(ops::read, {o, k->b.index(0)});
    k->b.emit(ops::write, {o, k == &meaning ? n : k->b.value(ops::scalar_add, {n, k->f.constant(i32, std::int64_t{2})}),
                           k->b.index(1)});
    if (k == &wrong) k->parameter(tensor_type(i32, {dyn<"S">}), Direction::out);
    k->returns({});
  }
  HostTensor t = host(i32, {3}, {5, 0, 0});
  CHECK(error_of([&] {
    (void)simulate_lowered(meaning.f, wrong.f, {t});
  }).find("another argument 0 than its tensor-level meaning (element [1]: 7.000000 instead of 5.000000)") !=
        std::string::npos);
  SimulateOptions options;
  options.agreement = Agreement::off;
  CHECK(simulate_lowered(meaning.f, wrong.f, {t}, options).at(0).dims() == std::vector<std::int64_t>{3});
}
TEST_CASE("agreement within one rounding") {
  using simulator::agrees;
  const auto pair = [](DType d, double a, double b, Agreement how) {
    return agrees(host(d, {1}, {a}), host(d, {1}, {b}), 0, how);
  };
  const double inf = std::numeric_limits<double>::infinity(), step = 0x1p-10;
  CHECK(pair(f16, 1, 1, Agreement::exact));
  CHECK_FALSE(pair(f16, 1, 1 + step, Agreement::exact));
  CHECK(pair(f16, 1, 1 + step, Agreement::one_rounding));
  CHECK_FALSE(pair(f16, 1, 1 + 2 * step, Agreement::one_rounding));
  CHECK(pair(f16, -1, -1 - step, Agreement::one_rounding));
  CHECK_FALSE(pair(f16, -1, 1, Agreement::one_rounding));
  CHECK(pair(f16, 0.0, -0.0, Agreement::exact));
  CHECK(pair(f16, 0, -0x1p-24, Agreement::one_rounding));
  CHECK(pair(f32, inf, inf, Agreement::exact));
  CHECK_FALSE(pair(f16, inf, 65504, Agreement::one_rounding));
  CHECK(pair(f32, std::nan(""), std::nan(""), Agreement::exact));
  CHECK_FALSE(pair(f32, std::nan(""), 1, Agreement::one_rounding));
  CHECK(pair(i32, 3, 3, Agreement::one_rounding));
  CHECK_FALSE(pair(i32, 3, 4, Agreement::one_rounding));
  CHECK_FALSE(pair(boolean, 0, 1, Agreement::one_rounding));
}
