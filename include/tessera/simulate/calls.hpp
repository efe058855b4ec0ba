// Calls: the callee runs on the caller's tensors themselves, once, or once for each block of an spmd wrapper.
#pragma once

#include "table.hpp"

namespace tessera::simulator {

/// Elements that a function returns must be defined, as far as they are valid.
inline void check_returned(const Engine& e, OpId end, int i) {
  const Function& f = e.function();
  const ValueId v = f.operand(end, i);
  if (e.is_memory(v)) return;
  const Data& d = e.read(end, v);
  const Box valid = e.valid(v), strides = strides_of(d.dims);
  for_each_row(valid, [&](const Box& row) {
    for (std::int64_t k = 0; k < valid.last(); ++k) {
      const std::int64_t at = dot(strides, row) + k;
      if (!d.is_known(at))
        fail(f[end].location,
             std::string("return: ") + d.poison_text(at) + " is returned (result " + std::to_string(i) + ", element " +
                 index_of(d.dims, at).text() + " of " + d.dims.text() + ")",
             d.poison_hint(at, "give every element a value"));
    }
  });
}
/// How block number `block` of a function runs that `caller` calls.
[[nodiscard]] inline SimulateOptions callee_options(const SimulateOptions& caller, FunctionKind caller_kind, const Function& callee, std::int64_t block) {
  SimulateOptions options = caller;
  if (callee.kind == FunctionKind::spmd) {
    options.block = block;
    options.blocks = callee.blocks;
  } else if (caller_kind == FunctionKind::orchestration) {
    options.block = 0;
    options.blocks = 1;
  }
  return options;
}
/// Gives the callee's named dims the sizes that the arguments have.
inline void bind_dims(Engine& callee, const Parameter& p, const Box& dims, const Location& at) {
  const Type& type = callee.function().type(p.value);
  for (int i = 0; i < type.rank; ++i) {
    if (!is_dynamic(type.dims[i])) continue;
    const auto known = std::find_if(callee.symbols().begin(), callee.symbols().end(), [&](const auto& s) { return s.first == type.dims[i]; });
    if (known == callee.symbols().end()) callee.set_symbol(type.dims[i], dims[i]);
    else if (known->second != dims[i])
      fail(at,
           "call: dim " + std::string(symbol_of(type.dims[i]).view()) + " of " + std::string(callee.function().name.c_str()) + " has two sizes (" +
               std::to_string(known->second) + ", in " + std::string(p.name.c_str()) + " " + std::to_string(dims[i]) + ")",
           "dims of one name have one size");
  }
}
inline void add_statistics(Statistics& to, const Statistics& from) {
  to.instructions += from.instructions;
  to.scalar_operations += from.scalar_operations;
  to.gm_bytes_read += from.gm_bytes_read;
  to.gm_bytes_written += from.gm_bytes_written;
  for (const auto& [op, count] : from.executed) to.executed[op] += count;
}

[[nodiscard]] inline bool same_number(const Number& a, const Number& b) {
  return a.integer == b.integer && (a.real == b.real || (a.real != a.real && b.real != b.real));
}
/// What the blocks of a launch return: the same, all of them.
class BlockResults {
 public:
  /// What block number `block` of the wrapper returns; block 0 comes first.
  void add(const Engine& e, OpId end, std::int64_t block) {
    const Function& f = e.function();
    for (int i = 0; i < f.operand_count(end); ++i) {
      Data result = returned(e, end, i);
      if (block == 0) first_.push_back(std::move(result));
      else if (!same(first_[static_cast<std::size_t>(i)], result))
        fail(f[f[f.body()].first].location,
             std::string("call: blocks return different ") + (f.type(f.operand(end, i)).is_scalar() ? "numbers" : "tensors") + " (blocks 0 and " + std::to_string(block) + ")",
             "a launch has one result: write to an Out parameter at the block's offset");
    }
  }

 private:
  [[nodiscard]] static Data returned(const Engine& e, OpId end, int i) {
    const ValueId v = e.function().operand(end, i);
    if (!e.function().type(v).is_scalar()) return e.read(end, v);
    Data one(e.function().type(v).dtype, Box{});
    one.set(0, e.number(v));
    return one;
  }
  [[nodiscard]] static bool same(const Data& a, const Data& b) {
    if (a.dims != b.dims || a.known != b.known) return false;
    for (std::int64_t i = 0; i < a.size(); ++i)
      if (a.is_known(i) && !same_number(a.number(i), b.number(i))) return false;
    return true;
  }
  std::vector<Data> first_;
};

/// While it lives, several blocks, or the threads of one launch, share tensors, and it is noted which of them reads, writes and
/// adds to what.
class SharedTensors {
 public:
  /// `sharers`: how many there are; `kept` says where in a tensor they are noted.
  explicit SharedTensors(std::int64_t sharers, Accesses Data::* kept = &Data::accesses) : sharers_(sharers), kept_(kept) {}
  SharedTensors(const SharedTensors&) = delete;
  SharedTensors& operator=(const SharedTensors&) = delete;
  ~SharedTensors() {
    for (const auto& d : tensors_) (*d).*kept_ = {};
  }
  void add(const std::shared_ptr<Data>& d) {
    if (sharers_ == 1 || d == nullptr) return;
    ((*d).*kept_).of_element.assign(d->known.size(), Access());
    tensors_.push_back(d);
  }

 private:
  std::int64_t sharers_;
  Accesses Data::* kept_;
  std::vector<std::shared_ptr<Data>> tensors_;
};
/// Who shares an element with others: a block, or a thread.
struct Sharer {
  std::int64_t number;
  std::string_view kind;  ///< "block"

  /// A text about blocks, about this kind.
  [[nodiscard]] std::string words(std::string_view text) const {
    std::string own;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t word = std::min(text.find("block", at), text.size());
      own.append(text.substr(at, word - at));
      if (word < text.size()) own.append(kind);
      at = word + 5;
    }
    return own;
  }
};
inline void Engine::fail_collision(OpId op, const Data& d, std::int64_t element, const Sharer& sharer, std::string_view what, std::int64_t other,
                                   std::string_view hint) const {
  fail(f_[op].location,
       std::string(f_.info(op).name).append(": ").append(sharer.words(what)) + " (" + sharer.words("blocks ") + std::to_string(other) + ", " +
           std::to_string(sharer.number) + ", element " + index_of(d.dims, element).text() + ")",
       sharer.words(hint));
}
template <class Note>
void Engine::note(const Data& d, std::int64_t element, Note note) const {
  if (!d.accesses.empty()) note(d.accesses.of_element[static_cast<std::size_t>(element)], Sharer{options.block, "block"});
  if (!d.thread_accesses.empty()) note(d.thread_accesses.of_element[static_cast<std::size_t>(element)], Sharer{thread_, "thread"});
}
inline void Engine::note_read(OpId reader, const Data& d, std::int64_t element) const {
  note(d, element, [&](Access& a, const Sharer& own) {
    std::int32_t other = a.adders.other_than(own.number);
    if (other < 0 && a.writer != own.number) other = a.writer;
    if (other >= 0)
      fail_collision(reader, d, element, own, "another block of the launch writes the element that is read", other,
                     "blocks run side by side: write in one launch, and read in the next");
    if (a.writer != own.number) a.readers.add(own.number);
  });
}
inline void Engine::note_write(OpId writer, const Data& d, std::int64_t element, bool was_known, const Number& before) const {
  note(d, element, [&](Access& a, const Sharer& own) {
    if (const std::int32_t reader = a.readers.other_than(own.number); reader >= 0)
      fail_collision(writer, d, element, own, "another block of the launch reads the element that is written", reader,
                     "blocks run side by side: read in one launch, and write in the next");
    if (const std::int32_t adder = a.adders.other_than(own.number); adder >= 0)
      fail_collision(writer, d, element, own, "another block of the launch adds to the element that is written", adder,
                     "blocks run side by side: write in one launch, and add in the next");
    const bool same = was_known && same_number(d.number(element), before);
    if (a.writer >= 0 && a.writer != own.number && !same)
      fail_collision(writer, d, element, own, "two blocks of the launch write different numbers to one element", a.writer,
                     f_.kind == FunctionKind::simt ? "let each block write elements of its own, or add with atomic_add(...)"
                                                   : "let each block write elements of its own, or add with Atomic::add");
    a.writer = static_cast<std::int32_t>(own.number);
  });
}
inline void Engine::note_add(OpId writer, const Data& d, std::int64_t element) const {
  note(d, element, [&](Access& a, const Sharer& own) {
    if (const std::int32_t reader = a.readers.other_than(own.number); reader >= 0)
      fail_collision(writer, d, element, own, "another block of the launch reads the element that is added to", reader,
                     "blocks run side by side: read in one launch, and add in the next");
    if (a.writer >= 0 && a.writer != own.number)
      fail_collision(writer, d, element, own, "another block of the launch writes the element that is added to", a.writer,
                     "blocks run side by side: write in one launch, and add in the next");
    a.adders.add(own.number);
  });
}

inline void Engine::check_arguments(OpId op, const Function& to) const {
  for (int i = 0; i < f_.operand_count(op); ++i) {
    const Slot& a = slots_[f_.operand(op, i).index];
    const Parameter& first = to.parameters[static_cast<std::size_t>(i)];
    if (!f_.type(f_.operand(op, i)).is_tensor()) continue;
    check_defined(f_.operand(op, i));
    if (a.is_input && first.direction != Direction::in)
      throw UserError(diagnose(breaks(rule::not_an_output, arg_op), "call", f_[op].location));
    for (int k = i + 1; k < f_.operand_count(op); ++k) {
      const Parameter& second = to.parameters[static_cast<std::size_t>(k)];
      if (slots_[f_.operand(op, k).index].data == a.data) refuse_overlap(to, first, second, f_[op].location);
    }
  }
}
// The body runs with the valid extents that the arguments have.
inline void Engine::bind_tileop_argument(OpId op, int i, Engine& callee) const {
  const Parameter& p = callee.f_.parameters[static_cast<std::size_t>(i)];
  const ValueId v = f_.operand(op, i);
  if (f_.type(v).is_scalar()) return callee.set_number(p.value, number(v));
  check_intact(op, v);
  check_defined(v);
  if (f_.type(v).is_tensor()) bind_dims(callee, p, slots_[v.index].dims, f_[op].location);
  callee.slots_[p.value.index] = slots_[v.index];
}
inline void Engine::run_tileop(OpId op) {
  const Function& to = called_tileop(f_, op);
  std::vector<std::vector<std::int64_t>> extents(f_[op].operand_count);
  for (int i = 0; i < f_.operand_count(op); ++i) {
    const ValueId v = f_.operand(op, i);
    if (!f_.type(v).is_tile() || f_.fully_valid(v)) continue;
    const Box box = valid(v);
    extents[static_cast<std::size_t>(i)].assign(box.dims, box.dims + box.rank);
  }
  const Function body = instantiate(to, extents);
  Engine inner(body, options);
  for (int i = 0; i < f_.operand_count(op); ++i) bind_tileop_argument(op, i, inner);
  const OpId end = inner.run();
  add_statistics(statistics, inner.statistics);
  for (int i = 0; i < f_.result_count(op); ++i) {
    const ValueId from = body.operand(end, i), result = f_.result(op, i);
    if (inner.valid(from) != valid(result))
      throw InternalError("simulate: " + describe(op) + ": " + std::string(to.name.c_str()) + " returns a tile with other valid extents than the call states");
    define(op, result, std::make_shared<Data>(inner.read(end, from)));
  }
}
// Of a call or a launch. Memory is handed on with the dims with which the caller sees it.
inline void Engine::bind_argument(OpId op, int i, const Function& to, Engine& inner) const {
  const Parameter& p = to.parameters[static_cast<std::size_t>(i)];
  const ValueId v = f_.operand(op, i);
  if (f_.type(v).is_scalar()) return inner.set_number(p.value, number(v));
  const std::shared_ptr<Data>& memory = data_of(v);
  const Box dims = slots_[v.index].is_memory ? slots_[v.index].dims : memory->dims;
  bind_dims(inner, p, dims, f_[op].location);
  inner.set_memory(p.value, memory, p.direction);
  inner.slots_[p.value.index].dims = dims;
}
inline void Engine::run_call(OpId op) {
  if (runs_on_chip(f_.kind)) return run_tileop(op);
  if (program_ == nullptr) throw InternalError("simulate: a call outside of a program");
  const Function& to = callee(*program_, f_, op);
  check_arguments(op, to);
  const std::int64_t blocks = to.kind == FunctionKind::spmd ? to.blocks : 1;
  SharedTensors shared(blocks);
  BlockResults results;
  for (int i = 0; i < f_.operand_count(op); ++i) shared.add(slots_[f_.operand(op, i).index].data);
  for (std::int64_t block = 0; block < blocks; ++block) {
    Engine inner(to, callee_options(options, f_.kind, to, block), program_);
    for (int i = 0; i < f_.operand_count(op); ++i) bind_argument(op, i, to, inner);
    const OpId end = inner.run();
    add_statistics(statistics, inner.statistics);
    if (blocks > 1) results.add(inner, end, block);
    if (block + 1 == blocks) take_results(op, inner, end);
  }
}
// One thread behind the other, as far as they wait for each other, and then all of them from there on.
inline OpId Engine::run_threads() {
  const std::int64_t threads = f_.threads.total();
  std::vector<std::vector<Slot>> values;  // of each thread, where they wait
  OpId end, from = f_[f_.body()].first;
  while (from) {
    SharedTensors shared(threads, &Data::thread_accesses);
    for (const Parameter& p : f_.parameters) shared.add(slots_[p.value.index].data);
    for (thread_ = 0; thread_ < threads; ++thread_) {
      if (!values.empty()) slots_.swap(values[static_cast<std::size_t>(thread_)]);
      end = run_until_sync(from);
      if (!f_.is(end, ops::sync_threads)) continue;
      if (values.empty()) values.assign(static_cast<std::size_t>(threads), slots_);
      values[static_cast<std::size_t>(thread_)] = slots_;
    }
    from = f_.next(end);
  }
  return end;
}
inline OpId Engine::run_until_sync(OpId from) {
  OpId op = from;
  while (!f_.is(op, ops::sync_threads) && f_.next(op)) {
    run_operation(op);
    op = f_.next(op);
  }
  run_operation(op);
  return op;
}
inline void Engine::run_launch(OpId op) {
  const Function& to = launched(f_, op);
  Engine inner(to, options);
  for (int i = 0; i < f_.operand_count(op); ++i) bind_argument(op, i, to, inner);
  inner.run();
  add_statistics(statistics, inner.statistics);
}
inline void Engine::take_results(OpId op, const Engine& callee, OpId end) {
  for (int i = 0; i < f_.result_count(op); ++i) {
    Slot& result = slots_[f_.result(op, i).index];
    const ValueId from = callee.f_.operand(end, i);
    if (f_.type(f_.result(op, i)).is_scalar()) {
      result.number = callee.number(from);
      continue;
    }
    // A kernel returns a value; on the host a tensor is the same one under every name.
    const std::shared_ptr<Data>& data = callee.data_of(from);
    if (callee.f_.kind == FunctionKind::kernel) check_returned(callee, end, i);
    result.data = callee.f_.kind == FunctionKind::kernel ? std::make_shared<Data>(*data) : data;
  }
}

}  // namespace tessera::simulator
