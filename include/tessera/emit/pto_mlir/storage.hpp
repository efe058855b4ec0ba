// Declared memory in the text: regions that are reserved. Buffers are addresses of tiles, which level 2 has not.
#pragma once

#include "module.hpp"

namespace tessera::pto {

/// Whether the assembler has an operation for a reserved region in that space.
[[nodiscard]] constexpr bool has_regions(MemorySpace s) { return s == Vec || s == Mat; }
/// The first buffer, or region with an address of its author's or in a space for which only addresses can keep it: with those a
/// kernel is written at level 3. Null: there is none.
[[nodiscard]] inline const Storage* needs_addresses(const Function& f) {
  for (const Storage& s : f.storage)
    if (!s.is_reserved() || s.fixed || !has_regions(s.space)) return &s;
  return nullptr;
}
/// At level 2 the assembler chooses all addresses: it keeps a region free, but knows no buffer of the author's.
inline void refuse_placed(const Function& f) {
  if (const Storage* const s = needs_addresses(f))
    fail(s->location,
         Text("emit: at level 2 the assembler chooses where tiles stand (").append(s->is_reserved() ? "reserve " : "buffer ").append(storage_text(*s)).append(")"),
         "emit the kernel with planned addresses: at level 3, or as C++");
}

/// The regions that are reserved, each with its name for whoever uses it. At level 3 no tile has an address in one, so that those
/// for which there is no operation need none.
inline void emit_reserved(Module& m) {
  const bool planned = m.options.level == 3;
  int count = 0;
  for (const Storage& s : m.f.storage) {
    if (!s.is_reserved() || !has_regions(s.space)) continue;
    if (count++ > 0 && !m.dialect.has_many_regions) {
      if (planned) continue;
      fail(s.location, Text("emit: assembler ").append(m.dialect.version).append(" keeps one region free in a kernel (").append(storage_text(s)).append(")"),
           "emit for assembler 0.60, or at level 3");
    }
    m.line(m.fresh(), " = pto.reserve_buffer {name = \"", s.name.view(), "\", size = ", s.bytes, ", location = #pto.address_space<", info(s.space).pto_name,
           ">, auto = ", planned ? "false" : "true", planned ? ", base = " + std::to_string(s.address) : std::string(), "} -> i32");
  }
}

}  // namespace tessera::pto
