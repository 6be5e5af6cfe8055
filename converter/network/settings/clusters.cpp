#include "network/settings/clusters.h"

#include <fmt/format.h>

namespace bantam::convert {
namespace {

/// Limits of the embedding table and of the operator; the first cluster counts, too.
constexpr size_t kMostParts = 8;
constexpr uint32_t kMostEmbedded = 1U << 16;

bool ascends(const Json& list, uint32_t vocabulary) {
  uint64_t before = 0;
  for (const Json& end : list) {
    if (!end.is_number_unsigned() || end.get<uint64_t>() <= before || end.get<uint64_t>() >= vocabulary) return false;
    before = end.get<uint64_t>();
  }
  return true;
}

}  // namespace

void read_clusters(const Fields& config, EncoderConfig& out) {
  constexpr const char* kEnds = "cutoffs";
  constexpr const char* kDivisor = "div_val";
  if (!out.family->block.clustered) return;
  out.embedding = config.count("d_embed", kMostEmbedded, out.hidden);
  const Json list = config.has(kEnds) ? config.raw(kEnds) : Json::array();
  if (!list.is_array() || list.size() >= kMostParts || !ascends(list, out.vocabulary)) {
    config.problem(
        ExitCode::kInvalid, kEnds,
        fmt::format("is not a list of up to {} numbers that ascend from 1 to below the vocabulary's {} words",
                    kMostParts - 1, out.vocabulary));
    return;
  }
  const uint32_t divisor = config.count(kDivisor, kMostEmbedded, 1);
  out.same_columns = divisor == 1 || list.empty();
  if (list.empty() && out.embedding == out.hidden) return;
  uint32_t columns = out.embedding;
  for (const Json& end : list) {
    out.clusters.push_back({end.get<uint32_t>(), columns});
    columns /= divisor;
  }
  out.clusters.push_back({out.vocabulary, columns});
  if (columns != 0) return;
  config.problem(
      ExitCode::kInvalid, kDivisor,
      fmt::format("{} leaves the last of {} clusters none of {} columns", divisor, list.size(), out.embedding));
  out.clusters.clear();
}

}  // namespace bantam::convert
