// The state of a module that is being written: names of values, constants, tensor views, tile handles, lines.
// Forms (forms.hpp and its neighbours) ask it for names first and then write their line.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../../ir/cores.hpp"
#include "../../ir/signature.hpp"
#include "../tileop_body.hpp"
#include "addresses.hpp"
#include "function_scope.hpp"

namespace tessera::pto {

/// A number of type `index`: a constant that need not be named, or a value.
struct Index {
  bool is_constant = true;
  std::int64_t constant = 0;
  Name name;
  [[nodiscard]] bool is(std::int64_t n) const { return is_constant && constant == n; }
};

/// A tile in the text: a name, its type there, and the IR value whose type and extents it has.
struct Tile {
  enum class Kind : std::uint8_t {
    storage,   ///< what is allocated
    window,    ///< a part of a tile, of all its rows and columns perhaps
    reshaped,  ///< storage seen with another type; the assembler takes no window of it
    part       ///< in Mat, where a window is no value: only a move reads it, with the offsets
  };
  Name name;
  std::uint32_t type = 0;
  ValueId like;
  std::int64_t row_stride = 0;  ///< elements between rows in storage (columns of what it is a window of)
  Kind kind = Kind::storage;
  bool copied = false;          ///< a copy in its own storage, not in the buffer that the IR states: it is only read
  std::uint32_t part = 0;       ///< of kind part, and of windows of columns: where it is
  bool of_window = false;       ///< a window was reshaped: the assembler sets no extents of it at run time
};

/// Where a part of a tile is: in which tile, and its offsets there.
struct Part {
  Tile of;
  Index row, col;
};

/// A `make_tensor_view` of a tensor parameter.
struct View {
  Type seen;                 ///< the dims with which the parameter is seen
  int merged = 1;            ///< how many leading dims stand as one
  bool transposed = false;   ///< the last two dims are exchanged
  int rank = 0;
  Name name;
  std::string text;
};

class Module {
 public:
  Module(const Function& function, const EmitOptions& o)
      : f(function),
        options(o),
        dialect(pto::dialect(o.assembler)),
        types(o.arch),
        addresses(function),
        names_(f.value_count()),
        tiles_(f.value_count(), 0),
        handles_(1),
        parts_(1),
        views_(f.parameters.size()) {
    handles_.reserve(f.operation_count());
    body_.reserve(f.operation_count() * 256 + 4096);
  }

  const Function& f;
  const EmitOptions options;
  const Dialect& dialect;
  TileTypes types;
  Addresses addresses;

  // --- lines ---
  void put(std::string_view t) { out_->append(t); }
  void put(char c) { out_->push_back(c); }
  template <class Integer>
    requires(std::is_integral_v<Integer> && sizeof(Integer) > 1)
  void put(Integer n) {
    append(*out_, n);
  }
  void put(Name n) { spell(*out_, n); }
  void spell(std::string& out, Name n) const {
    out.push_back('%');
    if (n.label != 0) out.append(labels_[n.label]);
    else append(out, n.number);
  }
  void put(const Tile& t) { put(t.name); }
  template <class A, class B, class... C>
  void put(const A& a, const B& b, const C&... c) {
    put(a);
    put(b);
    (put(c), ...);
  }
  [[nodiscard]] std::string_view type(const Tile& t) const { return types.text(t.type); }

  void begin() { out_->append(indent_, ' '); }
  void end() { out_->push_back('\n'); }
  /// Ends a line of an operation: with the user's place.
  void end(OpId o) {
    location(o);
    end_opening(o);
  }
  /// Ends the line that opens the blocks of an operation; its location stands behind the last of them (`close`).
  void end_opening(OpId o) {
    const Location& at = f[o].location;
    if (options.comments && is_known(at)) put("  // ", file(at), ':', at.line);
    end();
  }
  void close(OpId o) {
    begin();
    put('}');
    location(o);
    end();
  }
  template <class... P>
  void line(const P&... p) {
    begin();
    (put(p), ...);
    end();
  }
  template <class... P>
  void line(OpId o, const P&... p) {
    begin();
    (put(p), ...);
    end(o);
  }
  void deeper() { indent_ += 2; }
  void shallower() { indent_ -= 2; }

  // --- names ---
  Name fresh() { return {next_++, 0}; }
  /// A new name for a value, with the user's name in it where there is one.
  Name fresh(ValueId v) {
    Name n = fresh();
    if (f[v].name == 0) return n;
    std::string text = identifier(f.name_of(v));
    append(text, '.');
    append(text, n.number);
    n.label = labels_.add(std::move(text));
    return n;
  }
  Name define(ValueId v) { return names_[v.index] = fresh(v); }
  void bind(ValueId v, Name n) { names_[v.index] = n; }
  /// The name of a scalar.
  Name scalar(ValueId v) { return f.is_constant(v) ? constant(v) : named(v); }
  /// The name of a scalar as an `index`.
  Index index(ValueId v) {
    const Value& value = f[v];
    if (value.kind == ValueKind::constant) return {true, value.integer, {}};
    if (value.type.dtype == index_type) return {false, 0, named(v)};
    const Name from = named(v), n = fresh();
    line(n, " = arith.index_cast", is_unsigned(value.type.dtype) ? "ui " : " ", from, " : ",
         signless(value.type.dtype), " to index");
    return {false, 0, n};
  }
  Index index(const Extent& e) { return e.is_constant() ? Index{true, e.constant, {}} : index(e.value); }
  Name name(const Index& i) { return i.is_constant ? index_constant(i.constant) : i.name; }
  Index dim(std::int64_t d) {
    if (!is_dynamic(d)) return {true, d, {}};
    for (const auto& [packed, symbol_name] : symbols_)
      if (packed == d) return {false, 0, symbol_name};
    throw InternalError("emit_pto_mlir: the named dim " + std::string(symbol_of(d).view()) + " is no parameter's");
  }

  // --- index arithmetic, folded where constant ---
  Index add(const Index& a, const Index& b) {
    if (a.is_constant && b.is_constant) return {true, a.constant + b.constant, {}};
    return a.is(0) ? b : b.is(0) ? a : operate("addi", a, b);
  }
  Index mul(const Index& a, const Index& b) {
    if (a.is_constant && b.is_constant) return {true, a.constant * b.constant, {}};
    return a.is(1) ? b : b.is(1) ? a : a.is(0) || b.is(0) ? Index{} : operate("muli", a, b);
  }
  Index div(const Index& a, std::int64_t n) {
    if (a.is_constant) return {true, a.constant / n, {}};
    return n == 1 ? a : operate("divsi", a, {true, n, {}});
  }

  // --- constants ---
  Name index_constant(std::int64_t n) { return constants().index(n); }
  Name constant(ValueId v) {
    const Value& value = f[v];
    if (value.type.dtype == index_type) return index_constant(value.integer);
    if (scope_ != nullptr) return constants().literal(value.type.dtype, value.integer, value.number);
    Name& known = names_[v.index];
    if (known.label == 0) known = constants_.literal(value.type.dtype, value.integer, value.number);
    return known;
  }
  Name integer(DType d, std::int64_t n) { return constants().literal(d, n, 0); }
  /// The name of an address; none at level 2.
  Name address(std::optional<std::int64_t> at) { return at ? constants().literal(i64, *at, 0) : Name{}; }
  Index unfolded(std::int64_t n) { return {false, 0, constants().unfolded(n)}; }
  Name zero(DType d) { return constants().zero(d); }
  Name truth() { return constants().truth(); }
  Name no_counts() { return constants().no_counts(); }

  // --- tiles ---
  [[nodiscard]] const Tile& tile(ValueId v) const {
    if (scope_ != nullptr && !is_inside(v)) return handles_[handle_from_outside(v)];
    if (tiles_[v.index] == 0)
      throw InternalError("emit_pto_mlir: a tile has no storage yet (value " + std::to_string(v.index) + ")");
    return handles_[tiles_[v.index]];
  }
  void bind(ValueId v, const Tile& t) {
    tiles_[v.index] = static_cast<std::uint32_t>(handles_.size());
    handles_.push_back(t);
  }
  void same_tile(ValueId v, ValueId as) {
    if (scope_ != nullptr && !is_inside(as)) tiles_[v.index] = handle_from_outside(as);
    else tiles_[v.index] = tiles_[as.index];
  }
  /// Rows and columns of a tile in the text, padding included: of rank 1 it is one row.
  [[nodiscard]] TileKey key(ValueId v, Pad pad = Pad::null) const {
    return tile_key(f, v, options.arch, pad);
  }
  [[nodiscard]] Extent valid_rows(ValueId v) const { return f.type(v).rank == 2 ? f.valid(v, 0) : Extent{1, {}}; }
  [[nodiscard]] Extent valid_cols(ValueId v) const { return f.valid(v, f.type(v).rank - 1); }
  /// Whether a handle with the type and extents of `like` serves for `v`.
  [[nodiscard]] bool alike(ValueId v, ValueId like) const {
    if (v == like) return true;
    if (!(f.type(v) == f.type(like))) return false;
    if (f[v].valid == f[like].valid) return true;
    for (int i = 0; i < f.type(v).rank; ++i)
      if (f.valid(v, i) != f.valid(like, i)) return false;
    return true;
  }

  [[nodiscard]] const Part& part(const Tile& t) const { return parts_[t.part]; }
  std::uint32_t add_part(const Part& p) {
    parts_.push_back(p);
    return static_cast<std::uint32_t>(parts_.size() - 1);
  }

  /// Notes an instruction whose value later instructions of the function use.
  void note_value_of_section() { defined_in_section_ = true; }

  // --- functions beside the kernel ---
  [[nodiscard]] FunctionScope* scope() { return scope_; }
  [[nodiscard]] Labels& labels() { return labels_; }
  [[nodiscard]] const Cores& cores() const { return cores_; }
  /// Runs write() with lines and names of the function, until it ends.
  template <class Write>
  void in_function(FunctionScope& s, Write&& write) {
    exchange(s);
    scope_ = &s;
    write();
    scope_ = nullptr;
    exchange(s);
  }
  /// Runs write() with those of the kernel.
  template <class Write>
  void outside(Write&& write) {
    FunctionScope* const s = scope_;
    scope_ = nullptr;
    exchange(*s);
    write();
    exchange(*s);
    scope_ = s;
  }
  /// A name for a parameter of the function that is written: the wanted one, or that with '_' behind it.
  Name function_word(FunctionScope& s, std::string_view wanted) {
    std::string text = clear_word(identifier(wanted));
    while (std::find(s.words.begin(), s.words.end(), text) != s.words.end()) text.push_back('_');
    s.words.push_back(text);
    return {0, labels_.add(std::move(text))};
  }
  /// States the handle that a tile from outside has in the function.
  void bind_from_outside(FunctionScope& s, ValueId v, const Tile& inside) {
    s.tiles[v.index] = static_cast<std::uint32_t>(handles_.size());
    handles_.push_back(inside);
  }
  [[nodiscard]] bool is_inside(ValueId v) const { return is_made_in(f, v, scope_->body); }
  /// The name of the function `text`, of which `wanted` is the name that it wants: equal ones are one. `text`: what follows the name.
  std::string_view function(std::string_view wanted, const std::string& text) {
    const auto taken = [&](const std::string& name) {
      return name == std::string_view(f.name) || std::any_of(functions_.list().begin(), functions_.list().end(), [&](const auto& known) { return known.name == name; });
    };
    return functions_.add(wanted, text, [&](std::string_view plain) {
      std::string name(plain);
      for (int n = 2; taken(name); ++n) name = std::string(plain) + "_" + std::to_string(n);
      return name;
    });
  }

  // --- views of parameters ---
  /// The view of a tensor parameter with its `merged` leading dims as one, or with its last two dims exchanged.
  const View& view(ValueId tensor, int merged, bool transposed) {
    std::vector<View>& known = views_[f[parameter_of(f, tensor)].position];
    for (const View& v : known)
      if (v.seen == f.type(tensor) && v.merged == merged && v.transposed == transposed) return v;
    return known.emplace_back(make_view(tensor, merged, transposed));
  }

  // --- the function ---
  /// Whether threads run the function: memory is signless there, and reached in another way.
  [[nodiscard]] bool in_threads() const { return f.kind == FunctionKind::simt; }
  /// The element type of a tensor in the text.
  [[nodiscard]] std::string_view in_memory(DType d) const { return in_threads() ? signless(d) : info(d).pto_name; }
  /// The function's text behind `head`; `write_body` writes the operations. Without attributes it is a kernel's.
  template <class WriteBody>
  std::string function(std::string head, std::string_view symbol, std::string_view attributes, WriteBody&& write_body) {
    std::string arguments;
    parameters(arguments);
    cores_ = cores_of(f);
    out_ = &body_;
    write_body(*this);
    for (const auto& known : functions_.list()) head.append("  func.func private @").append(known.name).append(known.text);
    head.append("  func.func @").append(symbol).append("(").append(arguments);
    head.append(") attributes {").append(attributes.empty() ? attributes_of_kernel() : attributes).append("} {\n");
    body_.append("  }\n");
    constants_.write(head);
    for (std::vector<View>& of_one : views_) {
      std::sort(of_one.begin(), of_one.end(), [](const View& a, const View& b) {
        return a.transposed != b.transposed ? b.transposed : a.merged < b.merged;
      });
      for (const View& v : of_one) head.append(v.text);
    }
    body_.insert(0, head);
    return std::move(body_);
  }

 private:
  // The assembler puts runs of vector and of cube operations into sections of their own, unless the function has a kind. It must
  // not where a loop or branch holds both, where a value of one section is used in another, or around the blocks of a while loop;
  // and it need not where threads are launched, which only a vector core does. Flags do not tell it which section they belong to.
  [[nodiscard]] std::string_view attributes_of_kernel() const {
    const bool one_section = cores_.both() ? cores_.both_in_one_region || cores_.in_while || defined_in_section_ : !f.launched.empty() || has_sync(f);
    if (!one_section) return "pto.entry";
    return cores_.cube && !cores_.vector ? "pto.entry, pto.kernel_kind = #pto.kernel_kind<cube>" : "pto.entry, pto.kernel_kind = #pto.kernel_kind<vector>";
  }
  static std::string identifier(std::string_view text) {
    std::string clean;
    for (const char c : text) clean.push_back(tessera::detail::is_word(c) ? c : '_');
    if (!is_identifier(clean)) clean.insert(0, "_");
    return clean;
  }
  static bool is_known(const Location& at) { return at.line != 0 && at.file[0] != 0; }
  void location(OpId o) {
    const Location& at = f[o].location;
    if (options.locations && is_known(at)) put(" loc(\"", file(at), "\":", at.line, ':', at.column, ')');
  }
  // File names only: the text does not depend on where the sources lie.
  std::string_view file(const Location& at) {
    if (at.file != file_) {
      file_ = at.file;
      short_file_ = short_file(at);
    }
    return short_file_;
  }

  // A parameter's name may be none that the emitter makes itself: c64, cst1, true.
  static std::string clear_word(std::string text) {
    if ((text[0] == 'c' && text.back() >= '0' && text.back() <= '9') || text == "true" || text == "false") text.push_back('_');
    return text;
  }
  Name parameter_name(std::string_view hint, std::size_t number) {
    std::string text = clear_word(hint.empty() ? "arg" + std::to_string(number) : identifier(hint));
    while (labels_.has(text)) text.push_back('_');
    return {0, labels_.add(std::move(text))};
  }
  void parameters(std::string& head) {
    std::string_view separator;
    const auto argument = [&](Name n, std::string_view before, DType d, std::string_view after) {
      head.append(separator).append("%").append(labels_[n.label]).append(": ").append(before);
      head.append(before.empty() ? signless(d) : in_memory(d)).append(after);
      separator = ", ";
    };
    for (const FunctionArgument& a : function_arguments(f)) {
      if (a.kind == FunctionArgument::Kind::dim) {
        symbols_.emplace_back(a.dim, parameter_name(symbol_of(a.dim).view(), 0));
        argument(symbols_.back().second, "", index_type, "");
        continue;
      }
      const Parameter& p = f.parameters[a.parameter];
      const Name n = names_[p.value.index] = parameter_name(p.name, a.parameter);
      const bool is_tensor = a.kind == FunctionArgument::Kind::tensor;
      argument(n, is_tensor ? "!pto.ptr<" : "", f.type(p.value).dtype, is_tensor ? ">" : "");
    }
    for (const ValueId v : f.symbols()) names_[v.index] = dim(f[v].integer).name;
  }
  [[nodiscard]] Constants& constants() { return scope_ != nullptr ? scope_->constants : constants_; }
  // The name of a scalar that is no constant; one from outside becomes a parameter of the function that is written.
  Name named(ValueId v) {
    if (scope_ == nullptr || is_inside(v)) return names_[v.index];
    const auto known = scope_->scalars.find(v.index);
    if (known != scope_->scalars.end()) return known->second;
    const Name n = function_word(*scope_, "n" + std::to_string(scope_->scalars.size()));
    scope_->parameters.push_back({n, names_[v.index], false, 0, f.type(v).dtype});
    return scope_->scalars[v.index] = n;
  }
  [[nodiscard]] std::uint32_t handle_from_outside(ValueId v) const {
    for (const FunctionParameter& p : scope_->parameters)
      if (p.is_tile && p.buffer == f[v].buffer && p.buffer != no_index) return scope_->tiles.at(p.buffer);
    const auto known = scope_->tiles.find(v.index);
    if (known == scope_->tiles.end()) throw InternalError("emit_pto_mlir: a tile from outside is no argument of the function (value " + std::to_string(v.index) + ")");
    return known->second;
  }
  void exchange(FunctionScope& s) {
    if (out_ == &s.lines) out_ = &body_;
    else out_ = &s.lines;
    std::swap(indent_, s.indent);
    std::swap(next_, s.next);
  }
  Index operate(std::string_view instruction, const Index& a, const Index& b) {
    const Name x = name(a), y = name(b), n = fresh();
    line(n, " = arith.", instruction, ' ', x, ", ", y, " : index");
    return {false, 0, n};
  }

  // [.., M, 1] is one column, so it is written as such (dn): strides 1 and M.
  View make_view(ValueId tensor, int merged, bool transposed) {
    const Type& t = f.type(tensor);
    View v{t, merged, transposed, 0, {}, {}};
    const Name memory = names_[parameter_of(f, tensor).index];
    Index dims[max_rank], strides[max_rank];
    std::string* const outer_text = out_;
    const std::size_t outer_indent = indent_;
    out_ = &v.text;
    indent_ = 4;
    Index first{true, 1, {}};
    for (int i = 0; i < merged; ++i) first = mul(first, dim(t.dims[i]));
    if (t.rank == 1) dims[v.rank++] = {true, 1, {}};
    dims[v.rank++] = first;
    for (int i = merged; i < t.rank; ++i) dims[v.rank++] = dim(t.dims[i]);
    strides[v.rank - 1] = {true, 1, {}};
    for (int i = v.rank - 2; i >= 0; --i) strides[i] = mul(strides[i + 1], dims[i + 1]);
    const bool column = dims[v.rank - 1].is(1) && !dims[v.rank - 2].is(1);
    if (column) strides[v.rank - 1] = dims[v.rank - 2];
    if (transposed) {
      std::swap(dims[v.rank - 1], dims[v.rank - 2]);
      std::swap(strides[v.rank - 1], strides[v.rank - 2]);
    }
    // All names before the line: a constant may be defined on the way.
    Name d[max_rank], s[max_rank];
    for (int i = 0; i < v.rank; ++i) d[i] = name(dims[i]), s[i] = name(strides[i]);
    std::string text = labels_[memory.label] + (transposed ? ".transposed" : ".view");
    if (merged > 1) append(text.append("."), v.rank);
    if (parameter_of(f, tensor) != tensor)  // the parameter's own view has its name
      for (int i = 0; i < t.rank; ++i) text.append(".").append(tessera::detail::dim_text(t.dims[i]));
    v.name.label = labels_.add(std::move(text));
    begin();
    put(v.name, " = pto.make_tensor_view ", memory, ", shape = [");
    for (int i = 0; i < v.rank; ++i) put(i == 0 ? "" : ", "), put(d[i]);
    put("], strides = [");
    for (int i = 0; i < v.rank; ++i) put(i == 0 ? "" : ", "), put(s[i]);
    put(column || transposed ? "] {layout = #pto.layout<dn>} : " : "] : ", view_type(v.rank, t.dtype));
    end();
    out_ = outer_text;
    indent_ = outer_indent;
    return v;
  }

 public:
  [[nodiscard]] static std::string view_type(int rank, DType d) {
    std::string text("!pto.tensor_view<");
    for (int i = 0; i < rank; ++i) text.append("?x");
    return text.append(info(d).pto_name).append(">");
  }

 private:
  std::string body_;
  std::string* out_ = &body_;
  std::size_t indent_ = 4;
  std::uint32_t next_ = 0;
  bool defined_in_section_ = false;
  Cores cores_;
  std::vector<Name> names_;  // by value: scalars
  std::vector<std::uint32_t> tiles_;  // by value: handle
  std::vector<Tile> handles_;
  std::vector<Part> parts_;
  Labels labels_;
  Constants constants_{labels_};
  FunctionScope* scope_ = nullptr;
  TileopFunctions functions_;
  std::vector<std::pair<std::int64_t, Name>> symbols_;
  std::vector<std::vector<View>> views_;  // by parameter
  const char* file_ = nullptr;
  std::string_view short_file_;
};

}  // namespace tessera::pto
