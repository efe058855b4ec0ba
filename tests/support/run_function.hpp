// Hand-built functions and their runs, for tests of the simulator.
#pragma once

#include <functional>
#include <memory>

#include "support/catch.hpp"
#include "tessera/ir/builder.hpp"
#include "tessera/simulate/run.hpp"

namespace tessera_test {
using namespace tessera;

inline Type shaped_type(TypeKind kind, DType d, std::vector<std::int64_t> dims, MemorySpace space) {
  return with_shape(Type{kind, d, space, Layout::nd, 0, {}}, dims.data(), static_cast<int>(dims.size()));
}
inline Type tensor_type(DType d, std::vector<std::int64_t> dims) {
  return shaped_type(TypeKind::tensor, d, std::move(dims), Gm);
}
inline Type tile_type(DType d, std::vector<std::int64_t> dims, MemorySpace s = Vec) {
  return shaped_type(TypeKind::tile, d, std::move(dims), s);
}

/// A function that is being built. Operations stand at kernel.cpp:10 unless `line` is called.
struct TestFunction {
  Function f;
  Builder b{f};

  TestFunction() { line(10); }
  TestFunction(const TestFunction&) = delete;
  void line(std::uint32_t n) { b.at({"kernel.cpp", n, 0}); }
  ValueId parameter(const Type& t, Direction d = Direction::in, std::string name = {}) {
    const ValueId v = f.add_argument(f.body(), t);
    for (int i = 0; i < t.rank; ++i)
      if (is_dynamic(t.dims[i])) f.symbol(t.dims[i]);
    f.parameters.push_back(
        {v, name.empty() ? "p" + std::to_string(f.parameters.size()) : name, d, {"kernel.cpp", 1, 0}});
    return v;
  }
  ValueId tensor(DType d, std::vector<std::int64_t> dims, Direction direction = Direction::in) {
    return parameter(tensor_type(d, std::move(dims)), direction);
  }
  ValueId scalar(DType d) { return parameter(scalar_type(d)); }
  ValueId load(ValueId t, std::vector<ValueId> operands, const Type& tile, bool has_valid = false) {
    operands.insert(operands.begin(), t);
    return b.value(ops::load, operands,
                   has_valid ? std::vector<Attr>{int_attr(AttrKey::has_valid, 1)} : std::vector<Attr>{},
                   tile);
  }
  ValueId load_whole(ValueId t, MemorySpace s = Vec) {
    return load(t, std::vector<ValueId>(f.type(t).rank, b.index(0)), lowered(f.type(t), s));
  }
  void store(ValueId source, ValueId target, std::vector<ValueId> offsets = {}) {
    if (offsets.empty()) offsets.assign(f.type(target).rank, b.index(0));
    offsets.insert(offsets.begin(), {source, target});
    b.emit(ops::store, offsets);
  }
  void returns(std::vector<ValueId> values) { b.control(ops::return_op, values, {}, 0); }
};

inline HostTensor host(DType d, std::vector<std::int64_t> dims, const std::vector<double>& values) {
  HostTensor t(d, std::move(dims));
  if (static_cast<std::size_t>(t.size()) != values.size()) throw InternalError("host: count of values");
  for (std::int64_t i = 0; i < t.size(); ++i) t.set(i, values[static_cast<std::size_t>(i)]);
  return t;
}
inline Attr attribute(AttrKey key, std::int64_t n) { return int_attr(key, n); }

/// What f throws, as the text that a user sees; empty when it throws nothing.
inline std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const UserError& e) { return e.diagnostic().text(); } catch (const InternalError& e) {
    return e.what();
  }
  return {};
}

}  // namespace tessera_test
