// A recipe against a teacher: what can be done, and the widths that follow.
#ifndef BANTAM_CONVERTER_STUDENT_CHECK_H_
#define BANTAM_CONVERTER_STUDENT_CHECK_H_

#include <functional>

#include "student/draft.h"
#include "student/importance.h"
#include "student/recipe.h"

namespace bantam::convert {

/// What every layer shall have; on average, where `across`.
struct Widths {
  uint32_t hidden = 0, heads = 0, head_width = 0, ffn = 0;
  bool heads_across = false, ffn_across = false;
  bool narrower(const EncoderConfig& config) const {
    return hidden < config.hidden || heads < config.heads || head_width < config.head_width ||
           ffn < config.intermediate;
  }
};

/// Widths that the recipe leaves open: heads keep their width; with a narrower hidden width there are as many heads as fill
/// it, or, where their number is given, heads narrow enough to fill it. Throws Error listing all that the teacher cannot give.
Widths check_recipe(const Recipe& recipe, const Draft& teacher);

/// Numbers of the layers of a stack that stay, ascending. `probe` is asked for by importance only.
Indices choose_layers(const LayerRecipe& recipe, LayerStack stack, const Draft& teacher,
                      const std::function<Probe()>& probe);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_STUDENT_CHECK_H_
