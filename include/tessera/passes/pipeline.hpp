// The default passes, in their order: from what a kernel recorded to what the emitters translate.
#pragma once

#include "pass.hpp"

namespace tessera {

namespace detail {
// Defined in all_passes.hpp. A template, so that it can be compiled elsewhere.
template <class = void>
[[nodiscard]] List<const Pass*> all_passes();
}  // namespace detail

/// For the assembler, which orders the pipes itself: addresses, but no flags.
[[nodiscard]] inline List<const Pass*> default_pipeline() {
  const List<const Pass*> all = detail::all_passes();
  return {all.begin(), all.size() - 1};
}
/// For C++, and whatever else needs the pipes in order: with flags and barriers.
[[nodiscard]] inline List<const Pass*> full_pipeline() { return detail::all_passes(); }

}  // namespace tessera

#ifndef TESSERA_COMPILED
#include "all_passes.hpp"
#endif
