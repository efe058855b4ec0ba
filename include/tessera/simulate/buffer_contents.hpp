// What the buffers of a running function hold: which write filled them last. With planned addresses this is known for each block
// of 32 bytes of a space, so that a write through one buffer is seen by all that have bytes in common with it.
#pragma once

#include <cstdint>
#include <vector>

#include "../ir/function.hpp"

namespace tessera::simulator {

/// One content; none has number 0, which stands for storage that nobody wrote.
struct Content {
  std::uint64_t number = 0;
  OpId writer;
};

class BufferContents {
 public:
  explicit BufferContents(const Function& f) : f_(f) {
    if (!has_addresses(f)) buffers_.resize(f.value_count());
    for (std::uint32_t v = 0; v < f.value_count() && has_addresses(f); ++v) {
      if (!f.type({v}).is_tile() || f[ValueId{v}].buffer != v) continue;
      std::vector<Content>& space = blocks_[f.type({v}).space];
      if (const std::size_t end = blocks_of(v).end; space.size() < end) space.resize(end);
    }
  }

  /// The operation filled a buffer, which is named after its owner. Gives the number of the new content.
  std::uint64_t write(OpId op, std::uint32_t buffer) {
    const Content made{++last_, op};
    if (!has_addresses(f_)) {
      buffers_[buffer] = made;
      return last_;
    }
    std::vector<Content>& space = blocks_[f_.type({buffer}).space];
    const Blocks range = blocks_of(buffer);
    for (std::size_t b = range.begin; b < range.end; ++b) space[b] = made;
    return last_;
  }
  /// Who wrote a buffer, or bytes of it, since it got that content; null: it still holds it.
  [[nodiscard]] const Content* overwritten(std::uint32_t buffer, std::uint64_t content) const {
    if (!has_addresses(f_)) return buffers_[buffer].number == content ? nullptr : &buffers_[buffer];
    if (content == 0) return nullptr;
    const std::vector<Content>& space = blocks_[f_.type({buffer}).space];
    const Blocks range = blocks_of(buffer);
    for (std::size_t b = range.begin; b < range.end; ++b)
      if (space[b].number != content) return &space[b];
    return nullptr;
  }
  /// Whether two tiles stand in different buffers that have bytes in common.
  [[nodiscard]] bool overlap(ValueId a, ValueId b) const {
    return has_addresses(f_) && f_[a].buffer != no_index && f_[b].buffer != no_index && f_[a].buffer != f_[b].buffer &&
           f_.type(a).space == f_.type(b).space && byte_range(f_, a).overlaps(byte_range(f_, b));
  }

 private:
  static constexpr std::int64_t block = block_bytes;  // every address is a multiple of it
  struct Blocks {
    std::size_t begin = 0, end = 0;
  };
  [[nodiscard]] Blocks blocks_of(std::uint32_t buffer) const {
    const ByteRange r = byte_range(f_, {buffer});
    return {static_cast<std::size_t>(r.begin / block), static_cast<std::size_t>(align_up(r.end, block) / block)};
  }

  const Function& f_;
  std::vector<Content> buffers_;              // without addresses: by owner
  std::vector<Content> blocks_[space_count];  // with addresses: of each space
  std::uint64_t last_ = 0;
};

}  // namespace tessera::simulator
