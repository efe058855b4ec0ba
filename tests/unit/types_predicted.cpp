// The passes make exactly the tiles that lowered_t and flattened_t predict, for every operation that takes tensors or tiles.
#include <algorithm>
#include <set>

#include "support/lowering.hpp"
#include "tessera/dsl/value_types.hpp"
#include "tessera/passes/convert_tensor_to_tile_ops.hpp"
#include "tessera/passes/flatten_tile_nd_to_2d.hpp"

using namespace tessera;
using namespace tessera::test;

namespace {

using Dims = std::vector<std::int64_t>;

Dims dims_of(const Type& t) { return {t.dims, t.dims + t.rank}; }
Attr attr(AttrKey key, std::int64_t n) { return int_attr(key, n); }

/// A kernel with one operation on operands like `x`, at tensor level or on tiles.
class OneOperation : public Recording {
 public:
  OneOperation(const Type& x, bool on_tiles) : x_(x), on_tiles_(on_tiles) {}

  /// The result; none when the operation has none, or none for these types.
  ValueId apply(const OpInfo& info) {
    try {
      return make(info);
    } catch (const UserError&) { return {}; }
  }

 private:
  ValueId operand(const Dims& dims, DType d, MemorySpace space = Vec) {
    const ValueId t = tensor("t" + std::to_string(f().parameters.size()), d, dims);
    return on_tiles_ ? load(t, dims, offsets(dims.size()), space) : t;
  }
  std::vector<ValueId> offsets(std::size_t n) { return std::vector<ValueId>(n, index(0)); }
  ValueId any_operand() { return operand(dims_of(x_), x_.dtype); }
  ValueId scalar_operand() { return is_float(x_.dtype) ? constant(x_.dtype, 2.0) : constant(x_.dtype, 2); }
  Type requested(const Dims& dims) const { return shaped_type(x_.dtype, dims, on_tiles_ ? Vec : Gm); }
  ValueId with_scratch(const OpInfo& info, std::vector<ValueId> operands) {
    if (on_tiles_ && info.scratch == ScratchRule::wide_rows) {
      Dims dims = dims_of(x_);
      dims.back() = std::max(dims.back(), scratch_row);
      operands.push_back(create(x_.dtype, dims, Vec));
    }
    return op(info, operands);
  }

  ValueId make(const OpInfo& info) {
    const Dims dims = dims_of(x_);
    Dims column = dims, row(dims.size(), 1);
    column.back() = 1;
    row.back() = dims.back();
    const auto zeros = [&] { return offsets(dims.size()); };
    const auto is = [&](const OpInfo& other) { return &info == &other; };
    if (is(ops::cast)) return cast(any_operand(), x_.dtype == f32 ? f16 : f32);
    if (is(ops::row_expand)) return op(info, {operand(column, x_.dtype)}, {}, requested(dims));
    if (is(ops::col_expand)) return op(info, {operand(row, x_.dtype)}, {}, requested(dims));
    if (is(ops::broadcast_to)) return op(info, {operand(Dims(dims.size(), 1), x_.dtype)}, {}, requested(dims));
    if (info.infer == ops::row_expand_add.infer) return op(info, {any_operand(), operand(column, x_.dtype)});
    if (info.infer == ops::col_expand_add.infer) return op(info, {any_operand(), operand(row, x_.dtype)});
    if (is(ops::matmul) || is(ops::matmul_acc)) return product(info);
    if (is(ops::load)) return load(tensor("t", x_.dtype, dims), dims, zeros());
    if (is(ops::store)) return {};  // every case ends in one
    if (is(ops::move)) return on_tiles_ ? op(info, {any_operand()}, {}, shaped_type(x_.dtype, dims, Vec)) : ValueId{};
    if (is(ops::create)) return create(x_.dtype, dims, on_tiles_ ? Vec : Gm);
    if (is(ops::full)) return op(info, {scalar_operand()}, {}, requested(dims));
    if (is(ops::arange)) return op(info, {scalar_operand()}, {}, requested(row));
    if (is(ops::random)) return x_.rank == 2 && x_.last() > 1 ? op(info, std::vector<ValueId>(6, constant(i32, 1)), {}, requested(dims)) : ValueId{};
    if (is(ops::slice)) return slice(any_operand(), band(), zeros());
    if (is(ops::assemble)) {
      std::vector<ValueId> operands{op(ops::full, {scalar_operand()}, {}, requested(dims)), any_operand()};
      for (const ValueId z : zeros()) operands.push_back(z);
      return op(info, operands);
    }
    if (is(ops::reshape)) return reshape(any_operand(), {1, x_.elements()});
    if (is(ops::transpose_view)) {
      if (!on_tiles_) return {};
      const ValueId v = op(info, {operand(dims, x_.dtype, Mat)});
      Dims right = dims_of(f().type(v));
      right[right.size() - 2] = right.back();
      right.back() = 16;
      const ValueId r = matmul(v, operand(right, x_.dtype, Mat));  // its reader
      store(r, tensor("r", f().type(r).dtype, dims_of(f().type(r)), Direction::out), offsets(right.size()));
      return v;
    }
    if (is(ops::set_valid_shape)) {
      std::vector<ValueId> operands{any_operand()};
      for (const std::int64_t d : dims) operands.push_back(index(d));
      return op(info, operands);
    }
    if (is(ops::reinterpret)) {
      if (x_.last() == 1) return {};  // columns are refused
      const DType other = tessera::info(x_.dtype).bits == 8 ? u16 : x_.dtype == i16 ? i8 : i16;
      return op(info, {any_operand()}, {}, scalar_type(other));
    }
    if (is(ops::fillpad_expand)) return op(info, {any_operand()}, {}, requested(dims));
    if (is(ops::fillpad)) return op(info, {any_operand()}, {attr(AttrKey::pad, static_cast<std::int64_t>(Pad::zero))});
    if (is(ops::read) || is(ops::write)) return element(info);
    if (is(ops::gather)) return on_tiles_ ? ValueId{} : op(info, {any_operand(), operand(dims, i32)});
    const auto pattern = [](MaskPattern p) { return attr(AttrKey::pattern, static_cast<std::int64_t>(p)); };
    if (is(ops::gather_mask)) return op(info, {any_operand()}, {pattern(MaskPattern::P1010)});
    if (is(ops::scatter_flat) || is(ops::scatter_strided)) {
      if (!on_tiles_) return {};
      const ValueId target = create(x_.dtype, dims, Vec);
      if (is(ops::scatter_strided)) return op(info, {target, any_operand()}, {pattern(MaskPattern::P1111)});
      return op(info, {target, any_operand(), operand(dims, ops::position_dtype(x_.dtype))});
    }
    if (is(ops::scatter) || is(ops::scatter_mask) || is(ops::scatter_update)) {
      if (on_tiles_ || x_.rank != 2) return {};
      if (is(ops::scatter_mask)) return op(info, {any_operand(), any_operand()}, {pattern(MaskPattern::P1111)});
      if (is(ops::scatter)) return op(info, {any_operand(), operand(dims, ops::position_dtype(x_.dtype)), any_operand()});
      return op(info, {any_operand(), operand({1, dims[0]}, i32), any_operand()});
    }
    if (is(ops::gather_flat))
      return on_tiles_ ? op(info, {any_operand(), operand(dims, i32), create(i32, dims, Vec)}) : ValueId{};
    if (info.form == PtoForm::compare || is(ops::select)) {
      const ValueId x = any_operand();
      const Attr less = attr(AttrKey::compare, static_cast<std::int64_t>(Compare::lt));
      const ValueId mask = is(ops::compares) ? op(info, {x, scalar_operand()}, {less}) : op(ops::compare, {x, x}, {less});
      std::vector<ValueId> operands{mask, x, x};
      if (on_tiles_) operands.push_back(op(ops::create, {}, {}, scratch_type(ops::select, x_)));
      return op(ops::select, operands);
    }
    if (is(ops::gather_row)) {
      if (x_.rank != 2) return {};
      const ValueId z = index(0);
      return op(info, {create(x_.dtype, dims, on_tiles_ ? Vec : Gm), tensor("t", x_.dtype, dims), z, z, z, z},
                {attr(AttrKey::rows, dims[0]), attr(AttrKey::columns, dims[1])});
    }
    if (is(ops::paged_gather)) {
      if (x_.rank != 2 || on_tiles_) return {};
      return op(info, {tensor("t", x_.dtype, dims), tensor("i", i32, {7}), tensor("b", i32, {3})},
                {attr(AttrKey::rows, 8), attr(AttrKey::columns, dims[1]), attr(AttrKey::block_size, 4), attr(AttrKey::space, Vec)});
    }
    if (info.form == PtoForm::matches) {
      if (x_.rank != 2) return {};
      const Attr eq = attr(AttrKey::compare, static_cast<std::int64_t>(Compare::eq));
      return op(info, {operand({dims[0], 64}, x_.dtype), scalar_operand(), constant(i32, 0)}, {eq}, shaped_type(i32, {dims[0], 16}, on_tiles_ ? Vec : Gm));
    }
    if (is(ops::sort32)) {
      Dims wide = dims;
      wide.back() = 32;
      return op(info, {operand(wide, x_.dtype), operand(wide, u32)});
    }
    if (info.form == PtoForm::merge) {
      Dims wide(dims.size(), 1);
      wide.back() = 256;
      if (info.lists == 1) return op(info, {operand(wide, x_.dtype), constant(i32, 64)});
      std::vector<ValueId> operands;
      for (int i = 0; i < info.lists; ++i) operands.push_back(operand(wide, x_.dtype));
      wide.back() *= info.lists;
      if (on_tiles_) operands.push_back(create(x_.dtype, wide, Vec));
      return op(info, operands);
    }
    if (is(ops::concat)) return op(info, {any_operand(), any_operand()});
    if (info.shape_rule != rule::none) return op(info, {any_operand(), any_operand()});
    if (info.infer == ops::adds.infer || info.infer == ops::divs.infer || info.infer == ops::shls.infer) return op(info, {any_operand(), scalar_operand()});
    if (info.infer == ops::lrelu.infer) return op(info, {any_operand(), constant(f32, 2.0)});
    return with_scratch(info, {any_operand()});
  }
  /// Of pages a part that is one band of rows: one along the first dim above 1.
  Dims band() const {
    Dims dims = dims_of(x_);
    if (x_.rank > 2) *std::find_if(dims.begin(), dims.end(), [](std::int64_t n) { return n > 1; }) = 1;
    return dims;
  }
  ValueId product(const OpInfo& info) {
    Dims left = dims_of(x_), right = left;
    if (left.size() < 2) return {};
    right[right.size() - 2] = left.back();
    right.back() = 16;
    Dims result = left;
    result.back() = 16;
    ValueId a, b;
    if (on_tiles_) {
      a = op(ops::move, {operand(left, x_.dtype, Mat)}, {}, shaped_type(x_.dtype, left, Left));
      b = op(ops::move, {operand(right, x_.dtype, Mat)}, {}, shaped_type(x_.dtype, right, Right));
    } else {
      a = operand(left, x_.dtype);
      b = operand(right, x_.dtype);
    }
    const ValueId first = matmul(a, b);
    return &info == &ops::matmul ? first : matmul_acc(first, a, b);
  }
  ValueId element(const OpInfo& info) {
    std::vector<ValueId> operands{any_operand()};
    if (on_tiles_ && x_.rank > 2) return {};  // flatten refuses single elements of pages
    if (&info == &ops::write) {
      if (!on_tiles_) return {};  // an effect
      operands.push_back(scalar_operand());
    }
    operands.resize(operands.size() + x_.rank, index(0));
    return op(info, operands);
  }

  Type x_;
  bool on_tiles_;
};

// The tile of a value that is stored, or the type of the last operation of that kind.
Type made_by(const Function& f, const OpInfo& info) {
  Type t;
  for (const OpId o : all_operations(f)) {
    if (f.is(o, info) && &info == &ops::transpose_view) return f.type(f.result(o));
    if (f.is(o, ops::store)) return f.type(f.operand(o, 0));
    if (f.is(o, info) && f.result_count(o) == 1) t = f.type(f.result(o));
  }
  return t;
}
Type page_of(const Type& t) {
  const std::int64_t dims[2] = {t.last(1), t.last(0)};
  return t.rank > 2 ? with_shape(t, dims, 2) : t;
}

/// Whether the operation exists for these types and both passes take it; then they must make what is predicted.
bool check(const OpInfo& info, const Type& x, bool on_tiles) {
  OneOperation k(x, on_tiles);
  const ValueId v = k.apply(info);
  if (!v) return false;
  const Type recorded = k.f().type(v);
  const bool stored_there =
      recorded.is_shaped() && (recorded.space == Gm || recorded.space == Vec || recorded.space == Acc);
  if (stored_there)
    k.store(v, k.tensor("out", recorded.dtype, dims_of(recorded), Direction::out),
            std::vector<ValueId>(recorded.rank, k.index(0)));
  k.returns();
  INFO(info.name << (on_tiles ? " on tiles\n" : " on tensors\n") << print(k.f()));
  const Function tiles = convert_tensor_to_tile_ops.run(k.f(), {});
  INFO(print(tiles));
  const bool product = &info == &ops::matmul || &info == &ops::matmul_acc, view = &info == &ops::transpose_view;
  if (recorded.is_shaped() && !view) REQUIRE(made_by(tiles, info) == lowered(recorded, product ? Acc : Vec));
  for (const OpId o : all_operations(tiles))
    if (tiles.is(o, ops::load)) {
      const Type& t = tiles.type(tiles.result(o));
      if (tiles.type(tiles.operand(o, 0)).same_shape(t))
        REQUIRE(t == lowered(tiles.type(tiles.operand(o, 0)), t.space));
    }
  const Function flat = flatten_tile_nd_to_2d.run(tiles, {});
  INFO(print(flat));
  verify(flat, {Property::tile_ops, Property::tiles_2d});
  // A batched product is one product for each page, and reads a page of a transposed batch.
  if (view) {
    const Type read = flat.type(flat.operand(find_op(flat, ops::matmul), 0));
    REQUIRE(read.same_shape(page_of(recorded)));
    REQUIRE(read.space == Mat);
  } else if (recorded.is_shaped())
    REQUIRE(made_by(flat, info) == (product ? page_of(made_by(tiles, info)) : flattened(made_by(tiles, info))));
  return true;
}

std::set<std::string_view> checked;

// Every operation on tensors (and tiles) of the C++ type T.
template <class T>
void check_all() {
  const Type x = type_of<T>;
  STATIC_REQUIRE(type_of<lowered_t<T>> == lowered(type_of<T>));
  STATIC_REQUIRE(type_of<flattened_t<lowered_t<T>>> == flattened(lowered(type_of<T>)));
  STATIC_REQUIRE(type_of<flattened_t<lowered_t<T>>>.elements() == type_of<T>.elements());
  for (const ops::Family& family : ops::families)
    for (const OpInfo* op : family) {
      if (op->level == Level::scalar || op->level == Level::control) continue;
      for (const bool on_tiles : {false, true})
        if (check(*op, x, on_tiles)) checked.insert(op->name);
    }
}
template <DType D>
void check_shapes() {
  check_all<Tensor<Shape<24>, D>>();
  check_all<Tensor<Shape<5, 16>, D>>();
  check_all<Tensor<Shape<32, 17>, D>>();
  check_all<Tensor<Shape<16, 1>, D>>();
  check_all<Tensor<Shape<1, 33>, D>>();
  check_all<Tensor<Shape<2, 3, 16>, D>>();
  check_all<Tensor<Shape<1, 7, 8>, D>>();
  check_all<Tensor<Shape<3, 16, 1>, D>>();
  check_all<Tensor<Shape<2, 1, 5, 16>, D>>();
  check_all<Tensor<Shape<2, 1, 3, 4, 8>, D>>();
  check_all<Tensor<Shape<1, 2, 1, 2, 3, 16>, D>>();
  check_all<Tensor<Shape<2, 1, 1, 2, 1, 3, 8>, D>>();
  check_all<Tensor<Shape<1, 2, 1, 1, 2, 1, 5, 16>, D>>();
}

}  // namespace

TEST_CASE("the passes make the tiles that lowered_t and flattened_t predict") {
  checked.clear();
  check_shapes<f32>();
  check_shapes<f16>();
  check_shapes<bf16>();
  check_shapes<i32>();
  check_shapes<i16>();
  check_shapes<u16>();
  check_shapes<i8>();
  for (const ops::Family& family : ops::families)
    for (const OpInfo* op : family) {
      if (op->level == Level::scalar || op->level == Level::control) continue;
      if (op == &ops::store || op == &ops::atomic_add) continue;  // has no result; every case ends in one
      if (op == &ops::aiv_shard || op == &ops::aic_gather) continue;  // in split regions only: convert_split
      if (op == &ops::view) continue;   // its result is memory
      if (op == &ops::to_tile || op == &ops::to_tensor) continue;  // around calls of tile operations: tileop_calls
      INFO(op->name);
      CHECK(checked.contains(op->name));
    }
}

TEST_CASE("lowered_t and flattened_t keep what they do not change") {
  STATIC_REQUIRE(std::is_same_v<lowered_t<Tensor<Shape<2, 3, 4>, f32>>, Tile<Shape<2, 3, 4>, f32, Vec>>);
  STATIC_REQUIRE(std::is_same_v<flattened_t<Tile<Shape<2, 3, 4>, f32, Vec>>, Tile<Shape<6, 4>, f32, Vec>>);
  STATIC_REQUIRE(std::is_same_v<flattened_t<Tile<Shape<2, 3, 4>, f16, Mat>>, Tile<Shape<6, 4>, f16, Mat>>);
  STATIC_REQUIRE(std::is_same_v<flattened_t<Tile<Shape<3, 4>, f32, Vec>>, Tile<Shape<3, 4>, f32, Vec>>);
  STATIC_REQUIRE(std::is_same_v<flattened_t<Tile<Shape<4>, f32, Vec>>, Tile<Shape<4>, f32, Vec>>);
}
