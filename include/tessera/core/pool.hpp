// A growing array of plain data. It does what the arenas need of std::vector at a fraction of the compile time.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>
#include <type_traits>

namespace tessera {

template <class T>
class Pool {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Pool() = default;
  Pool(const Pool& o) { copy(o); }
  Pool(Pool&& o) noexcept : data_(o.data_), size_(o.size_), capacity_(o.capacity_) { o.forget(); }
  Pool& operator=(const Pool& o) {
    if (this != &o) {
      size_ = 0;
      copy(o);
    }
    return *this;
  }
  Pool& operator=(Pool&& o) noexcept {
    if (this != &o) {
      std::free(data_);
      data_ = o.data_;
      size_ = o.size_;
      capacity_ = o.capacity_;
      o.forget();
    }
    return *this;
  }
  ~Pool() { std::free(data_); }

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t capacity() const { return capacity_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] T* data() { return data_; }
  [[nodiscard]] const T* data() const { return data_; }
  [[nodiscard]] T& operator[](std::size_t i) { return data_[i]; }
  [[nodiscard]] const T& operator[](std::size_t i) const { return data_[i]; }
  [[nodiscard]] T* begin() { return data_; }
  [[nodiscard]] T* end() { return data_ + size_; }
  [[nodiscard]] const T* begin() const { return data_; }
  [[nodiscard]] const T* end() const { return data_ + size_; }
  [[nodiscard]] T& back() { return data_[size_ - 1]; }

  T& push_back(const T& t) {
    const T copied = t;  // it may stand in this pool
    if (size_ == capacity_) reserve(capacity_ < 16 ? 16 : capacity_ + capacity_ / 2);
    return *new (data_ + size_++) T(copied);
  }
  void pop_back() { --size_; }
  void resize_down(std::size_t size) { size_ = size; }
  void reserve(std::size_t capacity) {
    if (capacity <= capacity_) return;
    void* const grown = std::realloc(static_cast<void*>(data_), capacity * sizeof(T));
    if (grown == nullptr) throw std::bad_alloc();
    data_ = static_cast<T*>(grown);
    capacity_ = capacity;
  }
  void assign(std::size_t count, const T& t) {
    size_ = 0;
    reserve(count);
    while (size_ < count) new (data_ + size_++) T(t);
  }

 private:
  void copy(const Pool& o) {
    reserve(o.size_);
    for (; size_ < o.size_; ++size_) new (data_ + size_) T(o.data_[size_]);
  }
  void forget() {
    data_ = nullptr;
    size_ = capacity_ = 0;
  }

  T* data_ = nullptr;
  std::size_t size_ = 0, capacity_ = 0;
};

}  // namespace tessera
