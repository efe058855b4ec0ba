// Declared memory in the text: regions that are reserved. Buffers are addresses of tiles, which level 2 has not.
#pragma once

#include "module.hpp"

namespace tessera::pto {

/// At level 2 the assembler chooses all addresses: it keeps a region free, but knows no buffer of the author's.
inline void refuse_placed(const Function& f) {
  for (const Storage& s : f.storage)
    if (!s.is_reserved() || s.fixed)
      fail(s.location,
           Text("emit: at level 2 the assembler chooses where tiles stand (").append(s.is_reserved() ? "reserve " : "buffer ").append(storage_text(s)).append(")"),
           "emit the kernel with planned addresses: --level 3, or EMIT cpp");
}

/// The regions that are reserved, each with its name for whoever uses it.
inline void emit_reserved(Module& m) {
  for (const Storage& s : m.f.storage) {
    if (!s.is_reserved()) continue;
    const bool planned = m.options.level == 3;
    m.line(m.fresh(), " = pto.reserve_buffer {name = \"", s.name.view(), "\", size = ", s.bytes, ", location = #pto.address_space<", info(s.space).pto_name,
           ">, auto = ", planned ? "false" : "true", planned ? ", base = " + std::to_string(s.address) : std::string(), "} -> i32");
  }
}

}  // namespace tessera::pto
