// The functions of all operations, by descriptor.
#pragma once

#include "compare.hpp"
#include "gather_rows.hpp"
#include "indexed.hpp"
#include "matmul.hpp"
#include "memory.hpp"
#include "random.hpp"
#include "reduce.hpp"
#include "scalar.hpp"
#include "simt.hpp"
#include "sort.hpp"
#include "split.hpp"

namespace tessera::simulator {

/// All lines, by descriptor.
[[nodiscard]] inline const std::unordered_map<const OpInfo*, const TableEntry*>& entries() {
  static const auto table = [] {
    std::unordered_map<const OpInfo*, const TableEntry*> all;
    const auto add = [&](const auto& lines) {
      for (const TableEntry& e : lines) all.emplace(e.op, &e);
    };
    add(elementwise_table);
    add(compare_table);
    add(random_table);
    add(reduce_table);
    add(sort_table);
    add(matmul_table);
    add(memory_table);
    add(gather_rows_table);
    add(indexed_table);
    add(scalar_table);
    add(simt_table);
    add(split_table);
    return all;
  }();
  return table;
}
/// The line of an operation; null for control flow, which the engine runs itself.
[[nodiscard]] inline const TableEntry* find_entry(const OpInfo& op) {
  const auto found = entries().find(&op);
  return found == entries().end() ? nullptr : found->second;
}

}  // namespace tessera::simulator
