// Every operation, for what walks over all of them (the catalogue, the tests, the simulator's table).
#pragma once

#include "broadcast.hpp"
#include "compare.hpp"
#include "control.hpp"
#include "elementwise.hpp"
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
#include "sync.hpp"
#include "tileop.hpp"

namespace tessera::ops {

struct Family {
  std::string_view name;
  const OpInfo* const* first;
  int count;
  [[nodiscard]] constexpr const OpInfo* const* begin() const { return first; }
  [[nodiscard]] constexpr const OpInfo* const* end() const { return first + count; }
};

template <int N>
constexpr Family family(std::string_view name, const OpInfo* const (&list)[N]) { return {name, list, N}; }

inline constexpr Family families[] = {
    family("elementwise", elementwise_family), family("broadcast", broadcast_family),
    family("compare", compare_family),
    family("reduce", reduce_family), family("sort", sort_family), family("matmul", matmul_family),
    family("memory", memory_family), family("indexed", indexed_family), family("gather rows", gather_rows_family),
    family("random", random_family), family("split", split_family),
    family("tileop", tileop_family), family("scalar", scalar_family),
    family("threads", thread_family), family("memory of threads", atomic_family),
    family("control", control_family), family("control of threads", launch_family),
    family("sync", sync_family)};

}  // namespace tessera::ops
