// The machinery of convert_tensor_to_tile_ops: the tile that stands for each tensor value, loads of whole parameters where
// and as often as they are needed, and the lowering of operations that keep their name.
#pragma once


#include "../../ir/printer.hpp"
#include "../../ir/rewrite.hpp"
#include "../../ir/signature.hpp"
#include "../pass.hpp"
#include "collecting_loops.hpp"
#include "placement.hpp"

namespace tessera::convert {

class Converter {
 public:
  Converter(const Function& in, Function& out, const PassContext& context)
      : in_(in), out_(out), context_(context), placement_(in), collecting_(in), rewriter_(in, out), in_mat_(in.value_count()) {}

  [[nodiscard]] const Function& in() const { return in_; }
  [[nodiscard]] Function& out() { return out_; }
  [[nodiscard]] Arch arch() const { return context_.arch; }
  [[nodiscard]] const Placement& placement() const { return placement_; }
  [[nodiscard]] const CollectingLoops& collecting() const { return collecting_; }
  [[nodiscard]] Rewriter& rewriter() { return rewriter_; }
  [[nodiscard]] Builder& build() { return rewriter_.build(); }
  [[nodiscard]] Location location(OpId op) const { return in_[op].location; }

  /// Rewrites the function. `lower` gets every operation; it lowers it in its own way or calls `plain` or `control`.
  template <class Lower>
  void run(Lower&& lower) {
    rewriter_.copy_parameters();
    for (const Parameter& p : in_.parameters) {
      Parameter& made = out_.parameters[static_cast<std::size_t>(&p - in_.parameters.data())];
      if (!in_.type(p.value).is_tensor()) continue;
      if (!in_.fully_valid(p.value)) rewriter_.copy_valid(p.value, made.value);
      if (p.direction == Direction::in && placement_.written(p.value))
        made.direction = placement_.read(p.value) ? Direction::inout : Direction::out;
    }
    rewriter_.run([&](OpId op) {
      if (!entered_) load_parameters();
      build().at(location(op));
      lower(*this, op);
    });
  }

  /// The tile (or scalar) that stands for operand `i` of an operation, near `space`; a parameter that the operation addresses
  /// as memory stays what it is.
  [[nodiscard]] ValueId operand(OpId op, int i) {
    const ValueId v = in_.operand(op, i);
    if (!in_.type(v).is_tensor() || placement_.is_memory(op, i)) return rewriter_.map(v);
    const SpaceSet wanted = placement_.wanted(op, i);
    return tile(v, wanted.any() ? Vec : wanted.first(), op);
  }
  /// The tile that stands for a tensor value: in `space` where it is read from GM, else where it was made.
  [[nodiscard]] ValueId tile(ValueId v, MemorySpace space, OpId user) {
    if (placement_.is_parameter(v)) return whole(v, space == Mat ? Mat : Vec, user);
    return space == Mat && in_mat_[v.index] ? in_mat_[v.index] : rewriter_.map(v);
  }
  /// Puts a tile into a space, by a move where it stands elsewhere.
  [[nodiscard]] ValueId placed(ValueId t, MemorySpace space) {
    const Type& type = out_.type(t);
    if (!type.is_tile() || type.space == space) return t;
    return build().value(ops::move, {t}, {}, with_space(type, space));
  }
  /// A tile that stands for an old value, with the valid extents of that.
  [[nodiscard]] ValueId with_extents_of(ValueId old, ValueId made) {
    std::vector<Extent> extents;
    for (int i = 0; i < in_.type(old).rank; ++i) extents.push_back(rewriter_.map(in_.valid(old, i)));
    return build().with_valid(made, extents);
  }
  /// States what stands for a value, or for its second copy in Mat.
  void set(ValueId from, ValueId to) { rewriter_.set(from, to); }
  void set_second(ValueId from, ValueId to) { in_mat_[from.index] = to; }

  /// Scratch tiles that an instruction needs and the operation does not have yet. Transposes get theirs when they are 2-D.
  void add_scratch(const OpInfo& op, std::vector<ValueId>& operands) {
    if (op.scratch == ScratchRule::like_first || operands.size() != static_cast<std::size_t>(scratch_operand(op))) return;
    const Type& model = out_.type(operands[static_cast<std::size_t>(scratch_model(op))]);
    const auto type_at = [&](int i) { return out_.type(operands[static_cast<std::size_t>(i)]); };
    if (model.is_tile()) operands.push_back(build().value(ops::create, {}, {}, scratch_type_of(op, type_at)));
  }

  /// An operation that keeps its name, on tiles.
  void plain(OpId op) {
    const OpInfo& info = in_.info(op);
    if (info.level == Level::tensor)
      throw InternalError("convert_tensor_to_tile_ops: no tile operation for\n  " + print(in_, op));
    if (in_.result_count(op) > 0 && in_.type(in_.result(op)).is_tensor()) {
      const ValueId r = in_.result(op);
      if (placement_.passes_through(op) && placement_.home(r) == Home::loaded)
        each_place(r, [&](MemorySpace s) { return emit(op, info, s); });
      else set(r, emit(op, info, in_.info(op).result_spaces.any() ? placement_.place(r) : Vec));
      return;
    }
    std::vector<ValueId> operands;
    for (int i = 0; i < in_.operand_count(op); ++i) operands.push_back(operand(op, i));
    add_scratch(info, operands);
    const OpId made =
        build().emit(info, operands, rewriter_.attrs(op), in_.result_count(op) > 0 ? in_.type(in_.result(op)) : Type{});
    if (in_.result_count(op) > 0) set(in_.result(op), out_.result(made));
    rewriter_.keep_stated_extents(op, made);
  }
  /// Calls make(space) for every place in which a value read from GM is wanted.
  template <class Make>
  void each_place(ValueId v, Make&& make) {
    const SpaceSet places = placement_.places(v);
    if (has(places, Vec)) set(v, make(Vec));
    if (!has(places, Mat)) return;
    if (has(places, Vec)) set_second(v, make(Mat));
    else set(v, make(Mat));
  }
  /// Loops, branches and terminators; what they carry is brought to one place.
  template <class Lower>
  void control(OpId op, Lower&& lower) {
    std::vector<ValueId> operands;
    for (int i = 0; i < in_.operand_count(op); ++i) {
      const ValueId g = receiver(in_, op, i);
      if (!g || !in_.type(g).is_tensor()) operands.push_back(rewriter_.map(in_.operand(op, i)));
      else operands.push_back(placed(tile(in_.operand(op, i), placement_.place(g), op), placement_.place(g)));
    }
    if (in_.is(op, ops::yield) || in_.is(op, ops::condition)) check_extents(op, operands);
    rewriter_.copy_control(op, operands, [&](OpId o) { lower(*this, o); });
  }

  /// The Out parameter that receives operand `i` of the return.
  [[nodiscard]] ValueId result_parameter(int i) {
    if (results_.empty()) declare_results();
    return results_[static_cast<std::size_t>(i)];
  }
  void store(ValueId source, ValueId target, List<ValueId> offsets) {
    std::vector<ValueId> operands = {source, target};
    operands.insert(operands.end(), offsets.begin(), offsets.end());
    build().emit(ops::store, operands);
  }

  /// A load of the window of a parameter at `offsets`, with the given shape.
  [[nodiscard]] ValueId load(ValueId parameter, List<ValueId> offsets, List<std::int64_t> shape, MemorySpace space) {
    std::vector<ValueId> operands = {rewriter_.map(parameter)};
    operands.insert(operands.end(), offsets.begin(), offsets.end());
    const Type t = with_shape(in_.type(parameter), shape.begin(), static_cast<int>(shape.size()));
    return build().value(ops::load, operands, {}, lowered(t, space));
  }

 private:
  struct Loaded {
    ValueId tile;
    BlockId block;
  };

  ValueId emit(OpId op, const OpInfo& info, MemorySpace space) {
    std::vector<ValueId> operands;
    const bool view = placement_.passes_through(op);
    for (int i = 0; i < in_.operand_count(op); ++i) {
      const ValueId v = in_.operand(op, i);
      operands.push_back(view && i == 0 ? tile(v, space, op) : operand(op, i));
    }
    // Rows that change their length, and windows that are written, need plain element order.
    const bool reordered = (in_.is(op, ops::reshape) || in_.is(op, ops::reinterpret)) && !view;
    if (reordered || in_.is(op, ops::assemble)) operands[0] = placed(operands[0], Vec);
    add_scratch(info, operands);
    return build().value(info, operands, rewriter_.attrs(op), lowered(in_.type(in_.result(op)), space));
  }

  // --- results ---
  // Each gets a parameter of its own, named after the value.
  void declare_results() {
    const OpId end = in_.terminator(in_.body());
    for (int i = 0; i < in_.operand_count(end); ++i) {
      const ValueId v = in_.operand(end, i);
      ValueId& target = results_.emplace_back();
      if (!in_.type(v).is_shaped()) continue;
      target = out_.add_argument(out_.body(), with_space(in_.type(v), Gm));
      const bool named = !placement_.is_parameter(v) && !std::string_view(in_.name_of(v)).empty();
      const Text name = unused_parameter_name(out_, named ? std::string_view(in_.name_of(v)) : "out");
      out_.parameters.push_back({target, name, Direction::out, location(end)});
    }
  }

  // --- whole parameters ---
  void load_parameters() {
    entered_ = true;
    entry_.resize(in_.parameters.size());
    for (std::size_t i = 0; i < in_.parameters.size(); ++i) {
      const Parameter& p = in_.parameters[i];
      if (!in_.type(p.value).is_tensor() || !placement_.loaded_at_entry(p.value)) continue;
      require_static(p.value, {});
      build().at(p.location);
      entry_[i] = load_whole(p.value, Vec);
    }
  }
  ValueId whole(ValueId v, MemorySpace space, OpId user) {
    const std::size_t i = in_[v].position;
    require_static(v, user);
    const bool is_view = parameter_of(in_, v) != v;
    if (is_view || placement_.written(v)) return load_whole(v, space);  // never what an earlier load saw
    if (space == Vec && entry_[i]) return entry_[i];
    std::vector<Loaded>& known = space == Mat ? mat_loads_ : vec_loads_;
    known.resize(in_.parameters.size());
    if (known[i].tile && encloses(known[i].block, build().block())) return known[i].tile;
    // What a loop reads in every round is loaded once, in front of it.
    const BlockId here = build().block();
    const OpId loop = outermost_loop(out_, here);
    if (loop) build().to_before(loop);
    known[i] = {load_whole(v, space), build().block()};
    build().to_end_of(here);
    return known[i].tile;
  }
  ValueId load_whole(ValueId v, MemorySpace space) {
    const Type& t = in_.type(v);
    const std::vector<ValueId> zeros(t.rank, build().index(0));
    const ValueId made = load(v, zeros, {t.dims, t.rank}, space);
    const std::string& name = in_.parameters[in_[parameter_of(in_, v)].position].name;
    if (!name.empty()) out_.set_name(made, name + (space == Mat ? "_mat" : "_tile"));
    return made;
  }
  void require_static(ValueId v, OpId user) const {
    if (in_.type(v).has_static_shape()) return;
    const Parameter& p = in_.parameters[in_[parameter_of(in_, v)].position];
    OpId op = user;
    // The first use, when the load is due to none in particular.
    if (!op) {
      for (const OpId o : all_operations(in_)) {
        for (int i = 0; i < in_.operand_count(o) && !op; ++i)
          if (in_.operand(o, i) == v && !placement_.is_memory(o, i)) op = o;
        if (op) break;
      }
    }
    fail(in_[op].location,
         std::string(in_.info(op).name) + ": a tensor with a run-time dim cannot be loaded as a whole (" + p.name +
             ", " + text(in_.type(v)) + ")",
         "loop over static chunks, slice<Shape<...>>(" + p.name +
             ", at(...), valid(...)) with the tail's extents; or give the parameter a static shape");
  }
  [[nodiscard]] bool encloses(BlockId outer, BlockId inner) const {
    for (BlockId b = inner; b; b = out_[b].owner ? out_[out_[b].owner].parent : BlockId{})
      if (b == outer) return true;
    return false;
  }

  // --- valid extents ---
  // A carried value has the same extents in every round, and a branch's result in both branches.
  void check_extents(OpId op, const std::vector<ValueId>& operands) {
    const OpId owner = out_[build().block()].owner;
    const bool branch = out_.is(owner, ops::if_else);
    if ((branch && build().block() == out_.block(owner)) || out_.is(owner, ops::tileop_body)) return;  // of a tile operation: the call states them
    const auto first = static_cast<std::size_t>(fixed_operands(in_, op));
    for (std::size_t i = first; i < operands.size(); ++i) {
      const int carried = static_cast<int>(i - first);
      const ValueId like = branch ? handed_on(out_, out_.block(owner), carried) : carried_argument(out_, owner, 0, carried);
      const Type& t = out_.type(like);
      if (!t.is_shaped() || !out_.type(operands[i]).same_shape(t)) continue;
      for (int axis = 0; axis < t.rank; ++axis)
        if (out_.valid(like, axis) != out_.valid(operands[i], axis))
          fail(location(in_[in_[op].parent].owner),
               std::string(out_.info(owner).name) + ": " +
                   (branch ? "the branches yield" : "a carried value starts and continues") +
                   " with different valid extents (axis " + std::to_string(axis) + " of " + text(t) + ")",
               "use fillpad(x) or set_valid_shape(x, ...) so that both have the same extents");
    }
  }

  const Function& in_;
  Function& out_;
  const PassContext& context_;
  Placement placement_;
  CollectingLoops collecting_;
  Rewriter rewriter_;
  std::vector<ValueId> in_mat_;
  std::vector<ValueId> entry_;
  std::vector<ValueId> results_;  // by operand of the return
  std::vector<Loaded> vec_loads_, mat_loads_;
  bool entered_ = false;
};

}  // namespace tessera::convert
