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
inline nlohmann::ordered_json parameter_json(const Function& f, const Parameter& p) {
  const Type& t = f.type(p.value);
  nlohmann::ordered_json j;
  j["name"] = text_json(p.name);
  j["kind"] = t.is_tensor() ? "tensor" : "scalar";
  j["direction"] = std::string(name(p.direction));
  j["dtype"] = std::string(name(t.dtype));
  if (t.is_tensor()) j["shape"] = shape_json(t);
  return j;
}

}  // namespace detail

/// One kernel of the manifest. `f` is the lowered function: results have become parameters. An emitted function takes a
/// pointer for each tensor in this order, then the scalars, then the named dims.
[[nodiscard]] inline nlohmann::ordered_json kernel_json(const Function& f, std::string_view file, Arch arch) {
  nlohmann::ordered_json j;
  j["name"] = detail::text_json(f.name);
  j["file"] = std::string(file);
  j["arch"] = std::string(name(arch));
  j["source"] = {{"file", std::string(short_file(f.location))}, {"line", f.location.line}};
  j["parameters"] = nlohmann::ordered_json::array();
  for (const Parameter& p : f.parameters) j["parameters"].push_back(detail::parameter_json(f, p));
  j["dims"] = nlohmann::ordered_json::array();
  for (const std::int64_t d : argument_dims(f)) j["dims"].push_back(std::string(symbol_of(d).view()));
  return j;
}
[[nodiscard]] inline std::string manifest_text(const std::vector<nlohmann::ordered_json>& kernels) {
  nlohmann::ordered_json j;
  j["version"] = 1;
  j["kernels"] = kernels;
  return j.dump(2) + "\n";
}

}  // namespace tessera::driver
