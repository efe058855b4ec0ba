// The verifier: throws InternalError, with the printed operation, where a function is not well formed, where a recorded
// type is not the one that its rule infers, or where a promised property does not hold. Linear in the operations.
#pragma once

#include <string>
#include <vector>

#include "../ops/broadcast.hpp"
#include "../ops/memory.hpp"
#include "../ops/sync.hpp"
#include "addresses.hpp"
#include "builder.hpp"
#include "printer.hpp"
#include "program.hpp"
#include "properties.hpp"
#include "split_regions.hpp"
#include "sync_check.hpp"

namespace tessera {
namespace detail {

class Verifier {
 public:
  Verifier(const Function& f, Properties required) : f_(f), required_(required), visible_(f.value_count()) {}

  void run() {
    for (const Parameter& p : f_.parameters)
      if (f_[p.value].kind != ValueKind::argument || f_[p.value].owner != f_.body().index)
        throw InternalError("verify: parameter " + p.name + " of " + f_.name + " is not an argument of the body");
    for (const auto& t : f_.tileops) {
      if (t == nullptr || t->kind != FunctionKind::tileop) throw InternalError("verify: " + f_.name + " holds a tile operation that is none");
      Verifier(*t, {}).run();
    }
    for (const auto& s : f_.launched) {
      if (s == nullptr || s->kind != FunctionKind::simt) throw InternalError("verify: " + f_.name + " holds a simt kernel that is none");
      Verifier(*s, {}).run();
    }
    block(f_.body(), ops::return_op);
    if (required_.contains(Property::addresses_planned))
      if (const auto fault = address_fault(f_)) refuse_fault("addresses_planned: ", fault->op, fault->what);
    if (required_.contains(Property::synchronised))
      if (const auto fault = sync_fault(f_)) refuse_fault("synchronised: ", fault->op, fault->what);
    if (!required_.contains(Property::split_regions_valid)) return;
    if (const auto fault = split_fault(f_)) throw InternalError("verify: split_regions_valid: " + fault->text(true));
  }

 private:
  [[noreturn]] void refuse(OpId op, const std::string& what) const {
    std::string at;
    if (const Location& l = f_[op].location; l.line != 0) at = Diagnostic{l, {}, {}}.text(true);
    if (const auto end = at.find("error: "); end != std::string::npos) at.erase(end);
    throw InternalError("verify: " + at + what + "\n  " + print(f_, op));
  }
  [[noreturn]] void refuse_fault(const std::string& property, OpId op, const std::string& what) const {
    if (op) refuse(op, property + what);
    throw InternalError("verify: " + property + what + " (" + std::string(f_.name.c_str()) + ")");
  }
  void require(bool holds, OpId op, std::string_view what) const {
    if (!holds) refuse(op, std::string(what));
  }

  // --- structure and dominance ---
  void block(BlockId b, const OpInfo& terminator) {
    const Block& block = f_[b];
    if (!block.last) throw InternalError("verify: " + f_.name + " has a block without operations");
    std::vector<ValueId> defined(block.arguments.begin(), block.arguments.end());
    for (const ValueId v : defined) argument(v, b);
    OpId previous{};
    for (OpId op = block.first; op; previous = op, op = f_.next(op)) {
      require(f_[op].parent == b && f_[op].previous == previous, op, "the operation's links do not fit its block");
      const bool last = op == block.last;
      require(last == !f_.next(op), op, "the block's last operation is not the end of its list");
      if (last) require(f_.is(op, terminator), op, "the block does not end in " + std::string(terminator.name));
      else require(!is_terminator(op), op, "a terminator stands inside a block");
      operation(op);
      for (int i = 0; i < f_.result_count(op); ++i) {
        const ValueId r = f_.result(op, i);
        require(f_[r].kind == ValueKind::result && f_[r].owner == op.index &&
                    f_[r].position == static_cast<std::uint32_t>(i),
                op, "a result does not name its operation");
        define(r, op, defined);
      }
    }
    for (const ValueId v : defined) visible_[v.index] = false;
  }
  void argument(ValueId v, BlockId b) {
    if (f_[v].kind != ValueKind::argument || f_[v].owner != b.index)
      throw InternalError("verify: a block argument of " + f_.name + " does not name its block");
    visible_[v.index] = true;
    if (const OpId owner = f_[b].owner) tile_value(v, owner);
  }
  void define(ValueId v, OpId op, std::vector<ValueId>& defined) {
    if (f_.type(v).is_shaped())
      for (int axis = 0; axis < f_.type(v).rank; ++axis)
        if (const Extent e = f_.valid(v, axis); !e.is_constant())
          require(is_visible(e.value), op, "a valid extent is not defined before the value");
    visible_[v.index] = true;
    defined.push_back(v);
    tile_value(v, op);
  }
  [[nodiscard]] bool is_visible(ValueId v) const {
    const ValueKind kind = f_[v].kind;
    return kind == ValueKind::constant || kind == ValueKind::symbol || visible_[v.index];
  }
  [[nodiscard]] bool is_terminator(OpId op) const {
    return f_.is(op, ops::yield) || f_.is(op, ops::condition) || f_.is(op, ops::return_op);
  }

  void operation(OpId op) {
    for (int i = 0; i < f_.operand_count(op); ++i)
      require(f_.operand(op, i).index < f_.value_count() && is_visible(f_.operand(op, i)), op,
              "operand " + std::to_string(i) + " is not defined before the operation");
    if (f_.kind == FunctionKind::simt) require(runs_in_threads(f_.info(op)), op, "the operation does not run in threads");
    else require(!needs_threads(f_.info(op)), op, "the operation runs in threads only");
    if (f_.info(op).level == Level::control) {
      control(op);
      return;
    }
    require(f_.block_count(op) == 0 && f_.result_count(op) <= 1, op,
            "only control operations have blocks or several results");
    types(op);
    if (required_.contains(Property::tile_ops)) tile_ops(op);
    if (required_.contains(Property::tiles_2d)) tiles_2d(op);
    if (required_.contains(Property::legal)) legal(op);
    if (required_.contains(Property::spaces_inferred)) spaces_inferred(op);
  }
  void require_index(OpId op, int i) const {
    require(f_.type(f_.operand(op, i)).is_index(), op, "a bound is not an index");
  }

  // Carried values: the same types in front, inside and behind.
  void same_types(OpId op, List<ValueId> list, std::size_t first, std::string_view what) const {
    require(list.size() == first + static_cast<std::size_t>(f_.result_count(op)), op,
            "the count of " + std::string(what) + " is not that of the results");
    for (int i = 0; i < f_.result_count(op); ++i) {
      const Type &a = f_.type(list[first + static_cast<std::size_t>(i)]), &b = f_.type(f_.result(op, i));
      if (a != b)
        refuse(op, "the type of " + std::string(what) + " " + std::to_string(i) + " (" + text(a) +
                       ") is not that of the result (" + text(b) + ")");
    }
  }
  void body_of(OpId op, int i, const OpInfo& terminator, std::size_t first, std::size_t fixed_arguments, bool carries) {
    const BlockId b = f_.block(op, i);
    require(f_[b].owner == op, op, "a block does not name its operation");
    if (carries) same_types(op, f_[b].arguments, fixed_arguments, "block arguments");
    else require(f_[b].arguments.empty(), op, "a branch has arguments");
    block(b, terminator);
    same_types(op, f_.operands(f_.terminator(b)), first,
               &terminator == &ops::condition ? "conditions" : "yielded values");
  }
  void control(OpId op) {
    if (f_.is(op, ops::for_loop)) {
      require(f_.operand_count(op) >= 3 && f_.block_count(op) == 1, op, "a loop has three bounds and one block");
      for (int i = 0; i < 3; ++i) require_index(op, i);
      same_types(op, f_.operands(op), 3, "initial values");
      body_of(op, 0, ops::yield, 0, 1, true);
    } else if (f_.is(op, ops::while_loop)) {
      require(f_.block_count(op) == 2, op, "a while loop has two blocks");
      same_types(op, f_.operands(op), 0, "initial values");
      body_of(op, 0, ops::condition, 1, 0, true);
      require(f_.type(f_.operand(f_.terminator(f_.block(op, 0)), 0)) == scalar_type(boolean), op,
              "the condition is not boolean");
      body_of(op, 1, ops::yield, 0, 0, true);
    } else if (f_.is(op, ops::if_else)) {
      require(f_.operand_count(op) == 1 && f_.block_count(op) == 2, op, "a branch has one condition and two blocks");
      require(f_.type(f_.operand(op, 0)) == scalar_type(boolean), op, "the condition is not boolean");
      body_of(op, 0, ops::yield, 0, 0, false);
      body_of(op, 1, ops::yield, 0, 0, false);
    } else if (f_.is(op, ops::tileop_body)) {
      require(runs_on_chip(f_.kind) && f_.find_attr(op, AttrKey::callee) != nullptr && callee_index(f_, op) < f_.tileops.size(), op,
              "the kernel does not hold the tile operation whose body it runs");
      require(f_.block_count(op) == 1, op, "the body of a tile operation is one block");
      require(fixed_operands(f_, op) >= 0 && fixed_operands(f_, op) <= f_.operand_count(op), op, "there are fewer operands than arguments");
      same_types(op, f_.operands(op), static_cast<std::size_t>(fixed_operands(f_, op)), "written tiles");
      body_of(op, 0, ops::yield, 0, 0, true);
    } else if (f_.is(op, ops::call)) {
      require(f_.block_count(op) == 0, op, "a call has blocks");
      if (runs_on_chip(f_.kind)) tileop_call(op);
    } else if (f_.is(op, ops::sync_threads)) {
      require(f_[op].parent == f_.body() && f_.operand_count(op) == 0 && f_.block_count(op) == 0 && f_.result_count(op) == 0, op,
              "threads wait for each other in a loop or branch, or with operands, blocks or results");
    } else if (f_.is(op, ops::launch)) {
      launch(op);
    } else if (is_sync(f_.info(op))) {
      require(f_.block_count(op) == 0 && f_.result_count(op) == 0 && f_.operand_count(op) == 0, op, "a flag or barrier has operands, blocks or results");
      require(f_.attr(op, AttrKey::event) >= 0 && f_.attr(op, AttrKey::event) < event_count, op, "there is no such event");
    } else {
      require(is_terminator(op) && f_.block_count(op) == 0 && f_.result_count(op) == 0, op,
              "the terminator has blocks or results");
      if (required_.contains(Property::tile_ops) && f_.is(op, ops::return_op))
        for (const ValueId v : f_.operands(op))
          require(!f_.type(v).is_shaped(), op, "tile_ops: a tensor or tile is returned and not stored");
    }
  }

  void launch(OpId op) const {
    require(f_.kind == FunctionKind::kernel && f_.block_count(op) == 0 && f_.result_count(op) == 0, op, "a launch has blocks or results, or stands outside of a kernel");
    require(f_.find_attr(op, AttrKey::callee) != nullptr && callee_index(f_, op) < f_.launched.size(), op, "the kernel does not hold the simt kernel that it launches");
    DimBinding binding;
    require_lawful(check_launch(launched(f_, op), f_, f_.operands(op), binding), op);
  }
  void tileop_call(OpId op) const {
    require(!required_.contains(Property::tile_ops), op, "tile_ops: a call of a tile operation is left");
    require(f_.find_attr(op, AttrKey::callee) != nullptr && callee_index(f_, op) < f_.tileops.size(), op, "the kernel does not hold the tile operation that it calls");
    const Function& to = called_tileop(f_, op);
    DimBinding binding;
    require_lawful(check_tileop_call(to, f_, f_.operands(op), binding), op);
    const OpId end = to.terminator(to.body());
    require(end && to.operand_count(end) == f_.result_count(op), op, "the count of results is not what the tile operation returns");
    for (int i = 0; i < f_.result_count(op); ++i)
      require(f_.type(f_.result(op, i)) == to.type(to.operand(end, i)), op, "a result has another type than the tile operation returns");
  }

  // --- types ---
  void require_lawful(const Verdict& v, OpId op) const {
    if (!v.lawful()) refuse(op, diagnose(v, f_.info(op).name, f_[op].location).message);
  }
  void types(OpId op) const {
    with_input(f_, op, [&](const InferInput& in) {
      const Verdict v = infer(f_.info(op), in);
      require_lawful(v, op);
      if (v.result != in.requested)
        refuse(op, "the recorded type (" + text(in.requested) + ") is not the inferred one (" + text(v.result) + ")");
    });
  }

  // --- properties ---
  void tile_ops(OpId op) const {
    const OpInfo& info = f_.info(op);
    if (info.form == PtoForm::memory_view) return require(static_cast<bool>(parameter_of(f_, f_.result(op))), op, "tile_ops: the tensor is not a parameter");
    require(info.level != Level::tensor, op, "tile_ops: a tensor-level operation is left");
    for (int i = 0; i < f_.operand_count(op); ++i) {
      if (!f_.type(f_.operand(op, i)).is_tensor()) continue;
      require(i == memory_operand(info), op, "tile_ops: a tensor-level operation is left");
      require(static_cast<bool>(parameter_of(f_, f_.operand(op, i))), op, "tile_ops: the tensor is not a parameter");
    }
    // A scratch like the operand is added when the operand has its final shape.
    if (info.scratch != ScratchRule::none && info.scratch != ScratchRule::like_first)
      require(f_.operand_count(op) == scratch_operand(info) + 1, op, "tile_ops: the operation has no scratch tile");
  }
  void tiles_2d(OpId op) const {
    const OpInfo& info = f_.info(op);
    for (int i = 0; i < f_.operand_count(op); ++i)
      if (const Type& t = f_.type(f_.operand(op, i)); t.is_tile())
        require(t.rank <= 2, op, "tiles_2d: an operand has more than two dims");
    require(!f_.is(op, ops::broadcast_to), op, "tiles_2d: an operand is still to be repeated");
    window_2d(op);
    if (info.scratch == ScratchRule::like_first)
      require(f_.operand_count(op) == scratch_operand(info) + 1, op, "tiles_2d: the operation has no scratch tile");
    if (f_.is(op, ops::assemble) && f_.type(f_.operand(op, 0)).is_tile())
      require(f_.operand_count(op) <= 4, op, "tiles_2d: assemble has more than two offsets");
    if (info.first_factor >= 0)
      require(f_.attr(op, AttrKey::transpose_lhs) == 0 && f_.attr(op, AttrKey::transpose_rhs) == 0, op,
              "tiles_2d: a tile operand is read transposed");
  }
  // The box of a tensor that a load or a store covers has the rows and columns of the tile; what goes to Mat is one band.
  void window_2d(OpId op) const {
    const bool load = f_.is(op, ops::load);
    const List<std::int64_t> box = f_.attr_list(op, AttrKey::window);
    if ((!load && !f_.is(op, ops::store)) || box.empty()) return;
    const Type &tile = f_.type(load ? f_.result(op) : f_.operand(op, 0)), &tensor = f_.type(f_.operand(op, load ? 0 : 1));
    require(box.size() == tensor.rank, op, "tiles_2d: the window has another rank than the tensor");
    std::int64_t rows = 1;
    for (std::size_t i = 0; i + 1 < box.size(); ++i) rows *= box[i];
    require(tile.rank == 0 || (rows == (tile.rank == 2 ? tile.dims[0] : 1) && box[box.size() - 1] == tile.last()), op,
            "tiles_2d: the window has other rows and columns than the tile");
    require(tile.space != Mat || is_band(box.begin(), tensor.dims, tensor.rank), op, "tiles_2d: a window in Mat is not one band of rows");
  }
  [[nodiscard]] bool on_tiles(OpId op) const {
    for (int i = 0; i < f_.operand_count(op); ++i)
      if (f_.type(f_.operand(op, i)).is_tile()) return true;
    return f_.result_count(op) > 0 && f_.type(f_.result(op)).is_tile();
  }
  void legal(OpId op) const {
    const OpInfo& info = f_.info(op);
    if (on_tiles(op)) {
      require(info.form != PtoForm::expanded, op, "legal: the operation has no instruction");
      require(info.scratch == ScratchRule::none || f_.operand_count(op) == scratch_operand(info) + 1, op,
              "legal: the operation has no scratch tile");
    }
    if (!info.row_major) return;
    const auto rows_first = [&](ValueId v) {
      const Type& t = f_.type(v);
      return !t.is_tile() || t.space != Vec || t.layout == Layout::nd;
    };
    for (int i = 0; i < f_.operand_count(op); ++i)
      require(rows_first(f_.operand(op, i)), op, "legal: an operand is not row-major");
    require(f_.result_count(op) == 0 || rows_first(f_.result(op)), op, "legal: the result is not row-major");
  }
  void spaces_inferred(OpId op) const {
    with_input(f_, op, [&](const InferInput& in) { require_lawful(check_spaces(f_.info(op), in), op); });
  }
  // Properties of a value, wherever it is defined.
  void tile_value(ValueId v, OpId op) const {
    const Type& t = f_.type(v);
    if (required_.contains(Property::tile_ops)) require(!t.is_tensor() || parameter_of(f_, v), op, "tile_ops: a value is still a tensor");
    if (!t.is_tile()) return;
    if (required_.contains(Property::tiles_2d)) require(t.rank <= 2, op, "tiles_2d: a tile has more than two dims");
    if (required_.contains(Property::legal)) require(t.rank != 1, op, "legal: a tile has one dim and is not a row");
    if (!required_.contains(Property::buffers_assigned)) return;
    const std::uint32_t owner = f_[v].buffer;
    require(owner < f_.value_count(), op, "buffers_assigned: a tile has no buffer");
    const Value& o = f_[ValueId{owner}];
    require(o.buffer == owner && o.kind == ValueKind::result, op,
            "buffers_assigned: the buffer's owner is not an operation's result that owns itself");
    require(o.type.space == t.space && o.type.bytes() >= t.bytes(), op,
            "buffers_assigned: the buffer is smaller than the tile or in another space");
  }

  const Function& f_;
  Properties required_;
  std::vector<bool> visible_;
};

}  // namespace detail

/// Checks structure, types, dominance and the promised properties, which are about tiles: a simt kernel has none.
inline void verify(const Function& f, Properties required = {}) { detail::Verifier(f, f.kind == FunctionKind::simt ? Properties() : required).run(); }

}  // namespace tessera
