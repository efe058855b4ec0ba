// Dimensions: a positive integer, or a named symbol packed into a negative one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tessera {

inline constexpr int max_rank = 8;

/// The name of a symbolic dimension, as diagnostics print it.
struct symbol {
  char text[11]{};
  [[nodiscard]] constexpr std::string_view view() const { return std::string_view(text); }
  friend constexpr bool operator==(const symbol&, const symbol&) = default;
};

namespace detail {

inline constexpr std::string_view symbol_alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
inline constexpr int symbol_length = 10;

template <std::size_t N>
struct symbol_literal {
  char text[N]{};
  bool valid = false;
  consteval symbol_literal(const char (&s)[N]) {  // NOLINT(google-explicit-constructor): written as dyn<"S">
    valid = N >= 2 && N <= symbol_length + 1;
    for (std::size_t i = 0; i < N; ++i) text[i] = s[i];
    for (std::size_t i = 0; i + 1 < N; ++i) valid = valid && symbol_alphabet.find(s[i]) != std::string_view::npos;
  }
};

constexpr std::int64_t pack_symbol(std::string_view s) {
  std::int64_t packed = 0;
  for (std::size_t i = 0; i < symbol_length; ++i)
    packed = packed * 64 + (i < s.size() ? static_cast<std::int64_t>(symbol_alphabet.find(s[i])) + 1 : 0);
  return -packed;
}

// The first character stands in the top bits, so every symbol lies below this and small negative numbers are none.
inline constexpr std::int64_t largest_symbol = -(std::int64_t{1} << 54);

}  // namespace detail

/// Whether S can name a dim.
template <detail::symbol_literal S>
concept dim_name_has_1_to_10_letters_digits_or_underscores = S.valid;

/// A dimension known only at run time, by its name (1 to 10 letters, digits or '_'): `Shape<4, dyn<"S">, 512>`.
template <detail::symbol_literal S>
  requires dim_name_has_1_to_10_letters_digits_or_underscores<S>
inline constexpr std::int64_t dyn = detail::pack_symbol({S.text, sizeof(S.text) - 1});

/// Whether a dim is a symbol.
[[nodiscard]] constexpr bool is_dynamic(std::int64_t dim) { return dim <= detail::largest_symbol; }
/// Whether a number can be a dim: positive, or a symbol.
[[nodiscard]] constexpr bool is_valid_dim(std::int64_t dim) { return dim > 0 || is_dynamic(dim); }

/// The name of a symbolic dim.
[[nodiscard]] constexpr symbol symbol_of(std::int64_t dim) {
  symbol s;
  std::int64_t packed = -dim;
  for (int i = detail::symbol_length - 1; i >= 0; --i, packed /= 64)
    if (packed % 64 != 0) s.text[i] = detail::symbol_alphabet[static_cast<std::size_t>(packed % 64 - 1)];
  return s;
}

}  // namespace tessera
