// Addresses that are wrong: what the verifier says of them, and what a run finds.
#include "support/planning.hpp"
#include "support/run_function.hpp"

#include <tessera/passes/assign_buffers.hpp>
#include <tessera/passes/flatten_tile_nd_to_2d.hpp>
#include <tessera/passes/infer_memory_space.hpp>
#include <tessera/passes/legalize.hpp>

using namespace tessera;
using tessera::test::contains;
using tessera::test::thrown;
using tessera_test::error_of;
using tessera_test::host;
using tessera_test::TestFunction;
using tessera_test::tile_type;

namespace {

// Two tiles a and b of 256 bytes from x; `place` gives a value its own buffer at an address.
struct Chain {
  TestFunction k;
  ValueId x, o, a, b;
  HostTensor in{f32, {8, 8}}, out{f32, {8, 8}};

  Chain() {
    x = k.tensor(f32, {8, 8});
    o = k.tensor(f32, {8, 8}, Direction::out);
    for (std::int64_t i = 0; i < in.size(); ++i) in.set(i, static_cast<double>(i));
    k.f.planned_for = static_cast<int>(Arch::a3);
    a = load(10);
    b = load(11);
  }
  ValueId load(std::uint32_t line) {
    k.line(line);
    return k.load_whole(x);
  }
  ValueId op(std::uint32_t line, const OpInfo& info, std::vector<ValueId> operands, const Type& requested = {}) {
    k.line(line);
    return k.b.value(info, operands, {}, requested);
  }
  void store(std::uint32_t line, ValueId v) {
    k.line(line);
    k.store(v, o);
  }
  void place(ValueId v, std::uint32_t address) {
    k.f[v].buffer = v.index;
    k.f[v].address = address;
  }
  std::string verified() {
    if (!k.f.terminator(k.f.body()) || !k.f.is(k.f.terminator(k.f.body()), ops::return_op)) k.returns({});
    return thrown<InternalError>([&] { verify(k.f, {Property::addresses_planned}); });
  }
  std::string run() {
    return error_of([&] { static_cast<void>(simulate(k.f, {in, out})); });
  }
  static std::string tile(ValueId v, int begin, int end) {
    return "%" + std::to_string(v.index) + " (bytes " + std::to_string(begin) + " to " + std::to_string(end) + " of Vec)";
  }
};
const std::string fine = "nothing is thrown";

}  // namespace

TEST_CASE("tiles apart, one behind the other, and one over the other that is dead") {
  Chain c;
  const ValueId s = c.op(12, ops::add, {c.a, c.b}), e = c.op(13, ops::exp, {s});
  c.store(14, e);
  c.place(c.a, 0);
  c.place(c.b, 256);
  c.place(s, 256);
  c.place(e, 512);
  CHECK(c.verified() == fine);
  CHECK(c.run() == "");
  c.place(s, 0);
  c.place(e, 32);
  CHECK(contains(c.verified(), "verify: kernel.cpp:13: addresses_planned: the result is written over operand 0, " + Chain::tile(s, 0, 256) + ", while that is read"));
  CHECK(c.run() == "internal error: simulate: exp (kernel.cpp:13): the instruction cannot share a buffer with its operand 0");
}

TEST_CASE("a tile that is read later is not written over, not by one block either") {
  for (const std::uint32_t address : {0u, 32u, 224u}) {
    Chain c;
    const ValueId s = c.op(12, ops::exp, {c.b});
    c.store(13, c.op(13, ops::add, {s, c.a}));
    c.place(c.a, 224);
    c.place(c.b, 512);
    c.place(s, address);
    c.place(c.k.f.operand(c.k.f.terminator(c.k.f.body()), 0), 1024);
    INFO(address);
    CHECK(contains(c.verified(), "addresses_planned: "));
    CHECK(contains(c.verified(), ", which is needed at the same time"));
    CHECK(c.run() == "internal error: simulate: buffer overwritten: add (kernel.cpp:13) reads %" + std::to_string(c.a.index) +
                         " of load (kernel.cpp:10), but exp (kernel.cpp:12) wrote the buffer since");
  }
}

TEST_CASE("a result that nobody reads still overwrites") {
  Chain c;
  const ValueId s = c.op(12, ops::exp, {c.b});
  c.store(13, c.a);
  c.place(c.a, 0);
  c.place(c.b, 1024);
  c.place(s, 128);
  CHECK(contains(c.verified(), Chain::tile(s, 128, 384) + " overlaps " + Chain::tile(c.a, 0, 256)));
  CHECK(contains(c.run(), "buffer overwritten: store (kernel.cpp:13) reads"));
}

TEST_CASE("limits and alignment") {
  Chain c;
  c.store(12, c.op(12, ops::add, {c.a, c.b}));
  const ValueId s = c.k.f.operand(c.k.f.terminator(c.k.f.body()), 0);
  c.place(c.a, 0);
  c.place(c.b, 256);
  c.place(s, 188416 - 256);
  CHECK(c.verified() == fine);
  c.place(s, 188416 - 224);
  CHECK(contains(c.verified(), Chain::tile(s, 188192, 188448) + " is beyond what is safe to use"));
  c.k.f.planned_for = static_cast<int>(Arch::a5);
  CHECK(c.verified() == fine);
  c.place(s, 516);
  CHECK(contains(c.verified(), "the address of " + Chain::tile(s, 516, 772) + " is not aligned"));
  c.k.f[s].address = no_index;
  CHECK(contains(c.verified(), "addresses_planned: a tile's buffer has no address"));
  c.k.f.planned_for = Function::any_target;
  CHECK(contains(c.verified(), "addresses_planned: the function has no addresses"));
}

TEST_CASE("scratch is apart from what the instruction reads and writes, and from what is read later") {
  const auto make = [](std::uint32_t scratch_at, std::uint32_t result_at) {
    Chain c;
    const ValueId scratch = c.op(12, ops::create, {}, tile_type(f32, {8, 8}));
    const ValueId r = c.op(13, ops::row_sum, {c.b, scratch}), s = c.op(14, ops::row_expand_add, {c.a, r});
    c.store(15, s);
    c.place(c.a, 0);
    c.place(c.b, 256);
    c.place(scratch, scratch_at);
    c.place(r, result_at);
    c.place(s, 1024);
    return std::pair(c.verified(), c.run());
  };
  CHECK(make(512, 768) == std::pair(fine, std::string()));
  for (const auto& [scratch, result] : {std::pair(128u, 768u), {256u, 768u}, {512u, 512u}, {512u, 736u}}) {
    INFO(scratch << " " << result);
    CHECK(contains(make(scratch, result).first, "addresses_planned: "));
    CHECK(make(scratch, result).second != "");
  }
}

TEST_CASE("storage without content takes no bytes before it is written") {
  Chain c;
  const ValueId made = c.op(12, ops::create, {}, tile_type(f32, {8, 8}));
  const ValueId s = c.op(13, ops::add, {c.a, c.b});
  c.store(14, s);
  const ValueId zero = c.k.b.index(0), written = c.op(15, ops::assemble, {made, c.op(15, ops::exp, {c.a}), zero, zero});
  c.store(16, written);
  c.place(c.a, 0);
  c.place(c.b, 256);
  c.place(s, 512);
  c.place(made, 512);
  c.place(c.k.f.operand(c.k.f.definition(written), 1), 1024);
  c.k.f[written].buffer = made.index;
  CHECK(c.verified() == fine);
  CHECK(c.run() == "");
}

TEST_CASE("a loop reads again what it read") {
  test::Recording k;
  const ValueId x = k.tensor("x", f32, {8, 8}), o = k.tensor("o", f32, {8, 8}, Direction::out), zero = k.index(0);
  const ValueId w = k.load(x, {8, 8}, {zero, zero});
  ValueId t, y;
  k.loop(k.index(3), {}, [&](ValueId, const auto&) {
    t = k.load(x, {8, 8}, {zero, zero});
    y = k.op(ops::add, {t, w});
    k.store(y, o, {zero, zero});
    return std::vector<ValueId>{};
  });
  k.returns();
  Function f = k.f();
  f.planned_for = static_cast<int>(Arch::a3);
  const auto place = [&](ValueId v, std::uint32_t address) {
    f[v].buffer = v.index;
    f[v].address = address;
  };
  place(w, 0);
  place(t, 256);
  place(y, 0);
  CHECK(contains(thrown<InternalError>([&] { verify(f, {Property::addresses_planned}); }), "addresses_planned: "));
  HostTensor in(f32, {8, 8}), out(f32, {8, 8});
  CHECK(contains(error_of([&] { static_cast<void>(simulate(f, {in, out})); }), "buffer overwritten: add (k.cpp:4) reads"));
  place(y, 256);
  verify(f, {Property::addresses_planned});
  static_cast<void>(simulate(f, {in, out}));
}

TEST_CASE("addresses are gone when buffers are assigned anew") {
  Chain c;
  c.store(12, c.op(12, ops::add, {c.a, c.b}));
  c.k.returns({});
  for (const Pass* p : {&flatten_tile_nd_to_2d, &legalize, &infer_memory_space, &assign_buffers})
    CHECK(p->invalidated.contains(Property::addresses_planned));
  const Function f = assign_buffers.run(infer_memory_space.run(c.k.f, {Arch::a3}), {Arch::a3});
  CHECK_FALSE(has_addresses(f));
  CHECK(contains(thrown<InternalError>([&] { verify(f, {Property::addresses_planned}); }), "the function has no addresses"));
}
