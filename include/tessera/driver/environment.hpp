// What the commands of a kernel generator share: where they read kernels and write text, which kernels they work on, and
// how errors are collected and reported.
#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "../dsl/trace.hpp"
#include "../ir/source_names.hpp"
#include "../passes/infer_tileop_summary.hpp"

namespace tessera::driver {

/// Exit codes of a generator.
enum ExitCode : int { success = 0, user_error = 1, usage_error = 2, internal_error = 3 };

/// Surroundings of a run.
struct Environment {
  const Registry& kernels;
  std::ostream& out;
  std::ostream& err;

  /// The target that the kernels were compiled for, if any.
  [[nodiscard]] std::optional<Arch> target() const {
    const int t = kernels.target();
    return t == KernelEntry::any_target ? std::nullopt : std::optional(static_cast<Arch>(t));
  }
};

/// A wrong command line.
struct UsageError {
  std::string message, hint;
};

/// "a, b, c".
template <class Range, class Text>
[[nodiscard]] std::string joined(const Range& range, Text text) {
  std::string out;
  for (const auto& x : range) out.append(out.empty() ? "" : ", ").append(text(x));
  return out;
}

[[nodiscard]] inline std::string name_of(const KernelEntry& kernel) {
  const std::string_view name = kernel.name();
  return std::string(name);
}

/// The errors of one run. Work on a kernel goes through `attempt`, so that one failing kernel does not hide another.
class Errors {
 public:
  explicit Errors(std::ostream& err) : err_(err) {}

  [[nodiscard]] ExitCode code() const { return code_; }
  [[nodiscard]] bool any() const { return code_ != success; }

  void report(Diagnostic d, const KernelEntry* kernel = nullptr) {
    if (kernel != nullptr && d.location.file[0] == 0) d.location = kernel->location();
    worsen(user_error);
    // What is wrong with a kernel is not told again for each function that calls it.
    const std::string text = d.text();
    const bool known = std::find(reported_.begin(), reported_.end(), text) != reported_.end();
    if (known && kernel != nullptr && !is_kernel(kernel->kind())) return;
    reported_.push_back(text);
    err_ << text << '\n';
    if (kernel != nullptr) err_ << "  kernel: " << name_of(*kernel) << '\n';
  }
  /// A warning does not change the exit code.
  void warn(const Diagnostic& d, const KernelEntry& kernel) { print("warning", d, kernel); }
  /// Nor does a note; what several functions call is noted once.
  void note(const Diagnostic& d, const KernelEntry& kernel) {
    if (std::string text = d.text(); std::find(noted_.begin(), noted_.end(), text) == noted_.end()) {
      noted_.push_back(std::move(text));
      print("note", d, kernel);
    }
  }
  void report_internal(const std::exception& e, const KernelEntry* kernel) {
    const bool named = dynamic_cast<const InternalError*>(&e) != nullptr;
    const Diagnostic d{kernel != nullptr ? kernel->location() : Location{}, {}, {}};
    if (d.location.file[0] != 0) err_ << d.location.file << ':' << d.location.line << ": ";
    err_ << (named ? "" : "internal error: ") << e.what() << '\n';
    if (kernel != nullptr) err_ << "  kernel: " << name_of(*kernel) << '\n';
    err_ << "  hint: this is a fault of tessera, not of the kernel; please report it with the kernel's source\n";
    worsen(internal_error);
  }
  /// Runs f; false when it failed.
  template <class F>
  bool attempt(const KernelEntry* kernel, F&& f) {
    try {
      f();
      return true;
    } catch (const UserError& e) { report(e.diagnostic(), kernel); } catch (const std::exception& e) {
      report_internal(e, kernel);
    }
    return false;
  }

 private:
  void worsen(ExitCode c) { code_ = std::max(code_, c); }
  void print(std::string_view kind, const Diagnostic& d, const KernelEntry& kernel) {
    const Location& at = d.location.file[0] != 0 ? d.location : kernel.location();
    err_ << at.file << ':' << at.line << ": " << kind << ": " << d.message << "\n  hint: " << d.hint << "\n  kernel: " << name_of(kernel) << '\n';
  }

  std::ostream& err_;
  std::vector<std::string> reported_, noted_;
  ExitCode code_ = success;
};

/// What a kernel records, or a function that calls kernels with all that it calls; with names from the source.
[[nodiscard]] inline Program trace_all(const KernelEntry& kernel, SourceFiles& files) {
  try {
    Program p = trace_program(kernel);
    name_from_source(p, files);
    return p;
  } catch (const std::exception&) { throw; } catch (...) {
    fail(kernel.location(), "kernel: the lambda throws something that is not a std::exception",
         "let the lambda run to its end");
  }
}
/// What a kernel records, with names from its source.
[[nodiscard]] inline Function trace(const KernelEntry& kernel, SourceFiles& files) { return std::move(trace_all(kernel, files).functions.back()); }

/// A tile operation with its summary. It is emitted and run where kernels call it only.
[[nodiscard]] inline Function summarised(const KernelEntry& tileop, SourceFiles& files, Arch arch) {
  Function f = trace(tileop, files);
  require_target(f, arch);
  return infer_tileop_summary.run(f, {arch});
}

/// The kernels that a command works on, by name. Nothing is traced.
class Selection {
 public:
  /// `names`: those that the user asked for; none: all. Throws UsageError for unknown ones.
  Selection(const Environment& env, const std::vector<std::string>& names) : registry_(env.kernels) {
    for (const std::string& n : names) {
      if (registry_.find(n) == nullptr)
        throw UsageError{"kernel: there is none of this name (" + n + ")", "kernels: " + known()};
      wanted_.push_back(n);
    }
  }
  /// Calls f(kernel) for each one; tracing a kernel may register more, and they follow.
  template <class F>
  void for_each(F&& f) const {
    std::vector<std::string> seen;
    for (std::vector<const KernelEntry*> next = pending(seen); !next.empty(); next = pending(seen))
      for (const KernelEntry* k : next) {
        seen.push_back(name_of(*k));
        f(*k);
      }
  }

 private:
  // Kernels of a name that was not seen yet, in the order of names: the order of registration is the linker's.
  [[nodiscard]] std::vector<const KernelEntry*> pending(const std::vector<std::string>& seen) const {
    std::vector<const KernelEntry*> list;
    for (std::size_t i = 0, n = registry_.size(); i < n; ++i) {
      const KernelEntry& k = registry_[i];
      const auto has = [&](const std::vector<std::string>& names) {
        return std::find(names.begin(), names.end(), name_of(k)) != names.end();
      };
      const bool repeated =
          std::any_of(list.begin(), list.end(), [&](const KernelEntry* o) { return name_of(*o) == name_of(k); });
      if (!repeated && !has(seen) && (wanted_.empty() || has(wanted_))) list.push_back(&k);
    }
    // What calls kernels stands behind them.
    const auto key = [](const KernelEntry* k) { return std::pair(!is_kernel(k->kind()), name_of(*k)); };
    std::sort(list.begin(), list.end(), [&](const KernelEntry* a, const KernelEntry* b) { return key(a) < key(b); });
    return list;
  }
  [[nodiscard]] std::string known() const {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < registry_.size(); ++i) names.push_back(name_of(registry_[i]));
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return joined(names, [](const std::string& n) { return n; });
  }

  const Registry& registry_;
  std::vector<std::string> wanted_;
};

/// Reports what is wrong with the registered kernels before any of them is traced, from error number `first` on.
inline void check_registry(const Registry& kernels, Errors& errors, std::size_t first = 0) {
  if (kernels.size() == 0)
    errors.report({{},
                   "kernel: none is registered",
                   "compile a source with `inline const auto k = kernel(\"k\", ...)` into this program"});
  const std::vector<Diagnostic> found = kernels.errors();
  for (std::size_t i = first; i < found.size(); ++i) errors.report(found[i]);
}
}  // namespace tessera::driver
