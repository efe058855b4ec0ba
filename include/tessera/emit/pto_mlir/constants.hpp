// Names in a module, and the constants that are defined at the top of its function: each once, under a name that tells it.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "text.hpp"

namespace tessera::pto {

/// The name of an SSA value: `%12`, or `%` and a label (labels are constants, parameters, and hints with a number).
struct Name {
  std::uint32_t number = 0;
  std::uint32_t label = 0;
};

/// The words that names are made of; number 0 is none.
class Labels {
 public:
  std::uint32_t add(std::string text) {
    list_.push_back(std::move(text));
    return static_cast<std::uint32_t>(list_.size() - 1);
  }
  [[nodiscard]] const std::string& operator[](std::uint32_t label) const { return list_[label]; }
  [[nodiscard]] bool has(std::string_view text) const { return std::find(list_.begin(), list_.end(), text) != list_.end(); }

 private:
  std::vector<std::string> list_ = std::vector<std::string>(1);
};

class Constants {
 public:
  explicit Constants(Labels& labels) : labels_(labels) {}

  /// Of type index.
  Name index(std::int64_t n) {
    std::uint32_t& known = indices_[n];
    if (known == 0) known = labels_.add(text_of(n));
    return {0, known};
  }
  /// Of any other type: `n`, or `number` of a float.
  Name literal(DType d, std::int64_t n, double number) {
    std::string definition, text;
    if (d == boolean) {
      definition = text = n != 0 ? "true" : "false";
    } else {
      if (is_float(d) && is_special(number, d)) return special(d, special_bits(number, d));
      if (is_float(d)) append_float(definition, number);
      else append(definition, n);
      definition.append(" : ").append(signless(d));
    }
    std::uint32_t& known = literals_[definition];
    if (known != 0) return {0, known};
    if (is_float(d)) text = next_float();
    else if (d != boolean) text = text_of(n).append("_").append(signless(d));
    return {0, known = define(std::move(text), "arith.constant ", definition)};
  }
  Name zero(DType d) { return d == index_type ? index(0) : literal(d, 0, 0); }
  Name truth() { return literal(boolean, 1, 0); }
  /// An index that the assembler does not fold: it lets a window start at any row of a box when it is told so at run time only.
  Name unfolded(std::int64_t n) {
    std::uint32_t& known = literals_["unfolded " + std::to_string(n)];
    if (known == 0) {
      const std::string plain = labels_[index(n).label], zero = labels_[launch_index().label];
      known = define(plain + ".launch", "arith.addi %", zero, ", %", plain, " : index");
    }
    return {0, known};
  }
  /// Where a merge of lists tells how many pairs of each it took.
  Name no_counts() {
    std::uint32_t& known = literals_["counts of a merge"];
    if (known == 0) known = define("merge.counts", "arith.constant dense<0> : vector<4xi16>");
    return {0, known};
  }

  /// Appends the definitions, those of type index first.
  void write(std::string& out) const {
    std::vector<std::pair<std::int64_t, std::uint32_t>> sorted(indices_.begin(), indices_.end());
    std::sort(sorted.begin(), sorted.end());
    for (const auto& [n, label] : sorted) {
      out.append("    %").append(labels_[label]).append(" = arith.constant ");
      append(out, n);
      out.append(" : index\n");
    }
    out.append(definitions_);
  }

 private:
  // c12, cm12
  static std::string text_of(std::int64_t n) {
    std::string text(n < 0 ? "cm" : "c");
    append(text, n < 0 ? 0 - static_cast<std::uint64_t>(n) : static_cast<std::uint64_t>(n));
    return text;
  }
  std::string next_float() {
    std::string text("cst");
    append(text, ++floats_);
    return text;
  }
  template <class... P>
  std::uint32_t define(std::string name, const P&... definition) {
    definitions_.append("    %").append(name).append(" = ");
    (definitions_.append(definition), ...);
    definitions_.push_back('\n');
    return labels_.add(std::move(name));
  }

  // A zero of type i64, and one of type index, that the assembler does not see through.
  void define_launch_zero() {
    if (std::exchange(has_launch_zero_, true)) return;
    const std::string shift = labels_[literal(i64, 63, 0).label];
    define("launch.block", "pto.get_block_idx");
    define("launch.zero", "arith.shrui %launch.block, %", shift, " : i64");
  }
  Name launch_index() {
    define_launch_zero();
    std::uint32_t& known = literals_["index of launch.zero"];
    if (known == 0) known = define("launch.index", "arith.index_cast %launch.zero : i64 to index");
    return {0, known};
  }
  // An infinity or NaN, by its bits. Where the assembler sees one it writes `-Inf.0f`, which is no C++; it does not fold
  // `bits | block index >> 63`.
  Name special(DType d, std::int64_t bits) {
    const DType word = info(d).bits == 16 ? i16 : i32;
    std::uint32_t& known = literals_[std::string("special ").append(std::to_string(bits)).append(signless(d))];
    if (known != 0) return {0, known};
    const std::string pattern = labels_[literal(word, bits, 0).label];
    define_launch_zero();
    const std::string_view type = signless(word);
    const std::string text = next_float();
    define(text + ".zero", "arith.trunci %launch.zero : i64 to ", type);
    define(text + ".bits", "arith.ori %", text, ".zero, %", pattern, " : ", type);
    return {0, known = define(text, "arith.bitcast %", text, ".bits : ", type, " to ", signless(d))};
  }

  Labels& labels_;
  std::string definitions_;
  std::unordered_map<std::int64_t, std::uint32_t> indices_;
  std::unordered_map<std::string, std::uint32_t> literals_;  // by definition
  std::uint32_t floats_ = 0;
  bool has_launch_zero_ = false;
};

}  // namespace tessera::pto
