// The state of a kernel that is being written as C++: lines, names of values, tiles, and which core the lines are for.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "../../ir/accesses.hpp"
#include "../../ir/cores.hpp"
#include "../../ir/signature.hpp"
#include "../tileop_body.hpp"
#include "text.hpp"

namespace tessera::cpp {

using pto::refuse;

/// A tile in the text: a variable with a type and an address. In Mat a part of a tile is no variable: only a move reads it,
/// with the offsets.
struct TileVar {
  std::string name;
  TileKey key;              ///< as declared: a window of wider rows has the columns of the whole
  std::int64_t columns = 0;  ///< its own ones
  Expr address;
  ValueId like;             ///< the value whose type and extents it has
  bool is_part = false;
  Expr row, col;            ///< of a part
};

/// The names of a function: each once, none that the library or the language has.
class Names {
 public:
  std::string unique(std::string_view hint) {
    std::string clean;
    for (const char c : hint) clean.push_back(tessera::detail::is_word(c) ? c : '_');
    if (!is_identifier(clean)) clean.insert(0, "_");
    if (is_taken_by_library(clean)) clean.push_back('_');
    std::string name = clean;
    for (int& next = next_[clean]; !names_.insert(name).second; ++next) name = clean + "_" + std::to_string(next + 2);
    return name;
  }

 private:
  // Types, instructions and constants of the library begin with a capital, and so do nearly all macros of what it includes.
  [[nodiscard]] static bool is_taken_by_library(std::string_view name) {
    using tessera::detail::reserved_words;
    constexpr std::string_view own[] = {"half", "bfloat16_t", "int8_t", "uint8_t", "int16_t", "uint16_t", "int32_t", "uint32_t", "int64_t",
                                        "uint64_t", "float8_e4m3_t", "float8_e5m2_t", "float8_e8m0_t", "hifloat8_t", "float4_e2m1x2_t",
                                        "pto", "std", "set_flag", "wait_flag", "pipe_barrier", "get_block_idx", "get_block_num",
                                        "get_subblockid", "get_subblockdim", "dcci", "dsb", "cache_line_t", "mem_dsb_t", "stream", "blocks",
                                        "block", "place"};
    constexpr std::string_view macros[] = {"alloca", "assert", "assert_perror", "be16toh", "be32toh", "be64toh", "errno", "htobe16",
                                           "htobe32", "htobe64", "htole16", "htole32", "htole64", "issubnormal", "le16toh", "le32toh",
                                           "le64toh", "linux", "math_errhandling", "offsetof", "pthread_cleanup_pop",
                                           "pthread_cleanup_push", "sched_priority", "set_mask_norm", "set_vector_mask", "stderr", "stdin",
                                           "stdout", "strdupa", "strndupa", "timeradd", "timerclear", "timercmp", "timerisset", "timersub",
                                           "unix", "aclFloat16ToFloat"};
    const auto is_one_of = [&](const auto& list) { return std::find(std::begin(list), std::end(list), name) != std::end(list); };
    const auto is_capital = [](char c) { return c >= 'A' && c <= 'Z'; };
    if (name.size() > 2 && is_capital(name[0])) return true;
    if (name.size() > 1 && name[0] == '_' && (name[1] == '_' || is_capital(name[1]))) return true;  // the compiler's
    return is_one_of(reserved_words) || is_one_of(own) || is_one_of(macros);
  }
  std::unordered_set<std::string> names_;
  std::unordered_map<std::string, int> next_;  // by what a name starts with: the first number that may be free, less 2
};

/// A parameter of a function that the body of a tile operation becomes, and what a call gives for it.
struct FunctionParameter {
  std::string type, inside, outside;
};
/// Such a function while it is written.
struct FunctionScope {
  explicit FunctionScope(OpId of) : body(of) {}
  OpId body;
  Names names;
  std::string out;
  std::size_t indent = 2;
  std::vector<FunctionParameter> parameters;
  std::unordered_map<std::uint32_t, std::string> scalars;    ///< by value from outside: numbers, and memory
  std::unordered_map<std::int64_t, std::string> dims;        ///< named ones
  std::unordered_map<std::uint32_t, std::string> addresses;  ///< by buffer
  std::unordered_map<std::uint32_t, TileVar> tiles;          ///< by value from outside
};

/// Which of the cores of a block run a line.
enum class Core : std::uint8_t { both, vector, cube };

class Writer {
 public:
  Writer(const Function& function, const CppOptions& o)
      : f(function), options(o), scalars_(f.value_count()), tiles_(f.value_count(), 0), vars_(1), shared_(f.value_count()) {
    for (std::uint32_t v = 0; v < f.value_count(); ++v)
      if (f.type({v}).is_tile() && f[ValueId{v}].buffer != v && f[ValueId{v}].buffer < f.value_count()) shared_[f[ValueId{v}].buffer] = true;
    mixed_ = cores_of(f).both();
    names.unique(function_name());
    for (const FunctionArgument& a : function_arguments(f)) {
      if (a.kind == FunctionArgument::Kind::dim) {
        dims_.emplace_back(a.dim, names.unique(symbol_of(a.dim).view()));
        continue;
      }
      const Parameter& p = f.parameters[a.parameter];
      scalars_[p.value.index] = names.unique(p.name.empty() ? "arg" + std::to_string(a.parameter) : std::string(std::string_view(p.name)));
    }
    for (const ValueId v : f.symbols()) scalars_[v.index] = dim(f[v].integer).text;
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  const Function& f;
  const CppOptions options;
  mutable Names names;
  std::string out;

  /// The kernel's own name. No function, type or macro of a library begins like it, whatever the user calls the kernel, and
  /// no function that launches a kernel does.
  [[nodiscard]] std::string function_name() const { return "kernel_" + std::string(f.name.c_str()); }

  // --- lines ---
  template <class... P>
  void line(const P&... p) {
    out.append(indent_, ' ');
    (out.append(std::string_view(p)), ...);
    out.push_back('\n');
  }
  /// A line of an operation: with the user's place.
  template <class... P>
  void line(OpId o, const P&... p) {
    line(p..., comment(o));
  }
  /// A line that starts in the first column.
  void directive(std::string_view text) { out.append(text).push_back('\n'); }
  /// An instruction: of one core, where the kernel has instructions for both.
  template <class... P>
  void instruction(Core core, OpId o, const P&... p) {
    std::string text;
    (text.append(std::string_view(p)), ...);
    bare_instruction(core, text.append(comment(o)));
  }
  /// The same without the user's place.
  void bare_instruction(Core core, const std::string& text) {
    const bool guarded = mixed_ && core != Core::both;
    if (guarded) directive(core == Core::vector ? "#if defined(__DAV_VEC__)" : "#if defined(__DAV_CUBE__)");
    line(text);
    if (guarded) directive("#endif");
  }
  template <class... P>
  void instruction(OpId o, const P&... p) {
    instruction(core(o), o, p...);
  }
  /// The core that runs an operation.
  [[nodiscard]] Core core(OpId o) const {
    Cores one;
    tessera::detail::add_core(one, f, o);
    return one.cube ? Core::cube : one.vector ? Core::vector : Core::both;
  }
  [[nodiscard]] std::string comment(OpId o) const {
    const Location& at = f[o].location;
    if (!options.comments || at.line == 0 || at.file[0] == 0) return {};
    return "  // " + std::string(short_file(at)) + ":" + std::to_string(at.line);
  }
  void deeper() { indent_ += 2; }
  void shallower() { indent_ -= 2; }
  [[nodiscard]] bool is_mixed() const { return mixed_; }

  // --- scalars ---
  [[nodiscard]] std::string scalar(ValueId v) const {
    const Value& value = f[v];
    if (value.kind == ValueKind::constant)
      return is_float(value.type.dtype) ? float_literal(value.type.dtype, value.number) : integer_literal(value.type.dtype, value.integer);
    return scope_ != nullptr && !is_inside(v) ? from_outside(v) : scalars_[v.index];
  }
  void bind(ValueId v, std::string name) { scalars_[v.index] = std::move(name); }
  /// A new name for a scalar, the user's where there is one.
  const std::string& define(ValueId v) {
    return scalars_[v.index] = names.unique(f[v].name != 0 ? std::string_view(f.name_of(v)) : std::string_view("n"));
  }
  [[nodiscard]] Expr index(ValueId v) const {
    const Value& value = f[v];
    if (value.kind == ValueKind::constant) return number(value.integer);
    if (value.type.dtype == index_type || value.type.dtype == i64) return named(scalar(v));
    return named("static_cast<int64_t>(" + scalar(v) + ")");
  }
  [[nodiscard]] Expr index(const Extent& e) const { return e.is_constant() ? number(e.constant) : index(e.value); }
  [[nodiscard]] Expr dim(std::int64_t d) const {
    if (!is_dynamic(d)) return number(d);
    for (const auto& [packed, name] : dims_)
      if (packed == d) return named(scope_ != nullptr ? dim_from_outside(d, name) : name);
    throw InternalError("emit_pto_cpp: the named dim " + std::string(symbol_of(d).view()) + " is no parameter's");
  }

  // --- tiles ---
  [[nodiscard]] const TileVar& tile(ValueId v) const {
    if (scope_ != nullptr && !is_inside(v)) {
      const auto known = scope_->tiles.find(v.index);
      if (known == scope_->tiles.end()) throw InternalError("emit_pto_cpp: a tile from outside is no argument of the function (value " + std::to_string(v.index) + ")");
      return known->second;
    }
    if (tiles_[v.index] == 0) throw InternalError("emit_pto_cpp: a tile has no variable yet (value " + std::to_string(v.index) + ")");
    return vars_[tiles_[v.index]];
  }
  [[nodiscard]] bool has_tile(ValueId v) const { return scope_ != nullptr && !is_inside(v) ? scope_->tiles.contains(v.index) : tiles_[v.index] != 0; }
  void bind(ValueId v, const TileVar& t) {
    tiles_[v.index] = static_cast<std::uint32_t>(vars_.size());
    vars_.push_back(t);
  }
  void same_tile(ValueId v, ValueId as) {
    if (scope_ != nullptr && !is_inside(as)) bind(v, TileVar(tile(as)));
    else tiles_[v.index] = tiles_[as.index];
  }
  /// Where a buffer begins; a function gets that from who calls it.
  [[nodiscard]] Expr address(ValueId v) const {
    const std::int64_t at = byte_range(f, v).begin;
    if (scope_ == nullptr) return number(at);
    std::string& known = scope_->addresses[f[v].buffer];
    if (known.empty()) known = parameter("int64_t", "tile_at", number(at).text);
    return named(known);
  }
  /// Whether other values stand in the buffer that a value owns.
  [[nodiscard]] bool is_shared(ValueId owner) const { return shared_[owner.index]; }
  /// Whether a variable with the type and extents of `like` serves for `v`.
  [[nodiscard]] bool alike(ValueId v, ValueId like) const {
    if (v == like) return true;
    if (!(f.type(v) == f.type(like))) return false;
    for (int i = 0; i < f.type(v).rank; ++i)
      if (f.valid(v, i) != f.valid(like, i)) return false;
    return true;
  }
  [[nodiscard]] Extent valid_rows(ValueId v) const { return f.type(v).rank == 2 ? f.valid(v, 0) : Extent{1, {}}; }
  [[nodiscard]] Extent valid_cols(ValueId v) const { return f.valid(v, f.type(v).rank - 1); }
  [[nodiscard]] const std::vector<std::pair<std::int64_t, std::string>>& dims() const { return dims_; }

  // --- functions in front of the kernel ---
  /// Runs write() with lines and names of the function.
  template <class Write>
  void in_function(FunctionScope& s, Write&& write) {
    exchange(s);
    scope_ = &s;
    write();
    scope_ = nullptr;
    exchange(s);
  }
  /// A number, or a tile, as the kernel has it.
  [[nodiscard]] std::string kernel_scalar(ValueId v) {
    FunctionScope* const s = std::exchange(scope_, nullptr);
    std::string text = scalar(v);
    scope_ = s;
    return text;
  }
  [[nodiscard]] const TileVar& kernel_tile(ValueId v) const {
    if (tiles_[v.index] == 0) throw InternalError("emit_pto_cpp: a tile has no variable yet (value " + std::to_string(v.index) + ")");
    return vars_[tiles_[v.index]];
  }
  /// A parameter of the function that is written; gives its name there.
  std::string parameter(std::string type, std::string_view name, std::string outside) const {
    scope_->parameters.push_back({std::move(type), names.unique(name), std::move(outside)});
    return scope_->parameters.back().inside;
  }
  /// The name of the function `text`, of which `wanted` is the name that it wants: equal ones are one. `text`: what follows the name.
  std::string_view function(std::string_view wanted, const std::string& text) {
    return functions_.add(wanted, text, [&](std::string_view name) { return names.unique(name); });
  }
  /// The text of these functions.
  [[nodiscard]] std::string functions_text() const {
    std::string text;
    for (const auto& known : functions_.list()) text.append("static AICORE inline void ").append(known.name).append(known.text).append("\n");
    return text;
  }

 private:
  void exchange(FunctionScope& s) {
    std::swap(out, s.out);
    std::swap(names, s.names);
    std::swap(indent_, s.indent);
  }
  [[nodiscard]] bool is_inside(ValueId v) const { return pto::is_made_in(f, v, scope_->body); }
  [[nodiscard]] std::string from_outside(ValueId v) const {
    std::string& known = scope_->scalars[v.index];
    if (!known.empty()) return known;
    const Type& type = f.type(v);
    const std::string element(type_name(type.dtype));
    return known = parameter(type.is_tensor() ? "__gm__ " + element + "*" : element, type.is_tensor() ? "memory" : "n", scalars_[v.index]);
  }
  [[nodiscard]] std::string dim_from_outside(std::int64_t d, const std::string& name) const {
    std::string& known = scope_->dims[d];
    return known.empty() ? known = parameter("int64_t", name, name) : known;
  }

  std::size_t indent_ = 2;
  bool mixed_ = false;
  std::vector<std::string> scalars_;  // by value
  std::vector<std::uint32_t> tiles_;  // by value: variable
  std::vector<TileVar> vars_;
  std::vector<bool> shared_;
  std::vector<std::pair<std::int64_t, std::string>> dims_;
  FunctionScope* scope_ = nullptr;
  pto::TileopFunctions functions_;
};

[[noreturn]] inline void contradict(const Writer& w, OpId o, const std::string& what) {
  const Location& at = w.f[o].location;
  throw InternalError("emit_pto_cpp: " + std::string(w.f.info(o).name) + " at " + at.file + ":" + std::to_string(at.line) + ": " + what);
}

}  // namespace tessera::cpp
