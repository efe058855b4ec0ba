// The body of a tile operation as a function of the module, and its call. Whatever the body takes from the kernel is a parameter,
// and so is all storage that it needs: the assembler plans each function on its own. Equal bodies are one function.
#pragma once

#include "../../ir/accesses.hpp"
#include "../tileop_body.hpp"
#include "tiles.hpp"

namespace tessera::pto {

void emit_block(Module& m, BlockId b);

class TileopText {
 public:
  TileopText(Module& m, OpId body) : m_(m), f_(m.f), op_(body), body_(m.f, body), scope_(body, m.labels()) {}

  void write() {
    if (!m_.dialect.calls_tileops) refuse("assembler " + std::string(m_.dialect.version) + " has no calls of tile operations", "emit for assembler 0.60; or ");
    // Flags around a call would be waited for by both cores of a block.
    if (m_.cores().both()) refuse("the kernel mixes matrix and vector instructions", "make it two kernels with a tensor between them; or ");
    body_.for_each_operation([&](OpId o) { look(o); });
    if (!kind_) refuse("the body has no instruction", "");
    arguments();
    m_.in_function(scope_, [&] { emit_block(m_, f_.block(op_)); });
    call();
    results();
  }

 private:
  [[noreturn]] void refuse(const std::string& what, const std::string& hint) const {
    pto::refuse(f_, op_, std::string(body_.name()) + ": " + what, hint + std::string(inline_hint));
  }
  // The assembler orders calls as instructions of one pipe, and gives flags to each function on its own.
  void look(OpId o) {
    for_each_access(f_, o, [&](ValueId v, bool writes) {
      if (writes && f_.type(v).is_tile()) written_.push_back(f_[v].buffer);
    });
    const OpInfo& info = f_.info(o);
    if (info.level == Level::control || info.level == Level::scalar) return;
    const Pipe pipe = pipe_of(f_, o);
    if (pipe == Pipe::none) return;
    if (pipe != Pipe::vector && pipe != Pipe::cube)
      pto::refuse(f_, o, "the body of a tile operation that is called only computes (" + std::string(body_.name()) + ", pipe " + std::string(name(pipe)) + ")",
                  "move data in the kernel; or " + std::string(inline_hint));
    kind_ = pipe == Pipe::vector ? KernelKind::vector : KernelKind::cube;
  }

  // --- parameters: as the definition has them, then what the body needs besides ---
  void arguments() {
    body_.for_each_parameter([&](ValueId v, std::string_view name) { argument(v, name); }, [&](int i) { carried(i); });
  }
  void argument(ValueId v, std::string_view name) {
    if (std::find(bound_.begin(), bound_.end(), v) != bound_.end() || f_.is_constant(v)) return;
    bound_.push_back(v);
    const Type& type = f_.type(v);
    if (type.is_scalar()) {
      const Name inside = scope_.scalars[v.index] = m_.function_word(scope_, name);
      return scope_.parameters.push_back({inside, m_.scalar(v), false, 0, type.dtype});
    }
    Tile t = m_.tile(v);
    if (t.kind == Tile::Kind::part || (t.kind == Tile::Kind::window && type.space != Vec))
      refuse("a part of a tile in " + std::string(info(type.space).name) + " is no argument of a call", "");
    if (t.kind == Tile::Kind::window) t = copy_window(m_, op_, t, v, m_.key(v), {}, {}, extents_of(m_, v));
    add(v, t, name, ArgEffect::read, no_index);
  }
  // What becomes result number `i`.
  void carried(int i) {
    const ValueId initial = f_.operand(op_, fixed_operands(f_, op_) + i), inside = carried_argument(f_, op_, 0, i);
    if (f_.type(inside).is_scalar()) {
      const Name number = m_.function_word(scope_, body_.output(i));
      scope_.parameters.push_back({number, m_.scalar(initial), false, 0, f_.type(inside).dtype});
      return m_.bind(inside, number);
    }
    const Tile t = m_.tile(initial);
    const std::uint32_t buffer = f_[inside].buffer;
    if (f_[initial].buffer != buffer) contradict(m_, op_, "a written tile leaves the buffer of its initial value");
    if (t.copied || t.kind == Tile::Kind::window || t.kind == Tile::Kind::part) refuse("a part of a tile is no output of a call", "pass a tile of its own; or ");
    const bool writes = std::find(written_.begin(), written_.end(), buffer) != written_.end(), reads = f_.has_uses(inside);
    add({buffer}, t, body_.output(i), writes ? reads ? ArgEffect::readwrite : ArgEffect::write : reads ? ArgEffect::read : ArgEffect::none, buffer);
    m_.bind(inside, last_);
  }
  void add(ValueId v, const Tile& t, std::string_view name, ArgEffect effect, std::uint32_t buffer) {
    last_ = t;
    last_.name = m_.function_word(scope_, name);
    last_.part = 0;
    last_.kind = Tile::Kind::reshaped;  // the assembler takes no window of a parameter
    scope_.parameters.push_back({last_.name, t.name, true, t.type, {}, buffer, effect});
    m_.bind_from_outside(scope_, v, last_);
  }

  // --- the text ---
  void call() {
    std::string text("("), given, types, effects;
    for (const FunctionParameter& p : scope_.parameters) {
      const std::string type(p.is_tile ? m_.types.text(p.type) : signless(p.dtype)), comma(given.empty() ? "" : ", ");
      m_.spell(text.append(comma), p.inside);
      text.append(": ").append(type);
      m_.spell(given.append(comma), p.outside);
      types.append(comma).append(type);
      effects.append(comma).append("\"").append(tessera::name(p.effect)).append("\"");
    }
    const bool cube = *kind_ == KernelKind::cube;
    text.append(") attributes {pto.ptodsl.subkernel_helper = \"").append(cube ? "cube" : "simd").append("\", pto.tileop.kind = \"");
    text.append(tessera::name(*kind_)).append("\", pto.tileop.pipe_footprint = [\"").append(cube ? "PIPE_M" : "PIPE_V");
    text.append("\"], pto.tileop.effects = [").append(effects).append("]} {\n");
    scope_.constants.write(text);
    text.append(scope_.lines).append("    return\n  }\n");
    m_.line(op_, "func.call @", m_.function(body_.name(), text), '(', given, ") : (", types, ") -> ()");
  }
  void results() {
    for (int i = 0; i < f_.result_count(op_); ++i) {
      const ValueId v = f_.result(op_, i), initial = f_.operand(op_, fixed_operands(f_, op_) + i);
      if (!f_.type(v).is_tile()) continue;
      const Tile of = m_.tile(initial);
      if (m_.alike(v, of.like)) m_.same_tile(v, initial);
      else m_.bind(v, pto::look(m_, op_, of, v, m_.key(v)));
    }
  }

  Module& m_;
  const Function& f_;
  const OpId op_;
  const TileopBody body_;
  FunctionScope scope_;
  std::optional<KernelKind> kind_;
  std::vector<std::uint32_t> written_;  // buffers
  std::vector<ValueId> bound_;          // to parameters
  Tile last_;
};

inline void emit_tileop(Module& m, OpId o) { TileopText(m, o).write(); }

}  // namespace tessera::pto
