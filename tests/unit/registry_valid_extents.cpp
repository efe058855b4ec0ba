// What is valid in the result of every operation, as the table says, compared with what the builder derives, and with the numbers
// behind every pass. Elements that are not valid are poison, so an extent that grows on its way is found.
#include "support/valid_extents.hpp"

using namespace valid_extents;

namespace {

void check(const OpInfo& op, const Example& example, Arch arch, bool run_time) {
  Case c(op, arch, run_time);
  if (!is_available(c)) return;
  if (!example.refused.empty()) {
    const std::string text = thrown<UserError>([&] { static_cast<void>(example.build(c)); });
    CHECK(contains(text, std::string(op.name) + example.refused));
    return;
  }
  finish(c, example.build(c));
  if (!example.lowered) {
    Inputs inputs(c.k.f(), 8, 1, element);
    static_cast<void>(simulate(c.k.f(), inputs.arguments));
    CHECK(numbers(inputs) == example.valid);
    return;
  }
  const SameNumbers same(c.k, arch, 8, 1, element);
  CHECK(numbers(same.meant) == example.valid);
}

}  // namespace

TEST_CASE("valid extents of every operation, by constants and by numbers of the run, behind every pass") {
  for (const Row& row : table())
    for (const OpInfo* op : row.ops)
      for (std::size_t i = 0; i < row.examples.size(); ++i)
        for (const Arch arch : {Arch::a3, Arch::a5})
          for (const bool run_time : {false, true}) {
            INFO(op->name << ", example " << i << ", " << name(arch) << (run_time ? ", at run time" : ""));
            try {
              check(*op, row.examples[i], arch, run_time);
            } catch (const std::exception& e) {
              FAIL_CHECK(e.what());
            }
          }
}

TEST_CASE("every operation has its row, or is known to give something new") {
  std::map<const OpInfo*, int> rows;
  for (const Row& row : table())
    for (const OpInfo* op : row.ops) {
      ++rows[op];
      CHECK(!row.examples.empty());
    }
  for (const OpInfo* op : without_extents) {
    INFO(op->name);
    CHECK(op->valid == ValidRule::full);
    ++rows[op];
  }
  for (const ops::Family& family : ops::families)
    for (const OpInfo* op : family) {
      if (op->level == Level::scalar || op->level == Level::control) continue;
      if (op == &ops::place) continue;  // names storage that a kernel declares: memory_storage
      INFO(op->name << ": give it a row in the table");
      CHECK(rows[op] == 1);
    }
}
