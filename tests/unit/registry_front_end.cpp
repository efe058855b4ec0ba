// What the descriptors say of the front end is what its headers hold.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "tessera/ops/all.hpp"

namespace {

using namespace tessera;
namespace fs = std::filesystem;

std::string front_end() {
  const fs::path include = fs::path(TESSERA_TEST_DIR) / "../include/tessera";
  std::vector<fs::path> files{include / "ops/forms.hpp"};  // what the operators choose from
  for (const auto& file : fs::directory_iterator(include / "dsl")) files.push_back(file.path());
  std::string all;
  for (const fs::path& file : files) {
    std::ifstream in(file);
    all.append(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  return all;
}
/// Descriptors that the front end names: `ops::exp`, or the argument of a macro at the start of a line, TESSERA_UNARY(exp).
std::set<std::string> named_descriptors() {
  std::set<std::string> names;
  std::istringstream lines(front_end());
  const auto word_at = [](const std::string& line, std::size_t begin) {
    std::size_t end = begin;
    while (end < line.size() && (std::isalnum(static_cast<unsigned char>(line[end])) != 0 || line[end] == '_')) ++end;
    return line.substr(begin, end - begin);
  };
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("TESSERA_", 0) == 0 && line.find('(') != std::string::npos) names.insert(word_at(line, line.find('(') + 1));
    for (std::size_t at = line.find("ops::"); at != std::string::npos; at = line.find("ops::", at + 1))
      names.insert(word_at(line, at + 5));
  }
  return names;
}

}  // namespace

TEST_CASE("an operation has a function in the front end, or the passes make it") {
  const std::set<std::string> named = named_descriptors();
  CHECK(named.size() > 60);
  for (const ops::Family& family : ops::families)
    for (const OpInfo* op : family) {
      if (op->level == Level::scalar || op->level == Level::control) continue;  // they have other names there
      INFO(op->name);
      CHECK((named.count(std::string(op->name)) == 0) == op->made_by_passes);
    }
  CHECK(ops::transpose_view.made_by_passes);
}
TEST_CASE("no operation reads a bias or scales: the guide says so") {
  for (const ops::Family& family : ops::families)
    for (const OpInfo* op : family)
      for (int i = 0; i < 3; ++i)
        for (const MemorySpace unused : {Bias, LeftScale, RightScale}) {
          INFO(op->name);
          CHECK((operand_space(*op, i).any() || !operand_space(*op, i).contains(unused)));
        }
}
