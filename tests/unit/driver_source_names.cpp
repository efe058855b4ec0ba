#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "support/catch.hpp"
#include "tessera/ir/builder.hpp"
#include "tessera/ir/printer.hpp"
#include "tessera/ir/source_names.hpp"
#include "tessera/kernel.hpp"

using namespace tessera;

TEST_CASE("the name that a line assigns") {
  const auto name = [](const char* line) { return detail::assigned_name(line); };
  CHECK(name("  auto e = exp(x - row_max(x));") == "e");
  CHECK(name("  Tile<Shape<16, 64>, f32, Vec> scores = a * b;  // y = 3") == "scores");
  CHECK(name("  Var m = full<Shape<1, 64>, f32>(-infinity);") == "m");
  CHECK(name("  acc = matmul_acc(acc, l, r);") == "acc");
  CHECK(name("  const auto& view=slice<Shape<1, 64>>(x, at(i, 0));") == "view");
  CHECK(name("  if_(k == 0, [&] { acc = matmul(l, r); }, [&] { sum = matmul_acc(acc, l, r); });") == "sum");
  CHECK(name("  for (Index i : range(0, n, 1)) m = maximum(m, slice<Shape<1, 64>>(x, at(i, 0)));") == "m");
  CHECK(name("  auto t = named(\"a = b\", x);") == "t");
  CHECK(name("  auto keys = paged_gather<PagedGather{.block_size = 32, .size = 64}>(x, index, table);") == "keys");
  CHECK(name("  store(paged_gather<PagedGather{.block_size = 32}>(x, index, table), out, at(0, 0));").empty());
  CHECK(name("  return x * y;").empty());
  CHECK(name("  inline const auto f = kernel(\"f\", [](Tensor<Shape<16>, f32> x) { return x + x; });").empty());
  CHECK(name("  auto half = [&] { return x * 0.5f; };").empty());
  CHECK(name("  while_([=] { return n <= 3; }, [&] { x == y; z != y; a >= b; });").empty());
  CHECK(name("  // auto e = exp(x);").empty());
  CHECK(name("  auto [a, b] = results;").empty());
  CHECK(name("  m += x;").empty());
  CHECK(name("  x[3] = y;").empty());
  CHECK(name("=").empty());
  CHECK(name("").empty());
  CHECK(name("\"never closed = ").empty());
  CHECK(name("'\\").empty());
}

TEST_CASE("the counters that a line declares") {
  const auto names = [](const char* line) { return detail::counter_names(line); };
  CHECK(names("  for (Index i : range(4)) for (Index j: range(tessera::f(x), 8)) {") ==
        std::vector<std::string>{"i", "j"});
  CHECK(names("  for (auto k : range(4))") == std::vector<std::string>{"k"});
  CHECK(names("  std::size_t n = 3;").empty());
}

TEST_CASE("values take their names from the source, where they have none of their own") {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("tessera_source_names_" + std::to_string(::getpid()) + ".cpp")).string();
  std::ofstream(path) << "auto e = exp(x - y);\n"
                         "for (Index i : range(4)) {\n"
                         "  auto t = named(\"own\", e + e);\n"
                         "  return e;\n";
  Function f;
  f.name = "k";
  Builder b(f);
  const ValueId x = f.add_argument(f.body(), type_of<Tensor<Shape<16, 64>, f32>>);
  f.set_name(x, "x");
  b.at({path.c_str(), 1, 1});
  const ValueId difference = b.value(ops::sub, {x, x});
  const ValueId e = b.value(ops::exp, {difference});
  b.at({path.c_str(), 2, 1});
  const OpId loop = b.control(ops::for_loop, {b.index(0), b.index(4), b.index(1)}, {}, 1);
  const ValueId i = f.add_argument(f.block(loop), index_scalar);
  b.to_end_of(f.block(loop));
  b.at({path.c_str(), 3, 1});
  const ValueId own = b.value(ops::add, {e, e});
  f.set_name(own, "own");
  b.at({path.c_str(), 4, 1});
  const ValueId unnamed = b.value(ops::add, {e, own});
  b.at({"/nowhere/at/all.cpp", 1, 1});
  const ValueId elsewhere = b.value(ops::add, {e, own});
  b.at({path.c_str(), 99, 1});
  const ValueId behind = b.value(ops::add, {e, own});

  name_from_source(f);
  std::remove(path.c_str());
  const auto name = [&](ValueId v) { return std::string(std::string_view(f.name_of(v))); };
  CHECK(name(e) == "e");
  CHECK(name(difference) == "");
  CHECK(name(i) == "i");
  CHECK(name(own) == "own");
  CHECK(name(unnamed) == "");
  CHECK(name(elsewhere) == "");
  CHECK(name(behind) == "");
}
