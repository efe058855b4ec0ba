// The cost model, the walk that traces a function without running it, schedules, and the text and drawings of timelines.
#include <fstream>
#include <iterator>

#include <tessera/cost.hpp>
#include <tessera/passes/insert_sync.hpp>
#include <tessera/passes/plan_memory.hpp>

#include "support/catch.hpp"
#include "support/ir.hpp"
#include "support/pto_kernels.hpp"

using namespace programs;
using tessera::test::contains;
using tessera::test::golden;
using tessera::test::thrown;

namespace {

Function planned(const Lowered& l, Arch arch = Arch::a3) { return plan_memory.run(l.f, {arch}); }
OpId find(const Function& f, const OpInfo& info) {
  for (const OpId op : all_operations(f))
    if (f.is(op, info)) return op;
  FAIL("no such operation: " << info.name);
  return {};
}

// One instruction on tiles of that shape, with what it needs beside them.
struct OneInstruction {
  Lowered l{"one"};
  DType dtype;
  std::int64_t rows, columns;
  explicit OneInstruction(std::int64_t r = 64, std::int64_t c = 64, DType d = f32) : dtype(d), rows(r), columns(c) {}
  ValueId tile() { return l.op(ops::create, {}, {}, tile_type(dtype, {rows, columns})); }
  ValueId column() { return l.op(ops::create, {}, {}, tile_type(dtype, {rows, 1})); }
  ValueId row() { return l.op(ops::create, {}, {}, tile_type(dtype, {1, columns})); }
  ValueId number() { return l.f.constant(dtype, 2.0); }
  InstructionCost of(const OpInfo& info, std::vector<ValueId> operands, const Type& requested = {}) {
    l.op(info, operands, {}, requested);
    return instruction_cost(l.f, find(l.f, info));
  }
};

Attr pipe_attr(AttrKey key, Pipe p) { return int_attr(key, static_cast<std::int64_t>(p)); }
void flag(Lowered& l, const OpInfo& kind, Pipe from, Pipe to, int event = 0) {
  l.op(kind, {}, {pipe_attr(AttrKey::pipe, from), pipe_attr(AttrKey::to_pipe, to), int_attr(AttrKey::event, event)});
}
void barrier(Lowered& l, Pipe p) { l.op(ops::barrier, {}, {pipe_attr(AttrKey::pipe, p)}); }
void pass(Lowered& l, Pipe from, Pipe to, int event = 0) {
  flag(l, ops::set_flag, from, to, event);
  flag(l, ops::wait_flag, from, to, event);
}

std::int64_t busy(const PipeSchedule& s, Pipe p) { return s.busy[static_cast<std::size_t>(p)]; }
bool near(std::int64_t modelled, double expected, double within) {
  return std::abs(static_cast<double>(modelled) - expected) <= within * expected;
}

// "MTE2 0-140, V 140-229": the instructions of a function and when they run.
std::string times(const Function& f, const TraceOptions& options = {}) {
  const Timeline t = timeline_of(f, options);
  std::string text;
  for (std::size_t i = 0; i < t.schedule.spans.size(); ++i) {
    if (t.walk.trace.events[i].kind != PipeEvent::Kind::instruction) continue;
    text.append(text.empty() ? "" : ", ").append(name(t.walk.trace.events[i].pipe)).append(" ");
    text.append(std::to_string(t.schedule.spans[i].start)).append("-").append(std::to_string(t.schedule.spans[i].end));
  }
  return text;
}
// The names of the instructions that a walk meets.
std::string walked(const Function& f, const TraceOptions& options = {}) {
  std::string text;
  for (const PipeEvent& e : trace_of(f, options).trace.events) text.append(text.empty() ? "" : " ").append(f.info(e.op).name);
  return text;
}

// Elements that close, attributes in quotes, no stray marks: as much as the writer can get wrong.
bool is_well_formed(const std::string& xml) {
  std::vector<std::string> open;
  for (std::size_t at = 0; at < xml.size();) {
    if (xml[at] == '&') {
      const std::size_t end = xml.find(';', at);
      const std::string entity = xml.substr(at, end - at + 1);
      if (entity != "&lt;" && entity != "&gt;" && entity != "&amp;" && entity != "&quot;") return false;
      at = end + 1;
      continue;
    }
    if (xml[at] != '<') {
      if (xml[at++] == '>') return false;
      continue;
    }
    const std::size_t end = xml.find('>', at);
    if (end == std::string::npos) return false;
    const std::string tag = xml.substr(at + 1, end - at - 1);
    if (tag.find('<') != std::string::npos || std::count(tag.begin(), tag.end(), '"') % 2 != 0) return false;
    const std::string element = tag.substr(tag[0] == '/' ? 1 : 0, tag.find_first_of(" /", 1) - (tag[0] == '/' ? 1 : 0));
    if (tag[0] == '/') {
      if (open.empty() || open.back() != element) return false;
      open.pop_back();
    } else if (tag.back() != '/') {
      open.push_back(element);
    }
    at = end + 1;
  }
  return open.empty();
}

}  // namespace

TEST_CASE("a vector instruction costs its start-up and its repeats of 256 bytes") {
  const auto one = [](const OpInfo& info) { OneInstruction k; return k.of(info, {k.tile()}); };
  const auto two = [](const OpInfo& info) { OneInstruction k; const ValueId a = k.tile(); return k.of(info, {a, k.tile()}); };
  const auto with_number = [](const OpInfo& info) { OneInstruction k; const ValueId a = k.tile(); return k.of(info, {a, k.number()}); };
  const auto with_column = [](const OpInfo& info) { OneInstruction k; const ValueId a = k.tile(); return k.of(info, {a, k.column()}); };
  CHECK(two(ops::add) == InstructionCost{24, 128});
  CHECK(two(ops::mul) == InstructionCost{25, 128});
  CHECK(two(ops::div) == InstructionCost{30, 256});
  CHECK(with_number(ops::muls) == InstructionCost{26, 64});
  CHECK(one(ops::exp) == InstructionCost{31, 128});
  CHECK(one(ops::recip) == InstructionCost{55, 320});
  CHECK(with_column(ops::row_expand_sub) == InstructionCost{43, 128});
  CHECK(with_column(ops::row_expand_div) == InstructionCost{49, 256});
}

TEST_CASE("rows, widths and element types count") {
  SECTION("narrow elements take half the repeats") {
    OneInstruction k(64, 128, f16);
    CHECK(k.of(ops::exp, {k.tile()}) == InstructionCost{31, 128});
  }
  SECTION("a reduction pays for each row, and for each repeat in it") {
    OneInstruction narrow(64, 64), wide(64, 128);
    const ValueId a = narrow.tile();
    CHECK(narrow.of(ops::row_max, {a, narrow.tile()}) == InstructionCost{34, 64 * 7});
    const ValueId b = wide.tile();
    CHECK(wide.of(ops::row_sum, {b, wide.tile()}) == InstructionCost{46, 64 * 9});
  }
  SECTION("a column of results is one row of an instruction") {
    OneInstruction k;
    CHECK(k.of(ops::rsqrt, {k.column()}) == InstructionCost{24, 1});
  }
  SECTION("with two tiles a repeat never spans two rows") {
    OneInstruction one(64, 32), two(64, 32);
    CHECK(one.of(ops::exp, {one.tile()}).work == 64);
    const ValueId a = two.tile();
    CHECK(two.of(ops::add, {a, two.tile()}).work == 128);
  }
  SECTION("the wider side of a cast counts") {
    OneInstruction k;
    const ValueId a = k.tile();
    CHECK(k.of(ops::cast, {a}, scalar_type(f16)) == InstructionCost{32, 128});
  }
  SECTION("only what is valid counts") {
    Lowered l("k");
    const ValueId x = l.parameter("x", tensor_type(f32, {64, 64}));
    const ValueId t = l.op(ops::load, {x, l.index(0), l.index(0), l.index(8), l.index(40)}, {int_attr(AttrKey::has_valid, 1)}, tile_type(f32, {64, 64}));
    l.op(ops::exp, {t});
    CHECK(instruction_cost(l.f, find(l.f, ops::exp)) == InstructionCost{31, 16});
    CHECK(instruction_cost(l.f, find(l.f, ops::load)).work == 22);
  }
  SECTION("more repeats than an instruction states need a counted mask") {
    OneInstruction k(128, 128);
    const ValueId a = k.tile();
    CHECK(k.of(ops::add, {a, k.tile()}).cycles() == 556);
  }
}

TEST_CASE("an operation without a row in the table costs what its kind does") {
  OneInstruction k(32, 64), r(32, 64);
  const ValueId a = k.tile();
  CHECK(k.of(ops::part_add, {a, k.tile()}) == InstructionCost{24, 64});
  const ValueId b = r.tile();
  CHECK(r.of(ops::row_prod, {b, r.tile()}) == InstructionCost{46, 32 * 7});
}

TEST_CASE("the page on the model states its figures") {
  std::ifstream in(std::string(TESSERA_TEST_DIR) + "/../docs/cost-model.md");
  const std::string page{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  const auto states = [&](const std::string& what, const tessera::detail::VectorCost& c) {
    const std::string row = "| " + what + " | " + std::to_string(c.start_up) + " | " + std::to_string(c.row) + " | " + std::to_string(c.repeat) + " |\n";
    INFO(row);
    CHECK(contains(page, row));
  };
  for (const auto& r : tessera::detail::vector_rows) states("`" + std::string(r.op->name) + "`", r.cost);
  states("any other, on one tile or two", tessera::detail::any_vector);
  states("any other that reduces rows", tessera::detail::row_reduction);
  states("any other that reduces columns", tessera::detail::column_reduction);
  for (const auto& p : tessera::detail::paths) {
    const std::string row = "| " + std::string(name(p.from)) + " | " + std::string(name(p.to)) + " | ";
    INFO(row);
    REQUIRE(contains(page, row));
    CHECK(std::stod(page.substr(page.find(row) + row.size())) == p.gib);
  }
}

TEST_CASE("the model gives what the pipe model of the tile library gives for whole kernels") {
  const auto load = [](Lowered& l, const char* name, std::int64_t n, MemorySpace space) {
    return l.load(l.parameter(name, tensor_type(f32, {n, n})), tile_type(f32, {n, n}, space));
  };
  SECTION("add of [128,128]") {
    Lowered l("add");
    const ValueId a = load(l, "x", 128, Vec), b = load(l, "y", 128, Vec);
    l.store(l.op(ops::add, {a, b}), l.parameter("o", tensor_type(f32, {128, 128}), Direction::out));
    l.finish();
    const Function f = planned(l);
    const PipeSchedule s = schedule(f, trace_of(f).trace);
    CHECK(busy(s, Pipe::mte2) == 2238);
    CHECK(busy(s, Pipe::vector) == 556);
    CHECK(busy(s, Pipe::mte3) == 599);
    CHECK(near(s.total, 3394, 0.01));
  }
  SECTION("softmax of [64,64]") {
    Lowered l("softmax");
    const Type tile = tile_type(f32, {64, 64});
    const ValueId a = load(l, "x", 64, Vec), scratch = l.op(ops::create, {}, {}, tile);
    const ValueId e = l.op(ops::exp, {l.op(ops::row_expand_sub, {a, l.op(ops::row_max, {a, scratch})})});
    l.store(l.op(ops::row_expand_div, {e, l.op(ops::row_sum, {e, scratch})}), l.parameter("o", tensor_type(f32, {64, 64}), Direction::out));
    l.finish();
    const Function f = planned(l);
    const PipeSchedule s = schedule(f, trace_of(f).trace);
    CHECK(near(busy(s, Pipe::vector), 1619, 0.01));
    CHECK(near(s.total, 2048, 0.01));
  }
  SECTION("product of [64,64] matrices") {
    Lowered l("matmul");
    const ValueId a = load(l, "x", 64, Mat), b = load(l, "y", 64, Mat);
    const ValueId left = l.op(ops::move, {a}, {}, tile_type(f32, {64, 64}, Left)), right = l.op(ops::move, {b}, {}, tile_type(f32, {64, 64}, Right));
    l.store(l.op(ops::matmul, {left, right}), l.parameter("o", tensor_type(f32, {64, 64}), Direction::out));
    l.finish();
    const Function f = planned(l);
    const PipeSchedule s = schedule(f, trace_of(f).trace);
    CHECK(busy(s, Pipe::mte2) == 418);
    CHECK(busy(s, Pipe::cube) == 262);
    CHECK(busy(s, Pipe::fix) == 202);
    CHECK(near(s.total, 948, 0.07));
  }
}

namespace {

// load, exp, store of [32,64]: 140, 95 and 75 cycles.
struct Chain {
  Lowered l{"chain"};
  ValueId x = l.parameter("x", tensor_type(f32, {256, 64})), o = l.parameter("o", tensor_type(f32, {256, 64}), Direction::out);
  ValueId load(ValueId at) { return l.op(ops::load, {x, at, l.index(0)}, {}, tile_type(f32, {32, 64})); }
  void store(ValueId v, ValueId at) { l.op(ops::store, {v, o, at, l.index(0)}); }
  Function done(Arch arch = Arch::a3) {
    l.finish();
    return planned(l, arch);
  }
};

}  // namespace

TEST_CASE("flags order the pipes") {
  Chain k;
  const ValueId a = k.load(k.l.index(0)), b = k.load(k.l.index(32));
  SECTION("one flag behind both loads: nothing overlaps") {
    pass(k.l, Pipe::mte2, Pipe::vector);
    const ValueId c = k.l.op(ops::exp, {a}), d = k.l.op(ops::exp, {b});
    pass(k.l, Pipe::vector, Pipe::mte3);
    k.store(c, k.l.index(0));
    k.store(d, k.l.index(32));
    // The second exp starts while the first one drains.
    CHECK(times(k.done()) == "MTE2 0-140, MTE2 140-280, V 280-375, V 344-439, MTE3 439-514, MTE3 514-589");
  }
  SECTION("a barrier of the vector pipe pays the start-up again") {
    pass(k.l, Pipe::mte2, Pipe::vector);
    const ValueId c = k.l.op(ops::exp, {a});
    barrier(k.l, Pipe::vector);
    k.l.op(ops::exp, {c});
    CHECK(times(k.done()) == "MTE2 0-140, MTE2 140-280, V 280-375, V 375-470");
  }
  SECTION("on a5 a vector instruction starts when the one in front of it is done") {
    k.l.op(ops::exp, {a});
    k.l.op(ops::exp, {b});
    CHECK(times(k.done(Arch::a5)) == "MTE2 0-140, MTE2 140-280, V 140-235, V 280-375");
  }
  SECTION("a barrier of all pipes") {
    barrier(k.l, Pipe::none);
    k.l.op(ops::exp, {a});
    CHECK(times(k.done()) == "MTE2 0-140, MTE2 140-280, V 280-375");
  }
  SECTION("what the scalar unit waits for, everything behind it does") {
    pass(k.l, Pipe::mte2, Pipe::scalar);
    k.l.op(ops::read, {b, k.l.index(0), k.l.index(0)});
    k.load(k.l.index(64));
    CHECK(times(k.done()) == "MTE2 0-140, MTE2 140-280, S 280-281, MTE2 281-421");
  }
}

TEST_CASE("loads of a loop overlap with its vector work where flags allow it") {
  const auto loop = [](bool overlapping) {
    Chain k;
    flag(k.l, ops::set_flag, Pipe::vector, Pipe::mte2);
    if (overlapping) flag(k.l, ops::set_flag, Pipe::vector, Pipe::mte2);
    k.l.loop(k.l.index(0), k.l.index(256), k.l.index(32), {}, [&](ValueId i, const auto&) {
      flag(k.l, ops::wait_flag, Pipe::vector, Pipe::mte2);
      const ValueId a = k.load(i);
      pass(k.l, Pipe::mte2, Pipe::vector);
      k.l.op(ops::exp, {a});
      flag(k.l, ops::set_flag, Pipe::vector, Pipe::mte2);
      return std::vector<ValueId>{};
    });
    return modelled_cycles(k.done());
  };
  CHECK(loop(false) == 8 * (140 + 95));
  CHECK(loop(true) == 8 * 140 + 95);
}

TEST_CASE("without flags an instruction starts when its data permit") {
  SECTION("what it reads is written, and what it overwrites is read") {
    Chain k;
    const ValueId a = k.load(k.l.index(0)), c = k.l.op(ops::exp, {a});
    k.store(c, k.l.index(0));
    const ValueId b = k.load(k.l.index(32));
    k.store(k.l.op(ops::exp, {b}), k.l.index(32));
    const Function f = k.done();
    // b stands where a and c did.
    CHECK(times(f) == "MTE2 0-140, V 140-235, MTE3 235-310, MTE2 310-450, V 450-545, MTE3 545-620");
    CHECK(schedule(f, trace_of(f).trace).ideal);
  }
  SECTION("a dependent vector instruction pays its start-up, an independent one does not") {
    Chain k;
    const ValueId a = k.load(k.l.index(0)), b = k.l.op(ops::exp, {a});
    const ValueId c = k.l.op(ops::exp, {a}), d = k.l.op(ops::add, {b, c});
    k.store(d, k.l.index(0));
    k.store(a, k.l.index(32));
    CHECK(times(k.done()) == "MTE2 0-140, V 140-235, V 204-299, V 299-387, MTE3 387-462, MTE3 462-537");
  }
  SECTION("through memory: a window is loaded behind the store to it") {
    Chain k;
    const ValueId a = k.load(k.l.index(0));
    k.store(a, k.l.index(0));
    k.l.op(ops::load, {k.o, k.l.index(32), k.l.index(0)}, {}, tile_type(f32, {32, 64}));
    k.l.op(ops::load, {k.o, k.l.index(16), k.l.index(0)}, {}, tile_type(f32, {32, 64}));
    const std::string text = times(k.done());
    CHECK(contains(text, "MTE3 140-215, MTE2 215-355, MTE2 355-495"));  // the tile a is overwritten, too
  }
}

TEST_CASE("a synchronised function that needs no flags has its pipes in order") {
  Chain k;
  k.load(k.l.index(0));
  const Function f = k.done(), synchronised = insert_sync.run(f, {Arch::a3});
  REQUIRE_FALSE(has_sync(synchronised));
  CHECK(schedule(f, trace_of(f).trace).ideal);
  CHECK_FALSE(schedule(synchronised, trace_of(synchronised).trace).ideal);
  CHECK(contains(timeline_text(f), "no flags: nothing orders the pipes yet"));
  CHECK_FALSE(contains(timeline_text(synchronised), "no flags"));
}

TEST_CASE("a flag that nothing raises") {
  Chain k;
  flag(k.l, ops::wait_flag, Pipe::mte2, Pipe::vector, 3);
  const Function f = k.done();
  CHECK(contains(thrown<InternalError>([&] { static_cast<void>(modelled_cycles(f)); }),
                 "chain waits for a flag that nothing in front raises (MTE2 to V, 3)"));
}

TEST_CASE("a recorded trace is scheduled like a walked one") {
  Chain k;
  const ValueId a = k.load(k.l.index(0));
  k.store(k.l.op(ops::exp, {a}), k.l.index(0));
  const Function f = k.done();
  PipeTrace trace = trace_of(f).trace;
  PipeEvent all;
  all.kind = PipeEvent::Kind::barrier;
  trace.events.insert(trace.events.begin() + 1, all);
  const PipeSchedule s = schedule(f, trace);
  CHECK_FALSE(s.ideal);
  CHECK(s.total == 140 + 95);  // nothing orders the store
  CHECK(s.spans[1] == TimeSpan{0, 140});
}

TEST_CASE("the walk runs what is known, and assumes the rest") {
  SECTION("a branch on the counter") {
    const Function f = planned(*matmul_loop());
    CHECK(walked(f) == "load load move move matmul load load move move matmul_acc load load move move matmul_acc load load move move matmul_acc store");
    CHECK(trace_of(f).assumed_branches.empty());
  }
  Chain k;
  const ValueId n = k.l.parameter("n", index_scalar);
  SECTION("a loop that ends at run time") {
    k.l.loop(k.l.index(0), n, k.l.index(1), {}, [&](ValueId i, const auto&) {
      k.l.branch(k.l.compare(i, k.l.index(0), Compare::eq), [&] { return k.load(k.l.index(0)), std::vector<ValueId>{}; }, [&] { return std::vector<ValueId>{}; });
      k.l.branch(k.l.compare(n, k.l.index(0), Compare::eq), [&] { return k.l.op(ops::exp, {k.load(i)}), std::vector<ValueId>{}; }, [&] { return std::vector<ValueId>{}; });
      return std::vector<ValueId>{};
    });
    const Function f = k.done();
    CHECK(walked(f) == "load load exp load exp load exp load exp");
    const StaticTrace t = trace_of(f);
    CHECK(t.assumed_loops.size() == 1);
    CHECK(t.assumed_branches.size() == 1);
    CHECK(walked(f, {.trips = 2}) == "load load exp load exp");
    CHECK(walked(f, {.values = {{"n", 3}}}) == "load");
    CHECK(trace_of(f, {.values = {{"n", 3}}}).assumed_loops.empty());
    CHECK(walked(f, {.values = {{"n", 0}}}).empty());
  }
  SECTION("carried numbers and a while loop") {
    const auto left = k.l.repeat({k.l.index(5)}, [&](const auto& c) { return k.l.compare(c[0], k.l.index(1), Compare::gt); }, [&](const auto& c) {
      k.load(c[0]);
      return std::vector{k.l.op(ops::scalar_sub, {c[0], k.l.index(2)})};
    });
    k.l.loop(k.l.index(0), left[0], k.l.index(1), {}, [&](ValueId i, const auto&) { return k.l.op(ops::exp, {k.load(i)}), std::vector<ValueId>{}; });
    CHECK(walked(k.done()) == "load load load exp");
  }
  SECTION("it ends where a trace is too long") {
    k.l.loop(k.l.index(0), k.l.index(1000000), k.l.index(1), {}, [&](ValueId i, const auto&) { return k.load(i), std::vector<ValueId>{}; });
    const Function f = k.done();
    const StaticTrace t = trace_of(f, {.most_events = 100});
    CHECK(t.trace.events.size() == 100);
    CHECK_FALSE(t.complete);
    CHECK(contains(timeline_text(f, {.most_events = 100}), "incomplete: the first 100 events only\n"));
  }
  SECTION("also where it meets no instruction") {
    k.l.loop(k.l.index(0), k.l.index(INT64_MAX), k.l.index(1), {}, [&](ValueId, const auto&) { return std::vector<ValueId>{}; });
    const Function f = k.done();
    CHECK_FALSE(trace_of(f).complete);
    CHECK(contains(timeline_text(f), "no instructions\n"));
  }
}

TEST_CASE("what a timeline cannot take") {
  Chain k;
  k.l.parameter("n", index_scalar);
  k.l.parameter("few", scalar_type(u8));
  k.l.parameter("rows", tensor_type(f32, {dyn<"S">, 64}));
  CHECK(thrown<UserError>([&] { static_cast<void>(timeline_text(k.l.f)); }) ==
        "kernel.cpp:1: error: timeline: the tiles of the kernel have no addresses (chain)\n  hint: lower it first, as in lower(kernel.trace())");
  const Function f = k.done();
  CHECK(thrown<UserError>([&] { static_cast<void>(modelled_cycles(f, {.values = {{"m", 1}}})); }) ==
        "kernel.cpp:1: error: timeline: there is no run-time dim or integer parameter of this name (m)\n  hint: names: n, few, S");
  CHECK(thrown<UserError>([&] { static_cast<void>(modelled_cycles(f, {.values = {{"S", -5}}})); }) ==
        "kernel.cpp:1: error: timeline: a run-time dim takes no negative numbers (S=-5)\n  hint: state its size");
  CHECK(contains(thrown<UserError>([&] { static_cast<void>(modelled_cycles(f, {.values = {{"few", 256}}})); }),
                 "timeline: a parameter of type u8 does not hold the number (few=256)"));
  CHECK(contains(thrown<UserError>([&] { static_cast<void>(modelled_cycles(f, {.trips = 0})); }), "timeline: loops take no turns (0)"));
}

TEST_CASE("a timeline as text") {
  Chain k;
  const ValueId n = k.l.parameter("n", index_scalar);
  k.l.loop(k.l.index(0), n, k.l.index(32), {}, [&](ValueId i, const auto&) {
    const ValueId a = k.load(i);
    pass(k.l, Pipe::mte2, Pipe::vector);
    const ValueId e = k.l.op(ops::exp, {a});
    k.l.f.set_name(e, "e");
    pass(k.l, Pipe::vector, Pipe::mte3);
    k.store(e, i);
    pass(k.l, Pipe::mte3, Pipe::mte2);
    return std::vector<ValueId>{};
  });
  const Function f = k.done();
  CHECK(timeline_text(f, timeline_of(f, {.trips = 2}), 4) == golden(R"(
timeline of chain on a3: 620 cycles, 0.335 us at 1.85 GHz, modelled
assumed: 2 turns of loops that end at run time (line 1)

pipe  busy      %   0                                                            620
MTE2   280   45.2  |##############-                 ##############-                 |
V      190   30.6  |              ##########-                     ##########-       |
MTE3   150   24.2  |                        ########                        ########|

     start  end  cycles  pipe  instruction             line
  2      0  140     140  MTE2  load f32[32,64]@Vec        2
  5    140  235      95  V     e = exp f32[32,64]@Vec     5
  8    235  310      75  MTE3  store f32[32,64]@Vec       8
  2    310  450     140  MTE2  load f32[32,64]@Vec        2
  and 2 more
)"));
}

TEST_CASE("drawings are well-formed, the same each time, and say what they show") {
  const Function f = planned(*matmul_loop());
  for (const std::string& file : {timeline_svg(f), memory_map_svg(f), svg::page({timeline_drawing(f, timeline_of(f)), memory_map_drawing(f)})}) {
    INFO(file);
    CHECK(is_well_formed(file));
    CHECK(file.substr(0, 5) == "<svg ");
  }
  CHECK(timeline_svg(f) == timeline_svg(f));
  CHECK(memory_map_svg(f) == memory_map_svg(f));
  CHECK(contains(timeline_svg(f), "<title>matmul_acc f32[64,64]@Acc\nline "));
  CHECK(contains(timeline_svg(f), ">MTE1</text>"));
  CHECK(contains(memory_map_svg(f), ">peak 16384 of 131072 bytes; at least 16384 are needed, at "));
  CHECK(contains(memory_map_svg(f), "<title>for, line "));
  CHECK(svg::escaped("a < b & \"c\"") == "a &lt; b &amp; &quot;c&quot;");
  CHECK(svg::number(-0.04) == "0");
  CHECK(svg::number(12.25) == "12.3");
  CHECK(svg::number(-3.5) == "-3.5");
}

TEST_CASE("flags are arrows, waiting is grey, barriers are marked") {
  Chain k;
  const ValueId a = k.load(k.l.index(0));
  pass(k.l, Pipe::mte2, Pipe::vector);
  const ValueId b = k.l.op(ops::exp, {a});
  barrier(k.l, Pipe::vector);
  const ValueId c = k.l.op(ops::exp, {b});
  pass(k.l, Pipe::vector, Pipe::mte3, 1);
  k.store(c, k.l.index(0));
  barrier(k.l, Pipe::none);
  const std::string file = timeline_svg(k.done());
  INFO(file);
  CHECK(is_well_formed(file));
  CHECK(contains(file, ">arrows: flags; grey: a pipe waits; red: barriers</text>"));
  CHECK(contains(file, "<title>MTE2 to V, flag 0: raised at 140, waited for until 140</title>"));
  CHECK(contains(file, "<title>V to MTE3, flag 1: waits from 0 to 330</title>"));
  CHECK(contains(file, "<title>barrier of V at 235</title>"));
  CHECK(contains(file, "<title>barrier of ALL at 405</title>"));
}

TEST_CASE("many short instructions are drawn together, and many flags are not drawn") {
  Chain k;
  k.l.loop(k.l.index(0), k.l.index(3000), k.l.index(1), {}, [&](ValueId, const auto&) {
    const ValueId a = k.load(k.l.index(0));
    pass(k.l, Pipe::mte2, Pipe::vector);
    k.l.op(ops::exp, {a});
    pass(k.l, Pipe::vector, Pipe::mte2);
    return std::vector<ValueId>{};
  });
  const std::string file = timeline_svg(k.done());
  CHECK(is_well_formed(file));
  CHECK(contains(file, " instructions, "));
  CHECK(contains(file, "; 6000 flags are not drawn</text>"));
  CHECK(file.size() < 400000);
}
