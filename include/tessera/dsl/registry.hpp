// The kernels of a program, in the order of their construction. Registration takes a lock, never throws and runs no kernel.
#pragma once

#include <vector>

#include "../ir/diagnostic.hpp"
#include "../ir/ids.hpp"

namespace tessera {

class Recorder;

/// A kernel as the registry holds it; lives to the end of the program.
class KernelEntry {
 public:
  /// `target` is the Arch that the source was compiled for, or any_target; `blocks` is what an spmd wrapper runs, `threads` what
  /// runs a simt kernel.
  KernelEntry(std::string_view name, const Location& at, const void* closure_type, bool has_captures, int target,
              FunctionKind kind = FunctionKind::kernel, std::int64_t blocks = 1, const Threads& threads = {})
      : name_(name), location_(at), closure_type_(closure_type), blocks_(blocks), threads_(threads), target_(target), kind_(kind), has_captures_(has_captures) {}
  static constexpr int any_target = -1;
  KernelEntry(const KernelEntry&) = delete;
  KernelEntry& operator=(const KernelEntry&) = delete;
  virtual ~KernelEntry() = default;
  [[nodiscard]] const Text& name() const { return name_; }
  [[nodiscard]] const Location& location() const { return location_; }
  [[nodiscard]] int target() const { return target_; }
  [[nodiscard]] FunctionKind kind() const { return kind_; }
  [[nodiscard]] std::int64_t blocks() const { return blocks_; }
  [[nodiscard]] const Threads& threads() const { return threads_; }
  /// Runs the lambda once, from its parameters to the end of the function. Throws what the lambda throws.
  virtual void run(Recorder& r) const = 0;
  [[nodiscard]] bool same_definition(const KernelEntry& o) const {
    return name_ == o.name_ && kind_ == o.kind_ && blocks_ == o.blocks_ && threads_ == o.threads_ && closure_type_ == o.closure_type_ && !has_captures_ && !o.has_captures_;
  }

 private:
  Text name_;
  Location location_;
  const void* closure_type_;
  std::int64_t blocks_;
  Threads threads_;
  int target_;
  FunctionKind kind_;
  bool has_captures_;
};

class Registry {
 public:
  static Registry& instance() {
    static Registry* const registry = new Registry;  // kernels may be used until the very end
    return *registry;
  }
  /// Adds a kernel and returns it, or the one that it repeats. Another kernel of that name is noted as an error.
  const KernelEntry* add(KernelEntry* entry) noexcept {
    const Guard guard(lock_);
    for (const KernelEntry* e : entries_) {
      if (e->name() != entry->name()) continue;
      if (e->same_definition(*entry)) {
        delete entry;
        return e;
      }
      taken_.push_back({entry, e});
    }
    entries_.push_back(entry);
    return entry;
  }
  [[nodiscard]] std::size_t size() const {
    const Guard guard(lock_);
    return entries_.size();
  }
  /// Tracing may add kernels: walk by index.
  [[nodiscard]] const KernelEntry& operator[](std::size_t i) const {
    const Guard guard(lock_);
    return *entries_[i];
  }
  [[nodiscard]] const KernelEntry* find(std::string_view name) const {
    const Guard guard(lock_);
    for (const KernelEntry* e : entries_)
      if (e->name() == name) return e;
    return nullptr;
  }
  /// The target that the kernels were compiled for (of the first one that has any), or KernelEntry::any_target.
  [[nodiscard]] int target() const {
    const Guard guard(lock_);
    for (const KernelEntry* e : entries_)
      if (e->target() != KernelEntry::any_target) return e->target();
    return KernelEntry::any_target;
  }
  [[nodiscard]] std::vector<Diagnostic> errors() const {
    const Guard guard(lock_);
    std::vector<Diagnostic> list;
    for (const Taken& t : taken_)
      list.push_back({t.later->location(),
                      "kernel: the name is taken (" + t.later->name() + ", line " + std::to_string(t.first->location().line) + ")",
                      "give each kernel a name of its own"});
    // The rules of one target were checked while compiling: a program is built for one.
    const KernelEntry* first = nullptr;
    for (const KernelEntry* e : entries_) {
      if (e->target() == KernelEntry::any_target) continue;
      if (first == nullptr) first = e;
      if (e->target() != first->target())
        list.push_back({e->location(),
                        "kernel: it is compiled for " + target_name(*e) + ", but " + first->name() + " for " + target_name(*first),
                        "build one generator for each target"});
    }
    return list;
  }

 private:
  static std::string target_name(const KernelEntry& e) { return std::string(tessera::name(static_cast<Arch>(e.target()))); }

  // A spin lock: <mutex> costs more to include than this header; the lock is held for a few instructions.
  class Guard {
   public:
    explicit Guard(bool& lock) : lock_(&lock) {
      while (__atomic_test_and_set(lock_, __ATOMIC_ACQUIRE)) {
      }
    }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;
    ~Guard() { __atomic_clear(lock_, __ATOMIC_RELEASE); }

   private:
    bool* lock_;
  };

  struct Taken {
    const KernelEntry* later;
    const KernelEntry* first;
  };
  Pool<const KernelEntry*> entries_;
  Pool<Taken> taken_;
  mutable bool lock_ = false;
};

}  // namespace tessera
