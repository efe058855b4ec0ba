// The operation descriptor: everything that the library knows about an operation, in one constexpr value.
#pragma once

#include <cstdint>
#include <string_view>

#include "../core/rules.hpp"

namespace tessera {

enum class AttrKey : std::uint8_t {
  rounding,        ///< Rounding, of a cast
  axis, other_axis,
  transpose_lhs, transpose_rhs,  ///< the operand is read transposed
  compare,         ///< Compare
  pad,             ///< Pad
  has_valid,       ///< window reads: valid extents follow the offsets among the operands
  window,          ///< list: the box of the tensor that a load or a store covers, when the tile has another rank
  descending,      ///< 1: a sequence counts downwards
  atomic_add,      ///< 1: a store adds
  split,           ///< Split: of a loop over the lanes of a split region, and of what crosses its border
  callee,          ///< of a call: the function's number in the program
  space,           ///< MemorySpace, where a tensor value stands on chip
  transposed,      ///< 1: a tile in Mat is stored transposed; rows become columns of it
  rows, columns,   ///< the window of gather_row, and of paged_gather the most rows and their length
  block_size, column,  ///< of paged_gather: rows in a block, and the first column
  pattern,         ///< MaskPattern
  high_precision,  ///< 1: the slower and more exact instruction
  rounds,          ///< of random
  pipe, to_pipe,   ///< Pipe, of flags and barriers
  event,           ///< the number of a flag
  pipelined,       ///< of a loop as it is written: how many of its turns have buffers of their own; 1: it stays as it is
  unrolled,        ///< of a loop that pipeline_loops made: how many turns one turn of it holds; their buffers are kept apart
  factors_shared,  ///< 1, of such a loop: but not what stands in the cube unit's own spaces
  buffer,          ///< of place: the number of the buffer in Function::storage
  slot,            ///< of place: which slot; none: the first, or one for each turn of a loop that pipeline_loops unrolls
  arguments,       ///< of the body of a tile operation: how many of the operands are its arguments
};

/// One attribute of an operation. Lists stand in the function's pool; `integer` is then their start, `count` their length.
struct Attr {
  AttrKey key = {};
  bool is_list = false;
  std::uint32_t count = 0;
  std::int64_t integer = 0;
};
[[nodiscard]] constexpr Attr int_attr(AttrKey key, std::int64_t n) { return {key, false, 0, n}; }

enum class Rounding : std::uint8_t { none, rint, round, floor, ceil, trunc, odd };
enum class Compare : std::uint8_t { eq, ne, lt, le, gt, ge };
template <class T>
[[nodiscard]] constexpr bool compares(Compare how, T a, T b) {
  switch (how) {
    case Compare::eq: return a == b;
    case Compare::ne: return a != b;
    case Compare::lt: return a < b;
    case Compare::le: return a <= b;
    case Compare::gt: return a > b;
    case Compare::ge: return a >= b;
  }
  return false;
}
/// What fills the elements outside the valid extents.
enum class Pad : std::uint8_t { null, zero, max, min };
/// The direction of a sequence.
enum class Order : std::uint8_t { ascending, descending };
/// How a tile in Mat is stored: as it is, or transposed, as the right factor of a product wants rows that become its columns.
enum class Form : std::uint8_t { plain, transposed };
/// Which elements of a row: of every two or four neighbours one, the last digit of a name standing for the first of them; or all.
enum class MaskPattern : std::uint8_t { P0101 = 1, P1010, P0001, P0010, P0100, P1000, P1111 };
/// How many neighbours a pattern is about, and which of them it means.
[[nodiscard]] constexpr std::int64_t pattern_length(MaskPattern p) {
  return p == MaskPattern::P1111 ? 1 : p == MaskPattern::P0101 || p == MaskPattern::P1010 ? 2 : 4;
}
[[nodiscard]] constexpr std::int64_t pattern_start(MaskPattern p) {
  if (p == MaskPattern::P1111) return 0;
  return static_cast<std::int64_t>(p) - (pattern_length(p) == 2 ? 1 : 3);
}
/// What a store does with the elements that are there: replaces them, or adds to them, also where other blocks add.
enum class Atomic : std::uint8_t { none, add };

/// How the two vector cores beside a cube core share a matrix: each takes half of the rows, or half of the columns.
enum class Split : std::uint8_t { up_down = 1, left_right = 2 };
/// The axis of the matrix that a split halves.
[[nodiscard]] constexpr int axis_of(Split s) { return s == Split::up_down ? 0 : 1; }

/// What an inference rule may know of an operand: its type, where it is an integer constant its value, and (at run time
/// only) how much of it is valid.
struct OperandInfo {
  Type type;
  bool is_constant = false;
  std::int64_t constant = 0;
  const std::int64_t* valid = nullptr;  ///< rank entries, negative where not constant; null: fully valid
};

/// The question to an inference rule.
struct InferInput {
  const OperandInfo* operands = nullptr;
  int count = 0;
  Type requested = {};          ///< the result type where the user states one (load, full, reshape, cast: dtype)
  const Attr* attrs = nullptr;
  int attr_count = 0;
  bool at_run_time = false;     ///< valid extents are known (they belong to values, not to C++ types)

  [[nodiscard]] constexpr const Type& type(int i) const { return operands[i].type; }
  [[nodiscard]] constexpr std::int64_t attr(AttrKey key, std::int64_t otherwise) const {
    for (int i = 0; i < attr_count; ++i)
      if (attrs[i].key == key) return attrs[i].integer;
    return otherwise;
  }
};

/// Where an operation may stand. `shaped` operations work on tensors and on tiles alike; their operands decide.
enum class Level : std::uint8_t { shaped, tensor, tile, scalar, control };

/// How the valid extents of a tile result follow from its operands.
enum class ValidRule : std::uint8_t {
  full,             ///< the whole tile
  first,            ///< those of operand 0
  second,           ///< those of operand 1
  indexed,          ///< those of operand 1, an index; along the axes that it does not name what is valid in operand 0, too
  intersection,     ///< what is valid in operands 0 and 1
  wide,             ///< those of operand 0, in which operand 1, that is repeated, must be valid, too
  repeated,         ///< those of operand 0, with whole dims where it is repeated
  larger,           ///< those of operand 0 or 1, whichever has the larger ones in every dim
  select,           ///< what is valid in operands 0, 1 and 2
  lane_half,        ///< of operand 0, what reaches into the half of the lane in operand 1
  concat,           ///< operand 0, which is valid in all of its last axis, and operand 1 behind it
  whole_rows,       ///< those of operand 0, which is valid in all of its last axis; merged lists are fully valid
  row_counts,       ///< one row with an element for each row of operand 0, which is valid in all of its last axis
  row_reduce,       ///< operand 0 with the last extent 1
  col_reduce,       ///< operand 0 with the second-last extent 1
  window,           ///< of a window: what operands behind the offsets state, or all of it
  stated,           ///< the operands behind operand 0
  gathered,         ///< as many rows (columns of a transposed tile) as operand 1 has elements
  matmul,           ///< rows of the left, columns of the right operand
  swap_axes,        ///< operand 0 with two extents exchanged
  pattern,          ///< operand 0 with as many columns as the pattern takes
  reshape,          ///< full; only fully valid operands (leading dims aside) are accepted
  reinterpret,      ///< operand 0 with the last extent scaled; in another shape only fully valid operands are accepted
};

/// The scratch tile that an instruction needs besides its operands.
enum class ScratchRule : std::uint8_t {
  none,
  like_first,   ///< like operand 0
  wide_rows,    ///< like operand 0, with rows of scratch_row elements at least
  like_second,  ///< like operand 1
  like_result,  ///< like operand 0 and valid as the result, behind operands 0 and 1
  two_blocks,   ///< like operand 0, with rows of 64 bytes at least
  one_block,    ///< behind operand 2: 32 bytes, whatever the operands are
  sum,          ///< behind the merged lists: a row as long as all of them
};

/// How an operation is written in `.pto` text.
enum class PtoForm : std::uint8_t {
  none,       ///< needs no instruction
  ins_outs,   ///< `pto.X ins(operands) outs(result)`
  cast, compare, arg_reduce, merge, fill, sequence, load, store, move, matmul, matmul_acc,
  subview,          ///< a window of a tile
  insert,           ///< a tile written into a window of another
  reshape,
  transposed_view,  ///< no instruction: the load has the transposed type
  fill_pad, set_valid, read, write,
  pattern,          ///< `ins` with a mask pattern
  random,           ///< words, and the rounds
  matches,          ///< two results, of which one is scratch
  scatter,          ///< written to the storage of operand 0, which is no operand of the instruction
  arith,            ///< a scalar instruction, see ops/scalar.hpp
  control, block_index,
  gather_row,       ///< a window of a tensor loaded into a window of a tile
  sync,             ///< a flag or a barrier
  memory_view,      ///< no instruction: what addresses it has its own view of the parameter
  thread_index, atomic, sync_threads, launch,  ///< of simt kernels
  expanded          ///< no instruction: a pass makes other operations of it
};

/// Effects on operands that live in GM (tiles are values). reads_all: operand 0 in bulk, the others by the scalar unit.
enum class Effect : std::uint8_t { none, reads_first, reads_second, reads_all, writes_first, writes_second };
/// How an operation gets at a tensor: in bulk, or element by element through the scalar unit.
enum class Access : std::uint8_t { none, load, store, read, write };

/// What the elements of an operand are where an operation reads them as positions.
struct PositionRange {
  std::int64_t below = 0;  ///< they are 0 to below - 1; 0: they are no positions
  bool distinct = false;   ///< no two of a row (or neighbours in a column of one) are equal
};

/// The descriptor. Operand order is the order in the IR and in the instruction.
struct OpInfo {
  std::string_view name;
  std::string_view summary;               ///< one line for the catalogue, with the shapes
  Level level = Level::shaped;
  Verdict (*infer)(const OpInfo&, const InferInput&) = nullptr;
  Verdict (*on_target)(const InferInput&, const Type& result, Arch) = nullptr;  ///< what a target lacks besides `dtypes`
  ValidRule valid = ValidRule::full;
  DTypeSet dtypes[arch_count] = {};       ///< of operand 0 (or of the result where there is none); empty: any
  DTypeSet filled[arch_count] = {};       ///< further ones, of a form with a scalar: a tile is filled with the scalar
  DTypeSet since_0_60[arch_count] = {};   ///< those of `dtypes` that the assembler 0.27 lacks
  rule shape_rule = rule::none;           ///< binary operations: the rule to name when shapes do not fit
  std::string_view pto = {};              ///< instruction
  PtoForm form = PtoForm::ins_outs;
  Pipe pipe = Pipe::vector;
  SpaceSet operand_spaces[3] = {};        ///< of tile operands; the last entry also serves all later operands
  SpaceSet result_spaces = spaces(Vec);
  rule space_rules[3] = {};               ///< the rule to name when an operand stands elsewhere; none: the general one
  ScratchRule scratch = ScratchRule::none;
  Effect effect = Effect::none;
  bool pure = true;                       ///< without effect and order: an expression of the front end may hold it
  bool row_major = false;                 ///< the instruction wants row-major operands and result
  std::int8_t first_factor = -1;          ///< products: the left factor among the operands; the right one follows
  std::int8_t in_place = -1;              ///< the result is written into this operand's buffer
  std::uint8_t packed = 0;                ///< bit i: operand i is no window of a wider tile, the instruction reads its rows one behind the other
  bool may_alias = true;                  ///< the result may share storage with an operand that dies here
  bool is_view = false;                   ///< the result is another look at operand 0's storage
  bool self_loading = false;              ///< reads its GM operands itself: no whole-tensor load
  std::int8_t typed_by = 0;               ///< the operand that `dtypes` is about
  bool reads_masks = false;               ///< takes what a comparison of tensors or tiles gives
  SpaceSet tensor_spaces[3] = {};         ///< where a tensor operand is loaded to; empty: Vec
  std::int8_t lists = 0;                  ///< merges: how many sorted lists stand first among the operands
  PositionRange (*positions)(const InferInput&, int operand) = nullptr;  ///< of the elements of an operand; null: of none
  std::int8_t divisor = -1;               ///< the operand of which no integer is zero
  std::string_view precision = {};        ///< what the instruction's more exact form is asked for by; empty: it has none
  bool precision_scratch = false;         ///< that form works on 32 bytes behind the operands
  bool made_by_passes = false;            ///< no function of the front end makes it
};

namespace ops {
/// The operation with operand 1 as its divisor.
constexpr OpInfo dividing(OpInfo op) {
  op.divisor = 1;
  return op;
}
}  // namespace ops

/// The position of the operand that may be memory: a tensor that the operation addresses, and not a value. None: -1.
[[nodiscard]] constexpr int memory_operand(const OpInfo& op) {
  if (op.effect == Effect::none) return -1;
  return op.effect == Effect::writes_second || op.effect == Effect::reads_second ? 1 : 0;
}
/// Whether operand `i` may be memory.
[[nodiscard]] constexpr bool may_be_memory(const OpInfo& op, int i) {
  return op.effect == Effect::reads_all || i == memory_operand(op);
}

/// How it gets at operand `i`; none: the operand is a value.
[[nodiscard]] constexpr Access access_of(const OpInfo& op, int i) {
  if (!may_be_memory(op, i)) return Access::none;
  switch (op.effect) {
    case Effect::reads_first: return op.pipe == Pipe::scalar ? Access::read : Access::load;
    case Effect::reads_second: return Access::load;
    case Effect::reads_all: return i == 0 ? Access::load : Access::read;
    case Effect::writes_first: return Access::write;
    case Effect::writes_second: return Access::store;
    case Effect::none: break;
  }
  return Access::none;
}
[[nodiscard]] constexpr bool writes(Access a) { return a == Access::store || a == Access::write; }

/// The position of the scratch tile, which is the last operand, and of the operand that it is like. None: -1.
[[nodiscard]] constexpr int scratch_model(const OpInfo& op) {
  return op.scratch == ScratchRule::none ? -1 : op.scratch == ScratchRule::like_second ? 1 : 0;
}
[[nodiscard]] constexpr int scratch_operand(const OpInfo& op) {
  switch (op.scratch) {
    case ScratchRule::none: return -1;
    case ScratchRule::like_result: return 2;
    case ScratchRule::one_block: return 3;
    case ScratchRule::sum: return op.lists;
    default: return scratch_model(op) + 1;
  }
}
/// Whether the rows of operand `i` must follow each other: so the instruction wants it, or a scratch that is like the operand.
[[nodiscard]] constexpr bool wants_packed(const OpInfo& op, int i) {
  const bool like_scratch = op.scratch == ScratchRule::like_first || op.scratch == ScratchRule::two_blocks;
  return ((op.packed >> i) & 1) != 0 || (i == 0 && like_scratch);
}
/// A row reduction works on its scratch in whole vector repeats of 256 bytes: 128 elements of 16 bits.
inline constexpr std::int64_t scratch_row = 128;
/// The scratch tile for an operand `model` of that type.
[[nodiscard]] constexpr Type scratch_type(const OpInfo& op, const Type& model) {
  if (op.scratch == ScratchRule::one_block) return {TypeKind::tile, i32, Vec, Layout::nd, 2, {1, 8}};
  const Type like = model.space == Vec ? model : with_space(model, Vec);
  const std::int64_t two_blocks = 512 / info(like.dtype).bits;
  if (op.scratch == ScratchRule::two_blocks && like.last() < two_blocks) return with_dim(like, like.rank - 1, two_blocks);
  const bool short_rows = op.scratch == ScratchRule::wide_rows && like.last() < scratch_row;
  return short_rows ? with_dim(like, like.rank - 1, scratch_row) : like;
}
/// The scratch tile of an operation whose operand `i` has type type_at(i).
template <class TypeAt>
constexpr Type scratch_type_of(const OpInfo& op, TypeAt&& type_at) {
  Type t = scratch_type(op, type_at(scratch_model(op)));
  for (int i = 1; op.scratch == ScratchRule::sum && i < op.lists; ++i) t.dims[t.rank - 1] += type_at(i).last();
  return t;
}
/// Whether a 2-D tile that the user gives serves as scratch: it holds as much as the operand, which the instructions need.
[[nodiscard]] constexpr bool is_scratch(const Type& tile, const Type& model) {
  return tile.dtype == model.dtype && tile.rank == model.rank && tile.dims[0] >= model.dims[0] && tile.last() >= model.last();
}

/// What a comparison of tensors or tiles gives: one bit for each element.
[[nodiscard]] constexpr bool is_mask(const Type& t) { return t.is_shaped() && t.dtype == boolean; }

/// The pipe that runs an operation between memory spaces: what leaves Acc leaves it through the fix pipe, what stays in Vec
/// is vector work.
[[nodiscard]] constexpr Pipe pipe_of(const OpInfo& op, MemorySpace from, MemorySpace to) {
  if (op.pipe != Pipe::mte1 && op.pipe != Pipe::mte3) return op.pipe;
  if (from == Acc) return Pipe::fix;
  if (from == Vec) return to == Vec ? Pipe::vector : Pipe::mte3;
  return op.pipe;
}

/// Element types of operand 0 that some target accepts.
[[nodiscard]] constexpr DTypeSet accepted_dtypes(const OpInfo& op) { return op.dtypes[0] | op.dtypes[1]; }
/// Whether a target's instruction does.
[[nodiscard]] constexpr bool accepts_on(const OpInfo& op, DType d, Arch arch) {
  const DTypeSet set = op.dtypes[static_cast<int>(arch)];
  return accepted_dtypes(op).bits == 0 || set.contains(d);
}

/// The rule to name when no target has the operation for an element type.
[[nodiscard]] constexpr rule dtype_rule(const OpInfo& op, DType d) {
  const DTypeSet set = accepted_dtypes(op);
  const bool for_integers = !set.contains(f32) && !set.contains(f16) && set.contains(i16);
  return for_integers && is_float(d) ? rule::operation_is_for_integers : rule::dtype_not_supported;
}

/// The rule of a descriptor, with what holds for every operation: the element type of operand 0 is checked first, and the
/// result stands in a space that the instruction writes.
[[nodiscard]] constexpr Verdict infer(const OpInfo& op, const InferInput& in) {
  for (int i = 0; i < in.count && !op.reads_masks; ++i)
    if (is_mask(in.type(i))) return breaks(rule::mask_is_for_select_only, arg_op);
  const DTypeSet set = accepted_dtypes(op);
  const int typed_by = op.typed_by;
  if (set.bits != 0 && in.count > typed_by && in.type(typed_by).is_shaped() && !set.contains(in.type(typed_by).dtype))
    return breaks(dtype_rule(op, in.type(typed_by).dtype), arg_op, arg(in.type(typed_by).dtype));
  Verdict v = op.infer(op, in);
  if (v.lawful() && op.divisor >= 0 && in.operands[op.divisor].is_constant && in.operands[op.divisor].constant == 0)
    return breaks(rule::divisor_is_zero, arg_op);
  if (v.result.is_tile() && !op.result_spaces.contains(v.result.space)) v.result = with_space(v.result, op.result_spaces.first());
  return v;
}

/// The spaces in which an instruction accepts its tile operand.
[[nodiscard]] constexpr SpaceSet operand_space(const OpInfo& op, int operand) {
  return op.operand_spaces[operand < 2 ? operand : 2];
}

/// Whether each tile operand stands in a space that the instruction accepts. Holds after infer_memory_space, and in
/// tile-level source, where the user places the data.
[[nodiscard]] constexpr Verdict check_spaces(const OpInfo& op, const InferInput& in) {
  for (int i = 0; i < in.count; ++i) {
    if (!in.type(i).is_tile() || operand_space(op, i).contains(in.type(i).space)) continue;
    const rule named = op.space_rules[i < 2 ? i : 2];
    if (named != rule::none) return breaks(named, arg(in.type(i).space));
    return breaks(rule::operand_is_in_the_wrong_space, arg_op, arg(std::int64_t{i}), arg(in.type(i).space));
  }
  return lawful();
}

/// The rule to name when a target does not have an operation for an element type.
[[nodiscard]] constexpr rule dtype_rule(Arch arch) {
  return arch == Arch::a3 ? rule::dtype_not_supported_on_a3 : rule::dtype_not_supported_on_a5;
}

/// Whether a3 has the operation for no element type.
[[nodiscard]] constexpr bool only_on_a5(const OpInfo& op) {
  return op.dtypes[static_cast<int>(Arch::a3)].bits == 0 && op.dtypes[static_cast<int>(Arch::a5)].bits != 0;
}
/// Whether a target has the operation for these types, and room for the result in its space.
[[nodiscard]] constexpr Verdict check_target(const OpInfo& op, const InferInput& in, const Type& result, Arch arch) {
  const Type& first = in.count > op.typed_by && in.type(op.typed_by).is_shaped() ? in.type(op.typed_by) : result;
  if (first.is_shaped() && !accepts_on(op, first.dtype, arch) && !op.filled[static_cast<int>(arch)].contains(first.dtype))
    return only_on_a5(op) && arch == Arch::a3 ? breaks(rule::operation_is_for_a5, arg_op) : breaks(dtype_rule(arch), arg_op, arg(first.dtype));
  if (op.on_target != nullptr) {
    const Verdict v = op.on_target(in, result, arch);
    if (!v.lawful()) return v;
  }
  if (result.is_tile() && result.has_static_shape() && stored(flattened(result)).bytes() > capacity(result.space, arch))
    return breaks(rule::tile_is_larger_than_its_space, arg(result.space), arg(stored(flattened(result)).bytes()),
                  arg(capacity(result.space, arch)));
  return lawful();
}

namespace detail {

inline constexpr DTypeSet floats = dtypes(f16, f32);
inline constexpr DTypeSet words = dtypes(i16, u16, i32, u32, f16, f32);
inline constexpr DTypeSet words_a5 = words | dtypes(i8, u8);
inline constexpr DTypeSet words_bf16_a5 = words_a5 | dtypes(bf16);
inline constexpr DTypeSet signed_words = dtypes(i16, i32, f16, f32);
inline constexpr DTypeSet short_bits = dtypes(i8, u8, i16, u16), long_bits = dtypes(i32, u32), all_bits = short_bits | long_bits;
/// What a tensor or tile can hold, per target.
inline constexpr DTypeSet stored_a3 = dtypes(i8, u8, i16, u16, i32, u32, i64, u64, f16, bf16, f32);
inline constexpr DTypeSet stored_a5 = stored_a3 | dtypes(f8e4m3, f8e5m2, f8e8m0, hif8, f4e2m1);
inline constexpr DTypeSet every_word = dtypes(i8, u8, i16, u16, i32, u32, f16, bf16, f32);
}  // namespace detail

namespace ops {
using namespace detail;  // NOLINT: the family files build their descriptors with these helpers
}

}  // namespace tessera
