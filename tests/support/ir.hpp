// Kernels built by hand, for tests of passes: parameters, operations through the Builder, and text to compare.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tessera/ir/builder.hpp>
#include <tessera/ops/all.hpp>

namespace tessera::test {

[[nodiscard]] inline Type shaped_type(DType dtype, List<std::int64_t> dims, MemorySpace space = Gm) {
  Type t;
  t.dtype = dtype;
  t.kind = TypeKind::tensor;
  return with_space(with_shape(t, dims.begin(), static_cast<int>(dims.size())), space);
}

/// One kernel under construction. Every operation stands on a line of its own, counted from 1.
class Recording {
 public:
  explicit Recording(std::string_view name = "k") : build_(f_) { f_.name = name; }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  [[nodiscard]] Function& f() { return f_; }
  [[nodiscard]] Builder& b() { return build_; }

  ValueId tensor(std::string_view name, DType dtype, List<std::int64_t> dims, Direction direction = Direction::in) {
    return parameter(name, shaped_type(dtype, dims), direction);
  }
  ValueId scalar(std::string_view name, DType dtype) { return parameter(name, scalar_type(dtype), Direction::in); }
  ValueId named(ValueId v, std::string_view name) {
    f_.set_name(v, name);
    return v;
  }

  ValueId op(const OpInfo& info, List<ValueId> operands, List<Attr> attrs = {}, const Type& requested = {}) {
    next_line();
    return build_.value(info, operands, attrs, requested);
  }
  /// An operation without result.
  void effect(const OpInfo& info, List<ValueId> operands, List<Attr> attrs = {}) {
    next_line();
    build_.emit(info, operands, attrs);
  }
  ValueId constant(DType dtype, double n) { return f_.constant(dtype, n); }
  ValueId constant(DType dtype, int n) { return f_.constant(dtype, std::int64_t{n}); }
  ValueId index(std::int64_t n) { return f_.index(n); }

  ValueId create(DType dtype, List<std::int64_t> dims, MemorySpace space = Gm) {
    return op(ops::create, {}, {}, shaped_type(dtype, dims, space));
  }
  ValueId full(ValueId value, List<std::int64_t> dims) {
    return op(ops::full, {value}, {}, shaped_type(f_.type(value).dtype, dims));
  }
  ValueId cast(ValueId x, DType dtype, Rounding r = Rounding::round) {
    return op(ops::cast, {x}, {int_attr(AttrKey::rounding, static_cast<std::int64_t>(r))},
              scalar_type(dtype));
  }
  ValueId reshape(ValueId x, List<std::int64_t> dims) {
    return op(ops::reshape, {x}, {}, shaped_type(f_.type(x).dtype, dims));
  }
  ValueId slice(ValueId x, List<std::int64_t> dims, std::vector<ValueId> offsets, std::vector<ValueId> valid = {}) {
    return window(ops::slice, x, dims, std::move(offsets), std::move(valid), Gm);
  }
  ValueId load(ValueId x, List<std::int64_t> dims, std::vector<ValueId> offsets, MemorySpace space = Vec,
               std::vector<ValueId> valid = {}) {
    return window(ops::load, x, dims, std::move(offsets), std::move(valid), space);
  }
  ValueId matmul(ValueId a, ValueId b, bool transpose_lhs = false, bool transpose_rhs = false) {
    return product(ops::matmul, {a, b}, transpose_lhs, transpose_rhs);
  }
  ValueId matmul_acc(ValueId acc, ValueId a, ValueId b) { return product(ops::matmul_acc, {acc, a, b}, false, false); }
  void store(ValueId source, ValueId target, std::vector<ValueId> offsets) {
    offsets.insert(offsets.begin(), {source, target});
    effect(ops::store, offsets);
  }

  /// A loop from 0; body(counter, carried) gives the yielded values.
  template <class Body>
  std::vector<ValueId> loop(ValueId stop, std::vector<ValueId> initial, Body&& body) {
    return loop(index(0), stop, index(1), std::move(initial), body);
  }
  template <class Body>
  std::vector<ValueId> loop(ValueId start, ValueId stop, ValueId step, std::vector<ValueId> initial, Body&& body) {
    std::vector<ValueId> operands = {start, stop, step};
    operands.insert(operands.end(), initial.begin(), initial.end());
    const OpId o = open(ops::for_loop, operands, initial, 1);
    const ValueId counter = f_.add_argument(f_.block(o), index_scalar);
    return close(o, [&] {
      fill(f_.block(o), ops::yield, [&](const auto& carried) { return body(counter, carried); }, initial);
    });
  }
  template <class Condition, class Body>
  std::vector<ValueId> loop_while(std::vector<ValueId> initial, Condition&& condition, Body&& body) {
    const OpId o = open(ops::while_loop, initial, initial, 2);
    return close(o, [&] {
      fill(f_.block(o, 0), ops::condition, condition, initial);
      fill(f_.block(o, 1), ops::yield, body, initial);
    });
  }
  template <class Then, class Else>
  std::vector<ValueId> branch(ValueId condition, List<Type> results, Then&& then, Else&& otherwise) {
    next_line();
    const OpId o = build_.control(ops::if_else, {condition}, results, 2);
    return close(o, [&] {
      fill(f_.block(o, 0), ops::yield, [&](const auto&) { return then(); }, {});
      fill(f_.block(o, 1), ops::yield, [&](const auto&) { return otherwise(); }, {});
    });
  }
  /// Ends the kernel.
  Function& returns(List<ValueId> values = {}) {
    next_line();
    build_.control(ops::return_op, values, {}, 0);
    return f_;
  }

 private:
  void next_line() { build_.at({"dir/k.cpp", ++line_, 3}); }
  ValueId parameter(std::string_view name, const Type& type, Direction direction) {
    const ValueId v = f_.add_argument(f_.body(), type);
    f_.parameters.push_back(
        {v, std::string(name), direction, {"dir/k.cpp", 100 + static_cast<std::uint32_t>(f_.parameters.size()), 1}});
    return v;
  }
  ValueId window(const OpInfo& info, ValueId x, List<std::int64_t> dims, std::vector<ValueId> operands,
                 std::vector<ValueId> valid, MemorySpace space) {
    operands.insert(operands.begin(), x);
    operands.insert(operands.end(), valid.begin(), valid.end());
    std::vector<Attr> attrs;
    if (!valid.empty()) attrs.push_back(int_attr(AttrKey::has_valid, 1));
    return op(info, operands, attrs, shaped_type(f_.type(x).dtype, dims, space));
  }
  ValueId product(const OpInfo& info, List<ValueId> operands, bool transpose_lhs, bool transpose_rhs) {
    std::vector<Attr> attrs;
    if (transpose_lhs) attrs.push_back(int_attr(AttrKey::transpose_lhs, 1));
    if (transpose_rhs) attrs.push_back(int_attr(AttrKey::transpose_rhs, 1));
    return op(info, operands, attrs);
  }
  OpId open(const OpInfo& info, List<ValueId> operands, const std::vector<ValueId>& carried, int blocks) {
    next_line();
    std::vector<Type> types;
    for (const ValueId v : carried) types.push_back(f_.type(v));
    return build_.control(info, operands, types, blocks);
  }
  template <class Fill>
  std::vector<ValueId> close(OpId o, Fill&& fill_blocks) {
    const BlockId outer = build_.block();
    fill_blocks();
    build_.to_end_of(outer);
    std::vector<ValueId> results;
    for (int i = 0; i < f_.result_count(o); ++i) results.push_back(f_.result(o, i));
    return results;
  }
  template <class Body>
  void fill(BlockId block, const OpInfo& terminator, Body&& body, const std::vector<ValueId>& carried) {
    std::vector<ValueId> arguments;
    for (const ValueId v : carried) arguments.push_back(f_.add_argument(block, f_.type(v)));
    build_.to_end_of(block);
    const std::vector<ValueId> values = body(arguments);
    next_line();
    build_.control(terminator, values, {}, 0);
  }

  Function f_;
  Builder build_;
  std::uint32_t line_ = 0;
};

/// What an exception of type E says that `f` throws.
template <class E, class F>
[[nodiscard]] std::string thrown(F&& f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  }
  return "nothing is thrown";
}
[[nodiscard]] inline bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

/// Text of a raw string that starts with a newline.
[[nodiscard]] inline std::string golden(std::string_view text) {
  if (!text.empty() && text.front() == '\n') text.remove_prefix(1);
  return std::string(text);
}

}  // namespace tessera::test
