// Lowered kernels for the tests of the emitters, as the passes would leave them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "support/pto_programs.hpp"

namespace programs {

using LoweredKernel = std::unique_ptr<Lowered>;

inline LoweredKernel vector_add() {
  auto l = std::make_unique<Lowered>("vector_add");
  const Type t = tensor_type(f32, {32, 64}), tile = tile_type(f32, {32, 64});
  const ValueId x = l->parameter("x", t), y = l->parameter("y", t), out = l->parameter("out", t, Direction::out);
  const ValueId a = l->load(x, tile), b = l->load(y, tile);
  const ValueId sum = l->op(ops::add, {a, b});
  l->f.set_name(sum, "sum");
  l->store(sum, out);
  l->finish();
  return l;
}

inline LoweredKernel softmax() {
  auto l = std::make_unique<Lowered>("softmax");
  const Type t = tensor_type(f32, {64, 128}), tile = tile_type(f32, {64, 128});
  const ValueId x = l->parameter("x", t), out = l->parameter("out", t, Direction::out);
  const ValueId a = l->load(x, tile), scratch = l->op(ops::create, {}, {}, tile);
  const ValueId m = l->op(ops::row_max, {a, scratch});
  const ValueId e = l->op(ops::exp, {l->op(ops::row_expand_sub, {a, m})});
  const ValueId sum = l->op(ops::row_sum, {e, scratch});
  l->store(l->op(ops::row_expand_div, {e, sum}), out);
  l->finish();
  return l;
}

/// acc is one buffer: made before the loop, written by both branches.
inline LoweredKernel matmul_loop() {
  auto l = std::make_unique<Lowered>("matmul_loop");
  const ValueId a = l->parameter("a", tensor_type(f16, {64, 256})), b = l->parameter("b", tensor_type(f16, {256, 64}));
  const ValueId c = l->parameter("c", tensor_type(f32, {64, 64}), Direction::out);
  const ValueId zero = l->index(0);
  const ValueId acc = l->op(ops::create, {}, {}, tile_type(f32, {64, 64}, Acc));
  const auto done =
      l->loop(zero, l->index(256), l->index(64), {acc}, [&](ValueId k, const std::vector<ValueId>& carried) {
    const ValueId am = l->op(ops::load, {a, zero, k}, {}, tile_type(f16, {64, 64}, Mat));
    const ValueId bm = l->op(ops::load, {b, k, zero}, {}, tile_type(f16, {64, 64}, Mat));
    const ValueId left = l->op(ops::move, {am}, {}, tile_type(f16, {64, 64}, Left));
    const ValueId right = l->op(ops::move, {bm}, {}, tile_type(f16, {64, 64}, Right));
    return l->branch(l->compare(k, zero, Compare::eq), [&] {
      return std::vector{l->into(carried[0], l->op(ops::matmul, {left, right}))};
    }, [&] { return std::vector{l->op(ops::matmul_acc, {carried[0], left, right})}; });
  });
  l->store(done[0], c);
  l->finish();
  return l;
}

/// A loop over rows in chunks of 16 whose last chunk is partial.
inline LoweredKernel dynamic_tail() {
  auto l = std::make_unique<Lowered>("dynamic_tail");
  const Type t = tensor_type(f32, {dyn<"S">, 64});
  const ValueId x = l->parameter("x", t), out = l->parameter("out", t, Direction::out),
                s = l->parameter("s", scalar_type(f32));
  const ValueId zero = l->index(0), n = l->f.symbol(dyn<"S">);
  l->loop(zero, n, l->index(16), {}, [&](ValueId i, const std::vector<ValueId>&) {
    const ValueId rows = l->op(ops::scalar_min, {l->op(ops::scalar_sub, {n, i}), l->index(16)});
    const ValueId tile = l->op(ops::load, {x, i, zero, rows, l->index(64)}, {Lowered::attr(AttrKey::has_valid, 1)},
                               tile_type(f32, {16, 64}));
    l->op(ops::store, {l->op(ops::muls, {tile, s}), out, i, zero});
    return std::vector<ValueId>{};
  });
  l->finish();
  return l;
}

/// Elements of a tensor choose a row and a branch; one branch yields an Index.
inline LoweredKernel scalar_if() {
  auto l = std::make_unique<Lowered>("scalar_if");
  const ValueId x = l->parameter("x", tensor_type(f32, {64, 64})), cfg = l->parameter("cfg", tensor_type(u32, {4}));
  const ValueId out = l->parameter("out", tensor_type(f32, {8, 64}), Direction::out),
                scale = l->parameter("scale", scalar_type(f32));
  const ValueId mode = l->op(ops::read, {cfg, l->index(1)});
  const ValueId big = l->compare(mode, l->f.constant(u32, std::int64_t{3}), Compare::gt);
  const auto row = l->branch(big, [&] {
    return std::vector{l->op(ops::scalar_cast, {l->op(ops::read, {cfg, l->index(2)})}, {}, index_scalar)};
  }, [&] { return std::vector{l->index(8)}; });
  const ValueId t = l->op(ops::load, {x, row[0], l->index(0)}, {}, tile_type(f32, {8, 64}));
  const ValueId sum = l->op(ops::scalar_add, {scale, l->f.constant(f32, 0.5)});
  const ValueId y = l->op(ops::create, {}, {}, tile_type(f32, {8, 64}));
  const auto r = l->branch(big, [&] { return std::vector{l->into(y, l->op(ops::muls, {t, sum}))}; }, [&] {
    return std::vector{l->into(y, l->op(ops::adds, {t, l->f.constant(f32, -1.0 / 0.0)}))};
  });
  l->branch(l->op(ops::scalar_not, {big}), [&] {
    l->op(ops::write, {out, sum, l->index(3), row[0]});
    return std::vector<ValueId>{};
  }, [] { return std::vector<ValueId>{}; });
  l->store(r[0], out);
  l->finish();
  return l;
}

/// A counter, a float and a tile are carried.
inline LoweredKernel while_sum() {
  auto l = std::make_unique<Lowered>("while_sum");
  const ValueId x = l->parameter("x", tensor_type(f32, {256, 64})), n = l->parameter("n", index_scalar);
  const ValueId out = l->parameter("out", tensor_type(f32, {1, 64}), Direction::out);
  const ValueId zero = l->f.constant(f32, 0.0), total = l->op(ops::full, {zero}, {}, tile_type(f32, {1, 64}));
  const auto done = l->repeat({l->index(0), zero, total}, [&](const std::vector<ValueId>& c) {
    return l->compare(c[0], n, Compare::lt);
  }, [&](const std::vector<ValueId>& c) {
    const ValueId row = l->op(ops::load, {x, c[0], l->index(0)}, {}, tile_type(f32, {1, 64}));
    const ValueId sum = l->into(c[2], l->op(ops::add, {c[2], row}));
    return std::vector{l->op(ops::scalar_add, {c[0], l->index(1)}),
                       l->op(ops::scalar_add, {c[1], l->op(ops::read, {row, l->index(0), l->index(0)})}), sum};
  });
  l->store(l->op(ops::adds, {done[2], done[1]}), out);
  l->finish();
  return l;
}

/// A loop that starts where the counter of the one around it is.
inline LoweredKernel triangle() {
  auto l = std::make_unique<Lowered>("triangle");
  const ValueId x = l->parameter("x", tensor_type(f32, {64, 64})), out = l->parameter("out", tensor_type(f32, {64, 64}), Direction::out);
  const ValueId zero = l->index(0), step = l->index(16), end = l->index(64);
  l->loop(zero, end, step, {}, [&](ValueId i, const std::vector<ValueId>&) {
    l->loop(i, end, step, {}, [&](ValueId j, const std::vector<ValueId>&) {
      const ValueId t = l->op(ops::load, {x, j, zero}, {}, tile_type(f32, {16, 64}));
      l->op(ops::store, {t, out, i, zero});
      return std::vector<ValueId>{};
    });
    return std::vector<ValueId>{};
  });
  l->finish();
  return l;
}

/// Three tiles of half a space: the result of each instruction takes the place of an operand. (23 rows of 4 KiB: all of a3's Vec.)
inline LoweredKernel full_space() {
  auto l = std::make_unique<Lowered>("full_space");
  const Type t = tensor_type(f32, {23, 1024}), tile = tile_type(f32, {23, 1024});
  const ValueId x = l->load(l->parameter("x", t), tile);
  const ValueId y = l->op(ops::exp, {x});
  l->store(l->op(ops::adds, {l->op(ops::mul, {x, y}), l->f.constant(f32, 1.0)}), l->parameter("out", t, Direction::out));
  l->finish();
  return l;
}

/// A flattened tile of a rank-3 tensor with a run-time dim.
inline LoweredKernel flattened_window() {
  auto l = std::make_unique<Lowered>("flattened_window");
  const ValueId x = l->parameter("x", tensor_type(bf16, {4, dyn<"S">, 512})),
                out = l->parameter("out", tensor_type(f32, {4, dyn<"S">, 512}), Direction::out);
  const ValueId zero = l->index(0), n = l->f.symbol(dyn<"S">);
  const auto window = [&] {
    const std::int64_t box[] = {1, 16, 512};
    return l->f.list_attr(AttrKey::window, {box, 3});
  };
  l->loop(zero, l->index(4), l->index(1), {}, [&](ValueId b, const std::vector<ValueId>&) {
    l->loop(zero, n, l->index(16), {}, [&](ValueId i, const std::vector<ValueId>&) {
      const ValueId rows = l->op(ops::scalar_min, {l->op(ops::scalar_sub, {n, i}), l->index(16)});
      const ValueId t = l->op(ops::load, {x, b, i, zero, l->index(1), rows, l->index(512)},
                              {Lowered::attr(AttrKey::has_valid, 1), window()}, tile_type(bf16, {16, 512}));
      const Extent extents[] = {{0, rows}, {512, {}}};
      l->f.set_valid(t, {extents, 2});
      const ValueId wide =
          l->op(ops::cast, {t}, {Lowered::attr(AttrKey::rounding, static_cast<std::int64_t>(Rounding::round))},
                scalar_type(f32));
      l->op(ops::store, {wide, out, b, i, zero}, {window()});
      return std::vector<ValueId>{};
    });
    return std::vector<ValueId>{};
  });
  l->finish();
  return l;
}

/// Batches in Mat through a view of the tensor as rows; the product goes to its page of a rank-4 tensor.
inline LoweredKernel batched_page() {
  auto l = std::make_unique<Lowered>("batched_page");
  const ValueId a = l->parameter("a", tensor_type(f16, {2, 16, 128})),
                b = l->parameter("b", tensor_type(f16, {2, 64, 128}));
  const ValueId c = l->parameter("c", tensor_type(f32, {1, 2, 16, 64}), Direction::out);
  const ValueId zero = l->index(0);
  const auto box = [&](std::int64_t r, std::int64_t k) {
    const std::int64_t list[] = {1, r, k};
    return l->f.list_attr(AttrKey::window, {list, 3});
  };
  l->loop(zero, l->index(2), l->index(1), {}, [&](ValueId i, const std::vector<ValueId>&) {
    const ValueId am = l->op(ops::load, {a, i, zero, zero}, {box(16, 128)}, tile_type(f16, {16, 128}, Mat));
    const ValueId bm = l->op(ops::load, {b, i, zero, zero}, {box(64, 128)}, tile_type(f16, {64, 128}, Mat));
    const ValueId left = l->op(ops::move, {am}, {}, tile_type(f16, {16, 128}, Left));
    const ValueId right = l->op(ops::move, {l->op(ops::transpose_view, {bm})}, {}, tile_type(f16, {128, 64}, Right));
    l->op(ops::store, {l->op(ops::matmul, {left, right}), c, zero, i, zero, zero});
    return std::vector<ValueId>{};
  });
  l->finish();
  return l;
}

/// Both branches write one buffer: one fills what is not valid, one has other extents than the buffer.
inline LoweredKernel shared_looks() {
  auto l = std::make_unique<Lowered>("shared_looks");
  const Type t = tensor_type(f32, {32, 64}), tile = tile_type(f32, {32, 64});
  const ValueId x = l->parameter("x", t), out = l->parameter("out", t, Direction::out),
                n = l->parameter("n", index_scalar);
  const ValueId y = l->op(ops::create, {}, {}, tile);
  const ValueId part =
      l->op(ops::load, {x, l->index(0), l->index(0), n, l->index(40)}, {Lowered::attr(AttrKey::has_valid, 1)}, tile);
  const auto r = l->branch(l->compare(n, l->index(7), Compare::lt), [&] {
    return std::vector{l->into(y, l->op(ops::exp, {part}))};
  }, [&] { return std::vector{l->into(y, l->op(ops::neg, {part}))}; });
  const ValueId window = l->op(ops::slice, {r[0], l->index(8), l->index(16)}, {}, tile_type(f32, {8, 32}));
  const ValueId whole =
      l->op(ops::set_valid_shape,
            {l->op(ops::assemble, {y, l->op(ops::adds, {window, l->f.constant(f32, 1.0)}), l->index(0), l->index(32)}),
             l->index(32), l->index(64)});
  const ValueId flat = l->op(ops::reshape, {whole}, {}, tile_type(f32, {64, 32}));
  l->store(l->op(ops::fillpad, {l->op(ops::set_valid_shape, {flat, n, l->index(16)})},
                 {Lowered::attr(AttrKey::pad, static_cast<std::int64_t>(Pad::min))}),
           l->parameter("flat", tensor_type(f32, {64, 32}), Direction::out));
  l->store(r[0], out);
  l->finish();
  return l;
}

/// Windows that are reshaped and transposed, windows of what is reshaped, parts of Mat tiles.
inline LoweredKernel nested_looks() {
  auto l = std::make_unique<Lowered>("nested_looks");
  const ValueId x = l->parameter("x", tensor_type(f32, {32, 64})), n = l->parameter("n", index_scalar);
  const ValueId row_out = l->parameter("row_out", tensor_type(f32, {64, 1}), Direction::out), zero = l->index(0);
  const ValueId t = l->load(x, tile_type(f32, {32, 64}));
  const auto slice = [&](ValueId of, ValueId r, ValueId c, const Type& type) {
    return l->op(ops::slice, {of, r, c}, {}, type);
  };
  const ValueId row = slice(t, l->index(3), zero, tile_type(f32, {1, 64}));
  l->store(l->op(ops::reshape, {row}, {}, tile_type(f32, {64, 1})), row_out);
  const ValueId band = slice(t, n, zero, tile_type(f32, {16, 64}));
  const ValueId narrow = slice(band, zero, l->index(32), tile_type(f32, {16, 32}));
  const ValueId a = l->op(ops::reshape, {narrow}, {}, tile_type(f32, {8, 64}));
  const ValueId b =
      slice(l->op(ops::reshape, {t}, {}, tile_type(f32, {64, 32})), l->index(8), l->index(8), tile_type(f32, {8, 16}));
  const ValueId c = l->op(ops::transpose, {narrow, l->op(ops::create, {}, {}, tile_type(f32, {16, 32}))});
  const ValueId d = l->op(ops::set_valid_shape, {narrow, n, l->index(8)});
  const ValueId part_of_row = l->op(ops::set_valid_shape, {row, l->index(1), n});
  l->store(l->op(ops::reshape, {part_of_row}, {}, tile_type(f32, {64, 1})), row_out);
  const ValueId sums[] = {a, b, c, d};
  const auto row_sum = [&](ValueId v) { return l->op(ops::row_sum, {v, l->op(ops::create, {}, {}, l->f.type(v))}); };
  const ValueId sum = row_sum(sums[0]);
  for (const ValueId v : sums) {
    const Type column = tile_type(f32, {l->f.type(v).dims[0], 1});
    const std::string name = "out" + std::to_string(v.index);
    l->store(row_sum(l->op(ops::exp, {v})), l->parameter(name.c_str(), with_space(column, Gm), Direction::out));
  }
  const ValueId m = l->load(l->parameter("m", tensor_type(f16, {64, 64})), tile_type(f16, {64, 64}, Mat));
  const ValueId part = slice(slice(m, l->index(16), zero, tile_type(f16, {32, 64}, Mat)), n, l->index(16),
                             tile_type(f16, {16, 32}, Mat));
  const ValueId left = l->op(ops::move, {part}, {}, tile_type(f16, {16, 32}, Left));
  const ValueId turned = l->op(ops::transpose_view,
                               {l->load(l->parameter("w", tensor_type(f16, {64, 64})), tile_type(f16, {64, 64}, Mat))});
  const ValueId right = l->op(ops::move, {slice(turned, zero, l->index(16), tile_type(f16, {32, 16}, Mat))}, {},
                              tile_type(f16, {32, 16}, Right));
  l->store(l->op(ops::matmul, {left, right}), l->parameter("product", tensor_type(f32, {16, 16}), Direction::out));
  l->store(sum, l->parameter("sum", tensor_type(f32, {8, 1}), Direction::out));
  l->finish();
  return l;
}

/// Integers, which textract and tinsert do not move within Vec.
inline LoweredKernel integer_windows() {
  auto l = std::make_unique<Lowered>("integer_windows");
  const ValueId x = l->parameter("x", tensor_type(u32, {32, 64})), y = l->parameter("y", tensor_type(i16, {8, 32})),
                n = l->parameter("n", index_scalar);
  const ValueId t = l->load(x, tile_type(u32, {32, 64})), zero = l->index(0);
  const ValueId narrow = l->op(ops::slice, {t, l->index(8), l->index(16), n, l->index(16)},
                               {Lowered::attr(AttrKey::has_valid, 1)}, tile_type(u32, {16, 16}));
  const ValueId flat = l->op(ops::slice, {l->op(ops::reshape, {t}, {}, tile_type(u32, {64, 32})), n, l->index(8)}, {},
                             tile_type(u32, {16, 16}));
  const ValueId turned = l->op(ops::transpose, {narrow, l->op(ops::create, {}, {}, l->f.type(narrow))});
  const ValueId out = l->op(ops::assemble, {l->op(ops::create, {}, {}, tile_type(u32, {32, 64})),
                                            l->op(ops::maximum, {flat, turned}), n, l->index(48)});
  l->store(out, l->parameter("out", tensor_type(u32, {32, 64}), Direction::out));
  const ValueId z = l->load(y, tile_type(i16, {8, 32}));
  l->store(l->op(ops::assemble,
                 {z, l->op(ops::slice, {z, zero, zero}, {}, tile_type(i16, {4, 16})), l->index(4), l->index(16)}),
           y);
  l->finish();
  return l;
}

/// Windows of columns: read as they are, reshaped, written.
inline LoweredKernel column_windows() {
  auto l = std::make_unique<Lowered>("column_windows");
  const ValueId x = l->parameter("x", tensor_type(f32, {64, 1})), w = l->parameter("w", tensor_type(f32, {16, 64})),
                n = l->parameter("n", index_scalar);
  const ValueId c = l->load(x, tile_type(f32, {64, 1})), wide = l->load(w, tile_type(f32, {16, 64})),
                zero = l->index(0);
  const ValueId half = l->op(ops::slice, {c, l->index(32), zero}, {}, tile_type(f32, {32, 1}));
  const ValueId part = l->op(ops::slice, {half, n, zero}, {}, tile_type(f32, {16, 1}));
  l->store(l->op(ops::row_expand_mul, {wide, part}), w);
  const ValueId row = l->op(ops::exp, {l->op(ops::reshape, {part}, {}, tile_type(f32, {1, 16}))});
  const ValueId column = l->op(ops::reshape, {row}, {}, tile_type(f32, {16, 1}));
  const ValueId tail = l->op(ops::set_valid_shape, {column, n, l->index(1)});
  l->store(l->op(ops::assemble, {l->op(ops::assemble, {c, tail, n, zero}), half, zero, zero}), x);
  l->finish();
  return l;
}

/// Both cores in one loop: a product, and what the vector unit makes of it.
inline LoweredKernel mixed_loop() {
  auto l = std::make_unique<Lowered>("mixed_loop");
  const ValueId a = l->parameter("a", tensor_type(f16, {64, 64})), b = l->parameter("b", tensor_type(f16, {64, 32}));
  const ValueId out = l->parameter("out", tensor_type(f32, {64, 32}), Direction::out), zero = l->index(0);
  const ValueId right =
      l->op(ops::move, {l->load(b, tile_type(f16, {64, 32}, Mat))}, {}, tile_type(f16, {64, 32}, Right));
  l->loop(zero, l->index(64), l->index(16), {}, [&](ValueId i, const std::vector<ValueId>&) {
    const ValueId rows = l->op(ops::load, {a, i, zero}, {}, tile_type(f16, {16, 64}, Mat));
    const ValueId product = l->op(ops::matmul, {l->op(ops::move, {rows}, {}, tile_type(f16, {16, 64}, Left)), right});
    l->op(ops::store, {l->op(ops::exp, {l->op(ops::move, {product}, {}, tile_type(f32, {16, 32}))}), out, i, zero});
    return std::vector<ValueId>{};
  });
  l->finish();
  return l;
}

/// Columns [.., M, 1], batched and not.
inline LoweredKernel columns() {
  auto l = std::make_unique<Lowered>("columns");
  const ValueId x = l->parameter("x", tensor_type(f32, {dyn<"S">, 1})),
                y = l->parameter("y", tensor_type(f32, {4, 16, 1}));
  const ValueId out = l->parameter("out", tensor_type(f32, {64, 1}), Direction::out), n = l->f.symbol(dyn<"S">),
                zero = l->index(0);
  const std::int64_t box[] = {4, 16, 1};
  const ValueId a = l->op(ops::load, {x, zero, zero, l->op(ops::scalar_min, {n, l->index(64)}), l->index(1)},
                          {Lowered::attr(AttrKey::has_valid, 1)}, tile_type(f32, {64, 1}));
  const ValueId b =
      l->op(ops::load, {y, zero, zero, zero}, {l->f.list_attr(AttrKey::window, {box, 3})}, tile_type(f32, {64, 1}));
  l->store(a, out);
  l->store(b, l->parameter("all", tensor_type(f32, {64, 1}), Direction::out));
  l->finish();
  return l;
}

/// Ranks 1 and 6, one element of a column, a column that is loaded as a strip of rows, padded rows.
inline LoweredKernel odd_shapes() {
  auto l = std::make_unique<Lowered>("odd_shapes");
  const ValueId line = l->parameter("line", tensor_type(f32, {250})),
                deep = l->parameter("deep", tensor_type(f32, {2, 3, 2, 2, 4, 64}));
  const ValueId column = l->parameter("column", tensor_type(f32, {dyn<"M">, 1})),
                strip = l->parameter("strip", tensor_type(f32, {4, 1, 1}));
  const ValueId narrow = l->parameter("narrow", tensor_type(f32, {6, 4})), zero = l->index(0),
                n = l->parameter("n", index_scalar);
  const auto box = [&](std::initializer_list<std::int64_t> dims) {
    return l->f.list_attr(AttrKey::window, {dims.begin(), dims.size()});
  };
  const ValueId a = l->op(ops::load, {line, l->index(50)}, {box({200})}, tile_type(f32, {1, 200}));
  l->op(ops::store, {l->op(ops::exp, {a}), line, n}, {box({200})});
  const ValueId b = l->op(ops::load, {deep, l->index(1), n, l->index(1), zero, zero, zero}, {box({1, 1, 1, 2, 4, 64})},
                          tile_type(f32, {8, 64}));
  l->op(ops::store, {l->op(ops::neg, {b}), deep, zero, n, zero, zero, zero, zero}, {box({1, 1, 1, 2, 4, 64})});
  Type element = tile_type(f32, {1, 1}), strip_type = tile_type(f32, {4, 1});
  element.layout = Layout::dn;
  strip_type.layout = Layout::nd;
  const ValueId c = l->op(ops::load, {column, n, zero}, {}, element);
  const ValueId doubled = l->op(ops::exp, {l->op(ops::reshape, {c}, {}, tile_type(f32, {1, 1}))});
  l->op(ops::store, {l->op(ops::reshape, {doubled}, {}, element), column, zero, zero});
  const ValueId d = l->op(ops::load, {strip, zero, zero, zero}, {box({4, 1, 1})}, strip_type);
  const ValueId turned = l->op(ops::transpose, {d, l->op(ops::create, {}, {}, strip_type)});
  l->op(ops::store,
        {l->op(ops::transpose, {turned, l->op(ops::create, {}, {}, tile_type(f32, {1, 4}))}, {}, strip_type), strip,
         zero, zero, zero},
        {box({4, 1, 1})});
  l->store(l->op(ops::muls, {l->load(narrow, tile_type(f32, {6, 4})), l->f.constant(f32, 0.1)}), narrow);
  l->finish();
  return l;
}

/// Counters of i32, carried integers, several results, conversions.
inline LoweredKernel counters() {
  auto l = std::make_unique<Lowered>("counters");
  const ValueId n = l->parameter("n", scalar_type(i32)),
                out = l->parameter("out", tensor_type(i32, {64}), Direction::out);
  const ValueId h = l->parameter("h", scalar_type(f16)), flag = l->parameter("flag", scalar_type(boolean)),
                w = l->parameter("w", scalar_type(u16));
  const auto number = [&](std::int64_t k) { return l->f.constant(i32, k); };
  const auto r = l->loop(number(0), n, number(2), {number(5), h}, [&](ValueId i, const std::vector<ValueId>& c) {
    const auto both = l->branch(
        flag, [&] { return std::vector{l->op(ops::scalar_add, {c[0], i}), l->op(ops::scalar_neg, {c[1]})}; }, [&] {
      return std::vector{l->op(ops::scalar_neg, {c[0]}), l->op(ops::scalar_add, {c[1], l->f.constant(f16, 1.5)})};
    });
    return both;
  });
  ValueId v = r[0];
  for (const DType d :
       {i8, u32, index_type, u16, i64, f32, bf16, f16, u8, boolean, i32, boolean, f32, index_type, f16, i16, i32})
    v = l->op(ops::scalar_cast, {v}, {}, scalar_type(d));
  l->op(ops::write, {out, v, n});
  const ValueId wide = l->op(ops::scalar_cast, {w}, {}, index_scalar), block = l->op(ops::block_index, {});
  l->op(ops::write, {out, l->op(ops::scalar_cast, {r[1]}, {}, scalar_type(i32)),
                     l->op(ops::scalar_rem, {l->op(ops::scalar_add, {wide, block}), l->index(64)})});
  l->finish();
  return l;
}

/// Parameters with other dims, bytes as other elements, tiles that grow; all with extents known at run time.
inline LoweredKernel other_looks() {
  auto l = std::make_unique<Lowered>("other_looks");
  const ValueId x = l->parameter("x", tensor_type(f32, {2, 16, 64})), n = l->parameter("n", index_scalar),
                out = l->parameter("out", tensor_type(f32, {64, 64}), Direction::out), zero = l->index(0);
  const ValueId rows = l->op(ops::view, {x}, {}, tensor_type(f32, {32, 64})),
                wide = l->op(ops::view, {x}, {}, tensor_type(f32, {8, 256}));
  const ValueId t = l->op(ops::load, {rows, zero, zero, n, l->index(64)}, {Lowered::attr(AttrKey::has_valid, 1)},
                          tile_type(f32, {32, 64}));
  const ValueId bits = l->op(ops::adds, {l->op(ops::reinterpret, {t}, {}, scalar_type(i32)),
                                         l->f.constant(i32, std::int64_t{4096})});
  const ValueId halves = l->op(ops::reinterpret, {bits}, {}, scalar_type(i16));
  const ValueId back = l->op(ops::reinterpret, {l->op(ops::adds, {halves, l->f.constant(i16, std::int64_t{1})})}, {},
                             scalar_type(f32));
  l->store(l->op(ops::fillpad_expand, {back}, {Lowered::attr(AttrKey::pad, static_cast<std::int64_t>(Pad::max))},
                 tile_type(f32, {64, 64})),
           out);
  l->store(l->load(wide, tile_type(f32, {8, 256})),
           l->op(ops::view, {out}, {}, tensor_type(f32, {16, 256})));
  l->finish();
  return l;
}

struct NamedKernel {
  const char* name;
  LoweredKernel (*make)();
};
inline constexpr NamedKernel kernels[] = {{"vector_add", vector_add},
                                          {"softmax", softmax},
                                          {"matmul_loop", matmul_loop},
                                          {"dynamic_tail", dynamic_tail},
                                          {"scalar_if", scalar_if},
                                          {"while_sum", while_sum},
                                          {"triangle", triangle},
                                          {"full_space", full_space},
                                          {"flattened_window", flattened_window},
                                          {"batched_page", batched_page},
                                          {"shared_looks", shared_looks},
                                          {"nested_looks", nested_looks},
                                          {"integer_windows", integer_windows},
                                          {"column_windows", column_windows},
                                          {"mixed_loop", mixed_loop},
                                          {"columns", columns},
                                          {"odd_shapes", odd_shapes},
                                          {"counters", counters},
                                          {"other_looks", other_looks}};

}  // namespace programs
