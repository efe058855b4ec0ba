// Kernels on tiles and tensors of rank above 2, as they are recorded: what flatten_tile_nd_to_2d has to deal with, whole.
#pragma once

#include "ir.hpp"

namespace tessera::test {

struct NdProgram {
  const char* name;
  void (*record)(Recording&);
  bool on_a3 = true;  ///< a tile goes from Vec to Mat, which a3 cannot do
};

namespace nd {

[[nodiscard]] inline std::vector<ValueId> origin(Recording& k, std::size_t rank) { return std::vector<ValueId>(rank, k.index(0)); }
[[nodiscard]] inline ValueId whole(Recording& k, std::string_view name, DType d, List<std::int64_t> dims, MemorySpace space = Vec) {
  return k.load(k.tensor(name, d, dims), dims, origin(k, dims.size()), space);
}
inline void put(Recording& k, ValueId v, std::string_view name = "o") {
  const Type t = k.f().type(v);
  k.store(v, k.tensor(name, t.dtype, {t.dims, t.rank}, Direction::out), origin(k, t.rank));
}

/// out[1] = a[0] * b[0], of rank 4; and a tile of two axes 0 (S1, S3).
inline void leading_windows(Recording& k) {
  const ValueId a = k.tensor("a", f32, {4, 3, 8, 64}), o = k.tensor("o", f32, {4, 3, 8, 64}, Direction::out);
  const ValueId t = k.load(a, {2, 3, 8, 64}, origin(k, 4)), s = k.load(a, {1, 3, 8, 64}, {k.index(3), k.index(0), k.index(0), k.index(0)});
  k.store(k.op(ops::mul, {t, t}), o, {k.index(2), k.index(0), k.index(0), k.index(0)});
  k.store(k.op(ops::mul, {s, s}), o, {k.index(1), k.index(0), k.index(0), k.index(0)});
  k.returns();
}
/// Normalised over the last axis, scaled by rows of one page, summed over the second-last axis.
inline void norm_pages(Recording& k) {
  const ValueId x = whole(k, "x", f32, {2, 3, 8, 32}), w = whole(k, "w", f32, {3, 1, 32});
  const ValueId scratch = k.create(f32, {2, 3, 8, 128}, Vec);
  const ValueId y = k.op(ops::row_expand_sub, {x, k.op(ops::row_max, {x, scratch})});
  const ValueId z = k.op(ops::mul, {y, k.op(ops::broadcast_to, {w}, {}, k.f().type(x))});
  put(k, k.op(ops::col_sum, {z}), "sums");
  put(k, z);
  k.returns();
}
inline void batch_broadcast(Recording& k) {  // F36
  const ValueId a = whole(k, "a", f16, {2, 1, 16, 128}, Mat), b = whole(k, "b", f16, {1, 3, 128, 64}, Mat);
  put(k, k.matmul(a, b));
  k.returns();
}
inline void both_transposed(Recording& k) {  // F38
  const ValueId a = whole(k, "a", f16, {2, 128, 16}, Mat), b = whole(k, "b", f16, {2, 64, 128}, Mat);
  put(k, k.matmul(k.op(ops::transpose_view, {a}), k.op(ops::transpose_view, {b})));
  k.returns();
}
inline void integer_transposed(Recording& k) {
  const ValueId a = whole(k, "a", i8, {3, 32, 64}, Mat), b = whole(k, "b", i8, {3, 32, 64}, Mat);
  put(k, k.matmul(a, k.op(ops::transpose_view, {b})));
  k.returns();
}
inline void odd_pages(Recording& k) {  // pages start inside boxes
  put(k, k.matmul(whole(k, "a", f32, {2, 5, 24}, Mat), k.op(ops::transpose_view, {whole(k, "b", f32, {2, 20, 24}, Mat)})));
  k.returns();
}
inline void too_large(Recording& k) {  // S14: 576 KiB on the right
  k.returns({k.matmul(k.tensor("a", f16, {9, 16, 128}), k.tensor("b", f16, {9, 128, 256}))});
}
inline void k_halves(Recording& k) {  // S10: slices of a 3-D tensor along K are no band
  const ValueId a = k.tensor("a", bf16, {2, 16, 128}), b = k.tensor("b", bf16, {2, 128, 48});
  const auto at = [&](int i, int j) { return std::vector<ValueId>{k.index(0), k.index(i), k.index(j)}; };
  const ValueId first = k.matmul(k.slice(a, {2, 16, 64}, at(0, 0)), k.slice(b, {2, 64, 48}, at(0, 0)));
  k.returns({k.matmul_acc(first, k.slice(a, {2, 16, 64}, at(0, 64)), k.slice(b, {2, 64, 48}, at(64, 0)))});
}
inline void moved_operand(Recording& k) {  // S11
  const ValueId a = k.tensor("a", f32, {2, 16, 48}), b0 = k.tensor("b0", f32, {2, 80, 48}), b1 = k.tensor("b1", f32, {2, 80, 48});
  k.returns({k.matmul(a, k.op(ops::add, {b0, b1}), false, true)});
}
inline void moved_whole(Recording& k) {
  const ValueId a = k.tensor("a", f16, {2, 16, 32}), b = k.tensor("b", f16, {2, 32, 48});
  k.returns({k.matmul(k.op(ops::add, {a, a}), b)});
}
inline void accumulated(Recording& k) {  // S15, F45
  const ValueId a = k.tensor("a", i8, {2, 32, 96}), b = k.tensor("b", i8, {2, 96, 32});
  const ValueId start = k.create(i32, {2, 32, 32});
  const auto sum = k.loop(k.index(3), {start}, [&](ValueId i, const auto& c) {
    const ValueId at = k.b().mul(i, k.index(32)), zero = k.index(0);
    const ValueId l = k.slice(a, {2, 32, 32}, {zero, zero, at}), r = k.slice(b, {2, 32, 32}, {zero, at, zero});
    const ValueId first = k.op(ops::scalar_compare, {i, zero}, {int_attr(AttrKey::compare, 0)});
    return k.branch(first, {k.f().type(c[0])}, [&] { return std::vector<ValueId>{k.matmul(l, r)}; },
                    [&] { return std::vector<ValueId>{k.matmul_acc(c[0], l, r)}; });
  });
  k.returns({sum[0]});
}
/// Operands of a loop's products are loaded in front of it (H10).
inline void outer_operands(Recording& k) {
  const ValueId a = whole(k, "a", f16, {2, 16, 32}, Mat), b = k.tensor("b", f16, {4, 2, 32, 16}),
                o = k.tensor("o", f32, {4, 2, 16, 16}, Direction::out);
  k.loop(k.index(4), {}, [&](ValueId i, const auto&) {
    const ValueId zero = k.index(0);
    const ValueId r = k.reshape(k.load(b, {1, 2, 32, 16}, {i, zero, zero, zero}, Mat), {2, 32, 16});
    k.store(k.matmul(a, r), o, {i, zero, zero, zero});
    return std::vector<ValueId>{};
  });
  k.returns();
}
inline void on_chip_chain(Recording& k) {  // a product of products
  const ValueId a = k.tensor("a", f16, {2, 16, 32}), b = k.tensor("b", f16, {2, 32, 16}), c = k.tensor("c", f32, {2, 16, 32});
  k.returns({k.matmul(k.matmul(a, b), c)});
}
inline void scores(Recording& k) {  // a batch of products that vector operations go on with
  const ValueId q = k.tensor("q", f16, {2, 16, 64}), key = k.tensor("k", f16, {2, 32, 64});
  const ValueId s = k.matmul(q, key, false, true);
  const ValueId e = k.op(ops::exp, {k.op(ops::row_expand_sub, {s, k.op(ops::row_max, {s})})});
  k.returns({k.op(ops::row_expand_div, {e, k.op(ops::row_sum, {e})})});
}
inline void transposed_pages(Recording& k) {  // S16
  const ValueId x = whole(k, "x", f32, {4, 24, 8});
  put(k, k.op(ops::transpose, {x}));
  put(k, k.op(ops::transpose, {whole(k, "y", f16, {2, 16, 32})}), "p");
  k.returns();
}
inline void filled_pages(Recording& k) {  // F19
  const ValueId page = k.op(ops::full, {k.constant(f32, 2.0)}, {}, shaped_type(f32, {1, 8, 16}, Vec));
  const ValueId acc = k.op(ops::full, {k.constant(f32, 1.0)}, {}, shaped_type(f32, {4, 8, 16}, Vec));
  put(k, k.op(ops::assemble, {acc, page, k.index(2), k.index(0), k.index(0)}));
  k.returns();
}
inline void chunked_cast(Recording& k) {  // S20
  const ValueId x = k.tensor("x", bf16, {2, dyn<"S">, 64}), o = k.tensor("o", f32, {2, dyn<"S">, 64}, Direction::out);
  const ValueId s = k.f().symbol(dyn<"S">);
  k.loop(k.index(2), {}, [&](ValueId b, const auto&) {
    k.loop(k.op(ops::scalar_div, {k.b().add(s, k.index(15)), k.index(16)}), {}, [&](ValueId i, const auto&) {
      const ValueId c = k.b().mul(i, k.index(16)), n = k.b().min(k.b().sub(s, c), k.index(16));
      const ValueId t = k.load(x, {1, 16, 64}, {b, c, k.index(0)}, Vec, {k.index(1), n, k.index(64)});
      k.store(k.cast(t, f32), o, {b, c, k.index(0)});
      return std::vector<ValueId>{};
    });
    return std::vector<ValueId>{};
  });
  k.returns();
}
inline void batch_tails(Recording& k) {  // rows of each matrix are valid in part
  const ValueId a = k.tensor("a", f16, {2, dyn<"S">, 32}), o = k.tensor("o", f32, {2, dyn<"S">, 16}, Direction::out);
  const ValueId n = k.b().min(k.f().symbol(dyn<"S">), k.index(16));
  const ValueId l = k.load(a, {2, 16, 32}, origin(k, 3), Mat, {k.index(2), n, k.index(32)});
  k.store(k.matmul(l, whole(k, "b", f16, {2, 32, 16}, Mat)), o, origin(k, 3));
  k.returns();
}
inline void reshaped(Recording& k) {  // H9: ranks that the user makes
  const ValueId x = whole(k, "x", f32, {16, 8});
  const ValueId y = k.op(ops::neg, {k.reshape(x, {2, 2, 4, 8})});
  put(k, k.reshape(y, {4, 4, 8}));
  put(k, k.op(ops::col_max, {k.reshape(y, {2, 8, 8})}), "m");
  k.returns();
}

}  // namespace nd

inline constexpr NdProgram nd_programs[] = {
    {"leading_windows", nd::leading_windows}, {"norm_pages", nd::norm_pages}, {"batch_broadcast", nd::batch_broadcast},
    {"both_transposed", nd::both_transposed}, {"integer_transposed", nd::integer_transposed}, {"odd_pages", nd::odd_pages},
    {"too_large", nd::too_large}, {"k_halves", nd::k_halves}, {"moved_operand", nd::moved_operand, false},
    {"moved_whole", nd::moved_whole, false}, {"accumulated", nd::accumulated}, {"outer_operands", nd::outer_operands},
    {"scores", nd::scores}, {"transposed_pages", nd::transposed_pages}, {"filled_pages", nd::filled_pages},
    {"chunked_cast", nd::chunked_cast}, {"batch_tails", nd::batch_tails}, {"reshaped", nd::reshaped}};

}  // namespace tessera::test
