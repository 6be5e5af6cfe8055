// Verdict: what one rule of the verifier found.
#ifndef BANTAM_MODEL_VERDICT_H_
#define BANTAM_MODEL_VERDICT_H_

#include <stdint.h>

#include "bantam/status.h"

namespace bantam {

struct Verdict {
  Status status = Status::kOk;
  const char* what = "";  // the rule that does not hold, static storage
  int32_t tensor = -1;    // the tensor concerned, if the rule is about one

  bool ok() const { return status == Status::kOk; }
};

constexpr Verdict corrupt(const char* what, int32_t tensor = -1) { return {Status::kCorrupt, what, tensor}; }
constexpr Verdict unsupported(const char* what, int32_t tensor = -1) { return {Status::kUnsupported, what, tensor}; }

/// Returns from the calling function with the first verdict that is not ok.
#define BANTAM_CHECK(expression)                             \
  do {                                                       \
    const ::bantam::Verdict verdict_of_rule_ = (expression); \
    if (!verdict_of_rule_.ok()) return verdict_of_rule_;     \
  } while (false)

}  // namespace bantam

#endif  // BANTAM_MODEL_VERDICT_H_
