// A program is built for one target: kernels compiled for different ones are refused by the registry.
#include <tessera/kernel.hpp>

#include "support/catch.hpp"

namespace {

using namespace tessera;

class entry final : public KernelEntry {
 public:
  entry(std::string_view name, int target) : KernelEntry(name, {"k.cpp", 7, 1}, this, false, target) {}
  void run(Recorder&) const override {}
};

}  // namespace

TEST_CASE("kernels of two targets are refused") {
  Registry registry;
  static entry first("first", static_cast<int>(Arch::a3)), neutral("neutral", KernelEntry::any_target),
      second("second", static_cast<int>(Arch::a5));
  registry.add(&first);
  registry.add(&neutral);
  REQUIRE(registry.errors().empty());
  CHECK(registry.target() == static_cast<int>(Arch::a3));
  registry.add(&second);
  const auto errors = registry.errors();
  REQUIRE(errors.size() == 1);
  CHECK(errors[0].text() ==
        "k.cpp:7: error: kernel: it is compiled for a5, but first for a3\n  hint: build one generator for each target");
}

TEST_CASE("kernels of one target go together") {
  Registry registry;
  static entry neutral("neutral", KernelEntry::any_target), first("first", static_cast<int>(Arch::a5)),
      second("second", static_cast<int>(Arch::a5));
  registry.add(&neutral);
  CHECK(registry.target() == KernelEntry::any_target);
  registry.add(&first);
  registry.add(&second);
  CHECK(registry.errors().empty());
  CHECK(registry.target() == static_cast<int>(Arch::a5));
}
