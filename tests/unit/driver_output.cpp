#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "support/catch.hpp"
#include "tessera/driver/output.hpp"

namespace {

using namespace tessera;
namespace fs = std::filesystem;

struct Directory {
  fs::path path = fs::temp_directory_path() / ("tessera_output_" + std::to_string(::getpid()));
  Directory() { fs::remove_all(path); }
  ~Directory() { fs::remove_all(path); }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;
  [[nodiscard]] std::string read(const char* name) const {
    std::ifstream in(path / name);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  [[nodiscard]] std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(path), fs::directory_iterator()));
  }
};

std::size_t write(const Directory& d, const std::vector<std::pair<std::string, std::string>>& files) {
  driver::OutputFiles out(d.path);
  for (const auto& [name, content] : files) out.add(name, content);
  return out.commit();
}

}  // namespace

TEST_CASE("files appear when they are committed, in directories that are made") {
  Directory d;
  {
    driver::OutputFiles out(d.path);
    out.add("a", "1");
  }
  CHECK_FALSE(fs::exists(d.path));
  CHECK(write(d, {{"a", "1"}, {"b", "2"}}) == 2);
  CHECK(d.read("a") == "1");
  CHECK(d.read("b") == "2");
  CHECK(d.files() == 2);
}

TEST_CASE("only files that change are written") {
  Directory d;
  write(d, {{"a", "1"}, {"b", "2"}});
  CHECK(write(d, {{"a", "1"}, {"b", "3"}}) == 1);
  CHECK(write(d, {{"a", ""}, {"b", "3"}}) == 1);
  CHECK(write(d, {{"a", ""}, {"b", "3"}}) == 0);
  CHECK(d.read("a").empty());
}

TEST_CASE("when one file cannot be written none changes, and nothing is left behind") {
  Directory d;
  write(d, {{"a", "1"}});
  fs::create_directory(d.path / "b");
  CHECK_THROWS_AS(write(d, {{"a", "2"}, {"b", "2"}}), UserError);
  CHECK(d.read("a") == "1");
  CHECK(d.files() == 2);
}

TEST_CASE("files that are not wanted go when the others are committed") {
  Directory d;
  write(d, {{"a", "1"}, {"b", "2"}});
  {
    driver::OutputFiles out(d.path);
    out.remove("a");
  }
  CHECK(d.files() == 2);
  driver::OutputFiles out(d.path);
  out.remove("a");
  out.remove("gone");
  out.add("c", "3");
  CHECK(out.commit() == 1);
  CHECK_FALSE(fs::exists(d.path / "a"));
  CHECK(d.files() == 2);
}
