// manifest.json: what a generator emitted, for the build steps and programs that use the files.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "../ir/printer.hpp"
#include "../ir/program.hpp"
#include "../ir/signature.hpp"
#include "../ir/target.hpp"

namespace tessera::driver {

namespace detail {

inline std::string text_json(std::string_view text) { return std::string(text); }
/// Numbers, and the names of run-time dims.
inline nlohmann::ordered_json dims_json(List<std::int64_t> dims) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const std::int64_t d : dims) {
    if (is_dynamic(d)) list.push_back(std::string(symbol_of(d).view()));
    else list.push_back(d);
  }
  return list;
}
inline nlohmann::ordered_json shape_json(const Type& t) { return dims_json({t.dims, static_cast<std::size_t>(t.rank)}); }
/// As the printer writes it.
inline nlohmann::ordered_json attribute_json(const Function& f, const Attr& a) {
  if (a.is_list) return dims_json(f.list(a));
  if (const std::string_view named = word_of(a.key, a.integer); !named.empty()) return std::string(named);
  return a.integer;
}
inline std::string_view name(FunctionArgument::Kind k) {
  constexpr std::string_view names[] = {"tensor", "scalar", "dim"};
  return names[static_cast<int>(k)];
}
inline nlohmann::ordered_json argument_json(const Function& f, const FunctionArgument& a, std::size_t index) {
  const bool is_dim = a.kind == FunctionArgument::Kind::dim;
  const Parameter* const p = is_dim ? nullptr : &f.parameters[a.parameter];
  const Type t = is_dim ? index_scalar : f.type(p->value);
  nlohmann::ordered_json j;
  j["index"] = index;
  j["name"] = is_dim ? std::string(symbol_of(a.dim).view()) : text_json(p->name);
  j["kind"] = std::string(name(a.kind));
  j["direction"] = std::string(tessera::name(is_dim ? Direction::in : p->direction));
  j["dtype"] = std::string(tessera::name(t.dtype));
  j["shape"] = shape_json(t);
  return j;
}

/// Memory on chip that the kernel declares. `planned`: what is written has the addresses. Where the planner puts a buffer is told by
/// the written text itself: it may differ between `.pto` and C++.
inline nlohmann::ordered_json storage_json(const Storage& s, bool planned) {
  nlohmann::ordered_json j;
  j["name"] = text_json(s.name);
  j["kind"] = s.is_reserved() ? "reserved" : "buffer";
  j["space"] = std::string(tessera::name(s.space));
  j["line"] = s.location.line;
  if (!s.is_reserved()) j["slots"] = s.slots;
  j["bytes"] = s.bytes;
  if (planned && (s.is_reserved() || s.fixed)) j["address"] = s.address;
  return j;
}

}  // namespace detail

/// What is written for a kernel: a module for the assembler, and C++ that calls the tile library.
struct Forms {
  bool pto = true, cpp = false;
};
/// One kernel of the manifest. `f` is the lowered function: results have become parameters. `file` is the `.pto` module, `cpp`
/// the C++, each where it is written. The arguments stand in the order in which the emitted function takes them; `loops` says
/// which ones have buffers for several turns, or why not, `storage` which memory on chip the kernel declares, `threads` how many
/// run a simt kernel, `backend` which one of the assembler's a module needs that launches threads.
[[nodiscard]] inline nlohmann::ordered_json kernel_json(const Function& f, const Forms& forms, Arch arch, int level = 2) {
  nlohmann::ordered_json j;
  j["name"] = detail::text_json(f.name);
  if (forms.pto) j["file"] = detail::text_json(f.name) + ".pto";
  if (forms.cpp) j["cpp"] = detail::text_json(f.name) + ".cpp";
  j["arch"] = std::string(name(arch));
  if (forms.pto) j["level"] = level;
  if (f.kind == FunctionKind::simt) j["threads"] = {f.threads[0], f.threads[1], f.threads[2]};
  if (uses_threads(f)) j["backend"] = "vpto";
  j["source"] = {{"file", std::string(short_file(f.location))}, {"line", f.location.line}};
  j["arguments"] = nlohmann::ordered_json::array();
  for (const FunctionArgument& a : function_arguments(f))
    j["arguments"].push_back(detail::argument_json(f, a, j["arguments"].size()));
  for (const LoopNote& n : f.loops) {
    j["loops"].push_back({{"line", n.location.line}, {"turns", n.turns}, {"requested", n.requested}});
    if (!n.reason.empty()) j["loops"].back()["reason"] = detail::text_json(n.reason);
  }
  for (const Storage& s : f.storage) j["storage"].push_back(detail::storage_json(s, forms.pto ? level == 3 : forms.cpp));
  return j;
}
namespace detail {

/// Gives the values of a function names: parameters and hints keep theirs, others have a number.
class ValueNames {
 public:
  explicit ValueNames(const Function& f) : f_(f), names_(f.value_count()) {
    for (const Parameter& p : f.parameters) give(p.value, std::string(std::string_view(p.name)));
    for (std::uint32_t v = 0; v < f.value_count(); ++v)
      if (names_[v].empty()) give({v}, std::string(std::string_view(f.name_of({v}))));
  }
  /// A name, or the number that a constant is.
  [[nodiscard]] nlohmann::ordered_json operator()(ValueId v) const {
    const Value& x = f_[v];
    if (x.kind == ValueKind::symbol) return std::string(symbol_of(x.integer).view());
    if (x.kind != ValueKind::constant) return names_[v.index];
    if (x.type.dtype == boolean) return x.integer != 0;
    if (!is_float(x.type.dtype)) return x.integer;
    if (x.number - x.number == 0) return x.number;
    return x.number != x.number ? "nan" : x.number > 0 ? "+inf" : "-inf";  // JSON has no such numbers
  }

 private:
  void give(ValueId v, const std::string& hint) {
    std::string name = hint.empty() ? "v" + std::to_string(v.index) : hint;
    const std::string first = name;
    for (int n = 1; !taken_.insert(name).second; ++n) name = first + "_" + std::to_string(n);
    names_[v.index] = name;
  }

  const Function& f_;
  std::vector<std::string> names_;
  std::set<std::string> taken_;
};
inline std::string operation_name(const OpInfo& op) {
  const std::string name(op.name);
  return op.level == Level::scalar ? "scalar." + name : op.level == Level::control ? name : "tensor." + name;
}
inline nlohmann::ordered_json value_json(const Function& f, const ValueNames& names, ValueId v) {
  nlohmann::ordered_json j;
  j["name"] = names(v);
  j["dtype"] = std::string(tessera::name(f.type(v).dtype));
  if (f.type(v).is_shaped()) j["shape"] = shape_json(f.type(v));
  return j;
}
inline nlohmann::ordered_json body_json(const Program& p, const Function& f, const ValueNames& names, BlockId b);
/// An operation: name, operands, results; what it calls, which attributes and blocks it has.
inline nlohmann::ordered_json operation_json(const Program& p, const Function& f, const ValueNames& names, OpId op) {
  nlohmann::ordered_json j;
  j["operation"] = operation_name(f.info(op));
  if (f.is(op, ops::call)) {
    j["callee"] = text_json(callee(p, f, op).name);
    j["parameters"] = nlohmann::ordered_json::array();
    for (const Parameter& q : callee(p, f, op).parameters) j["parameters"].push_back(text_json(q.name));
  }
  j["operands"] = nlohmann::ordered_json::array();
  for (int i = 0; i < f.operand_count(op); ++i) j["operands"].push_back(names(f.operand(op, i)));
  j["results"] = nlohmann::ordered_json::array();
  for (int i = 0; i < f.result_count(op); ++i) j["results"].push_back(value_json(f, names, f.result(op, i)));
  for (const Attr& a : f.attrs(op)) {
    if (a.key == AttrKey::callee) continue;
    j["attributes"][std::string(tessera::name(a.key))] = attribute_json(f, a);
  }
  for (int i = 0; i < f.block_count(op); ++i) {
    nlohmann::ordered_json block;
    block["arguments"] = nlohmann::ordered_json::array();
    for (const ValueId v : f[f.block(op, i)].arguments) block["arguments"].push_back(value_json(f, names, v));
    block["body"] = body_json(p, f, names, f.block(op, i));
    j["blocks"].push_back(std::move(block));
  }
  return j;
}
inline nlohmann::ordered_json body_json(const Program& p, const Function& f, const ValueNames& names, BlockId b) {
  nlohmann::ordered_json body = nlohmann::ordered_json::array();
  for (OpId op = f[b].first; op; op = f.next(op)) body.push_back(operation_json(p, f, names, op));
  return body;
}

}  // namespace detail

/// A function of a lowered program that calls kernels: what a host has to do in its place. Arguments and the operands of calls
/// stand in the order of the parameters, which calls name; an emitted kernel takes them in the order of its own entry.
[[nodiscard]] inline nlohmann::ordered_json caller_json(const Program& p, const Function& f) {
  nlohmann::ordered_json j;
  j["name"] = detail::text_json(f.name);
  j["kind"] = name(f.kind);
  if (f.kind == FunctionKind::spmd) j["blocks"] = f.blocks;
  j["source"] = {{"file", std::string(short_file(f.location))}, {"line", f.location.line}};
  j["arguments"] = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < f.parameters.size(); ++i) {
    const bool tensor = f.type(f.parameters[i].value).is_tensor();
    j["arguments"].push_back(detail::argument_json(f, {tensor ? FunctionArgument::Kind::tensor : FunctionArgument::Kind::scalar, i, 0}, i));
  }
  j["body"] = detail::body_json(p, f, detail::ValueNames(f), f.body());
  return j;
}

/// Grows when a reader of the former version would misread the file.
inline constexpr int manifest_version = 3;
[[nodiscard]] inline std::string manifest_text(std::string_view generator, const std::vector<nlohmann::ordered_json>& kernels,
                                               const std::vector<nlohmann::ordered_json>& callers = {}) {
  nlohmann::ordered_json j;
  j["version"] = manifest_version;
  j["generator"] = std::string(generator);
  j["kernels"] = kernels;
  if (!callers.empty()) j["callers"] = callers;
  return j.dump(2) + "\n";
}

/// The name of the program that wrote a manifest, of whatever version; empty where none is told.
[[nodiscard]] inline std::string generator_of(const std::string& manifest) {
  const nlohmann::ordered_json j = nlohmann::ordered_json::parse(manifest, nullptr, /*allow_exceptions*/ false);
  return j.is_object() && j.contains("generator") && j["generator"].is_string() ? j["generator"].get<std::string>() : std::string();
}

/// The files of a kernel in a manifest; never a path, and none that an emit would not write.
[[nodiscard]] inline std::vector<std::string> files_of(const nlohmann::ordered_json& kernel) {
  constexpr std::string_view forms[][2] = {{"file", ".pto"}, {"cpp", ".cpp"}};
  std::vector<std::string> files;
  for (const auto& [key, ending] : forms) {
    const std::string k(key);
    if (!kernel.is_object() || !kernel.contains(k) || !kernel[k].is_string()) continue;
    const std::string file = kernel[k].get<std::string>();
    const std::size_t dot = file.rfind('.');
    if (dot != std::string::npos && file.substr(dot) == ending && is_identifier(std::string_view(file).substr(0, dot))) files.push_back(file);
  }
  return files;
}
/// The kernels that a manifest lists. A text that is no manifest of this version lists none, and what an emit would not
/// write is left out.
[[nodiscard]] inline std::vector<nlohmann::ordered_json> listed_kernels(const std::string& manifest) {
  std::vector<nlohmann::ordered_json> kernels;
  const nlohmann::ordered_json j = nlohmann::ordered_json::parse(manifest, nullptr, /*allow_exceptions*/ false);
  if (!j.is_object() || j.value("version", nlohmann::ordered_json()) != manifest_version || !j.contains("kernels") || !j["kernels"].is_array())
    return kernels;
  for (const nlohmann::ordered_json& kernel : j["kernels"])
    if (kernel.is_object() && kernel.contains("name") && kernel["name"].is_string() && !files_of(kernel).empty()) kernels.push_back(kernel);
  return kernels;
}

/// The callers that a manifest of this version lists.
[[nodiscard]] inline std::vector<nlohmann::ordered_json> listed_callers(const std::string& manifest) {
  const nlohmann::ordered_json j = nlohmann::ordered_json::parse(manifest, nullptr, /*allow_exceptions*/ false);
  std::vector<nlohmann::ordered_json> callers;
  if (!j.is_object() || j.value("version", nlohmann::ordered_json()) != manifest_version || !j.contains("callers") || !j["callers"].is_array()) return callers;
  for (const nlohmann::ordered_json& c : j["callers"])
    if (c.is_object() && c.contains("name") && c["name"].is_string()) callers.push_back(c);
  return callers;
}

}  // namespace tessera::driver
