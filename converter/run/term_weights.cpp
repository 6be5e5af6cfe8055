#include "run/term_weights.h"

#include <algorithm>

namespace bantam::convert {

std::vector<bantam::Candidate> by_id(std::vector<bantam::Candidate> terms) {
  std::sort(terms.begin(), terms.end(),
            [](const bantam::Candidate& a, const bantam::Candidate& b) { return a.id < b.id; });
  return terms;
}

float product_of_terms(const std::vector<bantam::Candidate>& a, const std::vector<bantam::Candidate>& b) {
  double sum = 0;
  size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (a[i].id == b[j].id) sum += double{a[i].score} * double{b[j].score};
    const bool first = a[i].id <= b[j].id, second = b[j].id <= a[i].id;
    i += first ? 1 : 0;
    j += second ? 1 : 0;
  }
  return static_cast<float>(sum);
}

}  // namespace bantam::convert
