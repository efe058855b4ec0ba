// The body of a tile operation as a function of the file, and its call. Whatever the body takes from the kernel is a parameter: the
// addresses of tiles, those of its own ones among them, numbers and memory. Equal bodies are one function.
#pragma once

#include "../tileop_body.hpp"
#include "tiles.hpp"

namespace tessera::cpp {

void emit_block(Writer& w, BlockId b);

class TileopText {
 public:
  TileopText(Writer& w, OpId body) : w_(w), f_(w.f), op_(body), body_(w.f, body), scope_(body) {}

  void write() {
    body_.for_each_operation([&](OpId o) { tessera::detail::add_core(cores_, f_, o); });
    w_.in_function(scope_, [&] {
      arguments();
      w_.shallower();
      emit_block(w_, f_.block(op_));
      w_.deeper();
    });
    call();
    for (int i = 0; i < f_.result_count(op_); ++i)
      if (f_.type(f_.result(op_, i)).is_tile()) carry(w_, op_, f_.result(op_, i), initial(i));
  }

 private:
  [[nodiscard]] ValueId initial(int i) const { return f_.operand(op_, fixed_operands(f_, op_) + i); }

  // --- parameters: as the definition has them, then what the body needs besides ---
  void arguments() {
    body_.for_each_parameter([&](ValueId v, std::string_view name) { argument(v, name); }, [&](int i) { carried(i); });
  }
  void argument(ValueId v, std::string_view name) {
    if (f_.type(v).is_tile()) return tile(v, name);
    if (f_.is_constant(v) || scope_.scalars.contains(v.index)) return;
    scope_.scalars[v.index] = w_.parameter(std::string(type_name(f_.type(v).dtype)), name, w_.kernel_scalar(v));
  }
  void tile(ValueId v, std::string_view name) {
    if (scope_.tiles.contains(v.index)) return;
    const TileVar t = w_.kernel_tile(v);
    if (t.is_part) refuse(f_, op_, std::string(body_.name()) + ": a part of a tile in Mat is no argument of a call", std::string(pto::inline_hint));
    const std::string at = w_.parameter("int64_t", std::string(name) + "_at", t.address.text);
    scope_.tiles.emplace(v.index, declare(w_, name, t.key, extents_of(w_, t.like), named(at), t.like, t.columns));
  }
  // What becomes result number `i`.
  void carried(int i) {
    const ValueId inside = carried_argument(f_, op_, 0, i);
    const std::string_view name = body_.output(i);
    if (const Type& type = f_.type(inside); type.is_scalar())
      return w_.bind(inside, w_.parameter(std::string(type_name(type.dtype)), name, w_.kernel_scalar(initial(i))));
    const std::string at = w_.parameter("int64_t", std::string(name) + "_at", number(byte_range(f_, inside).begin).text);
    scope_.addresses[f_[inside].buffer] = at;
    if (!f_.has_uses(inside)) return;
    const TileKey k = key_of(w_, inside);
    w_.bind(inside, declare(w_, name, k, extents_of(w_, inside), named(at), inside, k.cols));
  }

  void call() {
    const std::string_view guard = w_.is_mixed() ? "" : cores_.cube ? "__DAV_CUBE__" : "__DAV_VEC__";
    std::string text("("), given;
    for (const FunctionParameter& p : scope_.parameters) {
      const std::string_view comma = given.empty() ? "" : ", ";
      text.append(comma).append(p.type).append(" ").append(p.inside);
      given.append(comma).append(p.outside);
    }
    text.append(") {\n");
    if (!guard.empty()) text.append("#if defined(").append(guard).append(")\n");
    text.append(scope_.out).append(guard.empty() ? "}\n" : "#endif\n}\n");
    // With the kernel's name, so that files of several kernels can be compiled as one.
    const std::string name = std::string(std::string_view(f_.name)) + "_" + std::string(body_.name());
    w_.line(op_, w_.function(name, text), "(", given, ");");
  }

  Writer& w_;
  const Function& f_;
  const OpId op_;
  const pto::TileopBody body_;
  FunctionScope scope_;
  Cores cores_;
};

inline void emit_tileop(Writer& w, OpId o) { TileopText(w, o).write(); }

}  // namespace tessera::cpp
