#include "references.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace demo {
namespace {

// Half a step of each format at 1: the largest error of one rounding, relative to the number.
constexpr double f32_rounding = 0x1p-24, bf16_rounding = 0x1p-8;

using Arguments = std::vector<Numbers>;
using Results = std::vector<Numbers>;

template <class F>
Results elementwise(const Numbers& a, F&& f) {
  Numbers out = a;
  for (double& x : out.values) x = f(x);
  return {out};
}
template <class F>
Results elementwise(const Numbers& a, const Numbers& b, F&& f) {
  Numbers out = a;
  for (std::size_t i = 0; i < out.values.size(); ++i) out.values[i] = f(a.values[i], b.values[i]);
  return {out};
}
/// Calls f(first element, width) for each row.
template <class F>
Results by_rows(const Numbers& a, F&& f) {
  Numbers out = a;
  const auto width = static_cast<std::size_t>(a.dims.back());
  for (std::size_t i = 0; i < out.values.size(); i += width) f(out.values.data() + i, width);
  return {out};
}
double sum(const double* row, std::size_t width) {
  double s = 0;
  for (std::size_t j = 0; j < width; ++j) s += row[j];
  return s;
}
double sum_of_squares(const double* row, std::size_t width) {
  double s = 0;
  for (std::size_t j = 0; j < width; ++j) s += row[j] * row[j];
  return s;
}

Results softmax(const Arguments& in) {
  return by_rows(in[0], [](double* row, std::size_t width) {
    const double largest = *std::max_element(row, row + width);
    for (std::size_t j = 0; j < width; ++j) row[j] = std::exp(row[j] - largest);
    const double total = sum(row, width);
    for (std::size_t j = 0; j < width; ++j) row[j] /= total;
  });
}
Results softmax_twice(const Arguments& in) { return softmax(softmax(in)); }
Results rms_norm(const Arguments& in) {
  return by_rows(in[0], [&](double* row, std::size_t width) {
    const double root = std::sqrt(sum_of_squares(row, width) / static_cast<double>(width) + 1e-6);
    for (std::size_t j = 0; j < width; ++j) row[j] = row[j] / root * in[1].values[j];
  });
}
Results layer_norm(const Arguments& in) {
  return by_rows(in[0], [&](double* row, std::size_t width) {
    const double mean = sum(row, width) / static_cast<double>(width);
    for (std::size_t j = 0; j < width; ++j) row[j] -= mean;
    const double root = std::sqrt(sum_of_squares(row, width) / static_cast<double>(width) + 1e-5);
    for (std::size_t j = 0; j < width; ++j) row[j] = row[j] / root * in[1].values[j] + in[2].values[j];
  });
}
Results vector_add(const Arguments& in) {
  return elementwise(in[0], in[1], [](double a, double b) { return a + b; });
}
Results scaled_add(const Arguments& in) {
  const double s = in[2].values[0];
  return elementwise(in[0], in[1], [s](double a, double b) { return a + b * s; });
}
Results gelu(const Arguments& in) {
  return elementwise(in[0], [](double x) { return x / (1 + std::exp(-1.702 * x)); });
}
Results silu(const Arguments& in) {
  return elementwise(in[0], in[1], [](double gate, double up) { return gate / (1 + std::exp(-gate)) * up; });
}
Results elementwise_3d(const Arguments& in) {
  return elementwise(in[0], in[1], [](double a, double b) { return 2 * std::max(a, b) - std::abs(a * b); });
}
Results widen(const Arguments& in) { return {in[0]}; }
Results running_max(const Arguments& in) {
  const auto rows = static_cast<std::size_t>(in[1].values[0]);
  const std::size_t width = in[0].dim(1);
  Numbers out{{1, in[0].dims[1]}, std::vector<double>(width, -std::numeric_limits<double>::infinity())};
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < width; ++j) out.values[j] = std::max(out.values[j], in[0].values[i * width + j]);
  return {out};
}

Results padded_gather(const Arguments& in) {
  Numbers out{in[1].dims, std::vector<double>(in[1].values.size())};
  for (std::size_t k = 0; k < out.values.size(); ++k)
    if (const double i = in[1].values[k]; i != in[2].values[0]) out.values[k] = in[0].values[static_cast<std::size_t>(i)];
  return {out};
}

/// out[m, n] += sum over k of a[m, k] * b(k, n).
template <class B>
void add_product(const double* a, B&& b, double* out, std::size_t m, std::size_t k, std::size_t n) {
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t l = 0; l < k; ++l)
      for (std::size_t j = 0; j < n; ++j) out[i * n + j] += a[i * k + l] * b(l, j);
}
Results gemm(const Arguments& in) {
  const std::size_t m = in[0].dim(0), k = in[0].dim(1), n = in[1].dim(1);
  Numbers out{{in[0].dims[0], in[1].dims[1]}, std::vector<double>(m * n)};
  add_product(in[0].values.data(), [&](std::size_t l, std::size_t j) { return in[1].values[l * n + j]; },
              out.values.data(), m, k, n);
  return {out};
}
Results fused_linear(const Arguments& in) {
  const std::size_t m = in[0].dim(0), k = in[0].dim(1), n = in[1].dim(0);
  Numbers out{{in[0].dims[0], in[1].dims[0]}, std::vector<double>(m * n)};
  add_product(in[0].values.data(), [&](std::size_t l, std::size_t j) { return in[1].values[j * k + l]; },
              out.values.data(), m, k, n);
  for (std::size_t i = 0; i < m * n; ++i) out.values[i] = std::max(0.0, out.values[i] + in[2].values[i % n]);
  return {out};
}
Results batched_matmul(const Arguments& in) {
  const std::size_t batches = in[0].dim(0), m = in[0].dim(1), k = in[0].dim(2), n = in[1].dim(2);
  Numbers out{{in[0].dims[0], in[0].dims[1], in[1].dims[2]}, std::vector<double>(batches * m * n)};
  for (std::size_t b = 0; b < batches; ++b)
    add_product(in[0].values.data() + b * m * k, [&](std::size_t l, std::size_t j) { return in[1].values[l * n + j]; },
                out.values.data() + b * m * n, m, k, n);
  return {out};
}
Results top_k(const Arguments& in) {
  constexpr std::size_t count = 64;
  std::vector<std::size_t> order(in[0].values.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const double x = in[0].values[a], y = in[0].values[b];
    return x > y || (x == y && a < b);
  });
  Numbers values{{1, 64}, std::vector<double>(count)}, positions = values;
  for (std::size_t i = 0; i < count; ++i) {
    values.values[i] = in[0].values[order[i]];
    positions.values[i] = static_cast<double>(order[i]);
  }
  return {values, positions};
}
Results paged_scores(const Arguments& in) {
  constexpr std::size_t block = 32;
  const std::size_t m = in[0].dim(0), k = in[0].dim(1), n = in[2].dim(0);
  const auto row = [&](std::size_t j) {
    const auto position = static_cast<std::size_t>(in[2].values[j]);
    return static_cast<std::size_t>(in[3].values[position / block]) * block + position % block;
  };
  Numbers out{{in[0].dims[0], in[2].dims[0]}, std::vector<double>(m * n)};
  add_product(in[0].values.data(), [&](std::size_t l, std::size_t j) { return in[1].values[row(j) * k + l]; },
              out.values.data(), m, k, n);
  return {out};
}

// Allowed errors count the roundings on the way to one element, each of at most half a step, with values of about 1 in
// between (the data lie in [-1, 1)); a sum of n terms of about 1 rounds n times.
const std::map<std::string, Reference>& references() {
  static const std::map<std::string, Reference> table = {
      {"vector_add", {vector_add, 2 * f32_rounding, "one rounding of a sum below 2", {{}}}},
      {"scaled_add", {scaled_add, 4 * f32_rounding, "two roundings below 2", {{}}}},
      {"elementwise_3d", {elementwise_3d, 4 * f32_rounding, "three roundings below 3", {{}}}},
      {"softmax",
       {softmax,
        0.5 * f32_rounding,
        "exp, a sum of 128 terms and a division: 16 roundings of results below 0.03",
        {{}}}},
      {"twice", {softmax_twice, 0.5 * f32_rounding, "as softmax, of numbers below 0.03", {{}}}},
      {"softmax_tails", {softmax, 0.5 * f32_rounding, "as softmax", {{{"S", 40}}, {{"S", 16}}, {{"S", 1}}}}},
      {"gelu", {gelu, 16 * f32_rounding, "five roundings, exp below 6", {{}}}},
      {"silu", {silu, 0.51 * bf16_rounding, "the rounding to bf16 of results below 1", {{}}}},
      {"rms_norm_16x512", {rms_norm, 1.01 * bf16_rounding, "the rounding to bf16", {{}}}},
      {"layer_norm",
       {layer_norm, 64 * f32_rounding, "two sums of 256 terms, of which errors of either sign remain", {{}}}},
      {"widen", {widen, 0, "bf16 fits into f32", {{{"S", 40}}, {{"S", 16}}}}},
      {"running_max", {running_max, 0, "no arithmetic", {{{"arg1", 1000}}, {{"arg1", 1}}, {{"arg1", 0}}}}},
      {"gemm", {gemm, 512 * f32_rounding, "a sum of 512 exact products in f32", {{}}}},
      {"fused_linear", {fused_linear, 129 * f32_rounding, "a sum of 128 exact products and a bias in f32", {{}}}},
      {"top_k", {top_k, 0, "no arithmetic; of equal numbers the first comes first", {{}}}},
      {"paged_scores", {paged_scores, 128 * f32_rounding, "a sum of 128 exact products in f32", {{}}}},
      {"padded_gather", {padded_gather, 0, "no arithmetic", {{{"N", 17}, {"M", 1000}, {"padding", 2}}, {{"N", 40}, {"M", 3}, {"padding", 0}}}}},
      {"batched_matmul", {batched_matmul, 64 * f32_rounding, "a sum of 64 exact products in f32", {{}}}},
  };
  return table;
}

}  // namespace

const Reference* find_reference(const std::string& kernel) {
  const auto found = references().find(kernel);
  return found != references().end() ? &found->second : nullptr;
}

}  // namespace demo
