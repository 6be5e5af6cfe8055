#include "train/prune.h"

#include <fmt/format.h>

#include <charconv>

#include "graph/error.h"

namespace bantam::train {
namespace {

/// Two numbers with `between` between them; false: that is not what `text` is.
bool parse_pair(const std::string& text, char between, uint32_t* a, uint32_t* b) {
  const size_t middle = text.find(between);
  if (middle == std::string::npos) return false;
  const char *begin = text.data(), *end = begin + text.size();
  const auto first = std::from_chars(begin, begin + middle, *a);
  const auto second = std::from_chars(begin + middle + 1, end, *b);
  return first.ec == std::errc() && first.ptr == begin + middle && second.ec == std::errc() && second.ptr == end &&
         *a > 0 && *b > 0 && *a <= 64 && *b <= 64;
}

at::Tensor padded_to(const at::Tensor& x, int64_t rows, int64_t columns) {
  return torch::constant_pad_nd(x, {0, columns - x.size(1), 0, rows - x.size(0)});
}

}  // namespace

Pattern parse_pattern(const std::string& name) {
  Pattern pattern;
  if (name == "unstructured") return pattern;
  if (parse_pair(name, 'x', &pattern.rows, &pattern.columns)) return pattern;
  uint32_t keep = 0, of = 0;
  if (parse_pair(name, ':', &keep, &of) && keep < of) return {1, of, keep};
  throw convert::Error(
      convert::ExitCode::kUsage,
      fmt::format("--pattern {}: there is no such pattern; unstructured, ROWSxCOLUMNS (1x4, 4x16) and 2:4 are known",
                  name));
}

at::Tensor magnitude_mask(const at::Tensor& weight, const Pattern& pattern, double sparsity) {
  const at::NoGradGuard guard;
  const int64_t n = weight.size(0), k = weight.size(1), r = pattern.rows, c = pattern.columns;
  const int64_t down = (n + r - 1) / r, across = (k + c - 1) / c;
  const at::Tensor magnitude = padded_to(weight.detach().abs(), down * r, across * c);
  if (pattern.keep != 0) {
    if (sparsity <= 0) return torch::ones({n, k});
    const at::Tensor groups = magnitude.view({down, across, c});
    const at::Tensor order = groups.argsort(/*stable=*/true, -1, /*descending=*/true);
    at::Tensor mask = torch::zeros_like(groups);
    mask.scatter_(-1, order.narrow(-1, 0, pattern.keep), 1.0);
    return mask.view({down, across * c}).narrow(1, 0, k).contiguous();
  }
  const at::Tensor scores = magnitude.view({down, r, across, c}).sum(1).sum(-1).view({-1});
  const auto gone = static_cast<int64_t>(sparsity * static_cast<double>(scores.numel()));
  at::Tensor kept = torch::ones_like(scores);
  if (gone > 0) kept.index_fill_(0, scores.argsort(/*stable=*/true, 0, /*descending=*/false).narrow(0, 0, gone), 0.0);
  const at::Tensor mask = kept.view({down, 1, across, 1}).expand({down, r, across, c});
  return mask.reshape({down * r, across * c}).narrow(0, 0, n).narrow(1, 0, k).contiguous();
}

}  // namespace bantam::train
