// Runs a function, operation by operation, on values that know which of their elements are defined. What an operation
// computes stands in the table of simulate/table.hpp, control flow in simulate/control.hpp; values, bounds of extents and buffers
// are here.
#pragma once

#include <memory>
#include <utility>

#include "../ir/inline.hpp"
#include "../ir/pipe_check.hpp"
#include "../ir/pipe_replay.hpp"
#include "../ir/program.hpp"
#include "../ops/all.hpp"
#include "buffer_contents.hpp"
#include "data.hpp"
#include "options.hpp"
#include "pipe_recorder.hpp"

namespace tessera {

namespace simulator {

class Call;
struct Sharer;
/// What an operation does: reads operands through the call and gives it the result.
using OperationFunction = void (*)(Call&);
/// One line of the table.
struct TableEntry {
  const OpInfo* op;
  OperationFunction run;
};
[[nodiscard]] const TableEntry* find_entry(const OpInfo& op);  // simulate/table.hpp

/// A broken rule with numbers that say more than the rule's own.
[[noreturn]] inline void fail_rule(rule broken, std::string_view op, const Location& at, const std::string& numbers) {
  Diagnostic d = diagnose(breaks(broken), op, at);
  d.message.append(" (").append(numbers).append(")");
  throw UserError(std::move(d));
}

class Engine {
 public:
  /// `program`: what calls refer to; null for a function that calls nothing.
  Engine(const Function& f, const SimulateOptions& with, const Program* program = nullptr)
      : options(with), f_(f), program_(program), slots_(f.value_count()), contents_(f) {
    if (f.kind == FunctionKind::kernel && (options.pipes != nullptr || checks_pipes())) recorder_ = std::make_unique<PipeRecorder>(f);
    if (recorder_ != nullptr && !has_addresses(f)) throw InternalError("simulate: the pipes of a function without addresses");
  }

  const SimulateOptions options;
  Statistics statistics;

  [[nodiscard]] const Function& function() const { return f_; }

  // --- before and after a run ---
  /// The memory of a tensor parameter. Gm of an input is never written.
  void set_memory(ValueId parameter, std::shared_ptr<Data> memory, Direction direction) {
    Slot& s = slots_[parameter.index];
    s.data = std::move(memory);
    s.is_memory = true;
    s.is_input = direction == Direction::in;
    s.dims = s.data->dims;
  }
  /// `view` is the memory of `of` with its own dims.
  void set_view(ValueId view, ValueId of) {
    Slot& s = slots_[view.index];
    s.data = data_of(of);
    s.is_memory = slots_[of.index].is_memory;
    s.is_input = slots_[of.index].is_input;
    s.is_view = true;
    s.dims = dims(f_.type(view));
  }
  void set_number(ValueId v, const Number& n) { slots_[v.index].number = n; }
  /// Runs the body; gives the operation that ended it (none: the body is empty).
  OpId run() {
    const OpId end = f_.kind == FunctionKind::simt ? run_threads() : run_block(f_.body());
    if (recorder_ != nullptr) check_pipes();
    return end;
  }

  // --- values ---
  [[nodiscard]] Number number(ValueId v) const {
    const Value& value = f_[v];
    if (value.kind != ValueKind::constant) return slots_[v.index].number;
    return is_float(value.type.dtype) ? make_number(value.type.dtype, value.number)
                                      : make_number(value.type.dtype, value.integer);
  }
  /// The run-time size of a dim.
  [[nodiscard]] std::int64_t dim(std::int64_t d) const {
    if (!is_dynamic(d)) return d;
    for (const auto& [known, size] : symbols_)
      if (known == d) return size;
    throw InternalError("simulate: dim " + std::string(symbol_of(d).view()) + " has no value");
  }
  void set_symbol(std::int64_t d, std::int64_t size) {
    symbols_.emplace_back(d, size);
    for (const ValueId v : f_.symbols())
      if (f_[v].integer == d) set_number(v, make_number(index_type, size));
  }
  [[nodiscard]] const std::vector<std::pair<std::int64_t, std::int64_t>>& symbols() const { return symbols_; }
  [[nodiscard]] Box dims(const Type& t) const {
    Box b{t.rank, {}};
    for (int i = 0; i < t.rank; ++i) b[i] = dim(t.dims[i]);
    return b;
  }
  /// The valid extents that the function states of a value.
  [[nodiscard]] Box valid(ValueId v) const {
    const Type& t = f_.type(v);
    if (f_.fully_valid(v)) return dims(t);
    Box b{t.rank, {}};
    for (int i = 0; i < t.rank; ++i) {
      const Extent e = f_.valid(v, i);
      b[i] = e.is_constant() ? dim(e.constant) : number(e.value).integer;
    }
    return b;
  }
  /// The elements of an operand, whose buffer must still hold them.
  [[nodiscard]] const Data& read(OpId reader, ValueId v) const {
    check_intact(reader, v);
    const Slot& s = slots_[v.index];
    if (!s.is_view) return addressed(v);
    s.seen = std::make_shared<Data>(*data_of(v));  // another operand may be the same memory
    s.seen->dims = s.dims;
    return *s.seen;
  }
  /// As read, for an operation that addresses elements of one tensor alone.
  [[nodiscard]] const Data& addressed(OpId reader, ValueId v) const {
    check_intact(reader, v);
    return addressed(v);
  }
  [[nodiscard]] Data& addressed(ValueId v) const {
    Data& d = *data_of(v);
    if (slots_[v.index].is_memory) d.dims = slots_[v.index].dims;
    return d;
  }
  /// What an operation writes in place: a parameter's memory, or a tensor-level value of its own.
  [[nodiscard]] Data& memory(OpId writer, ValueId v) {
    if (slots_[v.index].is_input)
      throw UserError(diagnose(breaks(rule::not_an_output, arg_op), f_.info(writer).name, f_[writer].location));
    check_defined(v);
    Slot& s = slots_[v.index];
    if (!s.is_memory && s.data.use_count() > 1) s.data = std::make_shared<Data>(*s.data);  // other values keep theirs
    return addressed(v);
  }
  /// Which thread runs, along an axis.
  [[nodiscard]] std::int64_t thread(int axis) const {
    const Threads& t = f_.threads;
    return axis == 0 ? thread_ % t[0] : axis == 1 ? thread_ / t[0] % t[1] : thread_ / t[0] / t[1];
  }
  /// ", thread 37" in a simt kernel.
  [[nodiscard]] std::string thread_text() const { return f_.kind == FunctionKind::simt ? ", thread " + std::to_string(thread_) : std::string(); }
  [[nodiscard]] bool is_memory(ValueId v) const { return slots_[v.index].is_memory; }
  // Blocks of a launch run side by side (simulate/calls.hpp): what one of them writes, no other reads or writes differently;
  // several may add to an element that they neither read nor write.
  // The same holds for the threads of a launch.
  void note_read(OpId reader, const Data& d, std::int64_t element) const;
  void note_write(OpId writer, const Data& d, std::int64_t element, bool was_known, const Number& before) const;
  void note_add(OpId writer, const Data& d, std::int64_t element) const;
  /// The operation that runs moves elements of a tensor that follow each other.
  void note_moved(ValueId tensor, std::int64_t first, std::int64_t count, bool writes, bool adds) {
    if (recorder_ != nullptr) recorder_->elements(tensor, first, count, writes, adds);
  }

  /// Gives a result its elements; those outside its valid extents become poison.
  void define(OpId op, ValueId result, std::shared_ptr<Data> data) {
    if (!f_.fully_valid(result)) {
      const Box extents = checked_valid(op, result);
      if (extents != data->dims) data->clear_outside(extents);
    }
    slots_[result.index].data = std::move(data);
    claim_buffer(op, result);
  }
  /// An instruction left garbage in a scratch operand. (That the result has another buffer, claim_buffer checked.)
  void spoil(OpId op, ValueId scratch) {
    const std::uint32_t b = f_[scratch].buffer;
    if (b == no_index) return;
    for (int i = 0; i < f_.operand_count(op); ++i)
      if (const ValueId x = f_.operand(op, i); x != scratch && (f_[x].buffer == b || contents_.overlap(x, scratch))) throw_shared(op, i);
    slots_[scratch.index].content = contents_.write(op, b);
  }

 private:
  struct Slot {
    std::shared_ptr<Data> data;
    Number number;
    std::uint64_t content = 0;  ///< which content of its buffer this value is
    bool is_memory = false;
    bool is_input = false;
    bool is_window = false;  ///< a view of part of its buffer
    bool is_view = false;    ///< memory with other dims than the parameter's
    Box dims;                ///< of memory; what addressed it last may have left others
    mutable std::shared_ptr<Data> seen;  ///< of a view: what was read last
  };

  // --- control flow ---
  OpId run_block(BlockId b) {
    OpId last;
    for (OpId op = f_[b].first; op; op = f_.next(op)) {
      run_operation(op);
      last = op;
    }
    return last;
  }
  void run_operation(OpId op) {
    const OpInfo& info = f_.info(op);
    ++statistics.executed[&info];
    if (info.level == Level::control) return run_control(op, info);
    if (info.pipe == Pipe::scalar) ++statistics.scalar_operations;
    else if (info.pipe != Pipe::none) ++statistics.instructions;
    const TableEntry* entry = find_entry(info);
    if (entry == nullptr) throw InternalError("simulate: no function for operation " + std::string(info.name));
    for (int i = 0; i < f_.operand_count(op); ++i) refuse_dtype(op, f_.type(f_.operand(op, i)));
    for (int i = 0; i < f_.result_count(op); ++i) refuse_dtype(op, f_.type(f_.result(op, i)));
    note_whole_reads(op, info);
    if (recorder_ != nullptr) recorder_->start();
    run_entry(*entry, op);
    if (recorder_ != nullptr) record(op);
    if (const int scratch = scratch_operand(info); scratch >= 0 && f_.operand_count(op) > scratch)
      spoil(op, f_.operand(op, scratch));
  }
  void run_entry(const TableEntry& entry, OpId op);  // below Call

  // --- pipes ---
  [[nodiscard]] bool checks_pipes() const {
    if (!has_addresses(f_)) return false;
    return options.pipe_checks == PipeChecks::always || (options.pipe_checks == PipeChecks::synchronised && (f_.synchronised || has_sync(f_)));
  }
  void record(OpId op) {
    recorder_->finish(op, [&](ValueId v) { return std::optional<std::int64_t>(number(v).integer); },
                      [&](ValueId tensor) { return bytes_of(f_.type(tensor).dtype, data_of(tensor)->size()); });
  }
  void check_pipes() {
    const PipeTrace& trace = recorder_->trace();
    if (checks_pipes()) {
      std::optional<PipeFault> fault = pipe_fault(f_, trace, planned_arch(f_));
      if (!fault) fault = replay_fault(f_, trace, planned_arch(f_), options.replays, options.replay_seed);
      if (fault) throw InternalError("simulate: " + std::string(f_.name.c_str()) + ": " + fault->what);
    }
    if (options.pipes != nullptr) *options.pipes = std::move(recorder_->trace());
  }
  // A tensor that an operation takes as a value is read as a whole.
  void note_whole_reads(OpId op, const OpInfo& info) const {
    for (int i = 0; i < f_.operand_count(op); ++i) {
      const Slot& s = slots_[f_.operand(op, i).index];
      if (s.is_memory && s.data != nullptr && i != memory_operand(info)) note_whole_read(op, *s.data);
    }
  }
  void note_whole_read(OpId op, const Data& d) const {
    if (d.accesses.empty() && d.thread_accesses.empty()) return;
    for (std::int64_t k = 0; k < d.size(); ++k) note_read(op, d, k);
  }
  [[noreturn]] void fail_collision(OpId op, const Data& d, std::int64_t element, const Sharer& sharer, std::string_view what, std::int64_t other,
                                   std::string_view hint) const;
  template <class Note>
  void note(const Data& d, std::int64_t element, Note note) const;
  void refuse_dtype(OpId op, const Type& t) const {
    if (!can_simulate(t.dtype))
      fail(
          f_[op].location,
          std::string(f_.info(op).name) + ": the element type cannot be simulated (" + std::string(name(t.dtype)) + ")",
          "simulate a kernel of f32, f16, bf16 or integers");
  }
  // simulate/control.hpp
  void run_control(OpId op, const OpInfo& info);
  void run_for(OpId op);
  void run_while(OpId op);
  void run_if(OpId op);
  void run_tileop_body(OpId op);
  void hand_on(OpId from, OpId at, int first, List<ValueId> to);
  void hand_to_results(OpId op, List<ValueId> from);
  [[nodiscard]] Slot handed(OpId reader, OpId at, ValueId from, ValueId to) const;
  // simulate/calls.hpp
  void run_call(OpId op);
  void run_tileop(OpId op);
  void run_launch(OpId op);
  [[nodiscard]] OpId run_threads();
  OpId run_until_sync(OpId from);
  void bind_argument(OpId op, int i, const Function& to, Engine& callee) const;
  void bind_tileop_argument(OpId op, int i, Engine& callee) const;
  void check_arguments(OpId op, const Function& to) const;
  void take_results(OpId op, const Engine& callee, OpId end);

  // --- values and buffers ---
  void check_defined(ValueId v) const {
    if (slots_[v.index].data == nullptr)
      throw InternalError("simulate: " + value_text(v) + " is used before it is defined");
  }
  [[nodiscard]] const std::shared_ptr<Data>& data_of(ValueId v) const {
    check_defined(v);
    return slots_[v.index].data;
  }
  [[nodiscard]] Box checked_valid(OpId op, ValueId result) const {
    const Box extents = valid(result), whole = dims(f_.type(result));
    for (int i = 0; i < extents.rank; ++i) check_extent(f_.info(op).name, f_[op].location, i, extents[i], whole[i]);
    return extents;
  }

 public:
  static void check_extent(std::string_view op, const Location& at, int axis, std::int64_t extent,
                           std::int64_t window) {
    const std::string where = "axis " + std::to_string(axis) + ": valid " + std::to_string(extent);
    if (extent < 0) fail_rule(rule::valid_is_negative, op, at, where);
    if (extent > window) fail_rule(rule::valid_exceeds_window, op, at, where + ", window " + std::to_string(window));
  }

 private:
  [[nodiscard]] std::string value_text(ValueId v) const {
    const std::string hint = f_.name_of(v).c_str();
    std::string text = "%" + (hint.empty() ? std::to_string(v.index) : hint);
    if (const OpId by = f_.definition(v)) text += " of " + describe(by);
    return text;
  }
  [[nodiscard]] std::string describe(OpId op) const {
    return std::string(f_.info(op).name) + " (" + place_text(f_[op].location) + ")";
  }
  void check_intact(OpId reader, ValueId v) const {
    const std::uint32_t b = f_[v].buffer;
    if (b == no_index) return;
    const Content* const now = contents_.overwritten(b, slots_[v.index].content);
    if (now == nullptr) return;
    throw InternalError("simulate: buffer overwritten: " + describe(reader) + " reads " + value_text(v) + ", but " +
                        (now->writer ? describe(now->writer) : std::string("nothing")) + " wrote the buffer since");
  }
  [[noreturn]] void throw_shared(OpId op, int operand) const {
    throw InternalError("simulate: " + describe(op) + ": the instruction cannot share a buffer with its operand " +
                        std::to_string(operand));
  }
  void check_room(OpId op, ValueId result, ValueId owner) const {
    const Type &t = f_.type(result), &room = f_.type(owner);
    if (t.space != room.space || t.bytes() > room.bytes())
      throw InternalError("simulate: " + describe(op) + ": the result does not fit its buffer (" +
                          std::to_string(t.bytes()) + " bytes in " + std::string(name(t.space)) + ", buffer " +
                          std::to_string(room.bytes()) + " in " + std::string(name(room.space)) + ")");
  }
  // Whether a result may be written over an operand in another buffer with the same bytes: element for element.
  [[nodiscard]] bool may_overwrite(OpId op, ValueId operand, ValueId result) const {
    return f_.info(op).may_alias && byte_range(f_, operand).begin == byte_range(f_, result).begin &&
           !slots_[operand.index].is_window && same_places(f_.type(operand), f_.type(result));
  }
  // A result becomes the content of its buffer; a view of the same buffer leaves the content as it is.
  void claim_buffer(OpId op, ValueId result) {
    const std::uint32_t b = f_[result].buffer;
    Slot& s = slots_[result.index];
    s.is_window = false;
    if (b == no_index) return;
    check_room(op, result, {b});
    const OpInfo& info = f_.info(op);
    const auto buffer_of = [&](int i) { return f_[f_.operand(op, i)].buffer; };
    if (info.is_view && f_.operand_count(op) > 0 && buffer_of(0) == b) {
      const Slot& source = slots_[f_.operand(op, 0).index];
      s.content = source.content;
      s.is_window = source.is_window || shows_part(f_, op);
      return;
    }
    if (info.in_place >= 0 && buffer_of(info.in_place) != b)
      throw InternalError("simulate: " + describe(op) +
                          ": the result is written in place, but has another buffer than its operand " +
                          std::to_string(info.in_place));
    for (int i = 0; i < f_.operand_count(op); ++i)
      if (const ValueId x = f_.operand(op, i); contents_.overlap(x, result) && !may_overwrite(op, x, result)) throw_shared(op, i);
    for (int i = 0; i < f_.operand_count(op); ++i) {
      if (i == info.in_place || buffer_of(i) != b) continue;
      if (!info.may_alias || info.is_view || slots_[f_.operand(op, i).index].is_window) throw_shared(op, i);
    }
    // Storage without content takes no bytes until something is written to it.
    if (has_addresses(f_) && f_.is(op, ops::create)) s.content = 0;
    else s.content = contents_.write(op, b);
  }

  const Function& f_;
  const Program* program_;
  std::vector<Slot> slots_;
  BufferContents contents_;
  std::vector<std::pair<std::int64_t, std::int64_t>> symbols_;
  std::int64_t thread_ = 0;  // of a simt kernel: the one that runs
  std::unique_ptr<PipeRecorder> recorder_;  // where the order of pipes is asked for
};

/// What an operation's function sees of the operation that runs.
class Call {
 public:
  Call(Engine& e, OpId op) : engine(e), id(op), f_(e.function()) {}

  Engine& engine;
  const OpId id;

  [[nodiscard]] int operands() const { return f_.operand_count(id); }
  [[nodiscard]] ValueId operand(int i) const { return f_.operand(id, i); }
  [[nodiscard]] const Type& type(int i) const { return f_.type(operand(i)); }
  [[nodiscard]] const Data& in(int i) const { return engine.read(id, operand(i)); }
  /// Operand `i`, of which elements are addressed.
  [[nodiscard]] const Data& addressed(int i) const {
    return engine.addressed(id, operand(i));
  }
  [[nodiscard]] Box valid(int i) const { return engine.valid(operand(i)); }
  [[nodiscard]] Number number(int i) const { return engine.number(operand(i)); }
  [[nodiscard]] std::int64_t integer(int i) const { return engine.number(operand(i)).integer; }
  /// Operands `first`.. as one integer for each of `count` axes.
  [[nodiscard]] Box integers(int first, int count) const {
    Box b{count, {}};
    for (int i = 0; i < count; ++i) b[i] = integer(first + i);
    return b;
  }
  [[nodiscard]] std::int64_t attr(AttrKey key, std::int64_t otherwise = 0) const { return f_.attr(id, key, otherwise); }
  [[nodiscard]] List<std::int64_t> attr_list(AttrKey key) const { return f_.attr_list(id, key); }

  [[nodiscard]] const Type& result_type() const { return f_.type(f_.result(id)); }
  [[nodiscard]] Box result_valid() const { return engine.valid(f_.result(id)); }
  /// Poison of the result's type.
  [[nodiscard]] Data fresh() const { return Data(result_type().dtype, engine.dims(result_type())); }
  void result(Data&& d) { engine.define(id, f_.result(id), std::make_shared<Data>(std::move(d))); }
  void result(const Number& n) { engine.set_number(f_.result(id), n); }

  /// Elements of operand `i`, a tensor, are moved.
  void moves(int i, std::int64_t first, std::int64_t count, bool writes = false, bool adds = false) { engine.note_moved(operand(i), first, count, writes, adds); }

  [[nodiscard]] const Location& location() const { return f_[id].location; }
  [[nodiscard]] std::string_view name() const { return f_.info(id).name; }
  [[noreturn]] void fail(const std::string& what, std::string hint) const {
    tessera::fail(location(), std::string(name()) + ": " + what, std::move(hint));
  }
  [[noreturn]] void fail(rule broken, const std::string& numbers) const {
    fail_rule(broken, name(), location(), numbers);
  }
  /// An element that must be known is poison.
  [[noreturn]] void fail_poison(int operand_number, const Data& d, std::int64_t position) const {
    fail(std::string(d.poison_text(position)) + " is used (operand " + std::to_string(operand_number) + ", element " +
             index_of(d.dims, position).text() + " of " + d.dims.text() + ")",
         d.poison_hint(position, "load, compute or fill it first (fillpad fills what is not valid), or narrow the valid extents"));
  }

 private:
  const Function& f_;
};

inline void Engine::run_entry(const TableEntry& entry, OpId op) {
  Call call(*this, op);
  entry.run(call);
}

}  // namespace simulator
}  // namespace tessera
