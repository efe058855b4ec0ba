// The functions of all operations, by descriptor.
#pragma once

#include "../simulate/matmul.hpp"
#include "../simulate/memory.hpp"
#include "../simulate/reduce.hpp"
#include "../simulate/scalar.hpp"

namespace tessera::simulator {

/// The line of an operation; null for control flow, which the engine runs itself.
[[nodiscard]] inline const TableEntry* find_entry(const OpInfo& op) {
  static const auto table = [] {
    std::unordered_map<const OpInfo*, const TableEntry*> all;
    const auto add = [&](const auto& entries) {
      for (const TableEntry& e : entries) all.emplace(e.op, &e);
    };
    add(elementwise_table);
    add(reduce_table);
    add(matmul_table);
    add(memory_table);
    add(scalar_table);
    return all;
  }();
  const auto found = table.find(&op);
  return found == table.end() ? nullptr : found->second;
}

}  // namespace tessera::simulator
