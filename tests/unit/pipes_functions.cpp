// The order of pipes in functions: what the verifier says of flags that are missing or wrong, and what a run records and finds.
#include "support/synchronised.hpp"
#include "support/catch.hpp"
#include "support/ir.hpp"

#include <tessera/passes/pipeline.hpp>
#include <tessera/simulate/run.hpp>

using namespace tessera;
using namespace tessera::test;

namespace {

[[nodiscard]] Function planned(Recording& k, Arch arch = Arch::a3) {
  PassOptions options;
  options.verify = true;
  return run_passes(k.returns(), default_pipeline(), {arch}, options);
}
[[nodiscard]] std::string verified(const Function& f) {
  std::string said = thrown<InternalError>([&] { verify(f, {Property::synchronised}); });
  return said == "nothing is thrown" ? "" : said;
}
/// Operation number `n` of that kind.
[[nodiscard]] OpId find(const Function& f, const OpInfo& info, int n = 0) {
  for (std::uint32_t o = 0; o < f.operation_count(); ++o)
    if (f[OpId{o}].parent && f.is({o}, info) && n-- == 0) return {o};
  FAIL("no " << info.name << " in\n" << print(f));
  return {};
}
OpId set(Function& f, OpId behind, Pipe from, Pipe to, std::int64_t event = 0) { return insert_behind(f, behind, ops::set_flag, from, to, event); }
OpId wait(Function& f, OpId behind, Pipe from, Pipe to, std::int64_t event = 0) { return insert_behind(f, behind, ops::wait_flag, from, to, event); }
void flag(Function& f, OpId behind, Pipe from, Pipe to, std::int64_t event = 0) { wait(f, set(f, behind, from, to, event), from, to, event); }
constexpr Pipe mte2 = Pipe::mte2, v = Pipe::vector, mte3 = Pipe::mte3;

// o = exp(x) of 8 x 64, in one piece.
struct Straight : Recording {
  Function f;
  Straight() {
    const ValueId x = tensor("x", f32, {8, 64}), o = tensor("o", f32, {8, 64}, Direction::out);
    store(op(ops::exp, {load(x, {8, 64}, {index(0), index(0)})}), o, {index(0), index(0)});
    f = planned(*this);
  }
};
// Rows of o = exp(rows of x), n times eight rows.
struct Loop : Recording {
  Function f;
  explicit Loop(std::int64_t constant_trips = 0, std::int64_t step = 8) {
    const ValueId x = tensor("x", f32, {64, 64}), o = tensor("o", f32, {64, 64}, Direction::inout);
    const ValueId n = constant_trips == 0 ? scalar("n", index_type) : index(constant_trips);
    loop(n, {}, [&](ValueId i, const auto&) {
      const ValueId at = b().mul(i, index(step));
      store(op(ops::exp, {load(x, {8, 64}, {at, index(0)})}), o, {at, index(0)});
      return std::vector<ValueId>{};
    });
    f = planned(*this);
  }
  // Flags of one turn, and those from turn to turn.
  void flags(bool back) {
    const OpId load = find(f, ops::load), exp = find(f, ops::exp), store = find(f, ops::store), loop = find(f, ops::for_loop);
    flag(f, load, mte2, v);
    if (back) {
      // exp writes over its operand, perhaps: the next load waits for the store.
      move_in_front(wait(f, load, mte3, mte2), load);
      set(f, store, mte3, mte2);
      move_in_front(set(f, loop, mte3, mte2), loop);
      wait(f, loop, mte3, mte2);
    }
    flag(f, exp, v, mte3);
  }
  void move_in_front(OpId op, OpId anchor) {
    f.erase(op);
    f.insert_before(anchor, op);
  }
};

[[nodiscard]] std::string simulated(const Function& f, std::int64_t n, SimulateOptions options = {}) {
  HostTensor x(f32, {64, 64}), o(f32, {64, 64});
  return thrown<InternalError>([&] {
    if (f.parameters.size() == 2) static_cast<void>(simulate(f, {x, o}, options));
    else static_cast<void>(simulate(f, {x, o, n}, options));
  });
}

}  // namespace

TEST_CASE("a function without flags is not synchronised") {
  Straight k;
  CHECK(contains(verified(k.f), "verify: k.cpp:2: synchronised: exp (k.cpp:2, V) reads bytes 0 to 2048 of Vec, which load (k.cpp:1, MTE2) may not have written yet\n"));
  flag(k.f, find(k.f, ops::load), mte2, v);
  CHECK(contains(verified(k.f), "store (k.cpp:3, MTE3) reads bytes 0 to 2048 of Vec, which exp (k.cpp:2, V) may not have written yet"));
  flag(k.f, find(k.f, ops::exp), v, mte3);
  CHECK(verified(k.f) == "");
  Function nothing;
  CHECK(verified(nothing).substr(0, 16) == "internal error: ");
}

TEST_CASE("flags that are out of range, or stand alone in their block") {
  const auto faulty = [](auto&& change) {
    Straight k;
    k.f = with_barriers(k.f);
    change(k.f, find(k.f, ops::load));
    return verified(k.f);
  };
  CHECK(contains(faulty([](Function& f, OpId op) { flag(f, op, mte2, mte2); }), "synchronised: set_flag (k.cpp:1): there is no such flag (MTE2 -> MTE2 event 0)"));
  CHECK(contains(faulty([](Function& f, OpId op) { flag(f, op, mte2, v, 8); }), "there is no such event"));
  Straight other;
  flag(other.f, find(other.f, ops::load), static_cast<Pipe>(9), v);
  CHECK(sync_fault(other.f)->what == "set_flag (k.cpp:1): there is no such pipe");
  CHECK(contains(faulty([](Function& f, OpId op) { set(f, op, mte2, v); }), "synchronised: set_flag (k.cpp:1): nothing in its block lowers the flag"));
  CHECK(contains(faulty([](Function& f, OpId op) { wait(f, op, mte2, v); }), "synchronised: wait_flag (k.cpp:1): nothing in its block raises the flag"));
  CHECK(contains(faulty([](Function& f, OpId op) { set(f, set(f, op, mte2, v), mte2, v); }), "synchronised: set_flag (k.cpp:1): MTE2 -> V event 0 is raised twice in one block"));
  CHECK(contains(faulty([](Function& f, OpId op) { set(f, wait(f, op, mte2, v), mte2, v); }), "synchronised: wait_flag (k.cpp:1): V waits for ever: nothing in front raises MTE2 -> V event 0"));
}

TEST_CASE("a loop needs flags from turn to turn") {
  Loop k;
  k.flags(false);
  INFO(print(k.f));
  CHECK(contains(verified(k.f), "load (k.cpp:2, MTE2) writes bytes 0 to 2048 of Vec, which "));
  CHECK(contains(verified(k.f), " (loops turn 3 times, where conditions hold)"));
  CHECK(simulated(k.f, 1) == "nothing is thrown");
  CHECK(contains(simulated(k.f, 2), "internal error: simulate: k: load (k.cpp:2, MTE2) writes bytes 0 to 2048 of Vec, which "));
  Loop good;
  good.flags(true);
  INFO(print(good.f));
  CHECK(verified(good.f) == "");
  for (const std::int64_t n : {0, 1, 2, 5}) CHECK(simulated(good.f, n) == "nothing is thrown");
}

TEST_CASE("a run tells what the pipes did") {
  Loop k;
  k.flags(true);
  PipeTrace trace;
  SimulateOptions options;
  options.pipes = &trace;
  CHECK(simulated(k.f, 2, options) == "nothing is thrown");
  std::string text;
  for (const PipeEvent& e : trace.events) {
    text.append(name(runner(e))).append(" ").append(k.f.info(e.op).name);
    trace.for_each_access(e, [&](std::uint32_t a) {
      const TraceAccess& x = trace.accesses[a];
      text.append(x.writes ? ", writes " : ", reads ").append(name(x.space)).append(" ").append(std::to_string(x.begin)).append(" to ").append(std::to_string(x.end));
    });
    text.append("\n");
  }
  CHECK(text == golden(R"(
MTE3 set_flag
MTE2 wait_flag
MTE2 load, writes Vec 0 to 2048, reads Gm 0 to 2048
MTE2 set_flag
V wait_flag
V exp, reads Vec 0 to 2048, writes Vec 0 to 2048
V set_flag
MTE3 wait_flag
MTE3 store, reads Vec 0 to 2048, writes Gm 0 to 2048
MTE3 set_flag
MTE2 wait_flag
MTE2 load, writes Vec 0 to 2048, reads Gm 2048 to 4096
MTE2 set_flag
V wait_flag
V exp, reads Vec 0 to 2048, writes Vec 0 to 2048
V set_flag
MTE3 wait_flag
MTE3 store, reads Vec 0 to 2048, writes Gm 2048 to 4096
MTE3 set_flag
MTE2 wait_flag
)"));
  Straight unplanned;
  CHECK(contains(thrown<InternalError>([&] {
                   HostTensor x(f32, {8, 64}), o(f32, {8, 64});
                   static_cast<void>(simulate(static_cast<Recording&>(unplanned).f(), {x, o}, options));
                 }),
                 "simulate: the pipes of a function without addresses"));
}

TEST_CASE("the check can be left out, or asked for") {
  Straight k;
  HostTensor x(f32, {8, 64}), o(f32, {8, 64});
  const auto run = [&](const Function& f, PipeChecks checks) {
    SimulateOptions options;
    options.pipe_checks = checks;
    return thrown<InternalError>([&] { static_cast<void>(simulate(f, {x, o}, options)); });
  };
  CHECK(run(k.f, PipeChecks::synchronised) == "nothing is thrown");
  CHECK(contains(run(k.f, PipeChecks::always), "simulate: k: exp (k.cpp:2, V) reads bytes 0 to 2048 of Vec, which load (k.cpp:1, MTE2) may not have written yet"));
  flag(k.f, find(k.f, ops::load), mte2, v);
  CHECK(contains(run(k.f, PipeChecks::synchronised), "simulate: k: store (k.cpp:3, MTE3) reads"));
  CHECK(run(k.f, PipeChecks::off) == "nothing is thrown");
}
