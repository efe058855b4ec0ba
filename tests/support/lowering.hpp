// Tile-level kernels through the passes behind convert: every stage is verified, and computes what the recorded kernel does.
#pragma once

#include <string>
#include <vector>

#include <tessera/ir/printer.hpp>
#include <tessera/ir/walk.hpp>
#include <tessera/simulate/run.hpp>

#include "catch.hpp"
#include "ir.hpp"

namespace tessera::test {

/// Names of the operations in program order, blocks in braces: "load for{add yield} store".
[[nodiscard]] inline std::string op_names(const Function& f, BlockId b) {
  std::string out;
  for (OpId o = f[b].first; o; o = f.next(o)) {
    if (f.is(o, ops::return_op)) continue;
    out.append(out.empty() ? "" : " ").append(f.info(o).name);
    for (int i = 0; i < f.block_count(o); ++i) out.append("{").append(op_names(f, f.block(o, i))).append("}");
  }
  return out;
}
[[nodiscard]] inline std::string op_names(const Function& f) { return op_names(f, f.body()); }
/// Operation number `n` of that kind, in program order.
[[nodiscard]] inline OpId find_op(const Function& f, const OpInfo& info, int n = 0) {
  for (const OpId o : all_operations(f))
    if (f.is(o, info) && n-- == 0) return o;
  FAIL("no such operation: " << info.name << "\n" << print(f));
  return {};
}
/// "f32[6,4]@Vec" and the like, of a result.
[[nodiscard]] inline std::string type_text(const Function& f, const OpInfo& info, int n = 0) {
  const Type& t = f.type(f.result(find_op(f, info, n)));
  std::string text(name(t.dtype));
  for (int i = 0; i < t.rank; ++i) text.append(i == 0 ? "[" : ",").append(std::to_string(t.dims[i]));
  return text.append("]@")
      .append(name(t.space))
      .append(t.layout == Layout::dn   ? ":dn"
              : t.layout == Layout::zn ? ":zn"
                                       : "");
}
[[nodiscard]] inline int count_op(const Function& f, const OpInfo& info) {
  int n = 0;
  for (const OpId o : all_operations(f)) n += f.is(o, info) ? 1 : 0;
  return n;
}

/// Small whole numbers, so that sums are exact in any order; the same for every stage.
[[nodiscard]] std::vector<HostTensor> whole_numbers(const Function& f, std::int64_t dynamic);

struct Lowered {
  Function flat, legal, placed, buffered, planned;
};
/// Runs the passes; `dynamic` is the size of every named dim, `scalar` the value of every scalar parameter.
[[nodiscard]] Lowered lower_tiles(const Function& f, Arch arch = Arch::a3, std::int64_t dynamic = 8, std::int64_t scalar = 1);

}  // namespace tessera::test
