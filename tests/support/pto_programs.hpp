// Small lowered functions for the tests of the emitters: a builder with tiles in own buffers, and one program for each
// descriptor and element type.
#pragma once

#include <string>
#include <vector>

#include "tessera/ir/builder.hpp"
#include "tessera/ops/all.hpp"
#include "tessera/passes/plan_memory.hpp"

namespace programs {

using namespace tessera;  // NOLINT: a test

inline Type tensor_type(DType d, std::initializer_list<std::int64_t> dims) {
  return with_shape({TypeKind::tensor, d, Gm, Layout::nd, 0, {}}, dims.begin(), static_cast<int>(dims.size()));
}
inline Type tile_type(DType d, std::initializer_list<std::int64_t> dims, MemorySpace space = Vec) {
  return with_space(tensor_type(d, dims), space);
}

/// Buffers as the pass assigns them where nothing is shared: own storage, but for views and in-place operations.
struct Lowered {
  Function f;
  Builder b{f};
  std::uint32_t line = 0;
  bool windows = false;  ///< sources in Vec are windows of wider tiles

  explicit Lowered(std::string name) {
    f.name = std::move(name);
    f.location = {"kernel.cpp", 1, 1};
  }
  Lowered(const Lowered&) = delete;
  Lowered& operator=(const Lowered&) = delete;

  ValueId parameter(const char* name, const Type& t, Direction d = Direction::in) {
    const ValueId v = f.add_argument(f.body(), t);
    f.parameters.push_back({v, name, d, {"kernel.cpp", 1, 1}});
    return v;
  }
  ValueId op(const OpInfo& info, std::vector<ValueId> operands, std::vector<Attr> attrs = {},
             const Type& requested = {}) {
    b.at({"/home/user/kernel.cpp", ++line, 1});
    const OpId o = b.emit(info, operands, attrs, requested);
    if (f.result_count(o) == 0) return {};
    const ValueId v = f.result(o);
    if (!f.type(v).is_tile()) return v;
    const int as = info.in_place >= 0 ? info.in_place : info.is_view ? 0 : -1;
    f[v].buffer = as < 0 ? v.index : f[operands[static_cast<std::size_t>(as)]].buffer;
    return v;
  }
  /// The next operations write into the storage of `owner`.
  ValueId into(ValueId owner, ValueId v) {
    f[v].buffer = f[owner].buffer;
    return v;
  }
  ValueId load(ValueId tensor, const Type& tile) {
    return op(ops::load, window({tensor}, f.type(tensor).rank), {}, tile);
  }
  void store(ValueId tile, ValueId tensor) { op(ops::store, window({tile, tensor}, f.type(tensor).rank)); }
  std::vector<ValueId> window(std::vector<ValueId> operands, int rank) {
    for (int i = 0; i < rank; ++i) operands.push_back(f.index(0));
    return operands;
  }
  ValueId index(std::int64_t n) { return f.index(n); }
  ValueId compare(ValueId x, ValueId y, Compare c) {
    return op(ops::scalar_compare, {x, y}, {attr(AttrKey::compare, static_cast<std::int64_t>(c))});
  }
  [[nodiscard]] static Attr attr(AttrKey key, std::int64_t n) { return int_attr(key, n); }

  /// body(counter, carried) returns what it yields.
  template <class Body>
  std::vector<ValueId> loop(ValueId start, ValueId stop, ValueId step, const std::vector<ValueId>& initial,
                            Body&& body) {
    std::vector<ValueId> operands{start, stop, step};
    operands.insert(operands.end(), initial.begin(), initial.end());
    const OpId o = begin(ops::for_loop, operands, types(initial), 1);
    const BlockId inner = f.block(o), outer = b.block();
    const ValueId counter = f.add_argument(inner, f.type(start));
    const std::vector<ValueId> carried = arguments(inner, initial);
    b.to_end_of(inner);
    end(body(counter, carried));
    b.to_end_of(outer);
    return results(o, initial);
  }
  /// then() and otherwise() return what they yield.
  template <class Then, class Else>
  std::vector<ValueId> branch(ValueId condition, Then&& then, Else&& otherwise) {
    const OpId o = begin(ops::if_else, {condition}, {}, 2);
    const BlockId outer = b.block();
    b.to_end_of(f.block(o, 0));
    const std::vector<ValueId> yielded = end(then());
    b.to_end_of(f.block(o, 1));
    end(otherwise());
    b.to_end_of(outer);
    f.set_results(o, types(yielded));
    return results(o, yielded);
  }
  /// condition(carried) returns the condition; body(carried) what it yields.
  template <class Condition, class Body>
  std::vector<ValueId> repeat(const std::vector<ValueId>& initial, Condition&& condition, Body&& body) {
    const OpId o = begin(ops::while_loop, initial, types(initial), 2);
    const BlockId outer = b.block();
    const std::vector<ValueId> before = arguments(f.block(o, 0), initial), inside = arguments(f.block(o, 1), initial);
    b.to_end_of(f.block(o, 0));
    std::vector<ValueId> handed{condition(before)};
    handed.insert(handed.end(), before.begin(), before.end());
    b.control(ops::condition, handed, {}, 0);
    b.to_end_of(f.block(o, 1));
    end(body(inside));
    b.to_end_of(outer);
    return results(o, initial);
  }
  void finish() {
    b.at({"/home/user/kernel.cpp", ++line, 1});
    b.control(ops::return_op, {}, {}, 0);
  }

 private:
  [[nodiscard]] std::vector<Type> types(const std::vector<ValueId>& values) const {
    std::vector<Type> list;
    for (const ValueId v : values) list.push_back(f.type(v));
    return list;
  }
  OpId begin(const OpInfo& info, const std::vector<ValueId>& operands, const std::vector<Type>& result_types,
             int blocks) {
    b.at({"/home/user/kernel.cpp", ++line, 1});
    return b.control(info, operands, result_types, blocks);
  }
  std::vector<ValueId> end(const std::vector<ValueId>& yielded) {
    b.control(ops::yield, yielded, {}, 0);
    return yielded;
  }
  void like(ValueId v, ValueId as) {
    f[v].buffer = f[as].buffer;
    if (f.type(v).is_shaped()) f.share_valid(v, as);
  }
  std::vector<ValueId> arguments(BlockId block, const std::vector<ValueId>& initial) {
    std::vector<ValueId> list;
    for (const ValueId v : initial) like(list.emplace_back(f.add_argument(block, f.type(v))), v);
    return list;
  }
  std::vector<ValueId> results(OpId o, const std::vector<ValueId>& as) {
    std::vector<ValueId> list;
    for (std::size_t i = 0; i < as.size(); ++i) like(list.emplace_back(f.result(o, static_cast<int>(i))), as[i]);
    return list;
  }
};

inline constexpr DType all_dtypes[] = {f32, f16, bf16, i8, u8, i16, u16, i32, u32, i64, u64};
inline constexpr std::int64_t tile_rows = 32, tile_cols = 64;

/// A tile of type `t` with content: loaded, moved or computed.
inline ValueId source(Lowered& l, const char* name, Type t) {
  const DType d = t.dtype;
  if (l.windows && t.space == Vec && t.layout == Layout::nd && t.rank == 2 && t.last() > 1) {
    const std::int64_t dims[2] = {t.dims[0] + 8, t.last() + 2 * block_elements(d)};
    const ValueId wide = l.load(l.parameter(name, with_space(with_shape(t, dims, 2), Gm)), with_shape(t, dims, 2));
    return l.op(ops::slice, {wide, l.index(4), l.index(block_elements(d))}, {}, t);
  }
  if (t.space == Vec || t.space == Mat) return l.load(l.parameter(name, with_space(t, Gm)), t);
  if (t.space == Acc) {
    const DType half = d == i32 ? i8 : f16;
    const ValueId a = source(l, name, tile_type(half, {t.dims[0], 32}, Left)),
                  c = source(l, "rhs", tile_type(half, {32, t.dims[1]}, Right));
    return l.op(ops::matmul, {a, c});
  }
  return l.op(ops::move, {source(l, name, with_space(t, Mat))}, {}, with_space(t, t.space));
}

/// Ends a program: what it computed is stored.
inline void sink(Lowered& l, ValueId v) {
  const Type t = l.f.type(v);
  if (t.is_scalar()) {
    const ValueId out = l.parameter(
        "out", tensor_type(t.dtype == boolean || t.dtype == index_type ? i32 : t.dtype, {64}), Direction::out);
    if (t.dtype == boolean) {
      const ValueId one = l.f.constant(i32, std::int64_t{1}), zero = l.f.constant(i32, std::int64_t{0});
      v = l.op(ops::scalar_select, {v, one, zero});
    } else if (t.dtype == index_type) {
      v = l.op(ops::scalar_cast, {v}, {}, scalar_type(i32));
    }
    l.op(ops::write, {out, v, l.index(3)});
  } else if (t.space == Vec || t.space == Acc) {
    l.store(v, l.parameter("out", with_space(t, Gm), Direction::out));
  }
  l.finish();
}

/// What an operation is called with; with its scratch tile when asked. Returns no value when the operation does not exist
/// for the element type, or not in a kernel of tiles.
inline ValueId call(Lowered& l, const OpInfo& op, DType d, bool scratch = false) {
  const Type wide = tile_type(d, {tile_rows, tile_cols});
  if (needs_threads(op)) return {};
  if (op.level == Level::scalar) {
    const auto scalar = [&](const char* name, DType of) { return l.parameter(name, scalar_type(of)); };
    if (op.form == PtoForm::block_index) return l.op(op, {});
    if (&op == &ops::scalar_select) return l.op(op, {scalar("c", boolean), scalar("a", d), scalar("b", d)});
    if (&op == &ops::scalar_neg) return l.op(op, {scalar("a", d)});
    if (&op == &ops::scalar_not) return l.op(op, {scalar("a", boolean)});
    if (&op == &ops::scalar_compare)
      return l.op(op, {scalar("a", d), scalar("b", d)},
                  {int_attr(AttrKey::compare, static_cast<std::int64_t>(Compare::lt))});
    return l.op(op, {scalar("a", d), scalar("b", d)});
  }
  switch (op.form) {
    case PtoForm::matmul:
      return l.op(op, {source(l, "a", tile_type(d, {tile_rows, tile_cols}, Left)),
                       source(l, "b", tile_type(d, {tile_cols, tile_rows}, Right))});
    case PtoForm::matmul_acc: {
      const ValueId acc = source(l, "c", tile_type(is_float(d) ? f32 : i32, {tile_rows, tile_rows}, Acc));
      return l.op(op, {acc, source(l, "a", tile_type(d, {tile_rows, tile_cols}, Left)),
                       source(l, "b", tile_type(d, {tile_cols, tile_rows}, Right))});
    }
    case PtoForm::fill:
      return l.op(op, {l.parameter("s", scalar_type(d))}, {}, wide);
    case PtoForm::random: {
      std::vector<ValueId> words;
      for (const char* const name : {"k0", "k1", "c0", "c1", "c2", "c3"}) words.push_back(l.parameter(name, scalar_type(i32)));
      return l.op(op, words, {int_attr(AttrKey::rounds, 7)}, wide);
    }
    case PtoForm::sequence:
      return l.op(op, {l.parameter("s", scalar_type(d))}, {}, tile_type(d, {1, tile_cols}));
    case PtoForm::subview:
      return l.op(op, {source(l, "x", wide), l.index(8), l.index(32)}, {}, tile_type(d, {16, 32}));
    case PtoForm::insert:
      return l.op(op, {source(l, "x", wide), source(l, "y", tile_type(d, {16, 32})), l.index(8), l.index(32)});
    case PtoForm::reshape:
      if (&op == &ops::reinterpret) return l.op(op, {source(l, "x", wide)}, {}, scalar_type(d == f32 ? u16 : f32));
      return l.op(op, {source(l, "x", wide)}, {}, tile_type(d, {tile_cols, tile_rows}));
    case PtoForm::set_valid:
      return l.op(op, {source(l, "x", wide), l.index(7), l.parameter("n", index_scalar)});
    case PtoForm::fill_pad: {
      const ValueId x = l.parameter("x", tensor_type(d, {tile_rows, tile_cols}));
      const ValueId t = l.op(ops::load, {x, l.index(0), l.index(0), l.index(9), l.index(40)},
                             {int_attr(AttrKey::has_valid, 1)}, wide);
      return l.op(op, {t}, {int_attr(AttrKey::pad, static_cast<std::int64_t>(Pad::min))},
                  tile_type(d, {2 * tile_rows, 2 * tile_cols}));
    }
    case PtoForm::read:
      return l.op(op, {source(l, "x", wide), l.index(3), l.index(5)});
    case PtoForm::write:
      return l.op(op, {source(l, "x", wide), l.parameter("s", scalar_type(d)), l.index(3), l.index(5)});
    case PtoForm::load:
      return source(l, "x", wide);
    case PtoForm::store:
      l.store(source(l, "x", wide), l.parameter("y", tensor_type(d, {tile_rows, tile_cols}), Direction::out));
      return l.index(0);
    case PtoForm::move:
      return l.op(op, {source(l, "x", wide)}, {}, wide);
    case PtoForm::transposed_view: {
      const ValueId a = source(l, "a", tile_type(d, {tile_rows, tile_cols}, Left)),
                    b = source(l, "b", tile_type(d, {tile_rows, tile_cols}, Mat));
      return l.op(ops::matmul, {a, l.op(ops::move, {l.op(op, {b})}, {}, tile_type(d, {tile_cols, tile_rows}, Right))});
    }
    case PtoForm::gather_row: {
      const ValueId rows = l.parameter("x", tensor_type(d, {tile_rows, tile_cols}));
      return l.op(op, {l.op(ops::create, {}, {}, wide), rows, l.index(8), l.index(32), l.index(3), l.index(5)},
                  {int_attr(AttrKey::rows, 16), int_attr(AttrKey::columns, 32)});
    }
    case PtoForm::none:
      return op.level == Level::tensor || op.is_view ? ValueId{} : l.op(op, {}, {}, wide);
    case PtoForm::cast:
      return l.op(op, {source(l, "x", wide)},
                  {int_attr(AttrKey::rounding, static_cast<std::int64_t>(Rounding::rint))},
                  scalar_type(d == f32 ? f16 : f32));
    case PtoForm::pattern:
      return l.op(op, {source(l, "x", wide)}, {int_attr(AttrKey::pattern, static_cast<std::int64_t>(MaskPattern::P1010))});
    case PtoForm::matches: {
      const Attr by = int_attr(AttrKey::compare, static_cast<std::int64_t>(d == i32 ? Compare::eq : Compare::gt));
      const ValueId other = l.op(ops::create, {}, {}, tile_type(i32, {&op == &ops::find_positions ? 1 : tile_rows, &op == &ops::find_positions ? tile_rows : tile_cols}));
      return l.op(op, {source(l, "x", wide), l.parameter("s", scalar_type(d)), l.f.constant(i32, std::int64_t{7}),
                       l.op(ops::create, {}, {}, tile_type(u8, {tile_rows, tile_cols})), other}, {by}, tile_type(i32, {tile_rows, 16}));
    }
    case PtoForm::scatter: {
      const ValueId target = l.op(ops::create, {}, {}, wide);
      if (&op == &ops::scatter_strided)
        return l.op(op, {target, source(l, "x", tile_type(d, {tile_rows, tile_cols / 4}))},
                    {int_attr(AttrKey::pattern, static_cast<std::int64_t>(MaskPattern::P0100))});
      return l.op(op, {target, source(l, "x", wide), source(l, "index", tile_type(ops::position_dtype(d), {tile_rows, tile_cols}))});
    }
    case PtoForm::compare:
    case PtoForm::ins_outs:
    case PtoForm::arg_reduce:
      break;
    case PtoForm::merge: {
      const Type list = tile_type(d, {1, 256});
      if (op.lists == 1) return l.op(op, {source(l, "x", list), l.f.constant(i32, std::int64_t{64})});
      std::vector<ValueId> operands;
      for (int i = 0; i < op.lists; ++i) operands.push_back(source(l, i % 2 == 0 ? "x" : "y", list));
      operands.push_back(l.op(ops::create, {}, {}, tile_type(d, {1, 256 * op.lists})));
      return l.op(op, operands);
    }
    default:
      return {};
  }
  if (&op == &ops::sort32) return l.op(op, {source(l, "x", wide), source(l, "index", tile_type(u32, {tile_rows, tile_cols}))});
  if (&op == &ops::concat) return l.op(op, {source(l, "x", wide), source(l, "y", wide)});
  if (op.form == PtoForm::compare || op.reads_masks) {
    const Attr less = int_attr(AttrKey::compare, static_cast<std::int64_t>(Compare::lt));
    const ValueId x = source(l, "x", wide), y = source(l, "y", wide);
    const ValueId of = &op == &ops::select ? source(l, "z", tile_type(f32, {tile_rows, tile_cols})) : x;
    const ValueId mask = &op == &ops::compares ? l.op(op, {x, l.parameter("s", scalar_type(d))}, {less})
                                               : l.op(ops::compare, {of, of == x ? y : of}, {less});
    std::vector<ValueId> operands{mask, x, y};
    if (scratch || &op != &ops::select) operands.push_back(l.op(ops::create, {}, {}, scratch_type(ops::select, wide)));
    return l.op(ops::select, operands);
  }
  if (&op == &ops::gather_flat) {
    const Type indices = tile_type(i32, {tile_rows, tile_cols});
    const ValueId x = source(l, "x", wide), index = source(l, "index", indices);
    return l.op(op, {x, index, l.op(ops::create, {}, {}, indices)});
  }
  // The first list of operands that the rule accepts.
  const Type column = tile_type(d, {tile_rows, 1}), row = tile_type(d, {1, tile_cols}), number = scalar_type(d);
  const std::vector<Type> lists[] = {{wide},         {column},    {row},       {wide, number},
                                     {wide, column}, {wide, row}, {wide, wide}, {wide, scalar_type(f32)}};
  for (const std::vector<Type>& list : lists) {
    OperandInfo infos[3];
    for (std::size_t i = 0; i < list.size(); ++i) infos[i].type = list[i];
    const InferInput in{infos, static_cast<int>(list.size()), wide, nullptr, 0, true};
    if (!infer(op, in).lawful()) continue;
    std::vector<ValueId> operands;
    const char* const names[] = {"x", "y"};
    for (std::size_t i = 0; i < list.size(); ++i)
      operands.push_back(list[i].is_tile() ? source(l, names[i], list[i]) : l.parameter("s", list[i]));
    if (scratch) operands.push_back(l.op(ops::create, {}, {}, list[0]));
    return l.op(op, operands, {}, wide);
  }
  return {};
}

/// With addresses, and taken as it is for C++: with the flags that it has, none perhaps.
[[nodiscard]] inline Function for_cpp(const Lowered& l, Arch arch = Arch::a3) {
  Function f = plan_memory.run(l.f, {arch});
  f.synchronised = true;
  return f;
}

}  // namespace programs
