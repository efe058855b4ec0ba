// Which loops of a function get buffers for several turns: those whose author asks for it, and on request those that stream,
// which load data and do something with it. What cannot be pipelined is an error where it is asked for, otherwise a note.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "../../ir/accesses.hpp"
#include "../../ir/split_regions.hpp"
#include "../trips.hpp"

namespace tessera::detail {

/// A loop that is to be unrolled: so many turns of it become one.
struct PipelinedLoop {
  OpId loop;
  std::int64_t turns = 1;
  bool requested = false;
  bool factors_shared = false;  ///< the cube unit's own spaces have no room for all turns
  std::size_t note = 0;  ///< its number among the notes
};

class PipelineCandidates {
 public:
  /// Larger bodies are not pipelined without being asked.
  static constexpr int most_operations = 256;

  /// `automatic`: also loops whose author asks for nothing. Throws UserError.
  PipelineCandidates(const Function& f, bool automatic) : f_(f), automatic_(automatic) { static_cast<void>(look(f.body())); }

  /// In the order of the program; none stands in another one.
  [[nodiscard]] const std::vector<PipelinedLoop>& loops() const { return loops_; }
  [[nodiscard]] const Pool<LoopNote>& notes() const { return notes_; }

 private:
  // What stands in a block and the blocks in it.
  struct Content {
    int operations = 0;
    bool loads = false, works = false;
    bool streams = false;  // a loop does
    OpId whiles, split, requested;
    OpId placed;  // a tile in the declared buffer that has slots for the fewest turns
    std::int64_t slots = most_slots;
    void add(const Content& o) {
      operations += o.operations;
      loads = loads || o.loads;
      works = works || o.works;
      streams = streams || o.streams;
      if (!whiles) whiles = o.whiles;
      if (!split) split = o.split;
      if (!requested) requested = o.requested;
      note_slots(o.placed, o.slots);
    }
    void note_slots(OpId op, std::int64_t n) {
      if (n >= slots) return;
      slots = n;
      placed = op;
    }
  };
  // A tile that takes another slot in each turn has buffers for as many turns as there are slots.
  [[nodiscard]] std::int64_t slots_for_turns(OpId place) const {
    return f_.find_attr(place, AttrKey::slot) != nullptr ? 1 : f_.storage[static_cast<std::size_t>(f_.attr(place, AttrKey::buffer))].slots;
  }
  [[nodiscard]] std::string slots_text(const Content& body) const {
    const Storage& s = f_.storage[static_cast<std::size_t>(f_.attr(body.placed, AttrKey::buffer))];
    const Attr* const slot = f_.find_attr(body.placed, AttrKey::slot);
    return "a tile is placed in " + (slot != nullptr ? slot_text(s, slot->integer) : s.name.str()) + ", which has room for " + std::to_string(body.slots) +
           (body.slots == 1 ? " turn" : " turns");
  }
  [[nodiscard]] Content look(BlockId b) {
    Content c;
    for (OpId op = f_[b].first; op; op = f_.next(op)) {
      ++c.operations;
      if (f_.is(op, ops::place)) c.note_slots(op, slots_for_turns(op));
      const Pipe pipe = f_.info(op).is_view ? Pipe::none : pipe_of(f_, op);
      c.loads = c.loads || pipe == Pipe::mte2;
      c.works = c.works || (pipe != Pipe::mte2 && pipe != Pipe::scalar && pipe != Pipe::none);
      for (int k = 0; k < f_.block_count(op); ++k) {
        const std::size_t loops = loops_.size(), notes = notes_.size();
        Content inner = look(f_.block(op, k));
        if (f_.is(op, ops::while_loop)) inner.whiles = op;
        if (is_split_region(f_, op)) inner.split = op;
        else if (f_.is(op, ops::for_loop)) loop(op, inner, loops, notes);
        c.add(inner);
      }
    }
    return c;
  }
  // `loops`, `notes`: how many there were in front of the body.
  void loop(OpId op, Content& body, std::size_t loops, std::size_t notes) {
    if (f_.find_attr(op, AttrKey::unrolled) != nullptr) return void(body.streams = true);
    const std::int64_t asked = f_.attr(op, AttrKey::pipelined);
    const bool streams = body.loads && body.works;
    if (asked > 1) {
      refuse_request(op, body);
      loops_.resize(loops);  // of the loops inside
      notes_.shrink(notes);
      note(op, asked, true, {});
      body.requested = op;
    } else if (automatic_ && asked == 0 && streams && !body.streams && !body.whiles && !body.split && !body.requested) {
      const bool large = body.operations > most_operations;
      note(op, 2, false,
           large            ? "its body has " + std::to_string(body.operations) + " operations, more than " + std::to_string(most_operations)
           : body.slots < 2 ? slots_text(body)
                            : std::string());
    }
    body.streams = body.streams || streams;
  }
  void note(OpId op, std::int64_t wanted, bool requested, std::string reason) {
    if (reason.empty()) reason = trip_fault(f_, op);
    if (requested && !reason.empty())
      fail(f_[op].location, "range: the loop cannot be pipelined (" + reason + ")",
           "leave out pipelined(...), or make the step of small constants, dims and block_count()");
    const std::int64_t trips = reason.empty() ? known_trips(f_, op) : unknown_trips;
    const std::int64_t turns = !reason.empty() ? 1 : trips == unknown_trips ? wanted : std::min(trips, wanted);
    if (reason.empty() && turns < wanted) reason = "it has " + std::to_string(trips) + (trips == 1 ? " turn" : " turns");
    if (turns > 1) loops_.push_back({op, turns, requested, false, notes_.size()});
    notes_.push_back({f_[op].location, turns > 1 ? turns : 1, requested, reason});
  }
  void refuse_request(OpId op, const Content& body) const {
    const auto line = [&](OpId o) { return " (line " + std::to_string(f_[o].location.line) + ")"; };
    if (body.requested)
      fail(f_[op].location, "range: a pipelined loop holds another one" + line(body.requested),
           "leave out pipelined(...) at one of them: at the inner one, data of its turns is loaded ahead");
    if (body.whiles)
      fail(f_[op].location, "range: a pipelined loop holds a while_" + line(body.whiles),
           "leave out pipelined(...), or count with range in place of while_");
    if (body.slots < f_.attr(op, AttrKey::pipelined))
      fail(f_[op].location, "range: the loop cannot be pipelined (" + slots_text(body) + ", line " + std::to_string(f_[body.placed].location.line) + ")",
           "declare the buffer with a slot for each turn, buffer<Vec, " + std::to_string(f_.attr(op, AttrKey::pipelined)) +
               ">(...), and place(x, it) without an index");
    if (body.split)
      fail(f_[op].location, "range: a pipelined loop holds a split region" + line(body.split), "leave out pipelined(...)");
  }

  const Function& f_;
  const bool automatic_;
  std::vector<PipelinedLoop> loops_;
  Pool<LoopNote> notes_;
};

}  // namespace tessera::detail
