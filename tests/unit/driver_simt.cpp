// The command line with simt kernels, and kernels that launch them.
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
using X = Tensor<Shape<64>, f32>;

inline const auto doubled = simt("doubled", threads(32, 2), params("x", "n", "out"), [](X x, Index n, Out<X> out) {
  auto t = thread_index() + thread_count() * thread_index<1>();
  write(out, at(t), read(x, at(t)) * cast<f32>(n));
});
inline const auto launches = kernel("launches", params("x", "n", "out", "a"), [](X x, Index n, Out<X> out, Tensor<Shape<16, 64>, f32> a) {
  doubled(x, n + 1, out);
  return exp(a);
});
inline const auto in_blocks = spmd("in_blocks", 2, params("x", "n", "out"), [](X x, Index n, Out<X> out) { doubled(x, n, out); });

struct Generator {
  std::ostringstream out, err;
  fs::path directory = fs::temp_directory_path() / ("tessera_simt_" + std::to_string(::getpid()));
  Generator() { fs::remove_all(directory); }
  ~Generator() { fs::remove_all(directory); }
  Generator(const Generator&) = delete;
  Generator& operator=(const Generator&) = delete;
  int run(std::vector<std::string> arguments) {
    out.str({});
    err.str({});
    return run_generator(Registry::instance(), out, err, std::move(arguments), "gen");
  }
  [[nodiscard]] std::string file(const std::string& name) const {
    std::ifstream in(directory / name);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
};

}  // namespace

TEST_CASE("list, lower and check know simt kernels as kernels") {
  Generator g;
  REQUIRE(g.run({"list"}) == 0);
  CHECK(contains(g.out.str(), "  (simt, 32x2 threads)\n"));
  CHECK(g.out.str().find("doubled") < g.out.str().find("in_blocks"));
  REQUIRE(g.run({"lower", "doubled", "--arch", "a5"}) == 0);
  CHECK(g.out.str().find("simt 32x2 @doubled(") == 0);
  CHECK(g.run({"lower", "doubled", "--arch", "a5", "--timeline"}) == 1);
  CHECK(contains(g.err.str(), "lower: a simt kernel has no memory map and no timeline (doubled)\n  hint: print its IR: leave out --memory-map, --timeline and --svg"));
  REQUIRE(g.run({"lower", "launches", "--arch", "a5", "--timeline"}) == 0);
  CHECK(g.run({"check", "--arch", "a5", "--set", "n=3"}) == 0);
  CHECK(contains(g.out.str(), "ok      doubled: "));
  CHECK(contains(g.out.str(), "3 of 3 kernels agree with their meaning on a5"));
}
TEST_CASE("emit writes a module for each, and the manifest says how it is launched") {
  Generator g;
  REQUIRE(g.run({"emit", "--arch", "a5", "--out", g.directory.string()}) == 0);
  CHECK(contains(g.file("doubled.pto"), "pto.simt_launch @doubled_simt"));
  CHECK(contains(g.file("launches.pto"), "pto.simt_launch @doubled_simt"));
  const auto manifest = nlohmann::json::parse(g.file("manifest.json"));
  REQUIRE(manifest["kernels"].size() == 2);
  CHECK(manifest["kernels"][0]["name"] == "doubled");
  CHECK(manifest["kernels"][0]["threads"] == nlohmann::json{32, 2, 1});
  CHECK(manifest["kernels"][0]["backend"] == "vpto");
  CHECK(manifest["kernels"][1]["backend"] == "vpto");
  CHECK_FALSE(manifest["kernels"][1].contains("threads"));
  CHECK(manifest["callers"][0]["body"][0]["callee"] == "doubled");
}
TEST_CASE("what has no simt kernels refuses them with the line and a hint, and nothing is written") {
  Generator g;
  const std::string line = ":" + std::to_string(doubled.location().line) + ": error: ";
  CHECK(g.run({"emit", "--arch", "a3", "--out", g.directory.string(), "doubled"}) == 1);
  CHECK(contains(g.err.str(), line + "simt: a3 has no simt kernels (doubled)\n  hint: emit and run it for a5: --arch a5, ARCH a5 in CMake, or .arch = Arch::a5\n  kernel: doubled\n"));
  CHECK(g.run({"emit", "--arch", "a5", "--assembler", "0.27", "--out", g.directory.string(), "doubled"}) == 1);
  CHECK(contains(g.err.str(), line + "simt: assembler 0.27 has no simt kernels (doubled)"));
  CHECK(g.run({"emit", "--arch", "a5", "--emit", "pto,cpp", "--out", g.directory.string(), "doubled"}) == 1);
  CHECK(contains(g.err.str(), line + "simt: simt kernels have no C++ (doubled)"));
  CHECK_FALSE(fs::exists(g.directory / "doubled.pto"));
  CHECK(g.run({"check", "--arch", "a3", "in_blocks"}) == 1);
  CHECK(contains(g.err.str(), "simt: a3 has no simt kernels (doubled)"));
}
