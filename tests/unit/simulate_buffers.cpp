// Buffers: a value whose storage was written since is found when it is read.
#include "support/run_function.hpp"

#include <tessera/ops/all.hpp>

using namespace tessera_test;

namespace {

// x and y are loaded and combined; buffers are given by hand.
struct Chain {
  TestFunction k;
  ValueId x, o, a, b;
  HostTensor in = host(f32, {2, 2}, {1, 2, 3, 4}), out{f32, {2, 2}};

  Chain() {
    x = k.tensor(f32, {2, 2});
    o = k.tensor(f32, {2, 2}, Direction::out);
    a = k.load_whole(x);
    k.line(11);
    b = k.load_whole(x);
    k.line(12);
  }
  void buffer(ValueId v, ValueId owner) { k.f[v].buffer = owner.index; }
  std::string error() {
    return error_of([&] { (void)simulate(k.f, {in, out}); });
  }
};

}  // namespace

TEST_CASE("a dead operand's buffer may be reused") {
  Chain c;
  const ValueId s = c.k.b.value(ops::add, {c.a, c.b});
  const ValueId e = c.k.b.value(ops::exp, {s});
  c.k.store(e, c.o);
  for (const ValueId v : {c.a, s, e}) c.buffer(v, c.a);
  c.buffer(c.b, c.b);
  CHECK(c.error() == "");
}
TEST_CASE("an overwritten value is not read") {
  Chain c;
  const ValueId s = c.k.b.value(ops::exp, {c.b});
  c.k.line(13);
  const ValueId r = c.k.b.value(ops::add, {s, c.a});
  c.k.store(r, c.o);
  for (const ValueId v : {c.a, s}) c.buffer(v, c.a);
  for (const ValueId v : {c.b, r}) c.buffer(v, c.b);
  CHECK(c.error() == "internal error: simulate: buffer overwritten: add (kernel.cpp:13) reads %" +
                         std::to_string(c.a.index) +
                         " of load (kernel.cpp:10), but exp (kernel.cpp:12) wrote the buffer since");
}
TEST_CASE("a view shares its operand's buffer; a write after it spoils both") {
  Chain c;
  const ValueId v = c.k.b.value(ops::reshape, {c.a}, {}, tile_type(f32, {1, 4}));
  const ValueId w = c.k.b.value(ops::reshape, {v}, {}, tile_type(f32, {2, 2}));
  const ValueId s = c.k.b.value(ops::add, {w, c.b});
  c.k.line(14);
  c.k.store(s, c.o);
  for (const ValueId t : {c.a, v, w, s}) c.buffer(t, c.a);
  c.buffer(c.b, c.b);
  CHECK(c.error() == "");
  c.k.store(v, c.k.tensor(f32, {1, 4}, Direction::out));
  HostTensor flat(f32, {1, 4});
  CHECK(error_of([&] {
    (void)simulate(c.k.f, {c.in, c.out, flat});
  }).find("buffer overwritten: store (kernel.cpp:14) reads %" + std::to_string(v.index)) != std::string::npos);
}
TEST_CASE("instructions that cannot run in place do not share a buffer") {
  Chain c;
  const ValueId t = c.k.b.value(ops::transpose, {c.a});
  c.k.store(t, c.o);
  c.buffer(c.a, c.a);
  c.buffer(t, c.a);
  CHECK(
      c.error() ==
      "internal error: simulate: transpose (kernel.cpp:12): the instruction cannot share a buffer with its operand 0");
}
TEST_CASE("a window of a buffer is not written over by what reads it") {
  Chain c;
  const ValueId v = c.k.b.value(ops::slice, {c.a, c.k.b.index(1), c.k.b.index(0)}, {}, tile_type(f32, {1, 2}));
  const ValueId e = c.k.b.value(ops::exp, {v});
  c.k.store(e, c.o);
  for (const ValueId t : {c.a, v, e}) c.buffer(t, c.a);
  CHECK(c.error() ==
        "internal error: simulate: exp (kernel.cpp:12): the instruction cannot share a buffer with its operand 0");
}
TEST_CASE("what is written in place needs its operand's buffer") {
  Chain c;
  const ValueId w = c.k.b.value(ops::write, {c.a, c.k.f.constant(f32, 1.0), c.k.b.index(0), c.k.b.index(0)});
  c.k.store(w, c.o);
  c.buffer(c.a, c.a);
  c.buffer(w, c.a);
  CHECK(c.error() == "");
  c.buffer(w, w);
  CHECK(c.error() ==
        "internal error: simulate: write (kernel.cpp:12): the result is written in place, but has another buffer than "
        "its operand 0");
}
TEST_CASE("scratch is written, too") {
  Chain c;
  const ValueId scratch = c.k.b.value(ops::create, {}, {}, tile_type(f32, {2, 2}));
  c.k.line(13);
  const ValueId r = c.k.b.value(ops::row_sum, {c.b, scratch});
  c.k.line(14);
  const ValueId s = c.k.b.value(ops::row_expand_add, {c.a, r});
  c.k.store(s, c.o);
  c.buffer(c.b, c.b);
  c.buffer(r, r);
  c.buffer(scratch, scratch);
  c.buffer(c.a, c.a);
  c.buffer(s, s);
  CHECK(c.error() == "");
  c.buffer(scratch, c.a);
  CHECK(c.error() == "internal error: simulate: buffer overwritten: row_expand_add (kernel.cpp:14) reads %" +
                         std::to_string(c.a.index) +
                         " of load (kernel.cpp:10), but row_sum (kernel.cpp:13) wrote the buffer since");
  c.buffer(scratch, scratch);
  c.buffer(r, scratch);
  CHECK(c.error() ==
        "internal error: simulate: row_sum (kernel.cpp:13): the instruction cannot share a buffer with its operand 1");
}
TEST_CASE("scratch and another operand do not share a buffer") {
  Chain c;
  const ValueId scratch = c.k.b.value(ops::create, {}, {}, tile_type(f32, {2, 2}));
  const ValueId t = c.k.b.value(ops::exp, {c.a});
  c.k.line(13);
  const ValueId r = c.k.b.value(ops::row_sum, {t, scratch});
  c.k.returns({c.k.b.value(ops::read, {r, c.k.b.index(0), c.k.b.index(0)})});
  for (const ValueId v : {scratch, t}) c.buffer(v, scratch);
  c.buffer(r, r);
  CHECK(c.error() ==
        "internal error: simulate: row_sum (kernel.cpp:13): the instruction cannot share a buffer with its operand 0");
}
TEST_CASE("a value fits its buffer") {
  Chain c;
  const ValueId small = c.k.b.value(ops::row_max, {c.b});
  c.k.line(13);
  const ValueId wide = c.k.b.value(ops::row_expand_add, {c.a, small});
  c.k.store(wide, c.o);
  c.buffer(small, small);
  c.buffer(wide, wide);
  CHECK(c.error() == "");
  c.buffer(wide, small);
  CHECK(c.error() ==
        "internal error: simulate: row_expand_add (kernel.cpp:13): the result does not fit its buffer (16 bytes in "
        "Vec, buffer 8 in Vec)");
}
TEST_CASE("carried values and branch results stay in one buffer") {
  Chain c;
  const OpId loop =
      c.k.b.control(ops::for_loop, {c.k.b.index(0), c.k.b.index(2), c.k.b.index(1), c.a}, {c.k.f.type(c.a)}, 1);
  const BlockId body = c.k.f.block(loop), outer = c.k.b.block();
  c.k.f.add_argument(body, index_scalar);
  const ValueId carried = c.k.f.add_argument(body, c.k.f.type(c.a)), result = c.k.f.result(loop);
  c.k.b.to_end_of(body);
  c.k.line(13);
  const ValueId next = c.k.b.value(ops::add, {carried, c.b});
  c.k.b.control(ops::yield, {next}, {}, 0);
  c.k.b.to_end_of(outer);
  c.k.line(15);
  c.k.store(result, c.o);
  for (const ValueId v : {c.a, carried, next, result}) c.buffer(v, c.a);
  c.buffer(c.b, c.b);
  CHECK(c.error() == "");
  CHECK(c.out.values() == std::vector<double>{3, 6, 9, 12});
  c.buffer(next, next);
  CHECK(c.error().find("internal error: simulate: for (kernel.cpp:12): %") == 0);
  CHECK(c.error().find("which has another buffer") != std::string::npos);
  c.buffer(next, c.b);  // the second round reads what the first one wrote
  c.buffer(carried, c.b);
  c.buffer(result, c.b);
  CHECK(c.error().find("which has another buffer") != std::string::npos);
}
TEST_CASE("a buffer that a loop overwrites is not read in the next round") {
  Chain c;
  const OpId loop = c.k.b.control(ops::for_loop, {c.k.b.index(0), c.k.b.index(2), c.k.b.index(1)}, {}, 1);
  const BlockId body = c.k.f.block(loop), outer = c.k.b.block();
  c.k.f.add_argument(body, index_scalar);
  c.k.b.to_end_of(body);
  c.k.line(13);
  const ValueId t = c.k.b.value(ops::exp, {c.a});
  c.k.line(14);
  c.k.store(t, c.o);
  c.k.b.control(ops::yield, {}, {}, 0);
  c.k.b.to_end_of(outer);
  c.buffer(c.a, c.a);
  c.buffer(t, c.a);
  CHECK(c.error().find("buffer overwritten: exp (kernel.cpp:13) reads %") != std::string::npos);
}
