// Checks a recipe against a teacher: whether it is possible, and which widths result.
#ifndef BANTAM_CONVERTER_STUDENT_CHECK_H_
#define BANTAM_CONVERTER_STUDENT_CHECK_H_

#include <functional>

#include "student/draft.h"
#include "student/importance.h"
#include "student/recipe.h"

namespace bantam::convert {

/// The widths of every layer; the average over layers if `across`.
struct Widths {
  uint32_t hidden = 0, heads = 0, head_width = 0, ffn = 0;
  bool heads_across = false, ffn_across = false;
  bool narrower(const EncoderConfig& config) const {
    return hidden < config.hidden || heads < config.heads || head_width < config.head_width ||
           ffn < config.intermediate;
  }
};

/// Returns the widths, including those that the recipe leaves open: heads keep their width; with a narrower hidden
/// width, there are as many heads as fill it or, if their number is given, narrower heads that fill it. Throws Error
/// that lists everything that the teacher cannot provide.
Widths check_recipe(const Recipe& recipe, const Draft& teacher);

/// Returns the indices of the layers of a stack to keep, in ascending order. Only importance calls `probe`.
Indices choose_layers(const LayerRecipe& recipe, LayerStack stack, const Draft& teacher,
                      const std::function<Probe()>& probe);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_STUDENT_CHECK_H_
