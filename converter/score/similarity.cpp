#include "score/similarity.h"

#include <cmath>

#include "graph/task_parts.h"
#include "run/engine.h"
#include "score/eval_metrics.h"

namespace bantam::convert {

Similarity similarity_of(const Model& model) {
  const std::string name = property_of(model, kSimilarity);
  return name == "dot"         ? Similarity::kDot
         : name == "euclidean" ? Similarity::kEuclidean
         : name == "manhattan" ? Similarity::kManhattan
                               : Similarity::kCosine;
}

float compare(Similarity by, const std::vector<float>& a, const std::vector<float>& b) {
  if (by == Similarity::kCosine) return cosine(a, b);
  if (by == Similarity::kDot) return dot(a, b);
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double apart = double{a[i]} - double{b[i]};
    sum += by == Similarity::kManhattan ? std::fabs(apart) : apart * apart;
  }
  return static_cast<float>(-(by == Similarity::kManhattan ? sum : std::sqrt(sum)));
}

}  // namespace bantam::convert
