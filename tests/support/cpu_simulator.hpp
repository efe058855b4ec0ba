// The CPU simulator of the PTO tile library: emitted C++ is compiled with it and run in a process of its own.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tessera/ir/signature.hpp"
#include "tessera/simulate/run.hpp"

namespace tessera::test {

inline std::string environment(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != 0 ? value : otherwise;
}

class CpuSimulator {
 public:
  /// `library`: the directory of the library, or of its headers.
  CpuSimulator(const std::string& library, Arch arch) : arch_(arch) {
    std::string form = (std::filesystem::temp_directory_path() / "tessera_cpu_sim_XXXXXX").string();
    directory_ = mkdtemp(form.data());
    const std::filesystem::path own = std::filesystem::path(library) / "include";
    compiler_ = "'" + environment("TESSERA_PTO_ISA_COMPILER", "clang++-19") + "' -std=c++20 -O0 -w -D__CPU_SIM '-I" +
                (std::filesystem::exists(own / "pto") ? own.string() : library) + "' ";
    std::ofstream(directory_ / "pto.hpp") << "#include <cstddef>\n#include <cstdint>\n#include <pto/pto-inst.hpp>\n";
    if (!shell(compiler_ + "-x c++-header '" + path("pto.hpp") + "' -o '" + path("pto.pch") + "'")) throw InternalError("the tile library does not compile: " + words());
  }
  CpuSimulator(const CpuSimulator&) = delete;
  CpuSimulator& operator=(const CpuSimulator&) = delete;
  ~CpuSimulator() {
    std::error_code ignored;
    if (std::getenv("TESSERA_KEEP") == nullptr) std::filesystem::remove_all(directory_, ignored);
  }

  /// Whether a kernel compiles; `words` tells why it does not.
  [[nodiscard]] bool compiles(const std::string& text) {
    std::ofstream(directory_ / "one.cpp") << text;
    return shell(compiler_ + "-include-pch '" + path("pto.pch") + "' -fsyntax-only '" + path("one.cpp") + "'");
  }
  /// Adds what is only compiled.
  void add(const std::string& text) { texts_.append(text); }
  /// Adds a lowered function with its text, and what it is called with: tensors and numbers in the order of its parameters. bf16
  /// is f16 on the simulator.
  std::size_t add(const Function& f, const std::string& text, const std::vector<Argument>& arguments, std::int64_t blocks = 1) {
    texts_.append(text);
    const std::string number = std::to_string(count_);
    calls_.append("  if (runs(" + number + ")) {\n    launch_").append(f.name.c_str()).append("(" + std::to_string(blocks) + ", nullptr");
    calls_.append(list_text(f, arguments)).append(");\n    write_back(" + number + ");\n  }\n");
    for (std::size_t i = 0; i < arguments.size(); ++i)
      if (const HostTensor* t = arguments[i].tensor()) write(count_, i, converted(*t, t->dtype() == bf16 ? f16 : t->dtype()));
    return count_++;
  }
  /// Compiles what was added.
  [[nodiscard]] bool build() {
    std::ofstream(directory_ / "kernels.cpp") << texts_ << main_text();
    return shell(compiler_ + "-include-pch '" + path("pto.pch") + "' '" + path("kernels.cpp") + "' -o '" + path("kernels") + "' -ldl -lpthread");
  }
  /// Runs one of them, or all in one process.
  [[nodiscard]] bool run(std::size_t number) { return start(std::to_string(number)); }
  [[nodiscard]] bool run_all() { return start(""); }
  /// The tensors that one of them wrote.
  void take_results(std::size_t number, const Function& f, const std::vector<Argument>& arguments) const {
    for (std::size_t i = 0; i < arguments.size(); ++i)
      if (HostTensor* t = arguments[i].writable(); t != nullptr && f.parameters[i].direction != Direction::in) read(number, i, *t);
  }
  /// What the compiler or the kernel said last.
  [[nodiscard]] std::string words() const {
    std::ifstream in(directory_ / "log");
    std::string all{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    if (all.size() > 3000) all.resize(3000);
    return all;
  }

 private:
  [[nodiscard]] std::string path(const std::string& name) const { return (directory_ / name).string(); }
  [[nodiscard]] bool shell(const std::string& command) { return std::system(("(" + command + ") > '" + path("log") + "' 2>&1").c_str()) == 0; }
  static HostTensor converted(const HostTensor& t, DType d) {
    if (t.dtype() == d) return t;
    HostTensor out(d, t.dims());
    for (std::int64_t i = 0; i < t.size(); ++i) out.set(i, t.get(i));
    return out;
  }
  [[nodiscard]] bool start(const std::string& number) {
    const std::string bytes = arch_ == Arch::a3 ? "196608" : "262144";
    return shell("cd '" + directory_.string() + "' && PTO_CPU_SIM_UB_BYTES=" + bytes + " timeout 300 ./kernels " + number);
  }
  [[nodiscard]] std::string file(std::size_t number, std::size_t i) const { return path(std::to_string(number) + "." + std::to_string(i)); }
  void write(std::size_t number, std::size_t i, const HostTensor& t) const {
    std::ofstream out(file(number, i), std::ios::binary);
    out.write(reinterpret_cast<const char*>(t.data()), static_cast<std::streamsize>(static_cast<std::size_t>(t.size()) * t.element_bytes()));
  }
  void read(std::size_t number, std::size_t i, HostTensor& t) const {
    HostTensor seen(t.dtype() == bf16 ? f16 : t.dtype(), t.dims());
    std::ifstream in(file(number, i), std::ios::binary);
    in.read(reinterpret_cast<char*>(seen.data()), static_cast<std::streamsize>(static_cast<std::size_t>(seen.size()) * seen.element_bytes()));
    t = converted(seen, t.dtype());
  }
  [[nodiscard]] std::string list_text(const Function& f, const std::vector<Argument>& arguments) const {
    std::string list;
    for (const FunctionArgument& a : function_arguments(f)) {
      list.append(", ");
      if (a.kind == FunctionArgument::Kind::dim) list.append(std::to_string(size_of(f, a.dim, arguments)));
      else if (a.kind == FunctionArgument::Kind::tensor) list.append("memory(\"").append(std::to_string(count_)).append(".").append(std::to_string(a.parameter)).append("\")");
      else if (is_float(f.type(f.parameters[a.parameter].value).dtype)) list.append(std::to_string(arguments[a.parameter].real()));
      else list.append(std::to_string(arguments[a.parameter].integer()));
    }
    return list;
  }
  // Reads tensors, launches kernels, and writes the tensors back.
  [[nodiscard]] std::string main_text() const {
    return std::string("\n#include <fstream>\n#include <iterator>\n#include <map>\n#include <string>\n#include <vector>\n"
                       "static std::map<std::string, std::vector<char>> files;\n"
                       "static std::string wanted;\n"
                       "static bool runs(int number) { return wanted.empty() || wanted == std::to_string(number); }\n"
                       "static void* memory(const char* name) {\n"
                       "  std::ifstream in(name, std::ios::binary);\n"
                       "  files[name].assign(std::istreambuf_iterator<char>(in), {});\n"
                       "  return files[name].data();\n"
                       "}\n"
                       "static void write_back(int) {\n"
                       "  for (auto& [name, bytes] : files) std::ofstream(name, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));\n"
                       "  files.clear();\n"
                       "}\n"
                       "int main(int count, char** arguments) {\n  if (count > 1) wanted = arguments[1];\n  NPU_MEMORY_INIT(NPUArch::") +
           (arch_ == Arch::a3 ? "A2A3" : "A5") + ");\n" + calls_ + "}\n";
  }
  static std::int64_t size_of(const Function& f, std::int64_t dim, const std::vector<Argument>& arguments) {
    for (std::size_t i = 0; i < arguments.size(); ++i)
      for (int axis = 0; arguments[i].tensor() != nullptr && axis < arguments[i].tensor()->rank(); ++axis)
        if (f.type(f.parameters[i].value).dims[axis] == dim) return arguments[i].tensor()->dim(axis);
    throw InternalError("no argument has the dim " + std::string(symbol_of(dim).view()));
  }

  Arch arch_;
  std::filesystem::path directory_;
  std::string compiler_, texts_, calls_;
  std::size_t count_ = 0;
};

}  // namespace tessera::test
