// The order of pipes in traces that are made by hand: each kind of fault with its words, and programs that are right.
#include "support/ir.hpp"
#include "support/catch.hpp"

#include <tessera/ir/pipe_check.hpp>
#include <tessera/ir/pipe_replay.hpp>

using namespace tessera;
using tessera::test::contains;

namespace {

TraceAccess reads(std::int64_t begin, std::int64_t end) { return {Vec, 0, begin, end, false, false, 0}; }
TraceAccess writes(std::int64_t begin, std::int64_t end) { return {Vec, 0, begin, end, true, false, 0}; }
TraceAccess gm(TraceAccess a, std::uint32_t tensor = 0, std::uint32_t base = 0) {
  a.space = Gm;
  a.tensor = tensor;
  a.base = base;
  return a;
}
TraceAccess adding(TraceAccess a) {
  a.adds = true;
  return a;
}

// Events stand on lines of their own, counted from 1.
struct Trace {
  Function f;
  PipeTrace t;
  std::uint32_t line = 0;

  Trace() {
    for (const char* const name : {"x", "o"})
      f.parameters.push_back({f.add_argument(f.body(), test::shaped_type(f32, {64, 64})), name, Direction::in, {}});
  }
  OpId op(const OpInfo& info) { return f.new_operation(info, {}, {}, {"dir/k.cpp", ++line, 1}); }
  Trace& run(Pipe pipe, const OpInfo& info, std::vector<TraceAccess> accesses) {
    t.events.push_back({PipeEvent::Kind::instruction, pipe, Pipe::none, 0, op(info), static_cast<std::uint32_t>(t.accesses.size()), static_cast<std::uint32_t>(accesses.size())});
    t.accesses.insert(t.accesses.end(), accesses.begin(), accesses.end());
    return *this;
  }
  Trace& load(std::vector<TraceAccess> a) { return run(Pipe::mte2, ops::load, std::move(a)); }
  Trace& add(std::vector<TraceAccess> a) { return run(Pipe::vector, ops::add, std::move(a)); }
  Trace& store(std::vector<TraceAccess> a) { return run(Pipe::mte3, ops::store, std::move(a)); }
  Trace& set(Pipe from, Pipe to, std::uint8_t event = 0) {
    t.events.push_back({PipeEvent::Kind::set_flag, from, to, event, op(ops::set_flag)});
    return *this;
  }
  Trace& wait(Pipe from, Pipe to, std::uint8_t event = 0) {
    t.events.push_back({PipeEvent::Kind::wait_flag, from, to, event, op(ops::wait_flag)});
    return *this;
  }
  Trace& flag(Pipe from, Pipe to, std::uint8_t event = 0) { return set(from, to, event).wait(from, to, event); }
  Trace& barrier(Pipe p = Pipe::none) {
    t.events.push_back({PipeEvent::Kind::barrier, p, Pipe::none, 0, op(ops::barrier)});
    return *this;
  }
  std::string fault(Arch arch = Arch::a3) {
    const auto found = pipe_fault(f, t, arch);
    return found ? found->what : "";
  }
  std::string replayed(Arch arch = Arch::a3, int runs = 200) {
    const auto found = replay_fault(f, t, arch, runs);
    return found ? found->what : "";
  }
  bool good(Arch arch = Arch::a3) {
    UNSCOPED_INFO(fault(arch) << " " << replayed(arch));
    return fault(arch).empty() && replayed(arch).empty();
  }
};
constexpr Pipe mte2 = Pipe::mte2, v = Pipe::vector, mte3 = Pipe::mte3, s = Pipe::scalar;

}  // namespace

TEST_CASE("what a flag or a barrier orders is right") {
  CHECK(Trace().load({writes(0, 64)}).flag(mte2, v).add({reads(0, 64), writes(64, 128)}).flag(v, mte3).store({reads(64, 128)}).good());
  CHECK(Trace().load({writes(0, 64)}).barrier().add({reads(0, 64), writes(64, 128)}).barrier().store({reads(64, 128)}).good());
  // One flag behind the last of several.
  CHECK(Trace().load({writes(0, 64)}).load({writes(64, 128)}).flag(mte2, v).add({reads(0, 128), writes(0, 64)}).good());
  // In order of its own, and nothing in common.
  CHECK(Trace().load({writes(0, 64)}).load({writes(0, 64)}).add({reads(64, 128)}).good());
  // Through a third pipe.
  CHECK(Trace().load({writes(0, 64)}).flag(mte2, v).add({writes(64, 96)}).flag(v, mte3).store({reads(0, 64)}).good());
  CHECK(Trace().good());
}

TEST_CASE("two pipes that nothing orders") {
  Trace raw;
  raw.load({writes(0, 64)}).add({reads(32, 96), writes(128, 192)});
  CHECK(raw.fault() == "add (k.cpp:2, V) reads bytes 32 to 64 of Vec, which load (k.cpp:1, MTE2) may not have written yet");
  CHECK(contains(raw.replayed(), "in another order add (k.cpp:2, V) reads bytes 32 to 96 of Vec as left by nothing, and not by load (k.cpp:1, MTE2)"));
  Trace war;
  war.load({writes(0, 64)}).flag(mte2, v).add({reads(0, 64)}).load({writes(0, 64)});
  CHECK(war.fault() == "load (k.cpp:5, MTE2) writes bytes 0 to 64 of Vec, which add (k.cpp:4, V) may not have read yet");
  CHECK(contains(war.replayed(), "add (k.cpp:4, V) reads bytes 0 to 64 of Vec as left by load (k.cpp:5, MTE2), and not by load (k.cpp:1, MTE2)"));
  Trace waw;
  waw.load({writes(0, 64)}).add({writes(0, 32)});
  CHECK(waw.fault() == "add (k.cpp:2, V) writes bytes 0 to 32 of Vec, which load (k.cpp:1, MTE2) may not have written yet");
  CHECK(contains(waw.replayed(), "writes over bytes 0 to 32 of Vec as left by nothing, and not by load (k.cpp:1, MTE2)"));
  // A flag in the wrong direction, or in front of the producer, orders nothing.
  CHECK_FALSE(Trace().load({writes(0, 64)}).flag(v, mte2).add({reads(0, 64)}).fault().empty());
  CHECK_FALSE(Trace().set(mte2, v).load({writes(0, 64)}).wait(mte2, v).add({reads(0, 64)}).fault().empty());
  CHECK_FALSE(Trace().set(mte2, v).load({writes(0, 64)}).wait(mte2, v).add({reads(0, 64)}).replayed().empty());
}

TEST_CASE("a scalar that is read from a tile") {
  CHECK(Trace().add({writes(0, 64)}).flag(v, s).run(s, ops::read, {reads(0, 64)}).flag(s, v).add({writes(0, 64)}).good(Arch::a5));
  CHECK(Trace().add({writes(0, 64)}).run(s, ops::read, {reads(0, 64)}).fault() ==
        "read (k.cpp:2, S) reads bytes 0 to 64 of Vec, which add (k.cpp:1, V) may not have written yet");
}

TEST_CASE("vector instructions overlap on a3 where no barrier stands between them") {
  for (const auto& [first, second, words] : {std::tuple{writes(0, 64), reads(0, 64), "reads bytes 0 to 64 of Vec, which add (k.cpp:1, V) may not have written yet"},
                                             std::tuple{reads(0, 64), writes(0, 64), "writes bytes 0 to 64 of Vec, which add (k.cpp:1, V) may not have read yet"},
                                             std::tuple{writes(0, 64), writes(0, 64), "writes bytes 0 to 64 of Vec, which add (k.cpp:1, V) may not have written yet"}}) {
    Trace t, good, other;
    t.add({first}).add({second});
    CHECK(t.fault() == "add (k.cpp:2, V) " + std::string(words));
    CHECK_FALSE(t.replayed().empty());
    CHECK(t.good(Arch::a5));
    CHECK(good.add({first}).barrier(v).add({second}).good());
    CHECK(other.add({first}).barrier(mte2).add({second}).fault() == "add (k.cpp:3, V) " + std::string(words));
    Trace wide;
    CHECK(wide.add({first}).barrier().add({second}).good());
    // Through another pipe: it went on when the first one was done.
    Trace around;
    CHECK(around.add({first}).flag(v, mte3).flag(mte3, v).add({second}).good());
  }
  // An instruction that reads and writes the same bytes is not in its own way; one in front of it that reads them is.
  CHECK(Trace().add({reads(0, 64), writes(0, 64)}).good());
  CHECK_FALSE(Trace().add({reads(0, 64)}).add({reads(0, 64), writes(0, 64)}).fault().empty());
  CHECK_FALSE(Trace().add({reads(0, 64)}).add({reads(0, 64), writes(0, 64)}).replayed().empty());
  CHECK(Trace().add({reads(0, 96)}).add({reads(0, 64)}).add({writes(0, 64)}).fault() == "add (k.cpp:3, V) writes bytes 0 to 64 of Vec, which add (k.cpp:1, V) may not have read yet");
  CHECK(Trace().add({writes(0, 64)}).add({writes(64, 128)}).flag(v, mte3).store({reads(0, 128)}).good());
}

TEST_CASE("tensors are memory that pipes share") {
  Trace t;
  t.store({gm(writes(0, 64), 1)}).load({gm(reads(32, 96), 1)});
  CHECK(t.fault() == "load (k.cpp:2, MTE2) reads bytes 32 to 64 of o, which store (k.cpp:1, MTE3) may not have written yet");
  CHECK_FALSE(t.replayed().empty());
  CHECK(Trace().store({gm(writes(0, 64), 1)}).load({gm(reads(32, 96), 0)}).good());
  CHECK(Trace().store({gm(writes(0, 64), 1)}).load({gm(reads(64, 96), 1)}).good());
  CHECK(Trace().store({gm(writes(0, 64), 1)}).flag(mte3, mte2).load({gm(reads(32, 96), 1)}).good());
}

TEST_CASE("additions come in any order, and stand between reads and writes") {
  const TraceAccess added = adding(gm(writes(0, 64)));
  CHECK(Trace().store({added}).run(Pipe::fix, ops::store, {added}).good());
  CHECK(Trace().store({added}).load({gm(reads(0, 64))}).fault() == "load (k.cpp:2, MTE2) reads bytes 0 to 64 of x, which store (k.cpp:1, MTE3) may not have added to yet");
  CHECK_FALSE(Trace().store({added}).load({gm(reads(0, 64))}).replayed().empty());
  CHECK(Trace().load({gm(reads(0, 64))}).store({added}).fault() == "store (k.cpp:2, MTE3) adds to bytes 0 to 64 of x, which load (k.cpp:1, MTE2) may not have read yet");
  CHECK_FALSE(Trace().load({gm(reads(0, 64))}).store({added}).replayed().empty());
  CHECK_FALSE(Trace().store({added}).run(Pipe::fix, ops::store, {gm(writes(0, 64))}).fault().empty());
  CHECK_FALSE(Trace().store({gm(writes(0, 64))}).run(Pipe::fix, ops::store, {added}).fault().empty());
}

TEST_CASE("bytes that are counted from places that are not known may be the same") {
  CHECK(Trace().store({gm(writes(0, 64), 1, 1)}).load({gm(reads(512, 576), 1, 2)}).fault() ==
        "load (k.cpp:2, MTE2) reads bytes of o, which store (k.cpp:1, MTE3) may not have written yet");
  CHECK(Trace().store({gm(writes(0, 64), 1, 1)}).load({gm(reads(512, 576), 1, 1)}).fault().empty());
  CHECK(Trace().store({gm(writes(0, 64), 1, 1)}).load({gm(reads(512, 576), 0, 2)}).fault().empty());
  CHECK(Trace().load({gm(reads(0, 64), 1, 1)}).store({gm(writes(512, 576), 1, 2)}).flag(mte3, mte2).store({gm(writes(0, 64), 1, 2)}).fault() ==
        "store (k.cpp:2, MTE3) writes bytes of o, which load (k.cpp:1, MTE2) may not have read yet");
  // The last of another base counts, whatever came in between.
  CHECK_FALSE(Trace().store({gm(writes(0, 64), 1, 1)}).store({gm(writes(0, 64), 1, 2)}).store({gm(writes(0, 64), 1, 2)}).load({gm(reads(512, 576), 1, 2)}).fault().empty());
  CHECK(Trace().store({gm(writes(0, 64), 1, 1)}).flag(mte3, mte2).store({gm(writes(0, 64), 1, 2)}).load({gm(reads(512, 576), 1, 2)}).fault().empty());
}

TEST_CASE("flags are raised and lowered in turn") {
  Trace twice;
  twice.set(mte2, v, 3).set(mte2, v, 3).wait(mte2, v, 3).wait(mte2, v, 3);
  CHECK(twice.fault() == "set_flag (k.cpp:2): MTE2 -> V event 3 is raised twice, before anything lowers it: first by set_flag (k.cpp:1)");
  CHECK(contains(twice.replayed(), "in another order set_flag (k.cpp:2) raises MTE2 -> V event 3 before it is lowered"));
  Trace again;  // V may be slow
  again.flag(mte2, v).flag(mte2, v);
  CHECK(again.fault() == "set_flag (k.cpp:3): MTE2 -> V event 0 is raised again, and wait_flag (k.cpp:2) may not have lowered it yet");
  CHECK_FALSE(again.replayed().empty());
  CHECK(Trace().flag(mte2, v).flag(v, mte2).flag(mte2, v).good());
  CHECK(Trace().flag(mte2, v, 0).flag(mte2, v, 1).flag(mte2, mte3, 0).good());
  CHECK(Trace().flag(mte2, v).barrier().flag(mte2, v).good());
  Trace left;
  left.set(mte2, v, 7);
  CHECK(left.fault() == "set_flag (k.cpp:1): MTE2 -> V event 7 is never lowered");
  CHECK(left.replayed() == "set_flag (k.cpp:1): MTE2 -> V event 7 is never lowered");
  CHECK(Trace().set(mte2, mte2).fault() == "set_flag (k.cpp:1): there is no such flag (MTE2 -> MTE2 event 0)");
  CHECK(Trace().set(mte2, v, 8).fault() == "set_flag (k.cpp:1): there is no such flag (MTE2 -> V event 8)");
  CHECK(Trace().run(Pipe::none, ops::add, {}).fault() == "add (k.cpp:1): no pipe runs it");
}

TEST_CASE("a wait for what nobody raises") {
  Trace t;
  t.load({writes(0, 64)}).wait(mte2, v).add({reads(0, 64)});
  CHECK(t.fault() == "wait_flag (k.cpp:2): V waits for ever: nothing in front raises MTE2 -> V event 0");
  CHECK(t.replayed() == "the pipes wait for each other: S is done; V is at wait_flag (k.cpp:2), MTE2 -> V event 0; M is done; MTE1 is done; MTE2 is done; MTE3 is done; FIX is done");
  Trace crossed;
  crossed.wait(mte2, v).wait(v, mte2).set(v, mte2).set(mte2, v).barrier();
  CHECK_FALSE(crossed.fault().empty());
  CHECK(contains(crossed.replayed(), "MTE2 is at wait_flag (k.cpp:2), V -> MTE2 event 0; MTE3 is at barrier (k.cpp:5)"));
}

TEST_CASE("a loop that carries two buffers, turn by turn") {
  for (const bool back : {true, false}) {
    Trace t;
    for (std::uint8_t slot = 0; slot < 2; ++slot)
      if (back) t.set(v, mte2, slot);
    for (int i = 0; i < 6; ++i) {
      const auto slot = static_cast<std::uint8_t>(i % 2);
      const std::int64_t at = 64 * slot;
      if (back) t.wait(v, mte2, slot);
      t.load({writes(at, at + 64)}).flag(mte2, v, slot).add({reads(at, at + 64), writes(128, 192)}).barrier(v);
      if (back) t.set(v, mte2, slot);
    }
    for (std::uint8_t slot = 0; slot < 2; ++slot)
      if (back) t.wait(v, mte2, slot);
    if (back) {
      CHECK(t.good());
    } else {
      CHECK(contains(t.fault(), "load (k.cpp:11, MTE2) writes bytes 0 to 64 of Vec, which add (k.cpp:4, V) may not have read yet"));
      CHECK_FALSE(t.replayed().empty());
    }
  }
}

TEST_CASE("a hundred thousand events") {
  Trace t;
  for (int i = 0; i < 12500; ++i) {
    const std::int64_t at = 64 * (i % 500);
    t.load({writes(at, at + 64)}).flag(mte2, v).add({reads(at, at + 64), writes(40000, 40064)}).barrier(v).flag(v, mte2).barrier();
  }
  CHECK(t.t.events.size() == 100000);
  CHECK(t.fault().empty());
  CHECK(t.replayed(Arch::a3, 2).empty());
}
