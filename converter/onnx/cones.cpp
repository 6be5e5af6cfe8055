#include "onnx/cones.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace bantam::convert::onnx {
namespace {

constexpr int64_t kLeastId = 7, kMostId = 31;
constexpr size_t kMostThresholds = 64;  // largest size of a constant whose elements may be thresholds for texts
constexpr double kNoDistance = 1e6;

}  // namespace

HostTensor Probe::input(InputRole role) const {
  HostTensor out;
  out.whole = true;
  out.dims = {extents.batch, extents.tokens};
  switch (role) {
    case InputRole::kIds:
      out.ints = ids;
      break;
    case InputRole::kMask:
      out.ints = mask;
      break;
    case InputRole::kSegments:
      out.ints = segments;
      break;
    case InputRole::kPositions:
      for (int64_t i = 0; i < extents.batch * extents.tokens; ++i) out.ints.push_back(i % extents.tokens);
      break;
  }
  return out;
}

std::vector<Probe> make_probes(int64_t batch, int64_t tokens, int64_t long_text) {
  std::vector<Probe> probes;
  uint32_t state = 1;
  const auto draw = [&state](uint32_t below) {
    state = state * 1664525U + 1013904223U;
    return static_cast<int64_t>((state >> 8) % below);
  };
  std::vector<Extents> of = {{2, 5}, {3, 7}, {2, 5}, {3, 7}};
  if (tokens <= 0 && long_text > 7) of.push_back({1, long_text});
  for (size_t i = 0; i < of.size(); ++i) {
    Probe probe;
    probe.extents = {batch > 0 ? batch : of[i].batch, tokens > 0 ? tokens : of[i].tokens};
    for (int64_t b = 0; b < probe.extents.batch; ++b) {
      const int64_t length = 1 + draw(static_cast<uint32_t>(probe.extents.tokens));
      for (int64_t t = 0; t < probe.extents.tokens; ++t) {
        probe.ids.push_back(kLeastId + draw(kMostId - kLeastId));
        probe.segments.push_back(draw(2));
        const bool there = i == 0 || i == 4 || (i == 1 ? t < length : t == 0 || draw(3) != 0);
        probe.mask.push_back(there ? 1 : 0);
      }
    }
    probes.push_back(std::move(probe));
  }
  return probes;
}

Reach reach_of(const HostTensor& constant, const std::string& op, size_t place) {
  Reach reach;
  // Shapes, axes and permutations are not distances.
  const bool shape = place == 1 && (op == "Reshape" || op == "Expand" || op == "Unsqueeze" || op == "Squeeze");
  if (shape) return reach;
  const bool table = place == 0 && (op == "Slice" || op.rfind("Gather", 0) == 0) && constant.size() > 1;
  const int64_t largest = constant.dims.empty() ? 1 : *std::max_element(constant.dims.begin(), constant.dims.end());
  if (table) reach.most = largest;
  if (constant.size() > kMostThresholds) {
    // Consecutive position numbers show their pattern from the start; other tables may matter as a whole.
    bool ordered = table && constant.whole;
    for (size_t i = 1; i < constant.size() && ordered; ++i) ordered = constant.ints[i] - constant.ints[i - 1] == 1;
    if (table && !ordered) reach.farthest = largest;
    return reach;
  }
  for (size_t i = 0; i < constant.size(); ++i) {
    const double value = constant.at(i);
    // Values that replace masked scores, and the ends of ranges, are not distances either.
    if (!(std::fabs(value) < kNoDistance) || (!constant.whole && value <= kHidden)) continue;
    reach.farthest = std::max(reach.farthest, static_cast<int64_t>(std::ceil(std::fabs(value))));
  }
  return reach;
}

namespace {

int64_t longest_of(const std::vector<Probe>& probes) {
  int64_t longest = 1;
  for (const Probe& probe : probes) longest = std::max(longest, probe.extents.tokens);
  return longest;
}

/// The number of heads that the added values distinguish: most masks are the same for all heads.
int64_t heads_apart(const HostTensor& added, int64_t heads) {
  const std::vector<int64_t>& given = added.dims;
  return given.size() < 3 || given[given.size() - 3] == 1 ? 1 : heads;
}

/// Recognizes a mask that only hides scores and adds no bias.
std::optional<Mask> recognise_hidden(const std::vector<Probe>& probes, const std::vector<HostTensor>& added,
                                     int64_t heads) {
  const int64_t longest = longest_of(probes);
  // The known state of keys at each distance (plus longest - 1) from their queries, if both are in the text.
  enum class Known : uint8_t { kNothing, kIsSeen, kIsHidden };
  std::vector<Known> known(static_cast<size_t>(2 * longest - 1), Known::kNothing);
  bool padding = true;
  for (size_t p = 0; p < probes.size(); ++p) {
    const Extents& at = probes[p].extents;
    const auto tokens = static_cast<size_t>(at.tokens), batches = static_cast<size_t>(at.batch);
    const int64_t apart = heads_apart(added[p], heads);
    const HostTensor all = broadcast(added[p], {at.batch, apart, at.tokens, at.tokens});
    for (size_t row = 0; row < batches * static_cast<size_t>(apart) * tokens; ++row) {
      const size_t q = row % tokens, first = row / tokens / static_cast<size_t>(apart) * tokens;
      if (probes[p].mask[first + q] == 0) continue;
      for (size_t k = 0; k < tokens; ++k) {
        const double value = all.at(row * tokens + k);
        const bool hidden = value <= kHidden;
        if (!hidden && std::fabs(value) > 1e-6) return std::nullopt;  // not a mask, but a bias
        if (probes[p].mask[first + k] == 0) {
          padding = padding && hidden;
          continue;
        }
        Known& before = known[static_cast<size_t>(longest) - 1 + k - q];
        const Known now = hidden ? Known::kIsHidden : Known::kIsSeen;
        if (before != Known::kNothing && before != now) return std::nullopt;  // depends on more than the distance
        before = now;
      }
    }
  }
  const auto of = [&](int64_t distance) { return known[static_cast<size_t>(distance + longest - 1)]; };
  int64_t before = 0, after = 0, farthest = 0;
  for (int64_t distance = 1 - longest; distance < longest; ++distance) {
    if (of(distance) != Known::kNothing) farthest = std::max(farthest, std::abs(distance));
    if (of(distance) != Known::kIsSeen) continue;
    before = std::max(before, -distance);
    after = std::max(after, distance);
  }
  // Padding tokens do not occur in the model's own runs. A model that attends to them would give other results in a
  // batch.
  if (!padding && farthest == 0) return std::nullopt;
  for (int64_t distance = 1 - longest; distance < longest; ++distance) {
    const bool inside = distance >= -before && distance <= after;
    if (of(distance) != Known::kNothing && (of(distance) == Known::kIsSeen) != inside) return std::nullopt;
  }
  const bool all_before = before >= farthest, all_after = after >= farthest;
  Mask mask;
  mask.window = static_cast<uint32_t>(before);
  if (all_before && all_after) return Mask{};
  if (all_before && after == 0) {
    mask.kind = fb::MaskKind::causal;
    mask.window = 0;
  } else if (before == after) {
    mask.kind = fb::MaskKind::window;
  } else if (after == 0) {
    mask.kind = fb::MaskKind::causal_window;
  } else {
    return std::nullopt;
  }
  return mask;
}

/// Extracts biases by distance, [heads, 2 tokens - 1], from the added values. Returns false if a distance has two
/// different biases.
bool take_biases(const std::vector<Probe>& probes, int64_t heads, std::vector<HostTensor>& added,
                 std::vector<double>* biases) {
  const int64_t longest = longest_of(probes);
  const auto row = static_cast<size_t>(2 * longest - 1);
  std::vector<bool> known(static_cast<size_t>(heads) * row);
  biases->assign(known.size(), 0);
  for (size_t p = 0; p < probes.size(); ++p) {
    const Extents& at = probes[p].extents;
    const auto tokens = static_cast<size_t>(at.tokens);
    const auto apart = static_cast<size_t>(heads_apart(added[p], heads));
    added[p] = broadcast(added[p], {at.batch, static_cast<int64_t>(apart), at.tokens, at.tokens});
    for (size_t i = 0; i < added[p].size(); ++i) {
      double& value = added[p].floats[i];
      const size_t k = i % tokens, q = i / tokens % tokens, head = i / tokens / tokens % apart;
      const size_t first = i / tokens / tokens / apart * tokens;
      if (value <= kHidden) continue;
      if (probes[p].mask[first + q] == 0) continue;
      for (size_t h = apart == 1 ? 0 : head; h <= (apart == 1 ? static_cast<size_t>(heads) - 1 : head); ++h) {
        const size_t at_distance = h * row + static_cast<size_t>(longest) - 1 + k - q;
        if (!known[at_distance]) (*biases)[at_distance] = value;
        known[at_distance] = true;
        if (std::fabs((*biases)[at_distance] - value) > 1e-5 * (1 + std::fabs(value))) return false;
      }
      value = 0;
    }
  }
  // A distance that no query sees may have any bias; use that of its neighbor.
  for (size_t h = 0; h < static_cast<size_t>(heads); ++h) {
    for (int64_t d = 1; d < longest; ++d) {
      for (const int64_t side : {d, -d}) {
        const size_t i = h * row + static_cast<size_t>(longest - 1 + side);
        const size_t inner = h * row + static_cast<size_t>(longest - 1 + (side < 0 ? side + 1 : side - 1));
        if (!known[i]) (*biases)[i] = (*biases)[inner];
      }
    }
  }
  return true;
}

/// Returns one slope per head if all biases are -|key - query| times a slope; empty otherwise.
std::vector<float> slopes_of(const std::vector<double>& biases, int64_t heads, int64_t longest) {
  std::vector<float> slopes;
  const auto row = static_cast<size_t>(2 * longest - 1);
  for (size_t h = 0; h < static_cast<size_t>(heads); ++h) {
    const double* of = biases.data() + h * row + longest - 1;
    const double slope = longest > 1 ? -of[-1] : 0;
    for (int64_t d = 1; d < longest; ++d) {
      const double expected = -slope * static_cast<double>(d), by = 1e-5 * (1 + std::fabs(expected));
      if (std::fabs(of[-d] - expected) > by || std::fabs(of[d] - expected) > by || of[0] != 0) return {};
    }
    slopes.push_back(static_cast<float>(slope));
  }
  return slopes;
}

}  // namespace

std::optional<Mask> recognise_mask(const std::vector<Probe>& probes, const std::vector<HostTensor>& added,
                                   int64_t heads) {
  if (std::optional<Mask> mask = recognise_hidden(probes, added, heads)) return mask;
  std::vector<HostTensor> hidden = added;
  std::vector<double> biases;
  if (!take_biases(probes, heads, hidden, &biases)) return std::nullopt;
  std::optional<Mask> mask = recognise_hidden(probes, hidden, heads);
  if (!mask) return std::nullopt;
  const int64_t longest = longest_of(probes);
  const auto row = static_cast<size_t>(2 * longest - 1);
  mask->slopes = slopes_of(biases, heads, longest);
  // From `farthest` on, all distances have the same bias.
  for (size_t i = 0; i < biases.size(); ++i) {
    const int64_t distance = static_cast<int64_t>(i % row) - (longest - 1);
    const double last = biases[i / row * row + (distance < 0 ? 0 : row - 1)];
    if (biases[i] != last) mask->farthest = std::max(mask->farthest, std::abs(distance) + 1);
  }
  mask->farthest = std::min(mask->farthest, longest - 1);
  for (int64_t h = 0; h < heads; ++h) {
    for (int64_t d = -mask->farthest; d <= mask->farthest; ++d) {
      mask->biases.push_back(
          static_cast<float>(biases[static_cast<size_t>(h) * row + static_cast<size_t>(longest - 1 + d)]));
    }
  }
  return mask;
}

std::optional<Index> recognise_index(const std::vector<Probe>& probes, const std::vector<HostTensor>& index) {
  const auto fits = [&](const auto& value_of, int64_t* offset) {
    bool first = true;
    for (size_t p = 0; p < probes.size(); ++p) {
      const Extents& at = probes[p].extents;
      const HostTensor all = broadcast(index[p], {at.batch, at.tokens});
      for (size_t i = 0; i < all.size(); ++i) {
        if (probes[p].mask[i] == 0) continue;
        const int64_t difference = all.integer(i) - value_of(probes[p], i);
        if (first) *offset = difference;
        first = false;
        if (difference != *offset) return false;
      }
    }
    return true;
  };
  Index out;
  if (fits([](const Probe& probe, size_t i) { return probe.ids[i]; }, &out.first)) return out;
  out.source = fb::IndexSource::segments;
  if (fits([](const Probe& probe, size_t i) { return probe.segments[i]; }, &out.first)) return out;
  out.source = fb::IndexSource::zero;
  if (fits([](const Probe&, size_t) { return int64_t{0}; }, &out.first)) return out;
  out.source = fb::IndexSource::positions;
  const auto place = [](const Probe& probe, size_t i) { return static_cast<int64_t>(i) % probe.extents.tokens; };
  if (fits(place, &out.first)) return out;
  // Positions that count only the unmasked tokens are the same if padding is at the end.
  const auto counted = [](const Probe& probe, size_t i) {
    const auto tokens = static_cast<size_t>(probe.extents.tokens);
    int64_t count = 0;
    for (size_t k = i - i % tokens; k < i; ++k) count += probe.mask[k];
    return count;
  };
  if (fits(counted, &out.first)) return out;
  return std::nullopt;
}

bool is_mask(const std::vector<Probe>& probes, const std::vector<HostTensor>& mask) {
  for (size_t p = 0; p < probes.size(); ++p) {
    const HostTensor all = broadcast(mask[p], {probes[p].extents.batch, probes[p].extents.tokens});
    for (size_t i = 0; i < all.size(); ++i) {
      if (all.at(i) != static_cast<double>(probes[p].mask[i])) return false;
    }
  }
  return true;
}

bool is_count(const std::vector<Probe>& probes, const std::vector<HostTensor>& counts) {
  for (size_t p = 0; p < probes.size(); ++p) {
    const auto tokens = static_cast<size_t>(probes[p].extents.tokens),
               batches = static_cast<size_t>(probes[p].extents.batch);
    if (counts[p].size() == 0 || counts[p].size() % batches != 0) return false;
    const size_t each = counts[p].size() / batches;
    for (size_t i = 0; i < counts[p].size(); ++i) {
      int64_t count = 0;
      for (size_t t = 0; t < tokens; ++t) count += probes[p].mask[i / each * tokens + t];
      if (std::fabs(counts[p].at(i) - static_cast<double>(count)) > 1e-6) return false;
    }
  }
  return true;
}

}  // namespace bantam::convert::onnx
