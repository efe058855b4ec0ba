// What is checked where a kernel declares memory on chip, and where it places a tile in a buffer of its own.
#pragma once

#include "../ir/signature.hpp"
#include "../ops/memory.hpp"
#include "recorder.hpp"

namespace tessera::detail {

inline void check_storage_name(const Function& f, const StorageRequest& s, const Location& at, std::string_view what) {
  if (!is_identifier(s.name)) fail(at, Text(what).append(": the name is not an identifier (").append(s.name).append(")"), "use letters, digits and '_'");
  for (const Storage& other : f.storage) {
    if (!(other.name == s.name)) continue;
    Text text(what);
    text.append(": the name is given twice (").append(s.name).append(", lines ").append(other.location.line).append(" and ").append(at.line);
    if (other.slots != s.slots && !other.is_reserved() && s.slots != 0)
      text.append(", with ").append(other.slots).append(" and ").append(s.slots).append(" slots");
    fail(at, text.append(")"), "give each buffer and each reserved region a name of its own; a buffer is declared once, and its name is handed on in C++");
  }
}
/// Adds storage to a kernel; returns its number. Throws UserError.
inline std::uint32_t declare_storage(Function& f, const StorageRequest& s, const Location& at) {
  const std::string_view what = s.slots == 0 ? "reserve" : "buffer";
  if (f.kind != FunctionKind::kernel)
    fail(at, Text(what).append(": only kernels declare memory (").append(name(f.kind)).append(" ").append(f.name).append(")"),
         "declare it in the kernel that calls this");
  check_storage_name(f, s, at, what);
  if (s.slots == 0 && s.bytes <= 0)
    fail(at, Text("reserve: the count of bytes is not positive (").append(s.name).append(", ").append(s.bytes).append(")"), "state how many bytes others use");
  const bool fixed = s.address != StorageRequest::no_address;
  const std::int64_t unit = info(s.space).alignment;
  if (fixed && (s.address < 0 || s.address % unit != 0))
    fail(at, Text(what).append(": the address is not a multiple of ").append(unit).append(" (").append(s.name).append(", ").append(s.address).append(" in ").append(name(s.space)).append(")"),
         "tiles begin at such addresses in this memory space; leave the address out where it does not matter");
  if (f.storage.size() >= no_storage) fail(at, Text(what).append(": there are too many buffers and regions"), "declare fewer, with slots");
  f.storage.push_back({Text(s.name), at, s.space, s.slots, s.bytes, fixed ? s.address : -1, fixed});
  return static_cast<std::uint32_t>(f.storage.size() - 1);
}

/// Refuses to place what does not get storage of its own where it is made.
inline void check_placed(const Function& f, ValueId tile, const Location& at) {
  const OpId by = f.definition(tile);
  const auto made = [&](std::string_view how) { return Text(" (").append(how).append(", line ").append(f[by].location.line).append(")"); };
  if (!by || f.block_count(by) > 0)
    fail(at, "place: the tile is that of a variable, which has its storage already", "place the value that the variable starts with: Var v = place(x, ping)");
  const OpInfo& op = f.info(by);
  if (&op == &ops::place) fail(at, Text("place: the tile is placed already").append(made(f.storage[static_cast<std::size_t>(f.attr(by, AttrKey::buffer))].name)), "place it once");
  if (op.is_view)
    fail(at, Text("place: the tile is another look at one that has its storage already").append(made(op.name)), "place the tile that is looked at");
  if (op.in_place >= 0)
    fail(at, Text("place: the tile is written in the place of an operand").append(made(op.name)), "place that operand, where it is made");
}
inline void check_slot(const Function& f, std::uint32_t buffer, std::int64_t slot, const Location& at) {
  const Storage& s = f.storage[buffer];
  if (slot != StorageRequest::any_slot && (slot < 0 || slot >= s.slots))
    fail(at, Text("place: the buffer has no such slot (").append(s.name).append("[").append(slot).append("] of ").append(s.slots).append(", line ").append(s.location.line).append(")"),
         "slots are counted from 0");
}

}  // namespace tessera::detail
