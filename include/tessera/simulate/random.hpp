// Random numbers by Philox 4x32. Which block of the sequence an element comes from is as the instruction of a5 has it, the only
// target with one; other descriptions of it count in another way.
#pragma once

#include <array>

#include "engine.hpp"

namespace tessera::simulator {

using PhiloxCounter = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

/// The block of four words at a place of the sequence.
[[nodiscard]] inline PhiloxCounter philox(PhiloxCounter c, PhiloxKey key, std::int64_t rounds) {
  for (std::int64_t i = 0; i < rounds; ++i) {
    const std::uint64_t a = std::uint64_t{c[0]} * 0xD2511F53u, b = std::uint64_t{c[2]} * 0xCD9E8D57u;
    const auto low = [](std::uint64_t n) { return static_cast<std::uint32_t>(n); };
    const auto high = [](std::uint64_t n) { return static_cast<std::uint32_t>(n >> 32); };
    c = {high(b) ^ c[1] ^ key[0], low(b), high(a) ^ c[3] ^ key[1], low(a)};
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  return c;
}
/// The counter `n` places further, as a number of 128 bits.
[[nodiscard]] inline PhiloxCounter advanced(PhiloxCounter c, std::uint64_t n) {
  for (std::uint32_t& word : c) {
    n += word;
    word = static_cast<std::uint32_t>(n);
    n >>= 32;
  }
  return c;
}
/// The instruction has 64 lanes, each with the block of its own place, and writes four words of each lane: 256 elements of a row
/// in order. Then it goes 64 places on; behind the end of a row only as many as the row has elements in its last 64.
inline void random_bits(Call& c) {
  constexpr std::int64_t lanes = 64, step = 4 * lanes;
  const auto word = [&](int i) { return static_cast<std::uint32_t>(c.integer(i)); };
  const PhiloxKey key = {word(0), word(1)};
  PhiloxCounter counter = {word(2), word(3), word(4), word(5)};
  const std::int64_t rounds = c.attr(AttrKey::rounds, 10);
  Data r = c.fresh();
  const std::int64_t cols = r.dims.last();
  for (std::int64_t start = 0; start < r.size(); start += cols)
    for (std::int64_t col = 0; col < cols; col += step) {
      const std::int64_t count = std::min(step, cols - col);
      PhiloxCounter block = {};
      for (std::int64_t i = 0; i < count; ++i) {
        if (i % 4 == 0) block = philox(advanced(counter, static_cast<std::uint64_t>(i / 4)), key, rounds);
        r.set(start + col + i, make_number(r.dtype, std::int64_t{block[static_cast<std::size_t>(i % 4)]}));
      }
      counter = advanced(counter, static_cast<std::uint64_t>(col + step < cols ? lanes : (cols - 1) % lanes + 1));
    }
  c.result(std::move(r));
}

inline constexpr TableEntry random_table[] = {{&ops::random, random_bits}};

}  // namespace tessera::simulator
