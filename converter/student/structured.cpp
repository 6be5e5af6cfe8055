#include "student/structured.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "base/error.h"
#include "student/narrow.h"

namespace bantam::convert {
namespace {

using Units = std::vector<double> LayerImportance::*;

bool shares_matrices(const EncoderConfig& config) {
  for (uint32_t i = 0; i < config.layers; ++i) {
    if (config.widths.shared[i] != i) return true;
  }
  return false;
}

/// Assigns layers that share matrices the same importance, the sum of theirs.
void join_shared(const EncoderConfig& config, Units part, Importance* importance) {
  for (uint32_t i = 0; i < config.layers; ++i) {
    std::vector<double>& owner = importance->layers[config.widths.shared[i]].*part;
    const std::vector<double>& units = importance->layers[i].*part;
    for (size_t u = 0; config.widths.shared[i] != i && u < owner.size(); ++u) owner[u] += units[u];
  }
  for (uint32_t i = 0; i < config.layers; ++i) {
    importance->layers[i].*part = importance->layers[config.widths.shared[i]].*part;
  }
}

class Pruner {
 public:
  Pruner(Draft& draft, const PruneOptions& options)
      : draft_(draft),
        options_(options),
        heads_(options.pattern == PrunePattern::kHeads),
        all_(heads_ ? draft.config().widths.heads : draft.config().widths.intermediate) {}

  /// Throws if a fraction is impossible.
  void check() const {
    if (const std::string problem = prune_problem(options_); !problem.empty()) throw Error(ExitCode::kUsage, problem);
    const Family& family = draft_.family();
    if (const char* why = heads_ ? family.why_heads_stay() : family.why_columns_stay()) {
      const bool other = heads_ && family.why_columns_stay() == nullptr;
      throw Error(ExitCode::kUnsupported,
                  fmt::format("--pattern {}: layers of {} cannot lose {} one by one, because {}; use --pattern {}",
                              pattern_name(options_.pattern), draft_.config().model_type,
                              heads_ ? "heads" : "feed-forward columns", why,
                              other ? "ffn, 1x4 or unstructured" : "1x4 or unstructured"));
    }
    const bool global = options_.scope == PruneScope::kGlobal;
    if (global && shares_matrices(draft_.config())) {
      throw Error(ExitCode::kUsage, fmt::format("--pattern {}: layers that share matrices stay alike; add "
                                                "--prune-scope uniform",
                                                pattern_name(options_.pattern)));
    }
    if (!global) {
      for (const uint32_t all : all_) check(all, step(all), "a layer");
      return;
    }
    size_t least = 0;
    for (const uint32_t all : all_) least += heads_ ? 1 : std::min(all, kFfnStep);
    check(total(), least, "all layers");
  }

  std::vector<uint32_t> counts(const Importance& importance) const {
    if (options_.scope == PruneScope::kGlobal) {
      return across_layers(shares_of(importance, part()), staying(total()), heads_ ? 1 : kFfnStep);
    }
    std::vector<uint32_t> counts;
    for (const uint32_t all : all_) {
      const auto kept = static_cast<uint32_t>(staying(all));
      counts.push_back(kept / step(all) * step(all));
    }
    return counts;
  }

  Units part() const { return heads_ ? &LayerImportance::heads : &LayerImportance::ffn; }

  StructureReport run(const Importance& importance) {
    StructureReport report;
    report.options = options_;
    report.before = all_;
    report.parameters_before = draft_.size().encoder_parameters;
    const std::vector<uint32_t> kept = counts(importance);
    for (uint32_t layer = 0; layer < all_.size(); ++layer) {
      const LayerImportance& units = importance.layers[layer];
      const Indices stay = heads_ ? narrow_heads(draft_, layer, kept[layer], draft_.config().head_width, units)
                                  : narrow_ffn(draft_, layer, kept[layer], units);
      Indices every(all_[layer]), removed;
      std::iota(every.begin(), every.end(), 0U);
      std::set_difference(every.begin(), every.end(), stay.begin(), stay.end(), std::back_inserter(removed));
      report.removed.push_back(std::move(removed));
    }
    report.parameters_after = draft_.size().encoder_parameters;
    return report;
  }

 private:
  /// Returns the number of units that are removed together; in a layer narrower than a tile, columns are removed one by
  /// one.
  uint32_t step(uint32_t all) const { return heads_ || all < kFfnStep ? 1 : kFfnStep; }
  size_t total() const { return std::accumulate(all_.begin(), all_.end(), size_t{0}); }
  size_t staying(size_t all) const {
    return static_cast<size_t>(std::floor((1 - options_.share) * static_cast<double>(all) + 1e-9));
  }

  void check(size_t all, size_t least, const char* where) const {
    if (staying(all) >= least) return;
    const char* units = heads_ ? "heads" : "feed-forward columns";
    const double most = 1 - static_cast<double>(least) / static_cast<double>(all);
    throw Error(
        ExitCode::kUsage,
        fmt::format("--prune {} --pattern {}: of {} {} of {} at least {} stay; ask for at most {}", options_.share,
                    pattern_name(options_.pattern), all, units, where, least, std::floor(1000 * most) / 1000));
  }

  Draft& draft_;
  const PruneOptions& options_;
  const bool heads_;
  const std::vector<uint32_t> all_;  // number of units of each layer
};

}  // namespace

StructureReport prune_structures(Draft& draft, const PruneOptions& options, const Probe& probe) {
  Pruner pruner(draft, options);
  pruner.check();
  const TokenizerFiles& tokenizer = draft.origin().tokenizer;
  if (options.measured() && !tokenizer.json.is_object() && !tokenizer.vocab && !tokenizer.merges && !tokenizer.pieces) {
    throw Error(ExitCode::kInvalid,
                fmt::format("--pattern {}: {} has no tokenizer, so that no texts can be run to see what is "
                            "important; add tokenizer.json or vocab.txt, or --prune-by magnitude",
                            pattern_name(options.pattern), draft.origin().directory().string()));
  }
  Importance importance = options.measured() ? measure_importance(draft, probe) : weight_importance(draft);
  join_shared(draft.config(), pruner.part(), &importance);
  return pruner.run(importance);
}

}  // namespace bantam::convert
