// The command line with functions that call kernels.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "support/catch.hpp"
#include "support/generator.hpp"
#include "support/ir.hpp"
#include "tessera/driver/manifest.hpp"

namespace {

using namespace tessera;
using namespace tessera::test;
namespace fs = std::filesystem;
using X = Tensor<Shape<16, 64>, f32>;

inline const auto twice = kernel("twice", params("x"), [](X x) { return x + x; });
inline const auto halves = kernel("halves", params("x", "i", "o"), [](X x, Index i, Out<X> o) { store(load<Shape<8, 64>>(x, at(i * 8, 0)), o, at(i * 8, 0)); });
inline const auto shift_rows = tileop("shift_rows", params("x"), [](Tile<Shape<16, 64>, f32, Vec> x) { return x - row_max(x); });
inline const auto shifted = kernel("shifted", params("x"), [](X x) { return shift_rows(x); });
inline const auto wide = spmd("wide", 4, params("x"), [](X x) { return twice(x); });
inline const auto layer = orchestration("layer", params("x", "n"), [](X x, Index n) {
  auto h = wide(x);
  auto o = create<Shape<16, 64>, f32>();
  for (Index i : range(2)) halves(h, i, o);
  Var r = twice(o);
  if_(n == 0, [&] { r = h; });
  return r;
});

struct Generator {
  std::ostringstream out, err;
  fs::path directory = fs::temp_directory_path() / ("tessera_callers_" + std::to_string(::getpid()));
  Generator() { fs::remove_all(directory); }
  ~Generator() { fs::remove_all(directory); }
  Generator(const Generator&) = delete;
  Generator& operator=(const Generator&) = delete;
  int run(std::vector<std::string> arguments, const Registry& kernels = Registry::instance()) {
    out.str({});
    err.str({});
    return run_generator(kernels, out, err, std::move(arguments), "gen");
  }
  [[nodiscard]] std::string file(const std::string& name) const {
    std::ifstream in(directory / name);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  [[nodiscard]] std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(directory)) names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }
};

}  // namespace

TEST_CASE("list: kernels first, then what calls them, with its kind") {
  Generator g;
  REQUIRE(g.run({"list"}) == 0);
  std::string text = g.out.str();
  for (std::size_t at; (at = text.find(__FILE__)) != std::string::npos;) text.replace(at, std::string_view(__FILE__).size(), "F");
  for (std::size_t at = 0; (at = text.find("F:", at)) != std::string::npos; at += 2) text.replace(at + 2, 2, "");
  CHECK(text == "halves      F:\nshifted     F:\ntwice       F:\nlayer       F:  (orchestration)\nshift_rows  F:  (tileop)\nwide        F:  (spmd, 4 blocks)\n");
}
TEST_CASE("lower times and draws each kernel of a program; a stated number is for those that know its name") {
  Generator g;
  REQUIRE(g.run({"lower", "layer", "--timeline", "--set", "i=1"}) == 0);
  CHECK(g.out.str().substr(0, 20) == "timeline of twice on");
  CHECK(contains(g.out.str(), "\n\ntimeline of halves on a3: "));
  CHECK(g.run({"lower", "layer", "--timeline", "--set", "n=1"}) == 1);
  CHECK(contains(g.err.str(), "error: timeline: there is no run-time dim or integer parameter of this name (n)\n  hint: "));
  REQUIRE(g.run({"lower", "layer", "--svg", (g.directory / "layer.svg").string()}) == 0);
  const std::string drawings = g.file("layer.svg");
  for (const char* title : {"timeline of twice on a3", "memory of twice on a3", "timeline of halves on a3", "memory of halves on a3"})
    CHECK(contains(drawings, title));
}
TEST_CASE("emit writes the kernels, and the manifest says what calls them") {
  Generator g;
  REQUIRE(g.run({"emit", "--out", g.directory.string()}) == 0);
  CHECK(g.files() == std::vector<std::string>{"halves.pto", "manifest.json", "shifted.pto", "twice.pto"});
  CHECK(contains(g.out.str(), "3 kernels for a3 in "));
  const auto j = nlohmann::ordered_json::parse(g.file("manifest.json"));
  CHECK(j["kernels"].size() == 3);
  REQUIRE(j["callers"].size() == 2);
  const auto& l = j["callers"][0];
  CHECK(l["name"] == "layer");
  CHECK(l["kind"] == "orchestration");
  CHECK(!l.contains("blocks"));
  CHECK(l["arguments"][1]["dtype"] == "index");
  CHECK(l["body"][0].dump() == R"({"operation":"tensor.create","operands":[],"results":[{"name":"h","dtype":"f32","shape":[16,64]}]})");
  CHECK(l["body"][1].dump() == R"({"operation":"call","callee":"wide","parameters":["x","out"],"operands":["x","h"],"results":[]})");
  CHECK(l["body"][3]["operation"] == "for");
  CHECK(l["body"][3]["operands"].dump() == "[0,2,1]");
  CHECK(l["body"][3]["blocks"][0]["arguments"].dump() == R"([{"name":"i","dtype":"index"}])");
  CHECK(l["body"][3]["blocks"][0]["body"][0]["parameters"].dump() == R"(["x","i","o"])");
  CHECK(l["body"][6]["operands"].dump() == R"(["n",0])");
  CHECK(l["body"][6]["attributes"].dump() == R"({"compare":"eq"})");
  CHECK(j["callers"][1]["blocks"] == 4);
  CHECK(j["callers"][1]["arguments"][1]["direction"] == "out");
}
TEST_CASE("memory maps and timelines are those of kernels") {
  Generator g;
  for (const char* const what : {"--memory-map", "--timeline"}) {
    CHECK(g.run({"lower", "shift_rows", what}) == 1);
    CHECK(g.err.str().find("error: lower: a tile operation has no memory map and no timeline of its own (shift_rows)\n  hint: ask for those of a kernel that calls it\n") != std::string::npos);
  }
}
TEST_CASE("the manifest writes attributes as the printer does") {
  Recording k;
  k.cast(k.tensor("x", f32, {8}), i32, Rounding::floor);
  k.returns();
  const Function& f = k.f();
  const OpId op = f[f.body()].first;
  CHECK(driver::detail::operation_json({}, f, driver::detail::ValueNames(f), op)["attributes"].dump() == R"({"rounding":"floor"})");
  const auto one = [&](AttrKey key, std::int64_t n) { return driver::detail::attribute_json(f, int_attr(key, n)).dump(); };
  CHECK(one(AttrKey::compare, static_cast<int>(Compare::ge)) == R"("ge")");
  CHECK(one(AttrKey::split, static_cast<int>(Split::left_right)) == R"("left_right")");
  CHECK(one(AttrKey::space, Mat) == R"("Mat")");
  CHECK(one(AttrKey::pad, static_cast<int>(Pad::min)) == R"("min")");
  CHECK(one(AttrKey::pattern, static_cast<int>(MaskPattern::P0010)) == R"("P0010")");
  CHECK(one(AttrKey::axis, 1) == "1");
  CHECK(driver::detail::dims_json({dyn<"S">, 64}).dump() == R"(["S",64])");
}
TEST_CASE("emit of an orchestration alone writes the kernels that it reaches and keeps what is there") {
  Generator g;
  REQUIRE(g.run({"emit", "--out", g.directory.string(), "wide"}) == 0);
  CHECK(g.files() == std::vector<std::string>{"manifest.json", "twice.pto"});
  REQUIRE(g.run({"emit", "--out", g.directory.string(), "halves"}) == 0);
  const auto j = nlohmann::json::parse(g.file("manifest.json"));
  CHECK(j["kernels"].size() == 2);
  CHECK(j["callers"].size() == 1);
}
TEST_CASE("check runs orchestrations and wrappers") {
  Generator g;
  const int code = g.run({"check", "--set", "n=0", "--set", "i=1"});
  INFO(g.err.str());
  REQUIRE(code == 0);
  CHECK(contains(g.out.str(), "ok      layer: "));
  CHECK(contains(g.out.str(), "ok      wide: "));
  CHECK(contains(g.out.str(), "5 of 5 kernels agree with their meaning on a3"));
}
TEST_CASE("lower prints the whole program") {
  Generator g;
  REQUIRE(g.run({"lower", "layer", "--print-after", "convert_tensor_to_tile_ops"}) == 0);
  const std::string text = g.out.str();
  CHECK(text.substr(0, text.find('(')) == "// layer: after convert_tensor_to_tile_ops\nkernel @twice");
  CHECK(contains(text, "spmd 4 @wide(%x: in f32[16,64], %out: out f32[16,64]) {\n  call @twice(%x, %out)\n  return\n}\n"));
  CHECK(contains(text, "  %h = tensor.create() : f32[16,64]\n  call @wide(%x, %h)\n"));
}
TEST_CASE("what is wrong with a kernel is told once") {
  Generator g;
  Registry kernels;
  const auto failing = [](X) { fail({"src/k.cpp", 3, 1}, "load: does not fit (1, 2)", "make it fit"); };
  const detail::kernel_entry<decltype(failing)>* entry = nullptr;
  auto made = std::make_unique<detail::kernel_entry<decltype(failing)>>("bad", decltype(failing)(failing), nullptr, Location{"src/k.cpp", 2, 1});
  entry = made.get();
  kernels.add(made.get());
  const auto body = [entry](X x) {
    const ValueId v = x.resolve();
    Recorder::current({}).call(*entry, {v}, nullptr, 0, {"src/k.cpp", 9, 1});
  };
  auto caller = std::make_unique<detail::kernel_entry<decltype(body)>>("a_layer", decltype(body)(body), nullptr, Location{"src/k.cpp", 8, 1}, FunctionKind::orchestration);
  kernels.add(caller.get());
  CHECK(g.run({"check"}, kernels) == 1);
  CHECK(g.err.str() == "src/k.cpp:3: error: load: does not fit (1, 2)\n  hint: make it fit\n  kernel: bad\n");
  CHECK(contains(g.out.str(), "FAILED  a_layer"));
}

TEST_CASE("a tile operation stands alone in no file: it is listed, looked at, and lowered to its summary") {
  Generator g;
  REQUIRE(g.run({"list"}) == 0);
  CHECK(contains(g.out.str(), "  (tileop)\n"));
  REQUIRE(g.run({"emit", "--out", g.directory.string(), "shifted", "shift_rows"}) == 0);
  CHECK(g.files() == std::vector<std::string>{"manifest.json", "shifted.pto"});
  CHECK_FALSE(contains(g.file("manifest.json"), "shift_rows"));
  CHECK_FALSE(contains(g.file("shifted.pto"), "func.call"));
  REQUIRE(g.run({"check", "shifted", "shift_rows"}) == 0);
  CHECK(contains(g.out.str(), "ok      shift_rows: a vector operation on V\n"));
  CHECK(contains(g.out.str(), "1 of 1 kernels agree with their meaning on a3\n"));
  REQUIRE(g.run({"lower", "shift_rows"}) == 0);
  CHECK(contains(g.out.str(), "tileop @shift_rows(%x: in tile<f32[16,64]@Vec>) attributes {pto.tileop.pipe_footprint = [V], pto.tileop.kernel_kind = vector, pto.tileop.arg_effects = [read]} {\n"));
  REQUIRE(g.run({"lower", "shifted", "--print-after", "infer_tileop_summary", "--print-after", "inline_tileops"}) == 0);
  const std::string text = g.out.str();
  CHECK(contains(text, "// shifted: after infer_tileop_summary\ntileop @shift_rows"));
  CHECK(contains(text, "call @shift_rows("));
  CHECK_FALSE(contains(text.substr(text.find("after inline_tileops")), "shift_rows"));
}
TEST_CASE("--tileop call: tile operations are functions, in .pto text, in C++ and where kernels are run") {
  Generator g;
  REQUIRE(g.run({"emit", "--out", g.directory.string(), "--emit", "pto,cpp", "--tileop", "call", "shifted"}) == 0);
  CHECK(contains(g.file("shifted.pto"), "  func.func private @shift_rows(%x: !pto.tile_buf<vec, 16x64xf32>"));
  CHECK(contains(g.file("shifted.pto"), "    func.call @shift_rows("));
  CHECK(contains(g.file("shifted.cpp"), "static AICORE inline void shifted_shift_rows(int64_t x_at"));
  REQUIRE(g.run({"lower", "shifted", "--tileop", "call"}) == 0);
  CHECK(contains(g.out.str(), " = tileop @shift_rows("));
  REQUIRE(g.run({"check", "shifted", "--tileop", "call"}) == 0);
  CHECK(contains(g.out.str(), "1 of 1 kernels agree with their meaning on a3\n"));
  REQUIRE(g.run({"emit", "--out", g.directory.string(), "--tileop", "inline", "shifted"}) == 0);
  CHECK_FALSE(contains(g.file("shifted.pto"), "func.call"));
  CHECK(g.run({"check", "--tileop", "calls"}) == 2);
  CHECK(g.err.str() == "error: --tileop: there is no form of this name (calls)\n  hint: forms: inline, call\n");
}
TEST_CASE("a tile operation that is wrong is told with its line, also where no kernel calls it") {
  Generator g;
  Registry kernels;
  const auto idle = [](Tile<Shape<16, 64>, f32, Vec> x, Out<X> o) { store(x, o, at(0, 0)); };
  auto made = std::make_unique<detail::kernel_entry<decltype(idle)>>("idle", decltype(idle)(idle), nullptr, Location{"src/k.cpp", 2, 1}, FunctionKind::tileop);
  kernels.add(made.get());
  CHECK(g.run({"check"}, kernels) == 1);
  CHECK(g.err.str() == "src/k.cpp:2: error: tileop idle: the body computes nothing (operations: 1, all of them moves or numbers)\n"
                       "  hint: a tile operation has work for the vector unit or for the cube unit; move data in the kernel\n  kernel: idle\n");
  CHECK(g.out.str() == "FAILED  idle\n");
  CHECK(g.run({"emit", "--out", g.directory.string()}, kernels) == 1);
}
