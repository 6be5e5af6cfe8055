#include "graph/aggregation.h"

#include <fmt/format.h>

#include "base/error.h"

namespace bantam::convert {

std::map<std::string, Aggregation> aggregation_words() {
  return {{"words", Aggregation::kWords}, {"none", Aggregation::kNone},       {"simple", Aggregation::kSimple},
          {"first", Aggregation::kFirst}, {"average", Aggregation::kAverage}, {"max", Aggregation::kMax}};
}

Aggregation parse_aggregation(const char* option, const std::string& name) {
  if (name.empty()) return Aggregation::kFile;
  const std::map<std::string, Aggregation> words = aggregation_words();
  const auto found = words.find(name);
  if (found != words.end()) return found->second;
  throw Error(ExitCode::kUsage,
              fmt::format("{}: \"{}\" is not one of none, simple, first, average, max and words", option, name));
}

}  // namespace bantam::convert
