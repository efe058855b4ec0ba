#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <sstream>
#include <stdexcept>

#include "support/catch.hpp"
#include "support/generator.hpp"
#include "tessera/driver/manifest.hpp"
#include "tessera/passes/pipeline.hpp"

namespace {

using namespace tessera;
namespace fs = std::filesystem;

std::string contents(const fs::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}
bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// A generator with its own kernels and an empty directory.
struct Generator {
  std::vector<std::unique_ptr<KernelEntry>> entries;  // a registry of the program keeps them to its end
  Registry kernels;
  std::ostringstream out, err;
  fs::path directory = fs::temp_directory_path() / ("tessera_driver_" + std::to_string(::getpid()));

  Generator() { fs::remove_all(directory); }
  ~Generator() { fs::remove_all(directory); }
  Generator(const Generator&) = delete;
  Generator& operator=(const Generator&) = delete;

  template <class F>
  void add(const char* name, std::uint32_t line, F f) {
    auto entry = std::make_unique<detail::kernel_entry<F>>(name, std::move(f), nullptr, Location{"src/kernels.cpp", line, 1});
    kernels.add(entry.get());
    entries.push_back(std::move(entry));
  }
  std::string program = "gen";

  int run(std::vector<std::string> arguments) {
    out.str({});
    err.str({});
    return test::run_generator(kernels, out, err, std::move(arguments), program);
  }
  int emit(std::vector<std::string> arguments = {}) {
    arguments.insert(arguments.begin(), {"emit", "--out", directory.string()});
    return run(std::move(arguments));
  }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    if (fs::exists(directory))
      for (const auto& entry : fs::directory_iterator(directory)) names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }
};

void add_softmax(Generator& g) {
  g.add("softmax", 7, [](Tensor<Shape<64, 128>, f32> x) {
    auto e = exp(x - row_max(x));
    return e / row_sum(e);
  });
}
void add_twice(Generator& g) {
  g.add("double_it", 3, [](Tensor<Shape<16, 64>, f32> x) { return x + x; });
}
void add_failing(Generator& g, const char* name, std::uint32_t line) {
  g.add(name, line, [line](Tensor<Shape<16, 64>, f32>) {
    fail({"src/kernels.cpp", line + 1, 1}, "load: does not fit (1, 2)", "make it fit");
  });
}
void add_widen(Generator& g) {
  g.add("widen", 9,
        [](Tensor<Shape<4, dyn<"S">, 64>, bf16> x, Scalar<i32> n, Out<Tensor<Shape<4, dyn<"S">, 64>, f32>> out) {
    Index s = dim(x, 1);
    for (Index b : range(0, n, 1))
      for (Index c : range(0, s, 16)) {
        auto t = load<Shape<1, 16, 64>>(x, at(b, c, 0), valid(1, min(16, s - c), 64));
        store(cast<f32>(t), out, at(b, c, 0));
      }
  });
}

}  // namespace

TEST_CASE("list names the kernels in order, with the place as the compiler gave it") {
  Generator g;
  add_softmax(g);
  add_twice(g);
  REQUIRE(g.run({"list"}) == 0);
  CHECK(g.out.str() == "double_it  src/kernels.cpp:3\nsoftmax    src/kernels.cpp:7\n");
  CHECK(g.err.str().empty());
}

TEST_CASE("emit writes each kernel and a manifest") {
  Generator g;
  add_softmax(g);
  add_twice(g);
  REQUIRE(g.emit() == 0);
  CHECK(g.files() == std::vector<std::string>{"double_it.pto", "manifest.json", "softmax.pto"});
  CHECK(contains(contents(g.directory / "softmax.pto"), "func.func @softmax"));
  CHECK(contains(contents(g.directory / "softmax.pto"), "target_arch = \"a2a3\""));
  REQUIRE(g.emit({"--arch", "a5", "softmax"}) == 0);
  CHECK(contains(contents(g.directory / "softmax.pto"), "target_arch = \"a5\""));
  const auto manifest = nlohmann::json::parse(contents(g.directory / "manifest.json"));
  CHECK(manifest["kernels"][0]["arch"] == "a3");  // double_it stays as it was
  CHECK(manifest["kernels"][1]["arch"] == "a5");
}

TEST_CASE("emit writes C++ where it is asked for, beside the module or alone") {
  Generator g;
  add_softmax(g);
  add_twice(g);
  REQUIRE(g.emit({"--emit", "pto,cpp"}) == 0);
  CHECK(g.files() == std::vector<std::string>{"double_it.cpp", "double_it.pto", "manifest.json", "softmax.cpp", "softmax.pto"});
  CHECK(contains(contents(g.directory / "softmax.cpp"), "// softmax for a3, written by Tessera.\n"));
  CHECK(contains(contents(g.directory / "softmax.cpp"), "AICORE void kernel_softmax(__gm__ float* "));
  const auto manifest = [&] { return nlohmann::json::parse(contents(g.directory / "manifest.json"))["kernels"]; };
  CHECK(manifest()[1]["file"] == "softmax.pto");
  CHECK(manifest()[1]["cpp"] == "softmax.cpp");

  // A form that is written no more leaves no file that tells of an older kernel.
  REQUIRE(g.emit({"--emit", "cpp", "softmax"}) == 0);
  CHECK(g.files() == std::vector<std::string>{"double_it.cpp", "double_it.pto", "manifest.json", "softmax.cpp"});
  CHECK_FALSE(manifest()[1].contains("file"));
  CHECK_FALSE(manifest()[1].contains("level"));
  REQUIRE(g.emit() == 0);
  CHECK(g.files() == std::vector<std::string>{"double_it.pto", "manifest.json", "softmax.pto"});
  CHECK_FALSE(manifest()[1].contains("cpp"));
}

TEST_CASE("emit does not write over a source that nobody emitted") {
  Generator g;
  add_softmax(g);
  fs::create_directories(g.directory);
  std::ofstream(g.directory / "softmax.cpp") << "// mine\n";
  CHECK(g.emit({"--emit", "cpp"}) == 1);
  CHECK(contains(g.err.str(), "src/kernels.cpp:7: error: emit: a file of this name is there, and was not emitted (" + g.directory.string() + "/softmax.cpp)\n"
                              "  hint: choose another directory with --out, or rename the file\n"));
  CHECK(contents(g.directory / "softmax.cpp") == "// mine\n");
}

TEST_CASE("the manifest states files, places, and arguments in the order of a call") {
  Generator g;
  add_widen(g);
  REQUIRE(g.emit() == 0);
  CHECK(contents(g.directory / "manifest.json") == R"({
  "version": 3,
  "generator": "gen",
  "kernels": [
    {
      "name": "widen",
      "file": "widen.pto",
      "arch": "a3",
      "level": 2,
      "source": {
        "file": "kernels.cpp",
        "line": 9
      },
      "arguments": [
        {
          "index": 0,
          "name": "arg0",
          "kind": "tensor",
          "direction": "in",
          "dtype": "bf16",
          "shape": [
            4,
            "S",
            64
          ]
        },
        {
          "index": 1,
          "name": "arg2",
          "kind": "tensor",
          "direction": "out",
          "dtype": "f32",
          "shape": [
            4,
            "S",
            64
          ]
        },
        {
          "index": 2,
          "name": "arg1",
          "kind": "scalar",
          "direction": "in",
          "dtype": "i32",
          "shape": []
        },
        {
          "index": 3,
          "name": "S",
          "kind": "dim",
          "direction": "in",
          "dtype": "index",
          "shape": []
        }
      ]
    }
  ]
}
)");
}

TEST_CASE("the manifest's arguments are those of the emitted function, results among them") {
  Generator g;
  g.add("scaled", 5, [](Scalar<f32> s, Tensor<Shape<16, dyn<"S">>, f32> x, Index n, InOut<Tensor<Shape<16, 64>, f32>> y) {
    Tensor<Shape<16, 64>, f32> all = y;
    static_cast<void>(x);
    store(load<Shape<1, 64>>(y, at(n, 0)), y, at(0, 0));
    return all * s;
  });
  REQUIRE(g.emit() == 0);
  const std::string text = contents(g.directory / "scaled.pto");
  const auto manifest = nlohmann::json::parse(contents(g.directory / "manifest.json"));
  std::string names, kinds;
  std::size_t at = text.find("@scaled("), index = 0;
  for (const auto& a : manifest["kernels"][0]["arguments"]) {
    CHECK(a["index"] == index++);
    at = text.find("%" + a["name"].get<std::string>() + ": ", at);
    REQUIRE(at != std::string::npos);
    CHECK((text.compare(text.find(": ", at) + 2, 9, "!pto.ptr<") == 0) == (a["kind"] == "tensor"));
    names.append(a["name"].get<std::string>()).append(" ");
    kinds.append(a["kind"].get<std::string>()).append(":").append(a["direction"].get<std::string>()).append(" ");
  }
  CHECK(names == "arg1 arg3 out arg0 arg2 S ");
  CHECK(kinds == "tensor:in tensor:inout tensor:out scalar:in scalar:in dim:in ");
}

TEST_CASE("files that the previous manifest lists and the new one does not are removed") {
  Generator g, renamed;
  add_softmax(g);
  add_twice(g);
  REQUIRE(g.emit() == 0);
  for (const char* name : {"mine.pto", "notes.txt"}) std::ofstream(g.directory / name) << "kept";
  add_softmax(renamed);
  renamed.add("twice", 3, [](Tensor<Shape<16, 64>, f32> x) { return x + x; });
  REQUIRE(renamed.emit() == 0);
  CHECK(contains(renamed.out.str(), "2 files changed, 1 removed\n"));
  CHECK(g.files() == std::vector<std::string>{"manifest.json", "mine.pto", "notes.txt", "softmax.pto", "twice.pto"});
  add_failing(renamed, "failing", 10);
  CHECK(renamed.emit() == 1);
  CHECK(g.files().size() == 5);
}

TEST_CASE("a directory belongs to one generator") {
  Generator g, other;
  add_softmax(g);
  add_twice(other);
  other.program = "other_gen";
  REQUIRE(g.emit() == 0);
  const auto kept = g.files();
  const std::string said = "error: emit: the directory belongs to another generator (" + g.directory.string() + ": gen, not other_gen)\n"
                           "  hint: choose another directory with --out; where the generator has a new name, remove manifest.json from the directory\n";
  CHECK(other.emit() == 1);
  CHECK(other.err.str() == said);
  CHECK(other.emit({"double_it"}) == 1);
  CHECK(other.err.str() == said);
  CHECK(g.files() == kept);
  // What an older version wrote, or no manifest at all, belongs to whoever comes first.
  CHECK(driver::generator_of(R"({"version": 3, "kernels": []})").empty());
  CHECK(driver::generator_of("{").empty());
  CHECK(driver::generator_of(R"({"version": 4, "generator": "x"})") == "x");
  fs::remove(g.directory / "manifest.json");
  CHECK(other.emit() == 0);
}

TEST_CASE("emitting some kernels by name leaves the others, in files and in the manifest") {
  Generator g;
  add_softmax(g);
  add_twice(g);
  REQUIRE(g.emit() == 0);
  const std::string manifest = contents(g.directory / "manifest.json");
  REQUIRE(g.emit({"softmax"}) == 0);
  CHECK(contains(g.out.str(), "1 kernel for a3 in "));
  CHECK(contains(g.out.str(), "0 files changed\n"));
  CHECK(contents(g.directory / "manifest.json") == manifest);
  fs::remove(g.directory / "double_it.pto");
  REQUIRE(g.emit({"softmax"}) == 0);
  CHECK(nlohmann::json::parse(contents(g.directory / "manifest.json"))["kernels"].size() == 1);
}

TEST_CASE("only files of kernels are removed, whatever the previous manifest says") {
  const std::string manifest = R"({"version": 3, "kernels": [{"name": "a", "file": "../up.pto"}, {"name": "b", "file": "notes.txt"},
                                   {"name": "c", "file": 3}, 4, {"name": "d", "file": "a.b.pto"}, {"name": "e", "file": ""},
                                   {"name": "f", "file": "gone.pto"}, {"name": "g", "file": "folder.pto"}, {"file": "h.pto"}]})";
  const auto listed = driver::listed_kernels(manifest);
  REQUIRE(listed.size() == 2);
  CHECK(listed[0]["file"] == "gone.pto");
  CHECK(listed[1]["file"] == "folder.pto");
  for (const char* text : {"", "{", "[]", "{\"kernels\": 3}", "{}", R"({"version": 2, "kernels": [{"name": "a", "file": "a.pto"}]})"})
    CHECK(driver::listed_kernels(text).empty());
  Generator g;
  add_twice(g);
  fs::create_directories(g.directory / "folder.pto");
  for (const char* name : {"notes.txt", "a.b.pto"}) std::ofstream(g.directory / name) << "kept";
  std::ofstream(g.directory / "manifest.json") << manifest;
  REQUIRE(g.emit() == 0);
  CHECK(contains(g.out.str(), "2 files changed\n"));
  CHECK(g.files() == std::vector<std::string>{"a.b.pto", "double_it.pto", "folder.pto", "manifest.json", "notes.txt"});
}

TEST_CASE("a kernel that needs both cores is emitted with a warning") {
  Generator g;
  g.add("fused", 12, [](Tensor<Shape<64, 128>, f16> x, Tensor<Shape<128, 32>, f16> w) { return relu(matmul(x, w)); });
  g.add("product", 14, [](Tensor<Shape<64, 128>, f16> x, Tensor<Shape<128, 32>, f16> w) { return matmul(x, w); });
  add_softmax(g);
  REQUIRE(g.emit() == 0);
  const std::string text = g.err.str(), start = "src/kernels.cpp:12: warning: kernel: it mixes matrix and vector instructions";
  CHECK(text.substr(0, start.size()) == start);
  CHECK(contains(text, "(matmul, line "));
  CHECK(contains(text, "; relu, line "));
  CHECK(contains(text, "\n  hint: "));
  CHECK(contains(text, "\n  kernel: fused\n"));
  CHECK(text.find("warning: ", start.size()) == std::string::npos);
  REQUIRE(g.emit({"--arch", "a5"}) == 0);
  CHECK(contains(g.err.str(), "which run on separate cores of a5 (matmul, line "));
  REQUIRE(g.emit({"product", "softmax"}) == 0);
  CHECK(g.err.str().empty());
}

TEST_CASE("emitting again gives the same bytes and touches nothing") {
  Generator g;
  add_softmax(g);
  add_widen(g);
  REQUIRE(g.emit() == 0);
  CHECK(contains(g.out.str(), "3 files changed"));
  const fs::path file = g.directory / "softmax.pto";
  const auto before = fs::last_write_time(file) - std::chrono::hours(1);
  fs::last_write_time(file, before);
  const std::string manifest = contents(g.directory / "manifest.json");
  REQUIRE(g.emit() == 0);
  CHECK(contains(g.out.str(), "0 files changed"));
  CHECK(fs::last_write_time(file) == before);
  CHECK(contents(g.directory / "manifest.json") == manifest);
}

TEST_CASE("the order of registration does not reach the output") {
  Generator a, b;
  add_softmax(a);
  add_twice(a);
  REQUIRE(a.emit() == 0);
  const std::string manifest = contents(a.directory / "manifest.json");
  add_twice(b);
  add_softmax(b);
  REQUIRE(b.emit() == 0);
  CHECK(contents(b.directory / "manifest.json") == manifest);
}

TEST_CASE("a failing kernel leaves the outputs as they were, and every one is reported") {
  Generator g;
  add_softmax(g);
  REQUIRE(g.emit() == 0);
  add_failing(g, "b", 20);
  add_failing(g, "a", 10);
  add_twice(g);
  const std::string softmax = contents(g.directory / "softmax.pto");
  CHECK(g.emit({"--arch", "a5"}) == 1);
  CHECK(g.err.str() ==
        "src/kernels.cpp:11: error: load: does not fit (1, 2)\n  hint: make it fit\n  kernel: a\n"
        "src/kernels.cpp:21: error: load: does not fit (1, 2)\n  hint: make it fit\n  kernel: b\n");
  CHECK(g.out.str().empty());
  CHECK(g.files() == std::vector<std::string>{"manifest.json", "softmax.pto"});
  CHECK(contents(g.directory / "softmax.pto") == softmax);
}

TEST_CASE("exceptions of the lambda and internal errors") {
  Generator g;
  g.add("thrower", 4, [](Tensor<Shape<16, 64>, f32>) { throw std::runtime_error("no table"); });
  CHECK(g.emit() == 1);
  CHECK(contains(g.err.str(), "src/kernels.cpp:4: error: kernel: the lambda throws"));
  CHECK(contains(g.err.str(), "no table"));
  g.add("other", 6, [](Tensor<Shape<16, 64>, f32>) { throw 1; });
  CHECK(g.emit({"other"}) == 1);
  CHECK(contains(g.err.str(), "src/kernels.cpp:6: error: kernel: the lambda throws something"));
  g.add("contradiction", 8, [](Tensor<Shape<16, 64>, f32>) { throw InternalError("x: y"); });
  CHECK(g.emit() == 3);
  CHECK(contains(g.err.str(), "src/kernels.cpp:8: internal error: x: y\n  kernel: contradiction\n  hint: "));
  CHECK(g.files().empty());
}

TEST_CASE("what is wrong with the registered kernels") {
  SECTION("there are none") {
    Generator g;
    for (const char* command : {"list", "emit", "check"}) {
      CHECK(g.run({command}) == 1);
      CHECK(contains(g.err.str(), "error: kernel: none is registered\n  hint: "));
    }
  }
  SECTION("two have one name") {
    Generator g;
    add_twice(g);
    g.add("double_it", 30, [](Tensor<Shape<16, 64>, f32> x) { return x * 2.0f; });
    CHECK(g.emit() == 1);
    CHECK(contains(g.err.str(), "src/kernels.cpp:30: error: kernel: the name is taken (double_it, line 3)\n  hint: "));
    CHECK(g.files().empty());
  }
  SECTION("a name is none of a file") {
    for (const char* name : {"../up", "a b", "", "1st", "a-b", "a.pto"}) {
      Generator g;
      g.add(name, 5, [](Tensor<Shape<16, 64>, f32> x) { return x * 2.0f; });
      CHECK(g.emit() == 1);
      CHECK(contains(g.err.str(), std::string("src/kernels.cpp:5: error: kernel: the name is not an identifier (") +
                                      name + ")\n  hint: "));
      CHECK(g.files().empty());
    }
  }
}

TEST_CASE("a wrong command line says what there is") {
  Generator g;
  add_softmax(g);
  add_twice(g);
  const auto refused = [&](std::vector<std::string> arguments, const std::string& message) {
    CHECK(g.run(std::move(arguments)) == 2);
    INFO(g.err.str());
    CHECK(g.err.str().substr(0, message.size()) == message);
    CHECK(contains(g.err.str(), "\n  hint: "));
    CHECK(g.out.str().empty());
  };
  refused({}, "error: command: none is given\n  hint: commands: list, emit, lower, check");
  refused({"emitt"}, "error: command: there is none of this name (emitt)\n  hint: commands: list, emit, lower, check");
  refused({"emit", "soft"}, "error: kernel: there is none of this name (soft)\n  hint: kernels: double_it, softmax");
  refused({"lower", "soft"}, "error: kernel: there is none of this name (soft)");
  refused({"check", "soft"}, "error: kernel: there is none of this name (soft)");
  refused({"lower"}, "error: kernel is required");
  refused({"lower", "softmax", "--print-after", "inline"},
          "error: passes: there is no pass of this name (inline)\n  hint: known passes: infer_tileop_summary, inline_tileops, convert_tensor_to_tile_ops, ");
  refused({"lower", "softmax", "--print-before", "inline"}, "error: passes: there is no pass of this name (inline)");
  refused({"emit", "--arch", "a4"}, "error: --arch: there is no target of this name (a4)\n  hint: targets: a3, a5");
  refused({"emit", "--emit", "ptx"}, "error: --emit: there is no form of this name (ptx)");
  refused({"emit", "--emit", ""}, "error: --emit: there is no form of this name ()");
  refused({"emit", "--assembler", "0.1"},
          "error: --assembler: this version is not known (0.1)\n  hint: versions: 0.60, 0.27");
  refused({"emit", "--level", "1"}, "error: --level: there is no such level (1)\n  hint: levels: 2, 3");
  refused({"emit", "--out"}, "error: --out: its value is missing\n");
  refused({"list", "--all"}, "error: command line: there is no such option or argument (--all)\n");
  refused({"--version"}, "error: command: there is none in front of the options (--version)\n  hint: commands: list, emit, lower, check\n");
  refused({"emit", "--arch", "a3", "--arch", "a5"}, "error: --arch: it is given twice\n");
  refused({"emit", "--no-pipelining=3"}, "error: --no-pipelining: it takes no value\n");
  refused({"check", "--seed", "x"}, "error: --seed: not a whole number without a sign (x)\n");
  refused({"check", "--seed", "-1"}, "error: --seed: not a whole number without a sign (-1)\n");
  refused({"check", "--seed", "18446744073709551616"}, "error: --seed: the number is too large (18446744073709551616)\n");
  refused({"check", "--set", "S=4", "--set", "S=5"}, "error: --set: the name is given twice (S)\n");
  refused({"lower", "softmax", "--timeline", "--set", "S=4", "--set", "S=5"}, "error: --set: the name is given twice (S)\n");
  refused({"lower", "softmax", "--timeline", "--trips", "many"}, "error: --trips: not a whole number without a sign (many)\n");
  refused({"lower", "softmax", "--set", "S=4"}, "error: --set: there is no timeline that uses it\n  hint: with --timeline");
  refused({"lower", "softmax", "--memory-map", "--svg", "x.svg", "--trips", "2"}, "error: --trips: there is no timeline that uses it");
  refused({"lower", "softmax", "--timeline", "--set", "S=0.5"}, "error: --set: a timeline takes integers (S=0.5)");
  refused({"lower", "softmax", "--timeline", "--trips", "0"}, "error: --trips: loops take one turn at least (0)");
  refused({"check", "--set", "S"}, "error: --set: not a name and a number (S)");
  refused({"check", "--set", "S=4x"}, "error: --set: not a name and a number (S=4x)");
}

TEST_CASE("at level 3 tiles have addresses, and the manifest states the level") {
  Generator g;
  add_softmax(g);
  REQUIRE(g.run({"emit", "--out", g.directory.string()}) == 0);
  CHECK_FALSE(contains(contents(g.directory / "softmax.pto"), "addr ="));
  CHECK(contains(contents(g.directory / "manifest.json"), "\"level\": 2,"));
  REQUIRE(g.run({"emit", "--level", "3", "--out", g.directory.string()}) == 0);
  CHECK(contains(contents(g.directory / "softmax.pto"), " = pto.alloc_tile addr = %c0_i64 : "));
  CHECK(contains(contents(g.directory / "manifest.json"), "\"level\": 3,"));
}

TEST_CASE("kernels that place tiles are written at level 3, with a warning; reserved memory and buffers stand in the manifest") {
  Generator g;
  g.add("placed", 12, [](Tensor<Shape<16, 64>, f32> x, Out<Tensor<Shape<16, 64>, f32>> out) {
    reserve<Mat>("ring", 1000);
    store(place(load<Shape<16, 64>>(x, at(0, 0)), buffer<Vec, 2>("slots", at_address(4096))[1]), out, at(0, 0));
  });
  g.add("reserving", 20, [](Tensor<Shape<16, 64>, f32> x) {
    reserve<Mat>("ring", 1000);
    return exp(x);
  });
  REQUIRE(g.emit() == 0);
  CHECK(contains(g.err.str(), ": warning: emit: placed is written at level 3, where tiles have the addresses that its author asks for (slots (line "));
  CHECK(contains(g.err.str(), "hint: run the assembler with --pto-level=level3 for it; `level` in the manifest says so, too\n  kernel: placed\n"));
  CHECK_FALSE(contains(g.err.str(), "kernel: reserving"));
  CHECK(contains(contents(g.directory / "placed.pto"), " = pto.alloc_tile addr = %c8192_i64 : "));
  CHECK(contains(contents(g.directory / "placed.pto"), "auto = false, base = 0} -> i32"));
  CHECK(contains(contents(g.directory / "reserving.pto"), "auto = true} -> i32"));
  const auto kernels = driver::listed_kernels(contents(g.directory / "manifest.json"));
  REQUIRE(kernels.size() == 2);
  CHECK(kernels[0]["level"] == 3);
  CHECK(kernels[1]["level"] == 2);
  auto storage = kernels[0]["storage"];
  REQUIRE(storage.size() == 2);
  for (auto& s : storage) s.erase("line");
  CHECK(storage[0].dump() == R"({"name":"ring","kind":"reserved","space":"Mat","bytes":1000,"address":0})");
  CHECK(storage[1].dump() == R"({"name":"slots","kind":"buffer","space":"Vec","slots":2,"bytes":4096,"address":4096})");
  CHECK_FALSE(kernels[1]["storage"][0].contains("address"));
  REQUIRE(g.emit({"--level", "3"}) == 0);
  CHECK(g.err.str().empty());
  REQUIRE(g.run({"check"}) == 0);
  REQUIRE(g.run({"lower", "placed", "--memory-map"}) == 0);
  CHECK(contains(g.out.str(), "load in slots[1]"));
}

TEST_CASE("help is printed on request") {
  Generator g;
  CHECK(g.run({"--help"}) == 0);
  CHECK(contains(g.out.str(), "gen"));
  for (const char* command : {"list", "emit", "lower", "check"}) CHECK(contains(g.out.str(), command));
  CHECK(g.run({"emit", "--help"}) == 0);
  CHECK(contains(g.out.str(), "--arch"));
}

TEST_CASE("the help states defaults, and one value for each time that an option is given") {
  Generator g;
  add_twice(g);
  const auto help = [&](const char* command) {
    REQUIRE(g.run({command, "--help"}) == 0);
    return g.out.str();
  };
  CHECK(contains(help("emit"), "(default: 0.60)"));
  CHECK(contains(help("emit"), "(default: a3)"));
  CHECK(contains(help("check"), "(default: 1)"));
  const std::pair<const char*, const char*> repeated[] = {
      {"check", "--set TEXT "}, {"lower", "--set TEXT "}, {"lower", "--print-after TEXT "}, {"lower", "--print-before TEXT "}};
  for (const auto& [command, option] : repeated) {
    CHECK(contains(help(command), option));
    CHECK_FALSE(contains(help(command), std::string(option) + "..."));
  }
}

TEST_CASE("the page on the generator names every option") {
  Generator g;
  const std::string page = contents(fs::path(TESSERA_TEST_DIR) / "../docs/getting-started.md");
  for (const char* command : {"list", "emit", "lower", "check"}) {
    REQUIRE(g.run({command, "--help"}) == 0);
    std::istringstream words(g.out.str());
    for (std::string word; words >> word;) {
      if (word.substr(0, 2) != "--") continue;
      INFO(command << " " << word);
      CHECK(contains(page, "`" + word));
    }
  }
}

TEST_CASE("a directory that cannot be made") {
  Generator g;
  add_softmax(g);
  std::ofstream(g.directory) << "a file";
  CHECK(g.emit() == 1);
  CHECK(contains(g.err.str(), "error: output: the output directory cannot be made ("));
}

TEST_CASE("lower prints the IR where it is asked to") {
  Generator g;
  add_softmax(g);
  SECTION("fully lowered by default") {
    REQUIRE(g.run({"lower", "softmax"}) == 0);
    CHECK(g.out.str().substr(0, 16) == "kernel @softmax(");
    CHECK(contains(g.out.str(), "tile.load"));
    CHECK(g.err.str().empty());
  }
  SECTION("after passes") {
    REQUIRE(g.run({"lower", "softmax", "--print-after", "legalize", "--print-after", "convert_tensor_to_tile_ops"}) ==
            0);
    const std::string text = g.out.str();
    CHECK(text.substr(0, 46) == "// softmax: after convert_tensor_to_tile_ops\nk");
    CHECK(contains(text, "// softmax: after legalize\n"));
    CHECK_FALSE(contains(text, "// softmax: after flatten"));
  }
  SECTION("as recorded, and after every pass") {
    REQUIRE(g.run({"lower", "softmax", "--print-after-all"}) == 0);
    CHECK(g.out.str().substr(0, 24) == "// softmax: as recorded\n");
    for (const Pass* p : default_pipeline())
      CHECK((p->applies != nullptr) != contains(g.out.str(), "// softmax: after " + std::string(p->name) + "\n"));
  }
  SECTION("before every pass") {
    REQUIRE(g.run({"lower", "softmax", "--print-before-all"}) == 0);
    CHECK(g.out.str().substr(0, 46) == "// softmax: before convert_tensor_to_tile_ops\n");
    CHECK_FALSE(contains(g.out.str(), "after"));
  }
  SECTION("as a memory map, in place of the IR") {
    REQUIRE(g.run({"lower", "softmax", "--memory-map"}) == 0);
    CHECK(g.out.str().substr(0, 24) == "memory of softmax on a3\n");
    CHECK(contains(g.out.str(), "\nVec: peak "));
    CHECK(contains(g.out.str(), " of 188416 bytes; at least "));
    CHECK_FALSE(contains(g.out.str(), "tile.load"));
    REQUIRE(g.run({"lower", "softmax", "--memory-map", "--print-after", "legalize", "--arch", "a5"}) == 0);
    CHECK(contains(g.out.str(), "// softmax: after legalize\n"));
    CHECK(contains(g.out.str(), "memory of softmax on a5\n"));
  }
  SECTION("as a timeline, in place of the IR") {
    REQUIRE(g.run({"lower", "softmax", "--timeline"}) == 0);
    CHECK(g.out.str().substr(0, 26) == "timeline of softmax on a3:");
    CHECK(contains(g.out.str(), "\npipe  busy "));
    CHECK(contains(g.out.str(), "row_max"));
    CHECK_FALSE(contains(g.out.str(), "tile.load"));
    REQUIRE(g.run({"lower", "softmax", "--memory-map", "--timeline", "--arch", "a5"}) == 0);
    CHECK(g.out.str().substr(0, 24) == "memory of softmax on a5\n");
    CHECK(contains(g.out.str(), "\n\ntimeline of softmax on a5:"));
  }
  SECTION("as a timeline with numbers for what only a run knows") {
    add_widen(g);
    REQUIRE(g.run({"lower", "widen", "--timeline", "--trips", "2"}) == 0);
    CHECK(contains(g.out.str(), "\nassumed: 2 turns of loops that end at run time (line "));
    REQUIRE(g.run({"lower", "widen", "--timeline", "--set", "S=40", "--set", "arg1=1"}) == 0);
    CHECK_FALSE(contains(g.out.str(), "assumed"));
    CHECK(g.run({"lower", "widen", "--timeline", "--set", "S=-5"}) == 1);
    CHECK(contains(g.err.str(), "src/kernels.cpp:9: error: timeline: a run-time dim takes no negative numbers (S=-5)\n  hint: "));
    CHECK(g.run({"lower", "widen", "--timeline", "--set", "T=40"}) == 1);
    CHECK(contains(g.err.str(), "src/kernels.cpp:9: error: timeline: there is no run-time dim or integer parameter of this name (T)\n  hint: names: "));
  }
  SECTION("as drawings") {
    const fs::path file = g.directory / "drawings" / "softmax.svg";
    REQUIRE(g.run({"lower", "softmax", "--svg", file.string()}) == 0);
    CHECK(g.out.str().empty());
    CHECK(contents(file).substr(0, 5) == "<svg ");
    CHECK(contains(contents(file), ">timeline of softmax on a3</text>"));
    CHECK(contains(contents(file), ">memory of softmax on a3</text>"));
    REQUIRE(g.run({"lower", "softmax", "--timeline", "--svg", file.string()}) == 0);
    CHECK(contains(g.out.str(), "timeline of softmax"));
    CHECK_FALSE(contains(contents(file), ">memory of softmax"));
    CHECK(g.run({"lower", "softmax", "--svg", (file / "x.svg").string()}) == 1);
    CHECK(contains(g.err.str(), "error: output: the output directory cannot be made ("));
    CHECK(contains(g.err.str(), "hint: give a file that can be written with --svg"));
  }
  SECTION("with times, apart from the IR") {
    REQUIRE(g.run({"lower", "softmax", "--timing"}) == 0);
    CHECK(contains(g.err.str(), "convert_tensor_to_tile_ops "));
    CHECK(contains(g.err.str(), "total "));
    CHECK_FALSE(contains(g.out.str(), " us"));
  }
  SECTION("with places") {
    REQUIRE(g.run({"lower", "softmax", "--locations"}) == 0);
    CHECK(contains(g.out.str(), " loc(driver_command_line.cpp:"));
  }
}

TEST_CASE("a request for more buffers than there is room for is an error at every level") {
  Generator g;
  g.add("wide", 3, [](Tensor<Shape<64, 1024>, f32> x, Out<Tensor<Shape<64, 1024>, f32>> out) {
    for (Index i : range(0, 64, 8).pipelined(4)) store(load<Shape<8, 1024>>(x, at(i, 0)) * 2.0f, out, at(i, 0));
  });
  for (const char* level : {"2", "3"}) {
    CHECK(g.run({"emit", "--level", level, "--out", g.directory.string()}) == 1);
    CHECK(contains(g.err.str(), "error: plan_memory: Vec needs "));
    CHECK(contains(g.err.str(), "  hint: make tiles smaller, or lower pipelined(4) of the loop in line "));
    CHECK(g.files().empty());
  }
}

TEST_CASE("at level 3 loops that stream have buffers for several turns, unless they are to stay as they are") {
  Generator g;
  add_widen(g);
  const std::string told = ": 2 turns have buffers of their own (automatic)\n";
  REQUIRE(g.run({"lower", "widen"}) == 0);
  CHECK(contains(g.out.str(), "unrolled = 2"));
  REQUIRE(g.run({"lower", "widen", "--no-pipelining"}) == 0);
  CHECK_FALSE(contains(g.out.str(), "unrolled"));
  REQUIRE(g.run({"lower", "widen", "--memory-map"}) == 0);
  CHECK(contains(g.out.str(), "\nloops\n  line "));
  CHECK(contains(g.out.str(), told));
  REQUIRE(g.run({"lower", "widen", "--memory-map", "--no-pipelining"}) == 0);
  CHECK_FALSE(contains(g.out.str(), "loops"));
  const auto emitted = [&](std::vector<std::string> arguments) {
    REQUIRE(g.emit(std::move(arguments)) == 0);
    return contents(g.directory / "widen.pto");
  };
  const auto loops = [&] { return nlohmann::json::parse(contents(g.directory / "manifest.json"))["kernels"][0].value("loops", nlohmann::json()); };
  const std::string plain = emitted({"--level", "3", "--no-pipelining"});
  CHECK(loops().is_null());
  CHECK(emitted({"--level", "3"}) != plain);
  REQUIRE(loops().size() == 1);
  CHECK(loops()[0]["turns"] == 2);
  CHECK(loops()[0]["requested"] == false);
  CHECK_FALSE(loops()[0].contains("reason"));
  CHECK(emitted({}) == emitted({"--no-pipelining"}));
  CHECK(loops().is_null());
  CHECK(g.run({"check", "--no-pipelining"}) == 0);
}

TEST_CASE("check compares the lowered kernels with their meaning") {
  Generator g;
  add_softmax(g);
  add_widen(g);
  REQUIRE(g.run({"check"}) == 0);
  CHECK(contains(g.out.str(), "ok      softmax: "));
  CHECK(contains(g.out.str(), "ok      widen: "));
  CHECK(contains(g.out.str(), "2 of 2 kernels agree with their meaning on a3\n"));
  REQUIRE(g.run({"check", "widen", "--set", "S=16", "--set", "arg1=4", "--seed", "7", "--arch", "a5"}) == 0);
  CHECK(contains(g.out.str(), ", 8192 bytes read, 16384 written; S=16 arg1=4\n1 of 1 kernels agree with their meaning on a5\n"));
  CHECK(g.run({"check", "--set", "n=3"}) == 2);
  CHECK(contains(
      g.err.str(),
      "error: --set: no kernel has a run-time dim or a scalar parameter of this name (n)\n  hint: names: arg1, S"));
  CHECK(g.out.str().empty());
}

TEST_CASE("check reports kernels that run wrong and goes on") {
  Generator g;
  add_widen(g);
  g.add("beyond", 50, [](Tensor<Shape<16, 64>, f32> x, Index i, Out<Tensor<Shape<16, 64>, f32>> out) {
    store(load<Shape<16, 64>>(x, at(i + 1, 0)), out, at(0, 0));
  });
  CHECK(g.run({"check"}) == 1);
  CHECK(contains(g.out.str(), "FAILED  beyond; arg1="));
  CHECK(contains(g.out.str(), "ok      widen: "));
  CHECK(contains(g.out.str(), "1 of 2 kernels agree"));
  CHECK(contains(g.err.str(), "error: load: "));
  CHECK(contains(g.err.str(), "  kernel: beyond\n"));
}

TEST_CASE("check gives operations data that they can take") {
  Generator g;
  g.add("pick", 60, [](Tensor<Shape<8, 64>, f32> x, Tensor<Shape<8, 16>, i32> where) { return gather(x, where); });
  CHECK(g.run({"check"}) == 0);
  CHECK(g.err.str().empty());
}

TEST_CASE("check runs a kernel with a split region, and notes once that it has no text") {
  Generator g;
  g.add("attend", 60, [](Tensor<Shape<32, 64>, f32> q, Tensor<Shape<32, 64>, f32> k, Tensor<Shape<32, 64>, f32> v) {
    auto scores = matmul(q, transpose(k));
    Var weights = create<Shape<32, 32>, f32>();
    for (auto lane : split_aiv<Split::up_down>()) {
      auto e = exp(aiv_shard(scores, lane));
      weights = aic_gather(weights, e / row_sum(e), lane);
    }
    return matmul(weights, v);
  });
  CHECK(g.run({"check"}) == 0);
  CHECK(contains(g.out.str(), "ok      attend: "));
  const std::string note = ": note: not emitted: for: a split region has no text: its two cores need a function each\n  hint: ";
  const std::size_t at = g.err.str().find(note);
  REQUIRE(at != std::string::npos);
  CHECK(g.err.str().find("note: ", at + note.size()) == std::string::npos);
  CHECK(g.run({"emit", "--out", g.directory.string()}) == 1);
  CHECK(contains(g.err.str(), "error: for: a split region has no text"));
}

TEST_CASE("check says how many results are NaN") {
  Generator g;
  g.add("root", 60, [](Tensor<Shape<16, 64>, f32> x, Scalar<f32> eps) { return sqrt(x * x + eps); });
  CHECK(g.run({"check", "--set", "arg1=-3"}) == 0);
  CHECK(contains(g.out.str(), "ok      root: "));
  CHECK(contains(g.err.str(), ": note: check: 1024 of 1024 results are NaN, which agree with any NaN\n  hint: draw other numbers with --seed, or state those of scalars: --set eps=0.001\n"));
  CHECK(g.run({"check", "--set", "arg1=1"}) == 0);
  CHECK(g.err.str().empty());
}

TEST_CASE("check notes forms that a kernel does not have, once, and it has not failed") {
  Generator g;
  g.add("turned", 60, [](Tensor<Shape<64, 192>, f32> x, Out<Tensor<Shape<184, 64>, f32>> turned, Out<Tensor<Shape<64, 192>, f32>> out) {
    auto t = load<Shape<64, 192>>(x, at(0, 0));
    store(transpose(slice<Shape<64, 184>>(t, at(0, 8))), turned, at(0, 0));
    store(t, out, at(0, 0));
  });
  CHECK(g.run({"check"}) == 0);
  CHECK(contains(g.out.str(), "ok      turned: "));
  CHECK(contains(g.err.str(), ": note: not at level 3: transpose: the instruction needs storage beside its operands, and Vec has no room for it (47104 bytes)\n  hint: "));
  CHECK(contains(g.err.str(), ": note: not as C++: transpose: the instruction takes no window of wider rows (operand 0: 184 of 192 columns)\n  hint: "));
  CHECK(contains(g.err.str(), "\n  kernel: turned\n"));
  CHECK(contains(g.err.str(), "driver_command_line.cpp:"));
  CHECK(g.run({"check", "--arch", "a5"}) == 0);
  CHECK_FALSE(contains(g.err.str(), "level 3"));
}

TEST_CASE("check draws scalars and run-time dims from the seed, and prints them so that the run can be repeated") {
  Generator g;
  add_widen(g);
  g.add("mode", 70, [](Tensor<Shape<16, 64>, f32> x, Scalar<f32> s, Scalar<u8> n, Index step) {
    Var y = x * s;
    for (Index i : range(0, 8, step * 2)) if_(n == 1, [&] { y = y + 1.0f; });
    return y;
  });
  const auto values = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "check");
    REQUIRE(g.run(arguments) == 0);
    const std::string text = g.out.str();
    return text.substr(text.find("; ") + 2, text.find('\n') - text.find("; ") - 2);
  };
  std::set<std::string> seen, dims;
  for (int seed = 1; seed <= 20; ++seed) {
    const std::string s = std::to_string(seed);
    const std::string mode = values({"mode", "--seed", s}), widen = values({"widen", "--seed", s});
    CHECK(mode == values({"mode", "--seed", s}));
    const auto number = [](const std::string& text, const std::string& name) {
      return std::stod(text.substr(text.find(name) + name.size()));
    };
    CHECK(number(mode, "arg2=") <= 3);
    CHECK(number(mode, "arg3=") >= 1);  // a step is never zero
    CHECK(number(mode, "arg3=") <= 3);
    CHECK(std::abs(number(mode, "arg1=")) < 1);
    CHECK(number(widen, "S=") >= 17);
    CHECK(number(widen, "S=") <= 100);
    seen.insert(mode);
    dims.insert(widen);
    // As printed, whatever the seed.
    std::vector<std::string> again{"mode"};
    std::istringstream words(mode);
    for (std::string w; words >> w;) again.insert(again.end(), {"--set", w});
    CHECK(values(again) == mode);
  }
  CHECK(seen.size() > 10);
  CHECK(dims.size() > 10);
}

TEST_CASE("settings that a name cannot take are refused before anything runs") {
  Generator g;
  add_softmax(g);
  add_widen(g);
  g.add("bytes", 70, [](Tensor<Shape<16, 64>, f32> x, Scalar<u8> n) { return x * cast<f32>(n); });
  const auto refused = [&](const std::string& setting, const std::string& message) {
    CHECK(g.run({"check", "--set", setting}) == 2);
    INFO(g.err.str());
    CHECK(g.err.str().substr(0, message.size()) == message);
    CHECK(contains(g.err.str(), "\n  hint: "));
    CHECK(g.out.str().empty());
  };
  refused("arg1=1.5", "error: --set: a parameter of type u8 takes integers (arg1=1.5)");
  refused("arg1=256", "error: --set: a parameter of type u8 does not hold the number (arg1=256)");
  refused("arg1=-1", "error: --set: a parameter of type u8 does not hold the number (arg1=-1)");
  refused("S=-3", "error: --set: a run-time dim takes no negative numbers (S=-3)");
  refused("S=2.5", "error: --set: a run-time dim takes integers (S=2.5)");
  refused("S=inf", "error: --set: a run-time dim takes integers (S=inf)");
  refused("T=4", "error: --set: no kernel has a run-time dim or a scalar parameter of this name (T)");
  CHECK(g.run({"check", "--set", "S=0"}) == 0);
}

TEST_CASE("tensors that are too large to be run are an error with numbers") {
  Generator g;
  add_widen(g);
  for (const char* size : {"S=99999999999", "S=9000000000000000", "S=10000000"}) {
    CHECK(g.run({"check", "--set", size}) == 1);
    CHECK(contains(g.err.str(), "error: check: the tensors are too large (arg0: [4, "));
    CHECK(contains(g.err.str(), " bytes in all, at most 1073741824)\n  hint: "));
    CHECK(contains(g.out.str(), std::string("FAILED  widen; ") + size + " arg1="));
  }
}

TEST_CASE("an output that cannot be written is an error") {
  Generator g;
  add_softmax(g);
  g.out.setstate(std::ios::badbit);  // as a full disk does
  CHECK(g.run({"list"}) == 2);
  CHECK(g.err.str() == "error: the output cannot be written\n  hint: check the space and the permissions of where it goes\n");
}
