// The recorder of a running kernel, as the front end's templates see it: they check rules and choose forms, then call it. An
// interface, so that a kernel source compiles nothing of the recording itself (dsl/function_recorder.hpp). One recorder is
// current per thread; recorders nest.
#pragma once

#include <source_location>

#include "../ir/diagnostic.hpp"
#include "../ir/ids.hpp"

namespace tessera {

class KernelEntry;
class Recorder;

/// The part of a Var that the recorder knows: which value it has now.
struct VarState {
  ValueId current;
  Recorder* recorder = nullptr;
  VarState* previous = nullptr;
  VarState* next = nullptr;
};

/// Where an expression was written: its block, and its number in the order of the source.
struct Placement {
  BlockId block;
  std::uint32_t sequence = 0;
};

namespace detail {

[[nodiscard]] inline Location location_of(const std::source_location& l) { return {l.file_name(), l.line(), l.column()}; }

/// What every node shares: where and when it was written, and the value once it is recorded.
struct node_state {
  Location location;
  Placement place;
  std::uint32_t recorder = 0;
  mutable ValueId value;
};
/// A number of the user's.
struct any_literal {
  std::int64_t integer;
  double number;
  bool floating;
};

/// Memory on chip that a kernel declares, as ir/function.hpp keeps it: a buffer with slots, or without them reserved bytes.
struct StorageRequest {
  static constexpr std::int64_t no_address = INT64_MIN;
  /// In place of a slot's number: the first, or in a pipelined loop one for each turn.
  static constexpr std::int64_t any_slot = -1;
  std::string_view name;
  MemorySpace space;
  std::int64_t slots, bytes, address;
};

}  // namespace detail

class Recorder {
 public:
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  /// The recorder of the kernel that runs on this thread. Throws where there is none.
  static Recorder& current(const std::source_location& at) {
    Recorder* const r = current_slot();
    if (r == nullptr)
      fail(detail::location_of(at), "kernel: a recorded value is used outside of a kernel",
           "write operations inside the lambda that is given to kernel(...)");
    return *r;
  }
  [[nodiscard]] static Recorder* current_or_null() { return current_slot(); }
  [[nodiscard]] std::uint32_t id() const { return id_; }

  // --- places ---
  [[nodiscard]] virtual Placement here() = 0;
  /// Further operations go where `p` was written.
  virtual void go_to(const Placement& p, const Location& at, const std::source_location& use) = 0;
  /// Further operations go to the end of the innermost open block.
  virtual void go_here(const Location& at) = 0;
  /// Where the user wrote what is recorded next. What has no line of its own (`==`) keeps the last one.
  virtual void set_location(const Location& at) = 0;
  [[noreturn]] virtual void refuse_foreign(const std::source_location& use, const Location& made) const = 0;
  [[noreturn]] virtual void refuse_foreign_variable(const std::source_location& use) const = 0;

  // --- operations and values ---
  /// Emits at the place that go_to or go_here chose.
  virtual ValueId emit(const OpInfo& op, List<ValueId> operands, List<Attr> attrs, const Type& requested) = 0;
  /// Emits a node there and gives it its value. Variant: its transposed operands; `attr` may be null.
  virtual void emit_node(const OpInfo& op, int variant, List<ValueId> operands, const Attr* attr, const Type& requested,
                         const detail::node_state& node) = 0;
  /// What a parameter that the kernel writes holds now, as a value of its own.
  virtual ValueId snapshot(ValueId parameter, const Location& at) = 0;
  /// Writes a whole tensor to a parameter.
  virtual void store_whole(ValueId value, ValueId parameter, const Location& at) = 0;
  /// A number in an element type; refused where it is out of range.
  virtual ValueId literal(DType dtype, const detail::any_literal& number, const Location& at) = 0;
  virtual ValueId index(std::int64_t n) = 0;
  /// A dim of a type, counted from the end where `axis` is negative; refused where there is none.
  virtual ValueId dim_value(const Type& type, int axis, const Location& at) = 0;
  /// The extents, one per dim, with which a window stays inside its source. Operands: the source, then the offsets.
  virtual void clamp(const ValueId* operands, const Type& window, ValueId* extents) = 0;
  virtual void set_name(ValueId v, const char* name) = 0;

  /// Records a call of a registered function; `results` receives the `count` values that it returns. Those of a tile operation
  /// that is called with tensors are tensors.
  virtual void call(const KernelEntry& callee, List<ValueId> arguments, ValueId* results, std::size_t count, const Location& at) = 0;

  // --- variables ---
  virtual void add(VarState& v) = 0;
  virtual void remove(VarState& v) = 0;

  /// The variable that a tile parameter of direction out or inout is; its last value is what the caller gets.
  [[nodiscard]] virtual VarState& output_tile(ValueId parameter) = 0;

  // --- control flow: each body is opened and closed; depth tells which ones a broken-off loop must close ---
  [[nodiscard]] virtual std::size_t depth() const = 0;
  /// Refuses a constant that is not positive.
  virtual void check_step(ValueId step, const Location& at) = 0;
  /// Opens the body of a counting loop and returns its counter.
  virtual ValueId open_for(ValueId start, ValueId stop, ValueId step, List<Attr> attrs, const Location& at) = 0;
  virtual void open_while(const Location& at) = 0;
  /// Ends the condition of a while loop and opens its body.
  virtual void close_condition(ValueId holds, const Location& at) = 0;
  /// Closes a loop's body: variables that it assigned become carried values, the others are folded away.
  virtual void close_loop(const Location& at) = 0;
  virtual void open_if(ValueId condition, const Location& at) = 0;
  virtual void open_else(const Location& at) = 0;
  /// Closes a branch: variables that either side assigned become its results.
  virtual void close_if(const Location& at) = 0;
  /// Closes what a broken-off body left open, without looking at it: tracing fails anyway. Never throws.
  virtual void abandon(std::size_t depth, const Location& at, const char* message, const char* hint, bool by_exception) noexcept = 0;

  // --- memory on chip ---
  /// Declares it; returns its number.
  virtual std::uint32_t declare_storage(const detail::StorageRequest& s, const Location& at) = 0;
  /// A tile in a slot of a declared buffer.
  virtual ValueId place(ValueId tile, std::uint32_t buffer, std::int64_t slot, const Location& at) = 0;

  // --- the kernel ---
  /// A parameter; without a name it gets one from its position.
  virtual ValueId add_parameter(const Type& type, Direction direction, const char* name, std::size_t position) = 0;
  /// Throws the first error that could not be thrown where it was found, if there is one.
  virtual void throw_error() const = 0;
  /// Ends the function with its results, behind what its output tiles hold.
  virtual void end_function(List<ValueId> results) = 0;

 protected:
  Recorder() : id_(next_id()), outer_(current_slot()) { current_slot() = this; }
  ~Recorder() { current_slot() = outer_; }

 private:
  static Recorder*& current_slot() {
    static thread_local Recorder* slot = nullptr;
    return slot;
  }
  static std::uint32_t next_id() {
    static std::uint32_t count = 0;
    return __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
  }

  std::uint32_t id_;
  Recorder* outer_;
};

}  // namespace tessera
