// manifest.json: what a generator emitted, for the build steps and programs that use the files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "../ir/printer.hpp"
#include "../ir/signature.hpp"

namespace tessera::driver {

namespace detail {

inline std::string text_json(std::string_view text) { return std::string(text); }
/// Numbers, and the names of run-time dims.
inline nlohmann::ordered_json shape_json(const Type& t) {
  nlohmann::ordered_json shape = nlohmann::ordered_json::array();
  for (int i = 0; i < t.rank; ++i) {
    if (is_dynamic(t.dims[i])) shape.push_back(std::string(symbol_of(t.dims[i]).view()));
    else shape.push_back(t.dims[i]);
  }
  return shape;
}
inline std::string_view name(FunctionArgument::Kind k) {
  constexpr std::string_view names[] = {"tensor", "scalar", "dim"};
  return names[static_cast<int>(k)];
}
inline nlohmann::ordered_json argument_json(const Function& f, const FunctionArgument& a, std::size_t index) {
  const bool is_dim = a.kind == FunctionArgument::Kind::dim;
  const Parameter* const p = is_dim ? nullptr : &f.parameters[a.parameter];
  const Type t = is_dim ? index_scalar : f.type(p->value);
  nlohmann::ordered_json j;
  j["index"] = index;
  j["name"] = is_dim ? std::string(symbol_of(a.dim).view()) : text_json(p->name);
  j["kind"] = std::string(name(a.kind));
  j["direction"] = std::string(tessera::name(is_dim ? Direction::in : p->direction));
  j["dtype"] = std::string(tessera::name(t.dtype));
  j["shape"] = shape_json(t);
  return j;
}

}  // namespace detail

/// One kernel of the manifest. `f` is the lowered function: results have become parameters. The arguments stand in the
/// order in which the emitted function takes them.
[[nodiscard]] inline nlohmann::ordered_json kernel_json(const Function& f, std::string_view file, Arch arch) {
  nlohmann::ordered_json j;
  j["name"] = detail::text_json(f.name);
  j["file"] = std::string(file);
  j["arch"] = std::string(name(arch));
  j["source"] = {{"file", std::string(short_file(f.location))}, {"line", f.location.line}};
  j["arguments"] = nlohmann::ordered_json::array();
  for (const FunctionArgument& a : function_arguments(f))
    j["arguments"].push_back(detail::argument_json(f, a, j["arguments"].size()));
  return j;
}
/// Grows when a reader of the former version would misread the file.
inline constexpr int manifest_version = 2;
[[nodiscard]] inline std::string manifest_text(const std::vector<nlohmann::ordered_json>& kernels) {
  nlohmann::ordered_json j;
  j["version"] = manifest_version;
  j["kernels"] = kernels;
  return j.dump(2) + "\n";
}

/// The kernels that a manifest lists. A text that is no manifest of this version lists none, and what an emit would not
/// write is left out.
[[nodiscard]] inline std::vector<nlohmann::ordered_json> listed_kernels(const std::string& manifest) {
  std::vector<nlohmann::ordered_json> kernels;
  const nlohmann::ordered_json j = nlohmann::ordered_json::parse(manifest, nullptr, /*allow_exceptions*/ false);
  if (!j.is_object() || j.value("version", nlohmann::ordered_json()) != manifest_version || !j.contains("kernels") || !j["kernels"].is_array())
    return kernels;
  for (const nlohmann::ordered_json& kernel : j["kernels"]) {
    const auto is_text = [&](const char* key) { return kernel.is_object() && kernel.contains(key) && kernel[key].is_string(); };
    if (!is_text("name") || !is_text("file")) continue;
    const std::string file = kernel["file"].get<std::string>();
    const std::size_t dot = file.rfind('.');
    // Never a path.
    if (dot != std::string::npos && file.substr(dot) == ".pto" && is_identifier(std::string_view(file).substr(0, dot)))
      kernels.push_back(kernel);
  }
  return kernels;
}

}  // namespace tessera::driver
