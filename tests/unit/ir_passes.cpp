// The pass runner: properties, hooks, times, names; and the ranges that passes walk over.
#include "support/catch.hpp"
#include "support/ir.hpp"

#include <range/v3/algorithm/count_if.hpp>

#include <tessera/passes/pass.hpp>
#include <tessera/ir/walk.hpp>

using namespace tessera;
using namespace tessera::test;

namespace {
Function same(const Function& f, const PassContext&) { return f; }
Function broken(const Function& f, const PassContext&) {
  Function out = f;
  out.set_operands(out.terminator(out.body()), {out.result(OpId{0})});
  out[out.body()].last = OpId{0};
  return out;
}
constexpr Pass first = {.name = "first", .produced = {Property::tile_ops}, .run = same};
constexpr Pass second = {.name = "second",
                         .required = {Property::tile_ops},
                         .produced = {Property::tiles_2d},
                         .invalidated = {Property::tile_ops},
                         .run = same};
constexpr Pass liar = {.name = "liar", .produced = {Property::tile_ops}, .run = same};
constexpr Pass breaker = {.name = "breaker", .run = broken};
constexpr const Pass* both[] = {&first, &second};

struct Small : Recording {
  Small() {
    const ValueId x = tensor("x", f32, {8});
    load(x, {8}, {index(0)});
    returns();
  }
};
}  // namespace

TEST_CASE("passes run in order, observed and timed", "[ir]") {
  Small k;
  std::string seen;
  std::vector<PassTime> times;
  PassOptions options;
  options.verify = true;
  options.times = &times;
  options.before = [&](const Pass& p, const Function&) { seen.append("<").append(p.name); };
  options.after = [&](const Pass& p, const Function&) { seen.append(">").append(p.name); };
  const Function f = run_passes(k.f(), {both, 2}, {}, options);
  CHECK(print(f) == print(k.f()));
  CHECK(seen == "<first>first<second>second");
  REQUIRE(times.size() == 2);
  CHECK(times[0].pass == "first");
  CHECK(times[1].pass == "second");
}

TEST_CASE("hooks for programs do not observe a single function", "[ir]") {
  Small k;
  const std::string told = "internal error: passes: a hook for programs, but a single function is given (k)";
  PassOptions before, after;
  before.before_program = after.after_program = [](const Pass&, const Program&) {};
  CHECK(thrown<InternalError>([&] { (void)run_passes(k.f(), {both, 2}, {}, before); }) == told);
  CHECK(thrown<InternalError>([&] { (void)run_passes(k.f(), {both, 2}, {}, after); }) == told);
}

TEST_CASE("no pass gives the input back", "[ir]") {
  Small k;
  CHECK(print(run_passes(k.f(), {}, {})) == print(k.f()));
}

TEST_CASE("required properties are checked, invalidated ones are lost", "[ir]") {
  Small k;
  const Pass* const alone[] = {&second};
  CHECK(thrown<InternalError>([&] { (void)run_passes(k.f(), {alone, 1}, {}); }) ==
        "internal error: second requires what the function does not have: tile_ops");
  const Pass* const twice[] = {&first, &second, &second};
  CHECK(contains(thrown<InternalError>([&] { (void)run_passes(k.f(), {twice, 3}, {}); }), "second requires"));
  PassOptions given;
  given.properties = {Property::tile_ops};
  CHECK_NOTHROW(run_passes(k.f(), {alone, 1}, {}, given));
}

TEST_CASE("a pass that breaks its promise or the IR is named", "[ir]") {
  Recording k;
  k.op(ops::exp, {k.tensor("x", f32, {8})});
  k.returns();
  PassOptions options;
  options.verify = true;
  const Pass* const lies[] = {&liar};
  CHECK(contains(thrown<InternalError>([&] { (void)run_passes(k.f(), {lies, 1}, {}, options); }),
                 "internal error: after liar: verify: k.cpp:1: tile_ops: a tensor-level operation is left"));
  const Pass* const breaks_it[] = {&breaker};
  CHECK(contains(thrown<InternalError>([&] { (void)run_passes(k.f(), {breaks_it, 1}, {}, options); }),
                 "internal error: after breaker: verify: "));
}

TEST_CASE("functions are printed after named passes or after all", "[ir]") {
  Small k;
  std::string text;
  const auto write = [&](const Pass& p, const std::string& f) {
    text.append(p.name).append(":").append(f.substr(0, 9)).append(";");
  };
  PassOptions named;
  named.after = printing_hook({both, 2}, {"second"}, {}, write);
  (void)run_passes(k.f(), {both, 2}, {}, named);
  CHECK(text == "second:kernel @k;");
  text.clear();
  PassOptions every;
  every.after = printing_hook({both, 2}, {}, {}, write);
  (void)run_passes(k.f(), {both, 2}, {}, every);
  CHECK(text == "first:kernel @k;second:kernel @k;");
}

TEST_CASE("an unknown pass is a user's mistake", "[ir]") {
  CHECK(&find_pass({both, 2}, "second") == &second);
  CHECK(thrown<UserError>([&] { (void)find_pass({both, 2}, "third"); }) ==
        "error: passes: there is no pass of this name (third)\n  hint: known passes: first, second");
}

TEST_CASE("operations are walked in program order, blocks after their operation", "[ir]") {
  Recording k;
  const ValueId x = k.tensor("x", f32, {8}), c = k.scalar("c", boolean);
  k.loop(k.index(2), {}, [&](ValueId, const auto&) {
    k.branch(c, {}, [&] {
      k.op(ops::exp, {x});
      return std::vector<ValueId>{};
    }, [&] { return std::vector<ValueId>{}; });
    return std::vector<ValueId>{};
  });
  k.op(ops::neg, {x});
  k.returns();
  std::string names;
  for (const OpId op : all_operations(k.f())) names.append(k.f().info(op).name).append(" ");
  CHECK(names == "for if exp yield yield yield neg return ");
  names.clear();
  for (const OpId op : operations(k.f(), k.f().body())) names.append(k.f().info(op).name).append(" ");
  CHECK(names == "for neg return ");
  CHECK(ranges::count_if(all_operations(k.f()), [&](OpId op) { return k.f().is(op, ops::yield); }) == 3);
}
