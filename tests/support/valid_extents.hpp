// What is valid in the result of every operation: a table by hand, of kernels that store a result of operands that are valid in
// part, and its extents.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <map>

#include "same_numbers.hpp"

namespace valid_extents {

using namespace tessera;
using namespace tessera::test;
using Dims = std::vector<std::int64_t>;

/// A kernel with values that are valid in part, by constants or by numbers of the run.
class Case {
 public:
  Case(const OpInfo& o, Arch a, bool at_run_time) : op(o), arch(a), run_time(at_run_time) {
    for (const DType d : {i16, i32, f16, f32})
      if (accepts_on(op, d, arch) || op.filled[static_cast<int>(arch)].contains(d)) dtype = d;
  }

  Recording k;
  const OpInfo& op;
  const Arch arch;
  const bool run_time;
  DType dtype = boolean;  ///< one that the operation takes on the target

  /// An extent of a dim; a whole dim is one in every kernel.
  ValueId extent(std::int64_t n, std::int64_t dim) {
    if (n == dim || !run_time) return k.index(n);
    if (!unit_) unit_ = k.scalar("one", index_type);
    ValueId& v = known_[n];
    if (!v) v = k.b().mul(unit_, k.index(n));
    return v;
  }
  /// A tensor value of numbers from 1 to 7, of an index the number of the column.
  ValueId tensor(DType d, const Dims& dims, const Dims& valid, const char* name = "x") {
    const ValueId parameter = k.tensor(name, d, dims);
    return valid == dims ? parameter : k.slice(parameter, dims, zeros(dims), extents(dims, valid));
  }
  ValueId x(const Dims& dims, const Dims& valid) { return tensor(dtype, dims, valid); }
  ValueId tile(DType d, const Dims& dims, const Dims& valid, const char* name = "x", MemorySpace space = Vec) {
    return k.load(k.tensor(name, d, dims), dims, zeros(dims), space, valid == dims ? std::vector<ValueId>{} : extents(dims, valid));
  }
  ValueId number(DType d, int n) { return is_float(d) ? k.constant(d, static_cast<double>(n)) : k.constant(d, n); }
  ValueId make(List<ValueId> operands, List<Attr> attrs = {}, const Type& requested = {}) { return k.op(op, operands, attrs, requested); }
  /// The operation, with a stated result shape.
  ValueId make_shaped(List<ValueId> operands, const Dims& dims, List<Attr> attrs = {}) {
    return make(operands, attrs, shaped_type(k.f().type(operands[0]).dtype, dims, k.f().type(operands[0]).space));
  }
  std::vector<ValueId> zeros(const Dims& dims) { return std::vector<ValueId>(dims.size(), k.index(0)); }
  std::vector<ValueId> extents(const Dims& dims, const Dims& valid) {
    std::vector<ValueId> list;
    for (std::size_t i = 0; i < dims.size(); ++i) list.push_back(extent(valid[i], dims[i]));
    return list;
  }

 private:
  ValueId unit_;
  std::map<std::int64_t, ValueId> known_;
};

/// The result whose extents are looked at, and what of it is stored.
struct Built {
  Built(ValueId r) : result(r), stored(r) {}  // NOLINT: most are stored as they are
  Built(ValueId r, ValueId s) : result(r), stored(s) {}
  ValueId result, stored;
};
struct Example {
  std::function<Built(Case&)> build;
  Dims valid;                ///< of the result
  std::string refused = {};  ///< instead, what the builder says
  bool lowered = true;       ///< whether the kernel is run behind the passes, too
};
struct Row {
  std::vector<const OpInfo*> ops;
  std::vector<Example> examples;
};

inline const Dims matrix{8, 16}, pages{4, 4, 16};

/// The operations of one kind: those that a rule of types serves, with one rule of extents. A new one is among them by itself.
inline std::vector<const OpInfo*> kind(std::initializer_list<Verdict (*)(const OpInfo&, const InferInput&)> rules, ValidRule valid) {
  std::vector<const OpInfo*> list;
  for (const ops::Family& family : ops::families)
    for (const OpInfo* op : family)
      if (op->valid == valid && std::find(rules.begin(), rules.end(), op->infer) != rules.end()) list.push_back(op);
  return list;
}

/// One example for matrices, one for pages, of operands with extents that are given for both.
template <class Build>
std::vector<Example> both(Build build, const Dims& valid, const Dims& valid_of_pages) {
  return {{[=](Case& c) { return Built(build(c, matrix, Dims{5, 11}, Dims{7, 9})); }, valid},
          {[=](Case& c) { return Built(build(c, pages, Dims{3, 4, 11}, Dims{2, 4, 9})); }, valid_of_pages}};
}
/// For a column, a row and a vector as well.
template <class Build>
std::vector<Example> each_shape(Build build, const Dims& valid, const Dims& valid_of_pages, const Dims& of_column, const Dims& of_row, const Dims& of_vector) {
  std::vector<Example> examples = both(build, valid, valid_of_pages);
  examples.push_back({[=](Case& c) { return Built(build(c, Dims{8, 1}, Dims{5, 1}, Dims{7, 1})); }, of_column});
  examples.push_back({[=](Case& c) { return Built(build(c, Dims{1, 16}, Dims{1, 11}, Dims{1, 9})); }, of_row});
  examples.push_back({[=](Case& c) { return Built(build(c, Dims{16}, Dims{11}, Dims{9})); }, of_vector});
  return examples;
}
inline std::vector<Example> operator+(std::vector<Example> examples, const std::vector<Example>& more) {
  examples.insert(examples.end(), more.begin(), more.end());
  return examples;
}
inline Dims with_last(Dims dims, std::int64_t n) {
  dims.back() = n;
  return dims;
}
/// [1,..,1,N].
inline Dims row_of(const Dims& dims, std::int64_t n) { return with_last(Dims(dims.size(), 1), n); }
inline Attr mode(AttrKey key, std::int64_t n) { return int_attr(key, n); }
inline Attr pattern(MaskPattern p) { return mode(AttrKey::pattern, static_cast<std::int64_t>(p)); }
inline Attr compares_by(Compare by) { return mode(AttrKey::compare, static_cast<std::int64_t>(by)); }
/// A mask is stored as what it chooses.
inline Built chosen(Case& c, ValueId mask, const Dims& dims) {
  return {mask, c.k.op(ops::select, {mask, c.x(dims, dims), c.x(dims, dims)})};
}
inline std::vector<Example> columns_of_pages(const Dims& valid) {
  return {{[](Case& c) { return c.make({c.x({4, 8, 1}, {3, 8, 1})}); }, valid}};
}
inline ValueId product(Case& c, const Dims& left, const Dims& right) {
  return c.k.matmul(c.tensor(f32, {16, 32}, left), c.tensor(f32, {32, 16}, right));
}
inline std::vector<Example> merges(int lists) {
  const auto build = [lists](Case& c) {
    std::vector<ValueId> operands;
    for (int i = 0; i < std::max(lists, 1); ++i) operands.push_back(c.x({1, 256}, {1, i == 0 ? 192 : 256}));
    if (lists == 0) operands.push_back(c.number(i32, 64));
    return Built(c.make(operands));
  };
  return {{build, {}, ": an operand is valid in part along the last axis (operand 0)"}};
}
inline std::vector<Attr> paged(std::int64_t most, MemorySpace space, bool turned) {
  return {mode(AttrKey::space, space), mode(AttrKey::rows, most), mode(AttrKey::columns, 32), mode(AttrKey::block_size, 32), mode(AttrKey::transposed, turned ? 1 : 0)};
}
inline ValueId paged_rows(Case& c, const Dims& indices, MemorySpace space, bool turned) {
  return c.make({c.k.tensor("pool", f16, {256, 32}), c.k.tensor("index", i32, indices), c.k.tensor("table", i32, {8})}, paged(16, space, turned));
}

inline std::vector<Row> table() {
  const auto unary = [](Case& c, const Dims& dims, const Dims& v, const Dims&) { return c.make({c.x(dims, v)}); };
  const auto alike = [](Case& c, const Dims& dims, const Dims& v, const Dims& w) { return c.make({c.x(dims, v), c.x(dims, w)}); };
  const auto scalar = [](Case& c, const Dims& dims, const Dims& v, const Dims&) {
    return c.make({c.x(dims, v), c.number(&c.op == &ops::lrelu ? f32 : c.dtype, 2)});
  };
  const auto with_column = [](Case& c, const Dims& dims, const Dims& v, const Dims&) {
    return c.make({c.x(dims, v), c.x(with_last(dims, 1), with_last(v, 1))});
  };
  const auto with_row = [](Case& c, const Dims& dims, const Dims& v, const Dims&) {
    return c.make({c.x(dims, v), c.x(row_of(dims, dims.back()), row_of(dims, v.back()))});
  };
  const auto with_whole_column = [](Case& c, const Dims& dims, const Dims& v, const Dims&) {
    return c.make({c.x(dims, v), c.x(with_last(dims, 1), with_last(dims, 1))});
  };
  const auto with_whole_row = [](Case& c, const Dims& dims, const Dims& v, const Dims&) {
    return c.make({c.x(dims, v), c.x(row_of(dims, dims.back()), row_of(dims, dims.back()))});
  };
  const auto masked = [](Case& c, const Dims& dims, const Dims& v, const Dims& w) {
    return chosen(c, c.make({c.x(dims, v), c.x(dims, w)}, {compares_by(Compare::lt)}), dims);
  };
  const auto masked_by_number = [](Case& c, const Dims& dims, const Dims& v, const Dims&) {
    return chosen(c, c.make({c.x(dims, v), c.number(c.dtype, 3)}, {compares_by(Compare::lt)}), dims);
  };
  return {
      {kind({detail::infer_unary}, ValidRule::first),
       each_shape(unary, {5, 11}, {3, 4, 11}, {5, 1}, {1, 11}, {11})},
      {{&ops::cast},
       each_shape([](Case& c, const Dims& dims, const Dims& v, const Dims&) { return c.make({c.tensor(f32, dims, v)}, {}, scalar_type(f16)); }, {5, 11}, {3, 4, 11}, {5, 1}, {1, 11}, {11})},
      {kind({detail::infer_scalar_form, detail::infer_shift, detail::infer_slope}, ValidRule::first),
       each_shape(scalar, {5, 11}, {3, 4, 11}, {5, 1}, {1, 11}, {11})},
      {kind({detail::infer_binary}, ValidRule::intersection),
       each_shape(alike, {5, 9}, {2, 4, 9}, {5, 1}, {1, 9}, {9})},
      {kind({detail::infer_binary}, ValidRule::larger),
       {{[](Case& c) { return c.make({c.x(matrix, {5, 9}), c.x(matrix, {5, 11})}); }, {5, 11}},
        {[](Case& c) { return c.make({c.x(pages, {2, 4, 11}), c.x(pages, {3, 4, 11})}); }, {3, 4, 11}},
        {[](Case& c) { return c.make({c.x(matrix, {5, 9}), c.x(matrix, matrix)}); }, matrix},
        {[](Case& c) { return c.make({c.x({8, 1}, {5, 1}), c.x({8, 1}, {7, 1})}); }, {7, 1}}}},
      {kind({detail::infer_row_expand}, ValidRule::wide),
       both(with_column, {5, 11}, {3, 4, 11}) + both(with_whole_column, {5, 11}, {3, 4, 11})},
      {kind({detail::infer_col_expand}, ValidRule::wide),
       both(with_row, {5, 11}, {3, 4, 11}) + both(with_whole_row, {5, 11}, {3, 4, 11})},
      {{&ops::row_expand},
       both([](Case& c, const Dims& dims, const Dims& v, const Dims&) { return c.make_shaped({c.x(with_last(dims, 1), with_last(v, 1))}, dims); }, {5, 16}, {3, 4, 16})},
      {{&ops::col_expand},
       both([](Case& c, const Dims& dims, const Dims& v, const Dims&) { return c.make_shaped({c.x(row_of(dims, 16), row_of(dims, v.back()))}, dims); }, {8, 11}, {4, 4, 11})},
      {{&ops::broadcast_to},
       {{[](Case& c) { return c.make_shaped({c.x({1, 16}, {1, 11})}, matrix); }, {8, 11}},
        {[](Case& c) { return c.make_shaped({c.x({8, 1}, {5, 1})}, matrix); }, {5, 16}},
        {[](Case& c) { return c.make_shaped({c.x({4, 1, 16}, {3, 1, 11})}, pages); }, {3, 4, 11}},
        {[](Case& c) { return c.make_shaped({c.x({4, 1, 1}, {3, 1, 1})}, {4, 8, 1}); }, {3, 8, 1}}}},
      {{&ops::compare}, each_shape(masked, {5, 9}, {2, 4, 9}, {5, 1}, {1, 9}, {9})},
      {{&ops::compares}, each_shape(masked_by_number, {5, 11}, {3, 4, 11}, {5, 1}, {1, 11}, {11})},
      {{&ops::select}, each_shape([](Case& c, const Dims& dims, const Dims& v, const Dims& w) {
         const ValueId mask = c.k.op(ops::compares, {c.x(dims, dims), c.number(c.dtype, 3)}, {compares_by(Compare::lt)});
         return c.make({mask, c.x(dims, v), c.x(dims, w)});
       }, {5, 9}, {2, 4, 9}, {5, 1}, {1, 9}, {9})},
      {kind({detail::infer_row_reduce, detail::infer_row_arg}, ValidRule::row_reduce),
       each_shape(unary, {5, 1}, {3, 4, 1}, {5, 1}, {1, 1}, {1}) + columns_of_pages({3, 8, 1})},
      {kind({detail::infer_col_reduce, detail::infer_col_arg}, ValidRule::col_reduce),
       both(unary, {1, 11}, {3, 1, 11}) + columns_of_pages({3, 1, 1}) +
           std::vector<Example>{{[](Case& c) { return c.make({c.x({8, 1}, {5, 1})}); }, {1, 1}}}},
      {{&ops::sort32},
       {{[](Case& c) { return c.make({c.tensor(f32, {8, 32}, {5, 32}), c.k.tensor("index", u32, {1, 32})}); }, {5, 64}},
        {[](Case& c) { return c.make({c.tensor(f32, {4, 4, 32}, {3, 4, 32}), c.k.tensor("index", u32, {1, 1, 32})}); }, {3, 4, 64}}}},
      {{&ops::merge_sort}, merges(0)},
      {{&ops::merge_sort2}, merges(2)},
      {{&ops::merge_sort3}, merges(3)},
      {{&ops::merge_sort4}, merges(4)},
      {{&ops::matmul},
       {{[](Case& c) { return product(c, {11, 32}, {32, 9}); }, {11, 9}},
        {[](Case& c) { return c.k.matmul(c.tensor(f32, {32, 16}, {32, 11}), c.tensor(f32, {16, 32}, {9, 32}), true, true); }, {11, 9}},
        {[](Case& c) { return c.k.matmul(c.tensor(f32, {2, 16, 32}, {2, 11, 32}), c.tensor(f32, {2, 32, 16}, {2, 32, 9})); }, {2, 11, 9}},
        {[](Case& c) { return c.k.matmul(c.tensor(f32, {3, 16, 32}, {2, 16, 32}), c.tensor(f32, {32, 16}, {32, 16})); }, {2, 16, 16}},
        {[](Case& c) {
          const auto part = [&](const char* name, const std::vector<std::int64_t>& dims, std::int64_t n) {
            return c.k.slice(c.k.tensor(name, f32, dims), dims, c.zeros(dims), {c.k.index(n), c.k.index(dims[1]), c.k.index(dims[2])});
          };
          return c.k.matmul(part("left", {3, 16, 32}, 2), part("right", {3, 32, 16}, 1));
        }, {1, 16, 16}}}},
      {{&ops::matmul_acc},
       {{[](Case& c) {
          const ValueId sum = product(c, {11, 32}, {32, 9});
          return c.k.matmul_acc(sum, c.tensor(f32, {16, 32}, {11, 32}), c.tensor(f32, {32, 16}, {32, 9}));
        }, {11, 9}}}},
      {{&ops::load},
       {{[](Case& c) { return c.tile(f32, matrix, {5, 11}); }, {5, 11}}, {[](Case& c) { return c.tile(f32, pages, {3, 4, 11}); }, {3, 4, 11}}}},
      {{&ops::to_tile, &ops::to_tensor}, both([](Case& c, const Dims& dims, const Dims& v, const Dims&) {
         return c.k.op(ops::to_tensor, {c.k.op(ops::to_tile, {c.tensor(f32, dims, v)}, {}, shaped_type(f32, dims, Vec))});
       }, {5, 11}, {3, 4, 11})},
      {{&ops::move}, both([](Case& c, const Dims& dims, const Dims& v, const Dims&) {
         const ValueId t = c.tile(f32, dims, v);
         return c.make({t}, {}, c.k.f().type(t));
       }, {5, 11}, {3, 4, 11})},
      {{&ops::slice},
       {{[](Case& c) { return c.make_shaped({c.k.op(ops::neg, {c.x(matrix, {5, 11})}), c.k.index(3), c.k.index(8)}, {4, 8}); }, {2, 3}},
        {[](Case& c) { return c.make_shaped({c.k.op(ops::neg, {c.x(pages, {3, 4, 11})}), c.k.index(2), c.k.index(0), c.k.index(8)}, {2, 4, 8}); }, {1, 4, 3}}}},
      {{&ops::assemble},
       {{[](Case& c) { return c.make({c.x(matrix, {5, 11}), c.x({4, 8}, {2, 3}), c.k.index(1), c.k.index(8)}); }, {5, 11}},
        {[](Case& c) { return c.make({c.x(pages, {3, 4, 11}), c.x({1, 4, 8}, {1, 4, 3}), c.k.index(2), c.k.index(0), c.k.index(8)}); }, {3, 4, 11}}}},
      {{&ops::concat},
       {{[](Case& c) { return c.make({c.x(matrix, {5, 16}), c.x(matrix, {4, 9})}); }, {4, 25}},
        {[](Case& c) { return c.make({c.x(pages, {2, 4, 16}), c.x(pages, {3, 4, 9})}); }, {2, 4, 25}}}},
      {{&ops::reshape},
       {{[](Case& c) { return c.make_shaped({c.x(matrix, {5, 11})}, {1, 8, 16}); }, {1, 5, 11}},
        {[](Case& c) { return c.make_shaped({c.x(pages, {3, 4, 11})}, {4, 1, 4, 16}); }, {3, 1, 4, 11}}}},
      {{&ops::reinterpret},
       both([](Case& c, const Dims& dims, const Dims& v, const Dims&) { return c.make({c.tensor(f32, dims, v)}, {}, scalar_type(i16)); }, {5, 22}, {3, 4, 22})},
      {{&ops::transpose},
       {{[](Case& c) { return c.make({c.x(matrix, {5, 11})}); }, {11, 5}},
        {[](Case& c) { return c.make({c.x({8, 1}, {5, 1})}); }, {1, 5}},
        {[](Case& c) { return c.make({c.x(pages, {3, 4, 16})}); }, {3, 16, 4}}}},
      {{&ops::transpose_view},
       {{[](Case& c) {
          const ValueId view = c.make({c.tile(f16, {16, 32}, {11, 32}, "x", Mat)});
          return Built(view, c.k.matmul(c.tile(f16, {16, 32}, {16, 32}, "y", Mat), view));
        }, {32, 11}}}},
      {{&ops::set_valid_shape}, each_shape([](Case& c, const Dims& dims, const Dims& v, const Dims& w) {
         std::vector<ValueId> operands = c.extents(dims, v);
         operands.insert(operands.begin(), c.x(dims, w));
         operands[0] = c.k.op(ops::fillpad, {operands[0]}, {mode(AttrKey::pad, static_cast<std::int64_t>(Pad::zero))});
         return c.make(operands);
       }, {5, 11}, {3, 4, 11}, {5, 1}, {1, 11}, {11})},
      {{&ops::write},
       {{[](Case& c) { return c.make({c.tile(f32, matrix, {5, 11}), c.number(f32, 9), c.k.index(1), c.k.index(2)}); }, {5, 11}}}},
      {{&ops::gather},
       {{[](Case& c) { return c.make({c.x(matrix, matrix), c.tensor(i32, matrix, {5, 11})}); }, {5, 11}},
        {[](Case& c) { return c.make({c.x(matrix, {7, 13}), c.tensor(i32, matrix, {5, 11})}); }, {5, 11}},
        {[](Case& c) { return c.make({c.x(matrix, {4, 16}), c.tensor(i32, matrix, matrix)}); }, {4, 16}},
        {[](Case& c) { return c.make({c.x({8, 13}, {8, 13}), c.tensor(i32, {8, 5}, {5, 3})}); }, {5, 3}},
        {[](Case& c) { return c.make({c.x(matrix, matrix), c.tensor(i32, {8, 1}, {5, 1})}); }, {5, 1}},
        {[](Case& c) { return c.make({c.x({16}, {16}), c.tensor(i32, {24}, {17})}); }, {17}},
        {[](Case& c) { return c.make({c.x(matrix, {8, 13}), c.tensor(i32, matrix, {5, 15})}, {mode(AttrKey::axis, 0)}); }, {5, 13}},
        {[](Case& c) { return c.make({c.x({8, 1}, {8, 1}), c.tensor(i32, {16, 1}, {11, 1})}, {mode(AttrKey::axis, 0)}); }, {11, 1}},
        {[](Case& c) { return c.make({c.x(pages, pages), c.tensor(i32, pages, {3, 4, 11})}); }, {3, 4, 11}},
        {[](Case& c) { return c.make({c.x({1, 4, 16}, {1, 4, 16}), c.tensor(i32, {1, 4, 16}, {1, 3, 11})}); }, {1, 3, 11}},
        {[](Case& c) { return c.make({c.x({4, 1, 16}, {4, 1, 16}), c.tensor(i32, {4, 1, 16}, {3, 1, 11})}); }, {3, 1, 11}},
        {[](Case& c) { return c.make({c.x({4, 1, 13}, {4, 1, 13}), c.tensor(i32, {4, 1, 16}, {3, 1, 11})}); }, {3, 1, 11}},
        {[](Case& c) { return c.make({c.x({4, 1, 16}, {2, 1, 16}), c.tensor(i32, {4, 1, 16}, {3, 1, 11})}); }, {2, 1, 11}},
        {[](Case& c) { return c.make({c.x({4, 8, 16}, {4, 8, 16}), c.tensor(i32, {4, 4, 16}, {3, 4, 11})}, {mode(AttrKey::axis, 1)}); }, {3, 4, 11}},
        {[](Case& c) { return c.make({c.x({8, 4, 16}, {8, 4, 16}), c.tensor(i32, pages, {3, 4, 11})}, {mode(AttrKey::axis, 0)}); }, {3, 4, 11}}}},
      {{&ops::gather_flat},
       {{[](Case& c) { return c.make({c.tile(f32, matrix, matrix), c.tile(i32, matrix, {5, 11}, "index")}); }, {5, 11}},
        {[](Case& c) { return c.make({c.tile(f32, matrix, matrix), c.tile(i32, {8, 3}, {5, 2}, "index")}); }, {5, 2}},
        {[](Case& c) { return c.make({c.tile(f32, matrix, matrix), c.tile(i32, {8, 1}, {5, 1}, "index")}); }, {5, 1}},
        {[](Case& c) { return c.make({c.tile(f32, pages, pages), c.tile(i32, pages, {3, 4, 11}, "index")}); }, {3, 4, 11}}}},
      {{&ops::gather_mask},
       {{[](Case& c) { return c.make({c.x(matrix, {5, 11})}, {pattern(MaskPattern::P0101)}); }, {5, 6}},
        {[](Case& c) { return c.make({c.x(matrix, {5, 11})}, {pattern(MaskPattern::P1010)}); }, {5, 5}},
        {[](Case& c) { return c.make({c.x(matrix, {5, 11})}, {pattern(MaskPattern::P1000)}); }, {5, 2}},
        {[](Case& c) { return c.make({c.x(pages, {3, 4, 11})}, {pattern(MaskPattern::P0001)}); }, {3, 4, 3}}}},
      {{&ops::scatter},
       {{[](Case& c) { return c.make({c.tensor(f32, matrix, {5, 11}), c.k.tensor("columns", i32, {8, 8}), c.tensor(f32, {8, 8}, {8, 8})}); }, {5, 11}},
        {[](Case& c) { return c.make({c.tensor(f32, matrix, matrix), c.tensor(i32, {8, 8}, {5, 3}, "columns"), c.tensor(f32, {8, 8}, {5, 3})}); }, matrix}}},
      {{&ops::scatter_mask},
       {{[](Case& c) { return c.make({c.tensor(f32, matrix, {5, 11}), c.tensor(f32, {8, 8}, {8, 8})}, {pattern(MaskPattern::P0101)}); }, {5, 11}}}},
      {{&ops::scatter_update},
       {{[](Case& c) { return c.make({c.tensor(f32, matrix, {5, 11}), c.k.tensor("columns", i32, {1, 4}), c.tensor(f32, {4, 16}, {4, 16})}); }, {5, 11}}}},
      {{&ops::scatter_flat},
       {{[](Case& c) { return c.make({c.tile(f32, matrix, {5, 11}), c.tile(f32, {1, 16}, {1, 7}), c.tile(i32, {1, 16}, {1, 7}, "columns")}); }, {5, 11}}}},
      {{&ops::scatter_strided},
       {{[](Case& c) { return c.make({c.tile(f32, matrix, {5, 11}), c.tile(f32, {8, 8}, {8, 8})}, {pattern(MaskPattern::P0101)}); }, {5, 11}},
        {[](Case& c) { return c.make({c.tile(f32, matrix, matrix), c.tile(f32, {8, 8}, {5, 3})}, {pattern(MaskPattern::P0101)}); }, matrix}}},
      {{&ops::find_positions}, {{[](Case& c) {
          return c.make({c.tensor(f32, {8, 64}, {5, 64}), c.number(f32, 0), c.number(i32, 0)}, {compares_by(Compare::gt)}, shaped_type(i32, {8, 64}));
        }, {5, 64}}}},
      {{&ops::count_matches},
       {{[](Case& c) { return c.make({c.tensor(f32, {8, 64}, {5, 64}), c.number(f32, 3), c.number(i32, 0)}, {compares_by(Compare::gt)}); }, {1, 5}}}},
      {{&ops::gather_row}, {{[](Case& c) {
          const ValueId z = c.k.index(0);
          return c.make({c.tile(f32, matrix, {5, 11}), c.k.tensor("pool", f32, {64, 16}), c.k.index(2), z, c.k.index(9), z}, {mode(AttrKey::rows, 2), mode(AttrKey::columns, 8)});
        }, {5, 11}}}},
      {{&ops::paged_gather},
       {{[](Case& c) { return paged_rows(c, {10}, Vec, false); }, {10, 32}},
        {[](Case& c) { return paged_rows(c, {dyn<"N">}, Vec, false); }, {8, 32}},
        {[](Case& c) {
           const ValueId columns = paged_rows(c, {dyn<"N">}, Mat, true);
           return Built(columns, c.k.matmul(c.tensor(f16, {16, 32}, {16, 32}), columns));
         }, {32, 8}}}},
      // Lanes are lowered in loops of their own: convert_split.cpp.
      {{&ops::aiv_shard},
       {{[](Case& c) { return c.make({product(c, {11, 32}, {32, 9}), c.k.index(0)}, {mode(AttrKey::split, 1)}); }, {8, 9}, {}, false},
        {[](Case& c) { return c.make({product(c, {11, 32}, {32, 9}), c.k.index(1)}, {mode(AttrKey::split, 1)}); }, {3, 9}, {}, false},
        {[](Case& c) { return c.make({product(c, {11, 32}, {32, 6}), c.k.index(1)}, {mode(AttrKey::split, 2)}); }, {11, 0}, {}, false}}},
      {{&ops::aic_gather},
       {{[](Case& c) { return c.make({c.x({16, 16}, {11, 9}), c.x({8, 16}, {8, 9}), c.k.index(0)}, {mode(AttrKey::split, 1)}); }, {11, 9}, {}, false}}},
  };
}
/// Operations that make something new, or fill what is not valid: their results are fully valid, whatever they read. `view` is
/// memory, `read` gives a number, `store` and `atomic_add` nothing.
inline const std::vector<const OpInfo*> without_extents{&ops::create, &ops::full, &ops::arange, &ops::fillpad, &ops::fillpad_expand, &ops::random,
                                                 &ops::view,   &ops::read, &ops::store, &ops::atomic_add};

inline double element(const Parameter& p, std::int64_t i) {
  const std::string_view name = p.name.c_str();
  if (name == "columns") return static_cast<double>(i % 8);
  if (name == "out") return -1;
  return static_cast<double>(i * 5 % 7 + 1);
}
/// The result is stored over a tensor of -1, its extents to the last parameter.
inline void finish(Case& c, const Built& built) {
  Function& f = c.k.f();
  const Type t = f.type(built.stored);
  const Dims dims(t.dims, t.dims + t.rank);
  c.k.store(built.stored, c.k.tensor("out", t.dtype, dims, Direction::inout), c.zeros(dims));
  const ValueId extents = c.k.tensor("extents", i32, {f.type(built.result).rank}, Direction::inout);
  for (int i = 0; i < f.type(built.result).rank; ++i) {
    const Extent e = f.valid(built.result, i);
    const ValueId n = e.is_constant() ? f.constant(i32, e.constant) : c.k.op(ops::scalar_cast, {e.value}, {}, scalar_type(i32));
    c.k.effect(ops::write, {extents, n, c.k.index(i)});
  }
  c.k.returns();
}
inline Dims numbers(const Inputs& inputs) {
  Dims list;
  for (const double n : inputs.tensors.back().values()) list.push_back(static_cast<std::int64_t>(n));
  return list;
}
/// Whether the operation has an element type on the target.
[[nodiscard]] inline bool is_available(const Case& c) { return accepted_dtypes(c.op).bits == 0 || c.dtype != boolean; }

}  // namespace valid_extents
