// Memory on chip that the author of a kernel names: regions that nothing may use, and buffers for the tiles that are placed in
// them. What a tile is placed in is checked by the C++ compiler as far as types tell; what is live at the same time, when lowering.
#pragma once

#include "windows.hpp"

namespace tessera {
namespace detail {

struct byte_address {
  std::int64_t bytes = StorageRequest::no_address;
};
/// A buffer that a kernel declares.
struct declared_buffer {
  std::uint32_t recorder = 0;
  std::uint32_t number = 0;  ///< of the function's storage
};

template <MemorySpace M, std::int64_t N>
struct buffer_verdict {
  static constexpr const OpInfo* op = nullptr;
  static constexpr Verdict value = M == Gm                        ? breaks(rule::storage_is_not_on_chip, arg(M))
                                   : N < 1 || N > most_slots ? breaks(rule::buffer_slot_count, arg(N))
                                                                  : lawful();
};
template <std::int64_t Slot, std::int64_t N>
struct slot_verdict {
  static constexpr const OpInfo* op = nullptr;
  static constexpr Verdict value = Slot < 0 || Slot >= N ? breaks(rule::slot_out_of_range, arg(Slot), arg(N)) : lawful();
};
template <class N>
concept slot_number = std::is_integral_v<N>;

}  // namespace detail

/// Where a region or a buffer begins in its memory space, in bytes.
[[nodiscard]] constexpr detail::byte_address at_address(std::int64_t bytes) { return {bytes}; }

/// One slot of a buffer: `slots[1]`.
template <MemorySpace M>
class BufferSlot {
 public:
  static constexpr MemorySpace space = M;
  BufferSlot(const detail::declared_buffer& buffer, std::int64_t slot) : buffer_(buffer), slot_(slot) {}
  [[nodiscard]] const detail::declared_buffer& buffer() const { return buffer_; }
  [[nodiscard]] std::int64_t slot() const { return slot_; }

 private:
  detail::declared_buffer buffer_;
  std::int64_t slot_;
};

/// A buffer in memory space M with N slots of one size, that of the largest tile which is placed in it.
template <MemorySpace M, std::int64_t N = 1>
class Buffer {
 public:
  static constexpr MemorySpace space = M;
  static constexpr std::int64_t slots = N;
  explicit Buffer(const detail::declared_buffer& buffer) : buffer_(buffer) {}

  /// A number of C++ is checked when a tile is placed, an integral constant (`1_c`) by the compiler.
  template <detail::slot_number I>
  [[nodiscard]] BufferSlot<M> operator[](I slot) const {
    return {buffer_, static_cast<std::int64_t>(slot)};
  }
  template <detail::constant_operand I>
    requires(detail::slot_verdict<I::value, N>::value.lawful())
  [[nodiscard]] BufferSlot<M> operator[](I) const {
    return {buffer_, I::value};
  }
  template <detail::constant_operand I>
    requires(!detail::slot_verdict<I::value, N>::value.lawful())
  auto operator[](I) const -> decltype(detail::unwrap(detail::broken_type<detail::slot_verdict<I::value, N>>()));
  template <recorded I>
  broken::slot_is_a_value_of_the_kernel<> operator[](const I&) const;

  [[nodiscard]] const detail::declared_buffer& buffer() const { return buffer_; }
  /// None in particular: the first, or in a pipelined loop one for each turn.
  [[nodiscard]] std::int64_t slot() const { return detail::StorageRequest::any_slot; }

 private:
  detail::declared_buffer buffer_;
};

/// Declares a buffer: `auto ping = buffer<Vec>("ping");`, with slots `buffer<Vec, 2>("slots")`, or where the author wants it,
/// `buffer<Vec>("ping", at_address(4096))`. Its bytes are kept for its tiles while one of them is needed.
template <MemorySpace M, std::int64_t N = 1>
  requires(detail::buffer_verdict<M, N>::value.lawful())
[[nodiscard]] Buffer<M, N> buffer(std::string_view name, detail::byte_address address = {}, std::source_location at = std::source_location::current()) {
  Recorder& r = Recorder::current(at);
  return Buffer<M, N>({r.id(), r.declare_storage({name, M, N, 0, address.bytes}, detail::location_of(at))});
}
template <MemorySpace M, std::int64_t N = 1>
  requires(!detail::buffer_verdict<M, N>::value.lawful())
auto buffer(detail::any_argument, detail::any_argument = {}) -> decltype(detail::unwrap(detail::broken_type<detail::buffer_verdict<M, N>>()));
broken::storage_has_no_space<> buffer(detail::any_argument, detail::any_argument = {});

/// Keeps bytes of a memory space free of tiles, for what else uses them: `reserve<Mat>("ring", 65536)`. The planner chooses where,
/// before any tile, unless the author does: `reserve<Mat>("ring", 65536, at_address(0))`.
template <MemorySpace M>
  requires(detail::buffer_verdict<M, 1>::value.lawful())
void reserve(std::string_view name, std::int64_t bytes, detail::byte_address address = {}, std::source_location at = std::source_location::current()) {
  static_cast<void>(Recorder::current(at).declare_storage({name, M, 0, bytes, address.bytes}, detail::location_of(at)));
}
template <MemorySpace M>
  requires(!detail::buffer_verdict<M, 1>::value.lawful())
auto reserve(detail::any_argument, detail::any_argument = {}, detail::any_argument = {})
    -> decltype(detail::unwrap(detail::broken_type<detail::buffer_verdict<M, 1>>()));
broken::storage_has_no_space<> reserve(detail::any_argument, detail::any_argument = {}, detail::any_argument = {});

namespace detail {

template <class B>
inline constexpr bool is_buffer = false;
template <MemorySpace M, std::int64_t N>
inline constexpr bool is_buffer<tessera::Buffer<M, N>> = true;
template <MemorySpace M>
inline constexpr bool is_buffer<tessera::BufferSlot<M>> = true;

template <class X, class B>
struct place_verdict {
  static constexpr const OpInfo* op = &ops::place;
  static constexpr Verdict make() {
    if constexpr (!recorded<X>) return breaks(rule::value_is_not_recorded, arg_op);
    else if constexpr (!type_of<value_of<X>>.is_tile()) return breaks(rule::operand_is_not_a_tile, arg_op);
    else if constexpr (!is_buffer<B>) return breaks(rule::placed_in_no_buffer);
    else if constexpr (type_of<value_of<X>>.space != B::space) return breaks(rule::placed_in_another_space, arg(type_of<value_of<X>>.space), arg(B::space));
    else return lawful();
  }
  static constexpr Verdict value = make();
};

}  // namespace detail

/// The tile, made in a buffer of the author's or in one of its slots: `auto t = place(load<Shape<16, 64>>(x, at(i, 0)), ping);`
template <class X, class B>
  requires(detail::place_verdict<X, B>::value.lawful())
[[nodiscard]] value_of<X> place(X&& x, const B& in, std::source_location at = std::source_location::current()) {
  Recorder& r = Recorder::current(at);
  const Location where = detail::location_of(at);
  if (r.id() != in.buffer().recorder) r.refuse_foreign(at, {});
  return {r, r.place(detail::record_operand(at, TESSERA_FORWARD(x)), in.buffer().number, in.slot(), where)};
}
template <class X, class B>
  requires(recorded<X> || detail::is_buffer<B>) && (!detail::place_verdict<X, B>::value.lawful())
auto place(X&& x, const B& in) -> decltype(detail::unwrap(detail::broken_type<detail::place_verdict<X, B>>()));
template <recorded X>
broken::placed_in_no_buffer<> place(X&& x);

}  // namespace tessera
