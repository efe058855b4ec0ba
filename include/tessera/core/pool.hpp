// A growing array of data that may be moved bitwise, and a text made of it. They do what recording needs of std::vector and
// std::string at a fraction of the compile time (in C++20 each source compiles its own std::string).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>

// At -O0 a call costs compile time for each element type; these bodies are a line each.
#define TESSERA_INLINE [[gnu::always_inline]] inline

namespace tessera {
namespace detail {

/// The part of a pool that does not depend on the element type.
class pool_storage {
 protected:
  explicit pool_storage(std::size_t element) : element_(element) {}
  pool_storage(const pool_storage& o) : element_(o.element_) {
    grow(o.size_);
    copy_bytes(o);
  }
  pool_storage(pool_storage&& o) noexcept : data_(o.data_), size_(o.size_), capacity_(o.capacity_), element_(o.element_) { o.forget(); }
  pool_storage& operator=(const pool_storage& o) {
    if (this != &o) {
      grow(o.size_);
      copy_bytes(o);
    }
    return *this;
  }
  pool_storage& operator=(pool_storage&& o) noexcept {
    if (this != &o) {
      std::free(data_);
      data_ = o.data_;
      size_ = o.size_;
      capacity_ = o.capacity_;
      o.forget();
    }
    return *this;
  }
  ~pool_storage() { std::free(data_); }

  void grow(std::size_t capacity) {
    if (capacity <= capacity_) return;
    void* const grown = std::realloc(data_, capacity * element_);
    if (grown == nullptr) throw std::bad_alloc();
    data_ = grown;
    capacity_ = capacity;
  }
  void make_room() {
    if (size_ == capacity_) grow(capacity_ < 16 ? 16 : capacity_ + capacity_ / 2);
  }

  void* data_ = nullptr;
  std::size_t size_ = 0, capacity_ = 0;

 private:
  void copy_bytes(const pool_storage& o) {
    size_ = o.size_;
    if (size_ != 0) std::memcpy(data_, o.data_, size_ * element_);
  }
  void forget() {
    data_ = nullptr;
    size_ = capacity_ = 0;
  }
  std::size_t element_;
};

}  // namespace detail

/// Whether an object may be moved by copying its bytes. Pool, Text and what is made of them say so.
template <class T>
concept relocatable = std::is_trivially_copyable_v<T> || T::moves_bitwise;

template <class T>
class Pool : detail::pool_storage {
  static constexpr bool plain = std::is_trivially_copyable_v<T>;

 public:
  static constexpr bool moves_bitwise = true;
  TESSERA_INLINE Pool() : pool_storage(sizeof(T)) {}
  Pool(const T* first, std::size_t count) : pool_storage(sizeof(T)) {
    for (std::size_t i = 0; i < count; ++i) push_back(first[i]);
  }
  Pool(const Pool&) requires plain = default;
  Pool(const Pool& o) : pool_storage(sizeof(T)) { copy(o); }
  Pool(Pool&&) noexcept = default;
  Pool& operator=(const Pool&) requires plain = default;
  Pool& operator=(const Pool& o) {
    if (this != &o) {
      clear();
      copy(o);
    }
    return *this;
  }
  Pool& operator=(Pool&&) noexcept requires plain = default;
  Pool& operator=(Pool&& o) noexcept {
    clear();
    pool_storage::operator=(static_cast<pool_storage&&>(o));
    return *this;
  }
  ~Pool() requires plain = default;
  ~Pool() { clear(); }

  [[nodiscard]] TESSERA_INLINE std::size_t size() const { return size_; }
  [[nodiscard]] TESSERA_INLINE std::size_t capacity() const { return capacity_; }
  [[nodiscard]] TESSERA_INLINE bool empty() const { return size_ == 0; }
  [[nodiscard]] TESSERA_INLINE T* data() { return static_cast<T*>(data_); }
  [[nodiscard]] TESSERA_INLINE const T* data() const { return static_cast<const T*>(data_); }
  [[nodiscard]] TESSERA_INLINE T& operator[](std::size_t i) { return static_cast<T*>(data_)[i]; }
  [[nodiscard]] TESSERA_INLINE const T& operator[](std::size_t i) const { return static_cast<const T*>(data_)[i]; }
  [[nodiscard]] TESSERA_INLINE T* begin() { return static_cast<T*>(data_); }
  [[nodiscard]] TESSERA_INLINE T* end() { return static_cast<T*>(data_) + size_; }
  [[nodiscard]] TESSERA_INLINE const T* begin() const { return static_cast<const T*>(data_); }
  [[nodiscard]] TESSERA_INLINE const T* end() const { return static_cast<const T*>(data_) + size_; }
  [[nodiscard]] TESSERA_INLINE T& back() { return static_cast<T*>(data_)[size_ - 1]; }

  /// `t` may not stand in this pool.
  TESSERA_INLINE T& push_back(const T& t) {
    static_assert(relocatable<T>);
    make_room();
    return *new (static_cast<T*>(data_) + size_++) T(t);
  }
  TESSERA_INLINE void pop_back() { (*this)[--size_].~T(); }
  void clear() { shrink(0); }
  /// Drops everything from position `size` on.
  void shrink(std::size_t size) {
    if constexpr (plain) size_ = size;
    else
      while (size_ > size) pop_back();
  }
  void erase(std::size_t position) {
    for (std::size_t i = position; i + 1 < size_; ++i) (*this)[i] = (*this)[i + 1];
    pop_back();
  }
  TESSERA_INLINE void reserve(std::size_t capacity) {
    static_assert(relocatable<T>);
    grow(capacity);
  }
  void assign(std::size_t count, const T& t) {
    clear();
    for (grow(count); count > 0; --count) push_back(t);
  }

 private:
  void copy(const Pool& o) {
    grow(o.size_);
    for (const T& t : o) push_back(t);
  }
};

/// A growing array whose elements stay where they are: a reference to one lasts as long as the array.
template <class T>
class StablePool {
  static constexpr std::size_t per_chunk = 64;

 public:
  StablePool() = default;
  StablePool(const StablePool& o) { copy(o); }
  StablePool(StablePool&& o) noexcept : chunks_(static_cast<Pool<T*>&&>(o.chunks_)), size_(o.size_) { o.size_ = 0; }
  StablePool& operator=(const StablePool& o) {
    if (this != &o) {
      clear();
      copy(o);
    }
    return *this;
  }
  StablePool& operator=(StablePool&& o) noexcept {
    if (this != &o) {
      clear();
      chunks_ = static_cast<Pool<T*>&&>(o.chunks_);
      size_ = o.size_;
      o.size_ = 0;
    }
    return *this;
  }
  ~StablePool() { clear(); }

  [[nodiscard]] TESSERA_INLINE std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t capacity() const { return chunks_.size() * per_chunk; }
  [[nodiscard]] TESSERA_INLINE T& operator[](std::size_t i) { return chunks_[i / per_chunk][i % per_chunk]; }
  [[nodiscard]] TESSERA_INLINE const T& operator[](std::size_t i) const { return chunks_[i / per_chunk][i % per_chunk]; }
  T& push_back(const T& t) {
    if (size_ == capacity()) add_chunk();
    T* const made = new (chunks_[size_ / per_chunk] + size_ % per_chunk) T(t);
    ++size_;
    return *made;
  }

 private:
  void add_chunk() {
    void* const chunk = std::malloc(per_chunk * sizeof(T));
    if (chunk == nullptr) throw std::bad_alloc();
    chunks_.push_back(static_cast<T*>(chunk));
  }
  void copy(const StablePool& o) {
    for (std::size_t i = 0; i < o.size_; ++i) push_back(o[i]);
  }
  void clear() {
    while (size_ > 0) (*this)[--size_].~T();
    for (T* const chunk : chunks_) std::free(chunk);
    chunks_.clear();
  }
  Pool<T*> chunks_;
  std::size_t size_ = 0;
};

/// A text. Converts to and from the standard strings.
class Text {
 public:
  static constexpr bool moves_bitwise = true;
  Text() = default;
  Text(std::string_view s) { append(s); }       // NOLINT: as std::string
  Text(const char* s) { append(s); }            // NOLINT: as std::string
  Text(const std::string& s) { append(s); }     // NOLINT: as std::string

  Text& append(std::string_view s) {
    if (!chars_.empty()) chars_.pop_back();  // the end mark, which an empty text may have, too
    chars_.reserve(chars_.size() + s.size() + 1);
    for (const char c : s) chars_.push_back(c);
    chars_.push_back('\0');
    return *this;
  }
  Text& append(std::int64_t n) {
    char digits[24];
    char* p = digits + sizeof digits;
    for (std::uint64_t u = n < 0 ? 0 - static_cast<std::uint64_t>(n) : static_cast<std::uint64_t>(n); p == digits + sizeof digits || u != 0; u /= 10)
      *--p = static_cast<char>('0' + u % 10);
    if (n < 0) *--p = '-';
    return append(std::string_view(p, static_cast<std::size_t>(digits + sizeof digits - p)));
  }
  [[nodiscard]] bool empty() const { return chars_.size() <= 1; }
  [[nodiscard]] std::size_t size() const { return empty() ? 0 : chars_.size() - 1; }
  [[nodiscard]] const char* c_str() const { return empty() ? "" : chars_.data(); }
  [[nodiscard]] std::string_view view() const { return {c_str(), size()}; }
  [[nodiscard]] std::string str() const { return std::string(view()); }
  operator std::string_view() const { return view(); }  // NOLINT: a text is a view of its characters
  operator std::string() const { return str(); }        // NOLINT: likewise
  // A template: conversions on the right would make comparisons with literals and std::string ambiguous.
  template <class S>
    requires std::is_convertible_v<const S&, std::string_view>
  friend bool operator==(const Text& a, const S& b) {
    return a.view() == static_cast<std::string_view>(b);
  }
  friend bool operator<(const Text& a, const Text& b) { return a.view() < b.view(); }
  template <class Stream>
    requires requires(Stream& s, std::string_view v) { s << v; }
  friend Stream& operator<<(Stream& s, const Text& t) {
    s << t.view();
    return s;
  }
  friend std::string operator+(const Text& a, std::string_view b) { return a.str().append(b); }
  friend std::string operator+(std::string_view a, const Text& b) { return std::string(a).append(b.view()); }

 private:
  Pool<char> chars_;
};

}  // namespace tessera
