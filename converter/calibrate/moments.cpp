#include "calibrate/moments.h"

#include "calibrate/ranges.h"

namespace bantam::convert {

namespace {

/// Number of rows of an input to measure: several times the width of the widest layer, within some seconds.
constexpr uint64_t kMostRows = 4096;

}  // namespace

InputMoments measure_moments(const Graph& graph, const std::vector<std::string>& names, uint32_t max_tokens,
                             const std::function<std::vector<Sample>(Runner&)>& choose,
                             const std::function<void(double)>& progress) {
  InputMoments found;
  uint64_t tokens = 0;
  const auto count_tokens = [&](Runner& runner) {
    std::vector<Sample> samples = choose(runner);
    for (const Sample& sample : samples) tokens += sample.ids.size();
    return samples;
  };
  std::map<std::string, uint64_t> seen;
  visit_activations(
      graph, names, max_tokens, count_tokens,
      [&](const std::string& name, const OutputRows& rows) {
        Moments& moments = found[name];
        if (moments.width == 0) {
          moments.width = rows.width;
          moments.products.assign(size_t{rows.width} * rows.width, 0.0);
          moments.sums.assign(rows.width, 0.0);
        }
        const uint64_t every = rows.per_token ? tokens / kMostRows + 1 : 1;
        for (uint32_t r = 0; r < rows.rows; ++r) {
          if (seen[name]++ % every == 0) moments.add(rows.row(r));
        }
      },
      progress);
  return found;
}

}  // namespace bantam::convert
