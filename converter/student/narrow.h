// Fewer heads, feed-forward columns and hidden columns: the least important go.
#ifndef BANTAM_CONVERTER_STUDENT_NARROW_H_
#define BANTAM_CONVERTER_STUDENT_NARROW_H_

#include <string>
#include <vector>

#include "student/check.h"
#include "student/draft.h"
#include "student/importance.h"

namespace bantam::convert {

/// `widths` of a draft with this importance. What a removed unit adds on average goes into the bias of the layer that read
/// it; queries are scaled so that fewer columns of a head are divided by the same. Returns a sentence for each step.
std::vector<std::string> narrow(Draft& draft, const Widths& widths, const Importance& importance);

/// How many units each layer keeps when the `count` * layers best of all stay: multiples of `step`, and at least one step a
/// layer. `importance`: [layer][unit].
std::vector<uint32_t> across_layers(const std::vector<std::vector<double>>& importance, uint32_t count, uint32_t step);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_STUDENT_NARROW_H_
