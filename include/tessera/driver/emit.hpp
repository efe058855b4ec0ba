// `emit`: writes <kernel>.pto or <kernel>.cpp for each kernel, and manifest.json, which also says what functions that call kernels do.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "../compile.hpp"
#include "../emit/pto_cpp.hpp"
#include "../emit/pto_mlir.hpp"
#include "../ir/cores.hpp"
#include "../ir/source_names.hpp"
#include "environment.hpp"
#include "manifest.hpp"
#include "output.hpp"

namespace tessera::driver {

struct EmitCommand {
  Arch arch = Arch::a3;
  Forms forms;
  Assembler assembler = Assembler::v0_60;
  int level = 2;
  bool pipelining = true;  ///< at level 3
  TileopForm tileops = TileopForm::inlined;
  std::string directory = ".";
  std::string generator = "generator";  ///< the program's name: a directory belongs to one
  std::vector<std::string> kernels;  ///< none: all
};

namespace detail {

/// The two kinds of instructions run on separate cores, and nothing splits the function yet.
inline void warn_of_both_cores(Errors& errors, const KernelEntry& kernel, const Function& lowered, Arch arch) {
  const Cores cores = cores_of(lowered);
  if (!cores.both()) return;
  const auto text = [&](OpId o) {
    return fmt::format("{}, line {}", lowered.info(o).name, lowered[o].location.line);
  };
  errors.warn({kernel.location(),
               fmt::format("kernel: it mixes matrix and vector instructions, which run on separate cores of {} ({}; {})",
                           name(arch), text(cores.cube), text(cores.vector)),
               "make it two kernels with a tensor between them: it is not split on its own yet"},
              kernel);
}
/// The level at which a kernel is written: with addresses, where its author says where tiles stand.
inline int level_of(Errors& errors, const KernelEntry& kernel, const Function& lowered, const EmitCommand& command) {
  const Storage* const placed = pto::needs_addresses(lowered);
  if (!command.forms.pto || command.level == 3 || placed == nullptr) return command.level;
  errors.warn({placed->location, fmt::format("emit: {} is written at level 3, where tiles have the addresses that its author asks for ({})", lowered.name.c_str(), storage_text(*placed)),
               "run the assembler with --pto-level=level3 for it; `level` in the manifest says so, too"},
              kernel);
  return 3;
}
inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}
/// What the manifest that is replaced lists beside the files that are written now.
struct Previous {
  std::vector<nlohmann::ordered_json> others;  ///< kernels with files of their own, of which some are there
  std::vector<std::string> stale;              ///< files that an entry of the same kernel has no more
};
inline Previous previous_kernels(const std::string& directory, const std::vector<nlohmann::ordered_json>& written) {
  const auto is_written = [&](const std::string& file) {
    return std::any_of(written.begin(), written.end(), [&](const nlohmann::ordered_json& k) {
      const std::vector<std::string> files = files_of(k);
      return std::find(files.begin(), files.end(), file) != files.end();
    });
  };
  const auto is_there = [&](const std::string& file) {
    std::error_code ignored;
    return std::filesystem::is_regular_file(std::filesystem::symlink_status(std::filesystem::path(directory) / file, ignored));
  };
  Previous previous;
  for (const nlohmann::ordered_json& old : listed_kernels(read_file(std::filesystem::path(directory) / "manifest.json"))) {
    const std::vector<std::string> files = files_of(old);
    const bool again = std::any_of(written.begin(), written.end(), [&](const auto& k) { return k["name"] == old["name"]; });
    if (!again && std::none_of(files.begin(), files.end(), is_written) && std::any_of(files.begin(), files.end(), is_there)) previous.others.push_back(old);
    for (const std::string& file : files)
      if (again && !is_written(file)) previous.stale.push_back(file);
  }
  return previous;
}
/// A C++ source that nobody emitted, the kernel's own perhaps, is not written over.
inline void refuse_source(const EmitCommand& command, const std::string& file, const Location& at) {
  const std::string present = read_file(std::filesystem::path(command.directory) / file);
  if (!present.empty() && present.substr(0, present.find('\n')).find(cpp_mark) == std::string::npos)
    fail(at, fmt::format("emit: a file of this name is there, and was not emitted ({}/{})", command.directory, file),
         "choose another directory with --out, or rename the file");
}

/// Two generators in one directory would remove each other's files.
inline void refuse_other_generator(const EmitCommand& command) {
  const std::string owner = generator_of(read_file(std::filesystem::path(command.directory) / "manifest.json"));
  if (!owner.empty() && owner != command.generator)
    fail({}, fmt::format("emit: the directory belongs to another generator ({}: {}, not {})", command.directory, owner, command.generator),
         "choose another directory with --out; where the generator has a new name, remove manifest.json from the directory");
}

/// Adds an entry, unless there is one of its name: what several functions call is written once.
inline bool add_named(std::vector<nlohmann::ordered_json>& list, nlohmann::ordered_json entry) {
  for (const nlohmann::ordered_json& known : list)
    if (known["name"] == entry["name"]) return false;
  list.push_back(std::move(entry));
  return true;
}
/// Callers of the manifest that is replaced.
inline void keep_callers(const std::string& directory, std::vector<nlohmann::ordered_json>& callers) {
  for (nlohmann::ordered_json& old : listed_callers(read_file(std::filesystem::path(directory) / "manifest.json"))) add_named(callers, std::move(old));
}

}  // namespace detail

/// Nothing is written when a kernel fails; all that fail are reported. Kernels that only the previous manifest lists stay when
/// some were asked for by name; when all are emitted they are gone from the program, and their files are removed.
inline ExitCode run_emit(const Environment& env, const EmitCommand& command) {
  Errors errors(env.err);
  const std::size_t known = env.kernels.errors().size();
  check_registry(env.kernels, errors);
  if (env.kernels.size() == 0 || !errors.attempt(nullptr, [&] { detail::refuse_other_generator(command); })) return errors.code();
  SourceFiles sources;
  OutputFiles files(command.directory);
  std::vector<nlohmann::ordered_json> manifest, callers;
  // `for_cpp`: the same function as C++ needs it.
  const auto add = [&](const KernelEntry& kernel, const Program& p, const Function& f, const Function& for_cpp) {
    const std::string name = f.name.c_str();
    if (!is_kernel(f.kind)) return detail::add_named(callers, caller_json(p, f));
    const auto known_already = [&](const auto& entry) { return entry["name"] == name; };
    if (std::any_of(manifest.begin(), manifest.end(), known_already)) return false;
    const int level = detail::level_of(errors, kernel, f, command);
    manifest.push_back(kernel_json(for_cpp, command.forms, command.arch, level));
    if (command.forms.pto)
      files.add(name + ".pto", emit_pto_mlir(f, {.arch = command.arch, .assembler = command.assembler, .level = level}));
    if (command.forms.cpp) {
      detail::refuse_source(command, name + ".cpp", f.location);
      files.add(name + ".cpp", emit_pto_cpp(for_cpp, {.arch = command.arch}));
    }
    detail::warn_of_both_cores(errors, kernel, f, command.arch);
    return true;
  };
  Selection(env, command.kernels).for_each([&](const KernelEntry& kernel) {
    errors.attempt(&kernel, [&] {
      if (kernel.kind() == FunctionKind::tileop) return static_cast<void>(summarised(kernel, sources, command.arch));
      CompileOptions options{.arch = command.arch, .level = command.level, .pipelining = command.pipelining, .tileops = command.tileops};
      const Program recorded = trace_all(kernel, sources);
      Program lowered, for_cpp;
      if (command.forms.pto) lowered = lower(recorded, options);
      options.synchronise = true;
      if (command.forms.cpp) for_cpp = lower(recorded, options);
      if (!command.forms.pto) lowered = for_cpp;
      for (std::size_t i = 0; i < lowered.functions.size(); ++i)
        add(kernel, lowered, lowered.functions[i], for_cpp.functions.empty() ? lowered.functions[i] : for_cpp.functions[i]);
    });
  });
  if (env.kernels.errors().size() > known) check_registry(env.kernels, errors, known);
  if (errors.any()) return errors.code();
  const std::size_t emitted = manifest.size();
  const detail::Previous previous = detail::previous_kernels(command.directory, manifest);
  const std::size_t removed = command.kernels.empty() ? previous.others.size() : 0;
  for (const std::string& file : previous.stale) files.remove(file);
  for (const nlohmann::ordered_json& old : previous.others) {
    if (removed == 0) manifest.push_back(old);
    else
      for (const std::string& file : files_of(old)) files.remove(file);
  }
  if (!command.kernels.empty()) detail::keep_callers(command.directory, callers);
  for (std::vector<nlohmann::ordered_json>* const list : {&manifest, &callers})
    std::sort(list->begin(), list->end(), [](const auto& a, const auto& b) { return a["name"] < b["name"]; });
  files.add("manifest.json", manifest_text(command.generator, manifest, callers));
  errors.attempt(nullptr, [&] {
    const std::size_t changed = files.commit();
    env.out << fmt::format("{} kernel{} for {} in {}, {} file{} changed{}\n", emitted,
                           emitted == 1 ? "" : "s", name(command.arch), command.directory, changed,
                           changed == 1 ? "" : "s", removed > 0 ? fmt::format(", {} removed", removed) : "");
  });
  return errors.code();
}

}  // namespace tessera::driver
