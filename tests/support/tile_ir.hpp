// Short forms for tests that build IR by hand: types, parameters, loads, stores, loops and branches with carried values.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <tessera/ir/printer.hpp>
#include <tessera/ir/verifier.hpp>
#include <tessera/ops/all.hpp>

namespace tile_ir {

using namespace tessera;
using Dims = std::vector<std::int64_t>;
using Values = std::vector<ValueId>;

inline Type tensor(const Dims& dims, DType d = f32) {
  Type t{TypeKind::tensor, d, Gm, Layout::nd, static_cast<std::uint8_t>(dims.size()), {}};
  return with_shape(t, dims.data(), static_cast<int>(dims.size()));
}
inline Type tile(const Dims& dims, DType d = f32, MemorySpace s = Vec) { return with_space(tensor(dims, d), s); }

/// A function under construction. Every operation has a line of its own, counted from 1, in file "t.cpp".
class Kernel {
 public:
  Kernel() : b_(f) { f.name = "k"; }
  Function f;
  Builder& build() { return b_; }

  ValueId parameter(const std::string& name, const Type& t, Direction d = Direction::in) {
    const ValueId v = f.add_argument(f.body(), t);
    f.parameters.push_back({v, name, d, {}});
    return v;
  }
  ValueId in(const std::string& name, const Dims& dims, DType d = f32) { return parameter(name, tensor(dims, d)); }
  ValueId out(const std::string& name, const Dims& dims, DType d = f32) { return parameter(name, tensor(dims, d), Direction::out); }
  ValueId index(std::int64_t n) { return f.index(n); }
  ValueId number(double n, DType d = f32) { return f.constant(d, n); }

  ValueId op(const OpInfo& info, const Values& operands, const std::vector<Attr>& attrs = {}, const Type& requested = {}) {
    line();
    return b_.value(info, operands, attrs, requested);
  }
  /// Offsets count from 0 where none are given.
  ValueId load(ValueId from, const Type& t, Values offsets = {}, const Values& valid = {}) {
    offsets.resize(t.rank, f.index(0));
    Values operands{from};
    operands.insert(operands.end(), offsets.begin(), offsets.end());
    operands.insert(operands.end(), valid.begin(), valid.end());
    std::vector<Attr> attrs;
    if (!valid.empty()) attrs.push_back({AttrKey::has_valid, false, false, 0, 1, 0});
    return op(ops::load, operands, attrs, t);
  }
  void store(ValueId x, ValueId to, Values offsets = {}, const std::vector<Attr>& attrs = {}) {
    offsets.resize(f.type(to).rank, f.index(0));
    Values operands{x, to};
    operands.insert(operands.end(), offsets.begin(), offsets.end());
    line();
    b_.emit(ops::store, operands, attrs);
  }
  ValueId create(const Type& t) { return op(ops::create, {}, {}, t); }
  ValueId full(const Type& t, double n) { return op(ops::full, {is_float(t.dtype) ? f.constant(t.dtype, n) : f.constant(t.dtype, static_cast<std::int64_t>(n))}, {}, t); }
  ValueId move(ValueId x, MemorySpace s) { return op(ops::move, {x}, {}, with_space(f.type(x), s)); }
  ValueId slice(ValueId x, const Type& t, const Values& offsets) {
    Values operands{x};
    operands.insert(operands.end(), offsets.begin(), offsets.end());
    return op(ops::slice, operands, {}, t);
  }

  /// for i in [0, n): body(i, carried) returns the next carried values.
  Values loop(std::int64_t n, const Values& initial, const std::function<Values(ValueId, const Values&)>& body) {
    line();
    Values operands{f.index(0), f.index(n), f.index(1)};
    operands.insert(operands.end(), initial.begin(), initial.end());
    const OpId o = b_.control(ops::for_loop, operands, {}, 1);
    const BlockId block = f.block(o);
    const ValueId i = f.add_argument(block, index_scalar);
    Values carried;
    for (const ValueId v : initial) carried.push_back(argument(block, v));
    inside(block, [&] { finish(ops::yield, body(i, carried)); });
    return results(o, initial);
  }
  Values branch(ValueId c, const std::function<Values()>& then, const std::function<Values()>& otherwise) {
    line();
    const OpId o = b_.control(ops::if_else, {c}, {}, 2);
    Values yielded;
    inside(f.block(o, 0), [&] { finish(ops::yield, yielded = then()); });
    inside(f.block(o, 1), [&] { finish(ops::yield, otherwise()); });
    return results(o, yielded);
  }
  /// while condition(carried): carried = body(carried)
  Values repeat(const Values& initial, const std::function<ValueId(const Values&)>& condition, const std::function<Values(const Values&)>& body) {
    line();
    const OpId o = b_.control(ops::while_loop, initial, {}, 2);
    for (int k = 0; k < 2; ++k) {
      const BlockId block = f.block(o, k);
      Values carried;
      for (const ValueId v : initial) carried.push_back(argument(block, v));
      inside(block, [&] {
        if (k == 1) return finish(ops::yield, body(carried));
        Values all{condition(carried)};
        all.insert(all.end(), carried.begin(), carried.end());
        finish(ops::condition, all);
      });
    }
    return results(o, initial);
  }
  ValueId compare(Compare c, ValueId a, ValueId b) {
    return op(ops::scalar_compare, {a, b}, {{AttrKey::compare, false, false, 0, static_cast<std::int64_t>(c), 0}});
  }
  Function& done() {
    finish(ops::return_op, {});
    verify(f);
    return f;
  }

 private:
  void line() { b_.at({"t.cpp", ++line_, 1}); }
  void finish(const OpInfo& info, const Values& v) {
    line();
    b_.control(info, v, {}, 0);
  }
  ValueId argument(BlockId block, ValueId initial) {
    const ValueId v = f.add_argument(block, f.type(initial));
    if (f.type(v).is_shaped()) f.share_valid(v, initial);
    return v;
  }
  template <class Body>
  void inside(BlockId block, Body&& body) {
    const BlockId outer = b_.block();
    b_.to_end_of(block);
    body();
    b_.to_end_of(outer);
  }
  Values results(OpId o, const Values& like) {
    std::vector<Type> types;
    for (const ValueId v : like) types.push_back(f.type(v));
    f.set_results(o, types);
    Values list;
    for (std::size_t i = 0; i < like.size(); ++i) {
      list.push_back(f.result(o, static_cast<int>(i)));
      if (f.type(like[i]).is_shaped()) f.share_valid(list.back(), like[i]);
    }
    return list;
  }

  Builder b_;
  std::uint32_t line_ = 0;
};

/// The lines of the printed body, without the first and the last.
inline std::vector<std::string> lines(const Function& f) {
  const std::string text = print(f);
  std::vector<std::string> list;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    list.push_back(text.substr(at, end - at));
    if (end == std::string::npos) break;
    at = end + 1;
  }
  return list;
}
/// Names of the operations in program order: "load", "add", "for", ...
inline std::string names(const Function& f, BlockId b) {
  std::string out;
  for (OpId o = f[b].first; o; o = f.next(o)) {
    if (f.is(o, ops::return_op)) continue;
    out.append(out.empty() ? "" : " ").append(f.info(o).name);
    for (int i = 0; i < f.block_count(o); ++i) out.append("{").append(names(f, f.block(o, i))).append("}");
  }
  return out;
}
inline std::string names(const Function& f) { return names(f, f.body()); }
/// Operation number `n` of that kind, in program order.
inline OpId find(const Function& f, const OpInfo& info, int n = 0) {
  const std::function<OpId(BlockId)> search = [&](BlockId b) {
    for (OpId o = f[b].first; o; o = f.next(o)) {
      if (f.is(o, info) && n-- == 0) return o;
      for (int i = 0; i < f.block_count(o); ++i)
        if (const OpId found = search(f.block(o, i))) return found;
    }
    return OpId{};
  };
  return search(f.body());
}
/// The message and hint of the UserError that `run` throws; empty when it throws none.
template <class Run>
std::string message_of(Run&& run) {
  try {
    run();
  } catch (const UserError& e) {
    return e.what();
  }
  return {};
}

}  // namespace tile_ir
