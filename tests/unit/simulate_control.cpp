// Loops, branches, arguments, statistics and buffers.
#include <chrono>

#include "support/run_function.hpp"

#include <tessera/ops/all.hpp>

using namespace tessera_test;

namespace {

using V = std::vector<double>;

// for (i in start, stop, step) carries one value; body(counter, carried) gives the next one.
ValueId add_for(TestFunction& k, ValueId start, ValueId stop, ValueId step, std::vector<ValueId> carried,
                const std::function<std::vector<ValueId>(ValueId, const std::vector<ValueId>&)>& body) {
  std::vector<ValueId> operands = {start, stop, step};
  std::vector<Type> types;
  for (const ValueId v : carried) {
    operands.push_back(v);
    types.push_back(k.f.type(v));
  }
  const OpId loop = k.b.control(ops::for_loop, operands, types, 1);
  const BlockId block = k.f.block(loop), outer = k.b.block();
  const ValueId counter = k.f.add_argument(block, index_scalar);
  std::vector<ValueId> arguments;
  for (const Type& t : types) arguments.push_back(k.f.add_argument(block, t));
  k.b.to_end_of(block);
  k.b.control(ops::yield, body(counter, arguments), {}, 0);
  k.b.to_end_of(outer);
  return types.empty() ? ValueId{} : k.f.result(loop);
}

}  // namespace

TEST_CASE("a for loop carries values") {
  TestFunction k;
  const ValueId start = k.scalar(index_type), stop = k.scalar(index_type), step = k.scalar(index_type);
  k.line(40);
  const ValueId r = add_for(k, start, stop, step, {k.b.index(100)}, [&](ValueId i, const auto& c) {
    return std::vector{k.b.value(ops::scalar_add, {c[0], i})};
  });
  k.returns({r});
  const auto run = [&](std::int64_t a, std::int64_t b, std::int64_t s) {
    return simulate(k.f, {a, b, s}).results[0].integer(0);
  };
  CHECK(run(0, 5, 1) == 110);
  CHECK(run(0, 5, 2) == 106);
  CHECK(run(3, 3, 1) == 100);
  CHECK(run(9, 3, 1) == 100);
  CHECK(run(-2, 0, 1) == 97);
  const std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  CHECK(run(largest - 1, largest, 5) == static_cast<std::int64_t>(static_cast<std::uint64_t>(largest) + 99));
  CHECK(error_of([&] { (void)run(0, 5, 0); }) ==
        "kernel.cpp:40: error: for: the step is not positive (0)\n  hint: count upwards: range(start, stop, step) with "
        "step above 0");
  CHECK(error_of([&] { (void)run(0, 5, -3); }).find("for: the step is not positive (-3)") != std::string::npos);
}
TEST_CASE("carried values are exchanged at once") {
  TestFunction k;
  const ValueId n = k.scalar(index_type), x = k.tensor(f32, {1, 2}), y = k.tensor(f32, {1, 2});
  const ValueId r = add_for(k, k.b.index(0), n, k.b.index(1), {x, y},
                            [&](ValueId, const auto& c) { return std::vector{c[1], c[0]}; });
  k.returns({r, ValueId{r.index + 1}});
  for (const std::int64_t trips : {0, 1, 2, 5}) {
    const SimulationResult s = simulate(k.f, {trips, host(f32, {1, 2}, {1, 2}), host(f32, {1, 2}, {3, 4})});
    CHECK(s.results[static_cast<std::size_t>(trips % 2)].values() == V{1, 2});
    CHECK(s.results[static_cast<std::size_t>(1 - trips % 2)].values() == V{3, 4});
  }
}
TEST_CASE("carried values do not change with the memory that they were read from") {
  TestFunction k;
  const ValueId o = k.tensor(i32, {1}, Direction::inout);
  const ValueId kept = add_for(k, k.b.index(0), k.b.index(1), k.b.index(1), {o}, [&](ValueId, const auto& c) {
    k.b.emit(ops::write, {o, k.f.constant(i32, std::int64_t{9}), k.b.index(0)});
    return c;
  });
  k.returns({kept});
  HostTensor t = host(i32, {1}, {5});
  CHECK(simulate(k.f, {t}).results[0].get(0) == 5);
  CHECK(t.get(0) == 9);
}
TEST_CASE("writes to a tensor value leave its copies alone") {
  TestFunction k;
  const ValueId x = k.b.value(ops::full, {k.f.constant(i32, std::int64_t{1})}, {}, tensor_type(i32, {1}));
  const ValueId r = add_for(k, k.b.index(0), k.b.index(3), k.b.index(1), {x}, [&](ValueId, const auto& c) {
    k.b.emit(ops::write, {c[0],
                          k.b.value(ops::scalar_add,
                                    {k.b.value(ops::read, {c[0], k.b.index(0)}), k.f.constant(i32, std::int64_t{1})}),
                          k.b.index(0)});
    return c;
  });
  k.returns({x, r});
  const SimulationResult s = simulate(k.f, {});
  CHECK(s.results[0].get(0) == 1);
  CHECK(s.results[1].get(0) == 4);
}
TEST_CASE("a while loop ends when its condition does not hold") {
  TestFunction k;
  const ValueId n = k.scalar(index_type), step = k.scalar(index_type);
  k.line(50);
  const OpId loop = k.b.control(ops::while_loop, {n}, {index_scalar}, 2);
  const BlockId test = k.f.block(loop, 0), body = k.f.block(loop, 1), outer = k.b.block();
  const ValueId tested = k.f.add_argument(test, index_scalar), carried = k.f.add_argument(body, index_scalar);
  k.b.to_end_of(test);
  const ValueId goes_on = k.b.value(ops::scalar_compare, {tested, k.b.index(10)},
                                    {attribute(AttrKey::compare, static_cast<std::int64_t>(Compare::lt))});
  k.b.control(ops::condition, {goes_on, tested}, {}, 0);
  k.b.to_end_of(body);
  k.b.control(ops::yield, {k.b.value(ops::scalar_add, {carried, step})}, {}, 0);
  k.b.to_end_of(outer);
  k.returns({k.f.result(loop)});
  CHECK(simulate(k.f, {0, 3}).results[0].integer(0) == 12);
  CHECK(simulate(k.f, {20, 3}).results[0].integer(0) == 20);
  SimulateOptions options;
  options.while_limit = 1000;
  CHECK(error_of([&] { (void)simulate(k.f, {0, 0}, options); }) ==
        "kernel.cpp:50: error: while: the loop does not end (1000 trips)\n"
        "  hint: change what the condition reads in the body, or raise SimulateOptions::while_limit");
  options.while_limit = 4;
  CHECK(simulate(k.f, {0, 3}, options).results[0].integer(0) == 12);
}
TEST_CASE("an if runs one branch") {
  TestFunction k;
  const ValueId c = k.scalar(boolean), x = k.tensor(f32, {1, 2});
  const OpId branch = k.b.control(ops::if_else, {c}, {tensor_type(f32, {1, 2})}, 2);
  const BlockId outer = k.b.block();
  k.b.to_end_of(k.f.block(branch, 0));
  k.b.control(ops::yield, {k.b.value(ops::neg, {x})}, {}, 0);
  k.b.to_end_of(k.f.block(branch, 1));
  k.b.control(ops::yield, {x}, {}, 0);
  k.b.to_end_of(outer);
  k.returns({k.f.result(branch)});
  const HostTensor in = host(f32, {1, 2}, {1, 2});
  const SimulationResult taken = simulate(k.f, {1, in}), other = simulate(k.f, {0, in});
  CHECK(taken.results[0].values() == V{-1, -2});
  CHECK(other.results[0].values() == V{1, 2});
  CHECK(taken.statistics.count(ops::neg) == 1);
  CHECK(other.statistics.count(ops::neg) == 0);
}

TEST_CASE("statistics count what ran") {
  TestFunction k;
  const ValueId x = k.tensor(f16, {8, 4}), o = k.tensor(f16, {8, 4}, Direction::out), n = k.scalar(index_type);
  add_for(k, k.b.index(0), n, k.b.index(2), {}, [&](ValueId i, const auto&) {
    const ValueId t = k.load(x, {i, k.b.index(0)}, tile_type(f16, {2, 4}));
    k.store(k.b.value(ops::reshape, {k.b.value(ops::exp, {t})}, {}, tile_type(f16, {2, 4})), o, {i, k.b.index(0)});
    (void)k.b.value(ops::scalar_add, {i, i});
    return std::vector<ValueId>();
  });
  HostTensor in(f16, {8, 4}), out(f16, {8, 4});
  const Statistics s = simulate(k.f, {in, out, 6}).statistics;
  CHECK(s.instructions == 9);  // load, exp, store; the view is none
  CHECK(s.scalar_operations == 3);
  CHECK(s.gm_bytes_read == 3 * 16);
  CHECK(s.gm_bytes_written == 3 * 16);
  CHECK(s.count(ops::load) == 3);
  CHECK(s.count(ops::reshape) == 3);
  CHECK(s.count(ops::for_loop) == 1);
  CHECK(s.count(ops::add) == 0);
  const std::map<std::string, std::uint64_t> names = s.by_name();
  CHECK(names ==
        std::map<std::string, std::uint64_t>{
            {"exp", 3}, {"for", 1}, {"load", 3}, {"reshape", 3}, {"scalar.add", 3}, {"store", 3}, {"yield", 3}});
}

TEST_CASE("arguments must fit the parameters") {
  TestFunction k;
  const ValueId x = k.parameter(tensor_type(f32, {2, dyn<"S">}), Direction::in, "x");
  const ValueId y = k.parameter(tensor_type(f32, {dyn<"S">, 3}), Direction::out, "y");
  k.parameter(index_scalar, Direction::in, "n");
  k.returns({k.f.symbol(dyn<"S">)});
  (void)x, (void)y;
  HostTensor a(f32, {2, 5}), b(f32, {5, 3});
  CHECK(simulate(k.f, {a, b, 1}).results[0].integer(0) == 5);
  const auto error = [&](std::vector<Argument> arguments) { return error_of([&] { (void)simulate(k.f, arguments); }); };
  HostTensor wrong_dim(f32, {3, 5}), other_size(f32, {4, 3}), rank(f32, {5}), integers(i32, {2, 5});
  const HostTensor constant(f32, {5, 3});
  CHECK(error({a, b}).find("error: simulate: the count of arguments is not that of the parameters (2, 3)") == 0);
  CHECK(error({wrong_dim, b, 1}) ==
        "kernel.cpp:1: error: simulate: the argument has another shape (x: [3, 5], parameter [2, S])\n  hint: pass a "
        "tensor of the parameter's shape");
  CHECK(error({rank, b, 1}).find("(x: [5], parameter [2, S])") != std::string::npos);
  CHECK(error({integers, b, 1}) ==
        "kernel.cpp:1: error: simulate: the argument has another element type (x: i32, parameter f32)\n  hint: pass a "
        "tensor of the parameter's type");
  CHECK(error({a, other_size, 1}) ==
        "kernel.cpp:1: error: simulate: dim S has two sizes (5, in y 4)\n  hint: dims of one name have one size");
  CHECK(error({a, constant, 1}) ==
        "kernel.cpp:1: error: simulate: the argument cannot be written (y)\n  hint: pass a tensor that is not const");
  CHECK(error({a, b, 1.5}) ==
        "kernel.cpp:1: error: simulate: the argument is not an integer (n)\n  hint: pass an integer");
  CHECK(error({a, b, a}).find("simulate: a number and a tensor are exchanged (n)") != std::string::npos);
}
TEST_CASE("element types that cannot be simulated are refused where they stand") {
  TestFunction k;
  (void)k.b.value(ops::create, {}, {}, tile_type(f8e4m3, {1, 32}));
  CHECK(error_of([&] { (void)simulate(k.f, {}); }) ==
        "kernel.cpp:10: error: create: the element type cannot be simulated (f8e4m3)\n  hint: simulate a kernel of "
        "f32, f16, bf16 or integers");
}
TEST_CASE("an operation without a function is an internal error") {
  static constexpr OpInfo unknown = {.name = "unknown", .summary = "", .infer = tessera::detail::infer_create, .dtypes = {dtypes(f32), dtypes(f32)}};
  TestFunction k;
  (void)k.b.value(unknown, {}, {}, tile_type(f32, {1, 1}));
  CHECK(error_of([&] { (void)simulate(k.f, {}); }) == "internal error: simulate: no function for operation unknown");
}

TEST_CASE("a matrix product of 256 x 512 x 256 takes well under a second") {
  TestFunction k;
  const ValueId a = k.tensor(f16, {256, 512}), b = k.tensor(f16, {512, 256});
  k.returns({k.b.value(ops::matmul, {a, b})});
  HostTensor x(f16, {256, 512}), y(f16, {512, 256});
  for (std::int64_t i = 0; i < x.size(); ++i)
    x.set(i, static_cast<double>(i % 7) - 3), y.set(i, static_cast<double>(i % 5) - 2);
  const auto start = std::chrono::steady_clock::now();
  const SimulationResult r = simulate(k.f, {x, y});
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  CAPTURE(seconds);
  double expected = 0;
  for (std::int64_t i = 0; i < 512; ++i) expected += x.get(3 * 512 + i) * y.get(i * 256 + 9);
  CHECK(r.results[0].get(3 * 256 + 9) == expected);
  CHECK(seconds < 5);  // a slow and busy machine
}
