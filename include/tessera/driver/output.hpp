// Files that a command leaves in a directory: all of them or, when something fails before the last step, none.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "../ir/diagnostic.hpp"

namespace tessera::driver {

/// Collects files and writes them at once. A file whose content is already there is not touched.
class OutputFiles {
 public:
  /// `hint`: where to write instead.
  explicit OutputFiles(std::filesystem::path directory, std::string hint = "give a directory that can be written with --out")
      : directory_(std::move(directory)), hint_(std::move(hint)) {}
  OutputFiles(const OutputFiles&) = delete;
  OutputFiles& operator=(const OutputFiles&) = delete;
  ~OutputFiles() {
    std::error_code ignored;
    for (const auto& [temporary, target] : staged_) std::filesystem::remove(temporary, ignored);
  }

  void add(std::string name, std::string content) { files_.emplace_back(std::move(name), std::move(content)); }

  /// A file that is no longer wanted; it may be gone already.
  void remove(std::string name) { obsolete_.push_back(std::move(name)); }

  /// Writes temporary files next to their targets, then removes what is not wanted and renames them. Returns how many
  /// were written. Throws UserError, with the previous files as they were, when one cannot be written.
  std::size_t commit() {
    std::error_code error;
    std::filesystem::create_directories(directory_, error);
    if (error || !std::filesystem::is_directory(directory_))
      refuse("the output directory cannot be made", directory_, error);
    for (const auto& [name, content] : files_)
      if (!holds(directory_ / name, content)) stage(directory_ / name, content);
    for (const std::string& name : obsolete_)
      if (!std::filesystem::remove(directory_ / name, error) && error)
        refuse("the old file cannot be removed", directory_ / name, error);
    const std::size_t changed = staged_.size();
    for (; !staged_.empty(); staged_.pop_back()) {
      std::filesystem::rename(staged_.back().first, staged_.back().second, error);
      if (error) refuse("the file cannot be replaced", staged_.back().second, error);
    }
    return changed;
  }

 private:
  [[noreturn]] void refuse(const char* what, const std::filesystem::path& path, const std::error_code& error) const {
    const std::string why = error ? error.message() : std::make_error_code(std::errc::io_error).message();
    fail({}, std::string("output: ") + what + " (" + path.string() + ": " + why + ")", hint_);
  }
  static bool holds(const std::filesystem::path& path, const std::string& content) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error) || std::filesystem::file_size(path, error) != content.size())
      return false;
    std::ifstream in(path, std::ios::binary);
    std::string present(content.size(), '\0');
    in.read(present.data(), static_cast<std::streamsize>(present.size()));
    return in.good() && present == content;
  }
  void stage(const std::filesystem::path& target, const std::string& content) {
    std::error_code error;
    if (std::filesystem::is_directory(target, error))
      refuse("a directory is in the way", target, std::make_error_code(std::errc::is_a_directory));
    std::filesystem::path temporary = target;
    temporary += ".tmp" + std::to_string(::getpid());
    staged_.emplace_back(temporary, target);
    std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
    out.write(content.data(), static_cast<std::streamsize>(content.size()));
    out.close();
    if (!out) refuse("the file cannot be written", target, {});
  }

  std::filesystem::path directory_;
  std::string hint_;
  std::vector<std::pair<std::string, std::string>> files_;
  std::vector<std::string> obsolete_;
  std::vector<std::pair<std::filesystem::path, std::filesystem::path>> staged_;  // temporary, target
};

}  // namespace tessera::driver
