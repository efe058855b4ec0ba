// The IR of one function: blocks of operations over SSA values, in arenas with stable 32-bit handles.
// Insertion, removal and the walk over a value's uses are O(1) per step. Nothing here is a template over the user's types.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "../core/pool.hpp"
#include "diagnostic.hpp"
#include "ids.hpp"
#include "../ops/control.hpp"
#include "../ops/descriptor.hpp"

namespace tessera {

/// How far a value's data reaches along one axis: a constant, or an Index value.
struct Extent {
  std::int64_t constant = 0;
  ValueId value = {};
  [[nodiscard]] constexpr bool is_constant() const { return !value; }
  friend constexpr bool operator==(const Extent&, const Extent&) = default;
};

enum class ValueKind : std::uint8_t {
  result,    ///< of operation `owner`, number `position`
  argument,  ///< of block `owner`, number `position`; parameters are arguments of the body
  constant,  ///< a scalar known when recorded
  symbol     ///< the run-time value of a named dim; a hidden parameter
};

/// In place of a number of Function::storage.
inline constexpr std::uint16_t no_storage = 0xFFFF;

struct Value {
  Type type;
  ValueKind kind = ValueKind::result;
  std::uint32_t owner = no_index;
  std::uint32_t position = 0;
  std::uint32_t first_use = no_index;  ///< operand slot
  std::uint32_t valid = 0;             ///< 0: fully valid, else the start of `rank` extents in the pool
  std::uint32_t name = 0;              ///< hint, in the string pool; 0: none
  std::uint32_t buffer = no_index;     ///< after assign_buffers: the value whose storage this one occupies
  std::uint32_t address = no_index;    ///< after plan_memory, of a buffer's owner: its first byte in its space
  std::uint16_t storage = no_storage;  ///< after assign_buffers, of a buffer's owner: the storage of the kernel's author that it stands in
  std::uint16_t slot = 0;              ///< of that
  std::int64_t integer = 0;            ///< constants of integer, index and boolean type; symbols: the packed dim
  double number = 0;                   ///< constants of floating type
};

/// One use of a value: operand slots form a list per value.
struct Use {
  ValueId value;
  OpId owner;
  std::uint32_t next = no_index;
  std::uint32_t previous = no_index;
};

struct Operation {
  const OpInfo* info = nullptr;
  std::uint32_t operand_begin = 0, operand_count = 0;
  std::uint32_t result_begin = 0, result_count = 0;
  std::uint32_t attr_begin = 0, attr_count = 0;
  std::uint32_t block_begin = 0, block_count = 0;
  BlockId parent;
  OpId previous, next;
  std::uint32_t sequence = 0;  ///< order in which the source wrote it; grows along a block
  Location location;
};

struct Block {
  OpId first, last;
  OpId owner;  ///< the operation that holds it; none for a function's body
  Pool<ValueId> arguments;
  bool open = false;  ///< being recorded
};

struct Parameter {
  ValueId value;
  Text name;
  Direction direction = Direction::in;
  Location location;
  static constexpr bool moves_bitwise = true;
};

/// What became of a loop that streams, or of one whose author asks for buffers for several turns (pass pipeline_loops).
struct LoopNote {
  Location location;
  std::int64_t turns = 1;  ///< with buffers of their own
  bool requested = false;  ///< by the author
  Text reason;             ///< why there are no more, or not all buffers; empty where it is as it was wanted
  static constexpr bool moves_bitwise = true;
};
/// Bytes of a memory space that the author of a kernel names: reserved for others, or a buffer for the tiles that are placed in it.
struct Storage {
  Text name;
  Location location;
  MemorySpace space = Vec;
  std::int64_t slots = 0;     ///< of a buffer; 0: the bytes are reserved, and no tile stands in them
  std::int64_t bytes = 0;     ///< that are reserved; of a buffer those of a slot, after plan_memory: what its largest tile takes
  std::int64_t address = -1;  ///< of the first byte; negative: plan_memory chooses it
  bool fixed = false;         ///< the address is the author's
  static constexpr bool moves_bitwise = true;
  [[nodiscard]] bool is_reserved() const { return slots == 0; }
  [[nodiscard]] std::int64_t all_bytes() const { return is_reserved() ? bytes : slots * bytes; }
};
/// What a tile operation does to the memory of an argument, as its caller sees it.
enum class ArgEffect : std::uint8_t { none, read, write, readwrite };
[[nodiscard]] constexpr std::string_view name(ArgEffect e) {
  constexpr std::string_view names[] = {"none", "read", "write", "readwrite"};
  return names[static_cast<int>(e)];
}
/// The unit that computes: the vector unit or the cube unit. What only moves data, or counts, belongs to both.
enum class KernelKind : std::uint8_t { vector, cube };
[[nodiscard]] constexpr std::string_view name(KernelKind k) { return k == KernelKind::vector ? "vector" : "cube"; }

/// What callers may know of a tile operation without a look at its body; by infer_tileop_summary.
struct TileOpSummary {
  KernelKind kind = KernelKind::vector;
  std::uint32_t pipes = 0;         ///< pipe_bit of each that runs some of its instructions
  std::vector<ArgEffect> effects;  ///< of each parameter
  [[nodiscard]] bool uses(Pipe p) const { return (pipes & pipe_bit(p)) != 0; }
};

/// As many blocks as hardware takes for one launch.
inline constexpr std::int64_t max_blocks = 65535;

class Function {
 public:
  Text name;
  Location location;
  static constexpr int any_target = -1;
  int target = any_target;  ///< the Arch that the kernel's source is compiled for
  FunctionKind kind = FunctionKind::kernel;
  std::int64_t blocks = 1;  ///< of an spmd wrapper: how many run what it calls, max_blocks at most
  Threads threads;          ///< of a simt kernel, max_threads at most
  int planned_for = any_target;  ///< after plan_memory: the Arch whose sizes and limits the addresses keep to
  bool synchronised = false;     ///< after insert_sync: flags and barriers order the pipes, if only because none are needed
  Pool<Parameter> parameters;
  Pool<LoopNote> loops;  ///< after pipeline_loops, in the order of the program
  Pool<Storage> storage;  ///< that the author of a kernel declares, in the order of the program
  std::vector<std::shared_ptr<const Function>> tileops;  ///< of a kernel or tileop: what its calls refer to by number
  std::vector<std::shared_ptr<const Function>> launched;  ///< of a kernel: the simt kernels that its launches refer to by number
  std::shared_ptr<const TileOpSummary> summary;          ///< of a tileop, where it is inferred

  Function() {
    strings_.push_back({});
    body_ = new_block({}); }

  // --- reading ---
  [[nodiscard]] BlockId body() const { return body_; }
  [[nodiscard]] const Value& operator[](ValueId v) const { return values_[v.index]; }
  [[nodiscard]] const Operation& operator[](OpId o) const { return operations_[o.index]; }
  [[nodiscard]] const Block& operator[](BlockId b) const { return blocks_[b.index]; }
  [[nodiscard]] Value& operator[](ValueId v) { return values_[v.index]; }
  [[nodiscard]] Operation& operator[](OpId o) { return operations_[o.index]; }
  [[nodiscard]] Block& operator[](BlockId b) { return blocks_[b.index]; }
  [[nodiscard]] const OpInfo& info(OpId o) const { return *operations_[o.index].info; }
  [[nodiscard]] bool is(OpId o, const OpInfo& op) const { return operations_[o.index].info == &op; }
  [[nodiscard]] const Type& type(ValueId v) const { return values_[v.index].type; }
  [[nodiscard]] int operand_count(OpId o) const { return static_cast<int>(operations_[o.index].operand_count); }
  [[nodiscard]] ValueId operand(OpId o, int i) const {
    return uses_[operations_[o.index].operand_begin + static_cast<std::uint32_t>(i)].value;
  }
  [[nodiscard]] std::vector<ValueId> operands(OpId o) const {
    std::vector<ValueId> list;
    for (int i = 0; i < operand_count(o); ++i) list.push_back(operand(o, i));
    return list;
  }
  [[nodiscard]] int result_count(OpId o) const { return static_cast<int>(operations_[o.index].result_count); }
  [[nodiscard]] ValueId result(OpId o, int i = 0) const {
    return {operations_[o.index].result_begin + static_cast<std::uint32_t>(i)};
  }
  [[nodiscard]] List<Attr> attrs(OpId o) const {
    return {attrs_.data() + operations_[o.index].attr_begin, operations_[o.index].attr_count};
  }
  [[nodiscard]] const Attr* find_attr(OpId o, AttrKey key) const {
    for (const Attr& a : attrs(o))
      if (a.key == key) return &a;
    return nullptr;
  }
  [[nodiscard]] std::int64_t attr(OpId o, AttrKey key, std::int64_t otherwise = 0) const {
    const Attr* a = find_attr(o, key);
    return a != nullptr ? a->integer : otherwise;
  }
  /// The numbers of a list attribute; empty where there is none.
  [[nodiscard]] List<std::int64_t> attr_list(OpId o, AttrKey key) const {
    const Attr* a = find_attr(o, key);
    return a != nullptr ? list(*a) : List<std::int64_t>();
  }
  [[nodiscard]] List<std::int64_t> list(const Attr& a) const {
    return {lists_.data() + static_cast<std::size_t>(a.integer), a.count};
  }
  [[nodiscard]] int block_count(OpId o) const { return static_cast<int>(operations_[o.index].block_count); }
  [[nodiscard]] BlockId block(OpId o, int i = 0) const {
    return {operations_[o.index].block_begin + static_cast<std::uint32_t>(i)};
  }
  [[nodiscard]] OpId terminator(BlockId b) const { return blocks_[b.index].last; }
  [[nodiscard]] OpId next(OpId o) const { return operations_[o.index].next; }
  /// The block in which a value is defined; none for constants and symbols.
  [[nodiscard]] BlockId defining_block(ValueId v) const {
    const Value& value = values_[v.index];
    if (value.kind == ValueKind::result) return operations_[value.owner].parent;
    if (value.kind == ValueKind::argument) return {value.owner};
    return {};
  }
  /// The operation that makes a value; none for arguments, constants and symbols.
  [[nodiscard]] OpId definition(ValueId v) const {
    const Value& value = values_[v.index];
    return value.kind == ValueKind::result ? OpId{value.owner} : OpId{};
  }
  [[nodiscard]] bool is_constant(ValueId v) const { return values_[v.index].kind == ValueKind::constant; }
  [[nodiscard]] bool is_integer_constant(ValueId v, std::int64_t n) const {
    return is_constant(v) && !is_float(type(v).dtype) && values_[v.index].integer == n;
  }
  [[nodiscard]] bool has_uses(ValueId v) const { return values_[v.index].first_use != no_index; }
  /// Calls f(operation, operand number) for each use; f may not change the list.
  template <class F>
  void for_each_use(ValueId v, F&& f) const {
    for (std::uint32_t u = values_[v.index].first_use; u != no_index; u = uses_[u].next)
      f(uses_[u].owner, static_cast<int>(u - operations_[uses_[u].owner.index].operand_begin));
  }
  [[nodiscard]] int use_count(ValueId v) const {
    int n = 0;
    for_each_use(v, [&](OpId, int) { ++n; });
    return n;
  }
  [[nodiscard]] const Text& name_of(ValueId v) const { return strings_[values_[v.index].name]; }
  /// The valid extent along an axis; the whole dim unless stated otherwise.
  [[nodiscard]] Extent valid(ValueId v, int axis) const {
    const Value& value = values_[v.index];
    if (value.valid == 0) return {value.type.dims[axis], {}};
    return extents_[value.valid - 1 + static_cast<std::uint32_t>(axis)];
  }
  [[nodiscard]] bool fully_valid(ValueId v) const { return values_[v.index].valid == 0; }

  [[nodiscard]] std::size_t operation_count() const { return operations_.size(); }
  [[nodiscard]] std::size_t value_count() const { return values_.size(); }
  [[nodiscard]] std::size_t block_total() const { return blocks_.size(); }
  [[nodiscard]] const Pool<ValueId>& symbols() const { return symbols_; }
  [[nodiscard]] const Pool<ValueId>& constants() const { return constants_; }
  /// Bytes that the arenas hold, for the benchmarks.
  [[nodiscard]] std::size_t memory_bytes() const {
    return operations_.capacity() * sizeof(Operation) + values_.capacity() * sizeof(Value) +
           uses_.capacity() * sizeof(Use) + attrs_.capacity() * sizeof(Attr) + blocks_.capacity() * sizeof(Block) +
           extents_.capacity() * sizeof(Extent) + lists_.capacity() * sizeof(std::int64_t) +
           constant_slots_.capacity() * sizeof(std::uint32_t);
  }

  // --- making ---
  BlockId new_block(OpId owner) {
    blocks_.push_back({{}, {}, owner, {}, false});
    return {static_cast<std::uint32_t>(blocks_.size() - 1)};
  }
  ValueId add_argument(BlockId b, const Type& type) {
    const ValueId v = new_value(type, ValueKind::argument, b.index);
    values_[v.index].position = static_cast<std::uint32_t>(blocks_[b.index].arguments.size());
    blocks_[b.index].arguments.push_back(v);
    return v;
  }
  void remove_argument(BlockId b, std::size_t position) {
    Pool<ValueId>& list = blocks_[b.index].arguments;
    list.erase(position);
    for (std::size_t i = position; i < list.size(); ++i) values_[list[i].index].position = static_cast<std::uint32_t>(i);
  }
  /// A detached operation; its blocks follow with `add_blocks`.
  OpId new_operation(const OpInfo& info, List<ValueId> operands, List<Attr> attrs, const Location& at) {
    Operation o;
    o.info = &info;
    o.location = at;
    o.attr_begin = static_cast<std::uint32_t>(attrs_.size());
    o.attr_count = static_cast<std::uint32_t>(attrs.size());
    for (const Attr& a : attrs) attrs_.push_back(a);
    operations_.push_back(o);
    const OpId id{static_cast<std::uint32_t>(operations_.size() - 1)};
    set_operands(id, operands);
    return id;
  }
  /// Replaces all operands.
  void set_operands(OpId o, List<ValueId> operands) {
    drop_operands(o);
    const auto begin = static_cast<std::uint32_t>(uses_.size());
    for (const ValueId v : operands) {
      uses_.push_back({v, o, no_index, no_index});
      link(static_cast<std::uint32_t>(uses_.size() - 1));
    }
    operations_[o.index].operand_begin = begin;
    operations_[o.index].operand_count = static_cast<std::uint32_t>(operands.size());
  }
  void set_operand(OpId o, int i, ValueId v) {
    const std::uint32_t u = operations_[o.index].operand_begin + static_cast<std::uint32_t>(i);
    unlink(u);
    uses_[u].value = v;
    link(u);
  }
  /// Gives an operation its results; once.
  void set_results(OpId o, List<Type> types) {
    operations_[o.index].result_begin = static_cast<std::uint32_t>(values_.size());
    operations_[o.index].result_count = static_cast<std::uint32_t>(types.size());
    std::uint32_t position = 0;
    for (const Type& t : types) values_[new_value(t, ValueKind::result, o.index).index].position = position++;
  }
  void add_blocks(OpId o, int count) {
    operations_[o.index].block_begin = static_cast<std::uint32_t>(blocks_.size());
    operations_[o.index].block_count = static_cast<std::uint32_t>(count);
    for (int i = 0; i < count; ++i) new_block(o);
  }
  void append(BlockId b, OpId o) { insert_after(b, blocks_[b.index].last, o); }
  void insert_before(OpId anchor, OpId o) {
    insert_after(operations_[anchor.index].parent, operations_[anchor.index].previous, o);
  }
  /// Puts `o` behind `anchor`, or first in the block when there is no anchor.
  void insert_after(BlockId b, OpId anchor, OpId o) {
    Operation& op = operations_[o.index];
    Block& block = blocks_[b.index];
    op.parent = b;
    op.previous = anchor;
    op.next = anchor ? operations_[anchor.index].next : block.first;
    (anchor ? operations_[anchor.index].next : block.first) = o;
    (op.next ? operations_[op.next.index].previous : block.last) = o;
  }
  /// Takes an attribute from an operation that has it.
  void remove_attr(OpId o, AttrKey key) {
    Operation& op = operations_[o.index];
    std::uint32_t kept = op.attr_begin;
    for (std::uint32_t i = 0; i < op.attr_count; ++i)
      if (const Attr a = attrs_[op.attr_begin + i]; a.key != key) attrs_[kept++] = a;
    op.attr_count = kept - op.attr_begin;
  }
  /// Takes an operation without used results out of its block.
  void erase(OpId o) {
    drop_operands(o);
    Operation& op = operations_[o.index];
    Block& block = blocks_[op.parent.index];
    (op.previous ? operations_[op.previous.index].next : block.first) = op.next;
    (op.next ? operations_[op.next.index].previous : block.last) = op.previous;
    op.parent = {};
  }
  void replace_all_uses(ValueId from, ValueId to) {
    while (values_[from.index].first_use != no_index) {
      const std::uint32_t u = values_[from.index].first_use;
      unlink(u);
      uses_[u].value = to;
      link(u);
    }
  }
  /// Constants are values of their own, one for each type and number.
  ValueId constant(DType dtype, std::int64_t n) { return intern_constant(dtype, n, 0); }
  ValueId constant(DType dtype, double n) { return intern_constant(dtype, 0, n); }
  ValueId index(std::int64_t n) { return constant(index_type, n); }
  /// The run-time value of a named dim.
  ValueId symbol(std::int64_t dim) {
    for (const ValueId v : symbols_)
      if (values_[v.index].integer == dim) return v;
    const ValueId v = new_value(index_scalar, ValueKind::symbol, no_index);
    values_[v.index].integer = dim;
    symbols_.push_back(v);
    return v;
  }
  /// A dim as an Index value: a constant, or its symbol.
  ValueId dim_value(std::int64_t dim) { return is_dynamic(dim) ? symbol(dim) : index(dim); }
  [[nodiscard]] ValueId extent_value(const Extent& e) { return e.is_constant() ? index(e.constant) : e.value; }
  /// States the valid extents of a value, one for each dim. All equal to the dims: fully valid.
  void set_valid(ValueId v, List<Extent> extents) {
    Value& value = values_[v.index];
    bool full = true;
    for (std::size_t i = 0; i < extents.size(); ++i)
      full = full && extents[i].is_constant() && extents[i].constant == value.type.dims[i];
    value.valid = full ? 0 : static_cast<std::uint32_t>(extents_.size() + 1);
    if (!full)
      for (const Extent& e : extents) extents_.push_back(e);
  }
  [[nodiscard]] std::size_t extent_total() const { return extents_.size(); }
  /// In the extents that were stated since `first` (an extent_total), reads `to` where `from` stood.
  void replace_in_extents(std::size_t first, ValueId from, ValueId to) {
    for (std::size_t i = first; i < extents_.size(); ++i)
      if (extents_[i].value == from) extents_[i] = is_constant(to) ? Extent{values_[to.index].integer, {}} : Extent{0, to};
  }
  /// The same extents as those of a value of equal rank; O(1).
  void share_valid(ValueId v, ValueId from) { values_[v.index].valid = values_[from.index].valid; }
  void set_name(ValueId v, std::string_view text) {
    strings_.push_back(text);
    values_[v.index].name = static_cast<std::uint32_t>(strings_.size() - 1);
  }
  [[nodiscard]] Attr list_attr(AttrKey key, List<std::int64_t> numbers) {
    const Attr a{key, true, static_cast<std::uint32_t>(numbers.size()), static_cast<std::int64_t>(lists_.size())};
    for (const std::int64_t n : numbers) lists_.push_back(n);
    return a;
  }
  void reserve(std::size_t operations) {
    uses_.reserve(operations * 2);
  }

 private:
  ValueId new_value(const Type& type, ValueKind value_kind, std::uint32_t owner) {
    Value v;  // complete before the arena grows: `type` may stand in it
    v.type = type;
    v.kind = value_kind;
    v.owner = owner;
    values_.push_back(v);
    return {static_cast<std::uint32_t>(values_.size() - 1)};
  }
  void link(std::uint32_t u) {
    Value& v = values_[uses_[u].value.index];
    uses_[u].next = v.first_use;
    uses_[u].previous = no_index;
    if (v.first_use != no_index) uses_[v.first_use].previous = u;
    v.first_use = u;
  }
  void unlink(std::uint32_t u) {
    const Use& use = uses_[u];
    (use.previous != no_index ? uses_[use.previous].next : values_[use.value.index].first_use) = use.next;
    if (use.next != no_index) uses_[use.next].previous = use.previous;
  }
  void drop_operands(OpId o) {
    Operation& op = operations_[o.index];
    for (std::uint32_t i = 0; i < op.operand_count; ++i) unlink(op.operand_begin + i);
    op.operand_count = 0;
  }
  static std::uint64_t bits_of(double d) {
    std::uint64_t u = 0;
    __builtin_memcpy(&u, &d, sizeof u);
    return u;
  }
  // An open-addressing table of value numbers; slots hold index + 1.
  ValueId intern_constant(DType dtype, std::int64_t n, double d) {
    if ((constants_.size() + 1) * 2 > constant_slots_.size()) {
      constant_slots_.assign(constant_slots_.empty() ? 64 : constant_slots_.size() * 2, 0);
      for (const ValueId v : constants_) *slot(values_[v.index].type.dtype, values_[v.index].integer, values_[v.index].number) = v.index + 1;
    }
    std::uint32_t* const s = slot(dtype, n, d);
    if (*s != 0) return {*s - 1};
    const ValueId v = new_value(scalar_type(dtype), ValueKind::constant, no_index);
    values_[v.index].integer = n;
    values_[v.index].number = d;
    constants_.push_back(v);
    *s = v.index + 1;
    return v;
  }
  std::uint32_t* slot(DType dtype, std::int64_t n, double d) {
    std::uint64_t h = (static_cast<std::uint64_t>(n) ^ bits_of(d) ^ (std::uint64_t{dtype} << 56)) * 0x9E3779B97F4A7C15u;
    const std::size_t mask = constant_slots_.size() - 1;
    for (std::size_t i = static_cast<std::size_t>(h >> 32) & mask;; i = (i + 1) & mask) {
      if (constant_slots_[i] == 0) return &constant_slots_[i];
      const Value& v = values_[constant_slots_[i] - 1];
      if (v.type.dtype == dtype && v.integer == n && bits_of(v.number) == bits_of(d)) return &constant_slots_[i];
    }
  }

  // Stable: passes hold references to types and operations while they add values.
  StablePool<Operation> operations_;
  StablePool<Value> values_;
  Pool<Use> uses_;
  Pool<Attr> attrs_;
  StablePool<Block> blocks_;
  Pool<Extent> extents_;
  Pool<std::int64_t> lists_;
  Pool<Text> strings_;
  Pool<ValueId> symbols_, constants_;
  Pool<std::uint32_t> constant_slots_;
  BlockId body_;
};

/// Whether the buffers of a function have addresses, and the target that these are for.
[[nodiscard]] inline bool has_addresses(const Function& f) { return f.planned_for != Function::any_target; }
[[nodiscard]] inline Arch planned_arch(const Function& f) { return static_cast<Arch>(f.planned_for); }
/// The bytes of a tile's buffer in its space.
struct ByteRange {
  std::int64_t begin = 0, end = 0;
  [[nodiscard]] constexpr std::int64_t bytes() const { return end - begin; }
  [[nodiscard]] constexpr bool overlaps(const ByteRange& o) const { return begin < o.end && o.begin < end; }
  friend constexpr bool operator==(const ByteRange&, const ByteRange&) = default;
};
/// Those of the buffer that a tile stands in; of a function with addresses.
[[nodiscard]] inline ByteRange byte_range(const Function& f, ValueId tile) {
  const ValueId owner{f[tile].buffer};
  const std::int64_t begin = f[owner].address;
  return {begin, begin + stored_bytes(f.type(owner), planned_arch(f))};
}

/// The bytes of storage that the author declares, of a function with addresses; those of a buffer in which nothing stands are none.
[[nodiscard]] inline ByteRange byte_range(const Storage& s) { return {s.address, s.address + s.all_bytes()}; }
/// "ring (line 3)".
[[nodiscard]] inline std::string storage_text(const Storage& s) { return s.name.str() + " (line " + std::to_string(s.location.line) + ")"; }
/// What a slot is called: "ping", or "slots[1]" where there are several.
[[nodiscard]] inline std::string slot_text(const Storage& s, std::int64_t slot) {
  return s.slots == 1 ? s.name.str() : s.name.str() + "[" + std::to_string(slot) + "]";
}

/// The tensor parameter whose memory a value is, perhaps seen with other dims; none where it is a value of its own.
[[nodiscard]] inline ValueId parameter_of(const Function& f, ValueId v) {
  while (f[v].kind == ValueKind::result && f.info(OpId{f[v].owner}).form == PtoForm::memory_view) v = f.operand(OpId{f[v].owner}, 0);
  return f[v].kind == ValueKind::argument && f[v].owner == f.body().index && f.type(v).is_tensor() ? v : ValueId{};
}

/// Whether a view shows a part of its operand: a window that is smaller, or that perhaps starts elsewhere.
[[nodiscard]] inline bool shows_part(const Function& f, OpId op) {
  if (f.info(op).form != PtoForm::subview) return false;
  const Type &whole = f.type(f.operand(op, 0)), &part = f.type(f.result(op));
  if (!part.same_shape(whole)) return true;
  for (int axis = 0; axis < part.rank; ++axis)
    if (!f.is_integer_constant(f.operand(op, 1 + axis), 0)) return true;
  return false;
}

}  // namespace tessera
