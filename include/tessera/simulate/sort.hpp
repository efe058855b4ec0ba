// Sorting in descending order. Of equal elements the first stays first; NaN comes in front of all numbers. What is merged must
// be sorted: else the instructions give no order at all, so this is an error.
#pragma once

#include "elementwise.hpp"

namespace tessera::simulator {

[[nodiscard]] inline bool comes_first(float a, float b) { return std::isnan(a) ? !std::isnan(b) : a > b; }

/// Writes a pair: the value and the bits of its index.
inline void put_pair(Data& r, std::int64_t to, float value, std::int64_t index) {
  const auto at = static_cast<std::size_t>(to);
  const auto bits = static_cast<std::uint32_t>(index);
  r.floats[at] = value;
  if (r.dtype == f32) {
    r.floats[at + 1] = from_bits(f32, bits);
  } else {
    r.floats[at + 1] = 0;
    r.floats[at + 2] = from_bits(f16, bits & 0xFFFFu);
    r.floats[at + 3] = from_bits(f16, bits >> 16);
  }
  std::fill_n(r.known.begin() + to, ops::pair_elements(r.dtype), std::uint8_t{1});
}
inline void sort32(Call& c) {
  const Data &x = c.in(0), &index = c.in(1);
  Data r = c.fresh();
  const Box from = strides_of(x.dims), index_from = broadcast_strides(index.dims, x.dims.rank);
  const std::int64_t pair = ops::pair_elements(x.dtype);
  std::vector<std::int64_t> order(static_cast<std::size_t>(ops::sort_block));
  for_each_row(c.valid(0), [&](const Box& row) {
    const std::int64_t start = dot(from, row), index_start = dot(index_from, row);
    for (std::int64_t block = 0; block < x.dims.last(); block += ops::sort_block) {
      for (std::int64_t k = 0; k < ops::sort_block; ++k) {
        order[static_cast<std::size_t>(k)] = block + k;
        if (!x.is_known(start + block + k)) c.fail_poison(0, x, start + block + k);
        if (!index.is_known(index_start + block + k)) c.fail_poison(1, index, index_start + block + k);
      }
      const auto value = [&](std::int64_t k) { return x.floats[static_cast<std::size_t>(start + k)]; };
      std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
        return comes_first(value(a), value(b)) || (a < b && !comes_first(value(b), value(a)));
      });
      std::int64_t to = (start + block) * pair;
      for (const std::int64_t k : order) {
        put_pair(r, to, value(k), index.integers[static_cast<std::size_t>(index_start + k)]);
        to += pair;
      }
    }
  });
  c.result(std::move(r));
}

/// A sorted run of pairs of an operand, and how far it is merged.
struct Run {
  const Data* data;
  int operand;
  std::int64_t next, end;
};
inline void check_sorted(const Call& c, const Run& run, std::int64_t pair) {
  for (std::int64_t i = run.next; i < run.end; ++i)
    if (!run.data->is_known(i)) c.fail_poison(run.operand, *run.data, i);
  for (std::int64_t i = run.next + pair; i < run.end; i += pair)
    if (comes_first(run.data->floats[static_cast<std::size_t>(i)], run.data->floats[static_cast<std::size_t>(i - pair)]))
      c.fail("what is merged is not sorted (operand " + std::to_string(run.operand) + ", element " + std::to_string(i) + ")",
             "sort blocks of 32 with sort32, and merge blocks of the length that is sorted");
}
/// Merges runs to the elements behind `to`; gives the position behind them.
inline std::int64_t merge_runs(Call& c, std::vector<Run>& runs, Data& r, std::int64_t to) {
  const std::int64_t pair = ops::pair_elements(r.dtype);
  for (const Run& run : runs) check_sorted(c, run, pair);
  for (;;) {
    Run* best = nullptr;
    const auto head = [](const Run& run) { return run.data->floats[static_cast<std::size_t>(run.next)]; };
    for (Run& run : runs)
      if (run.next < run.end && (best == nullptr || comes_first(head(run), head(*best)))) best = &run;
    if (best == nullptr) return to;
    r.copy(to, *best->data, best->next, pair);
    best->next += pair;
    to += pair;
  }
}
inline void merge_blocks(Call& c) {
  const Data& x = c.in(0);
  const std::int64_t block = c.number(1).integer;
  Data r = c.fresh();
  for (std::int64_t start = 0; start < x.size();) {
    std::vector<Run> runs;
    for (int i = 0; i < 4 && start + i * block < x.size(); ++i) runs.push_back({&x, 0, start + i * block, start + (i + 1) * block});
    start = merge_runs(c, runs, r, start);
  }
  c.result(std::move(r));
}
template <int Lists>
void merge_lists(Call& c) {
  Data r = c.fresh();
  std::vector<Run> runs;
  for (int i = 0; i < Lists; ++i) runs.push_back({&c.in(i), i, 0, c.in(i).size()});
  merge_runs(c, runs, r, 0);
  c.result(std::move(r));
}

inline constexpr TableEntry sort_table[] = {
    {&ops::sort32, sort32},
    {&ops::merge_sort, merge_blocks},
    {&ops::merge_sort2, merge_lists<2>},
    {&ops::merge_sort3, merge_lists<3>},
    {&ops::merge_sort4, merge_lists<4>},
};

}  // namespace tessera::simulator
