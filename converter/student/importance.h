// Importance: how much each part of a model contributes on the user's texts, measured from its activations.
#ifndef BANTAM_CONVERTER_STUDENT_IMPORTANCE_H_
#define BANTAM_CONVERTER_STUDENT_IMPORTANCE_H_

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "student/draft.h"

namespace bantam::convert {

/// An energy is the mean over tokens of the squared length of a unit's contribution to the residual stream, divided by
/// that of the whole sum, so that units of different layers are comparable.
struct LayerImportance {
  // The vectors for heads are empty if heads cannot be removed (Family::why_heads_stay).
  std::vector<double> heads;  // [heads]
  // [heads * head width]: mean square of the query element times mean square of the key element
  std::vector<double> scores;
  std::vector<double> values;  // [heads * head width]: energy of a context column
  std::vector<double> ffn;     // [intermediate]
  /// Mean activations; when a unit is removed, its contribution is added to the bias.
  std::vector<double> value_mean, ffn_mean;
};

struct Importance {
  std::vector<LayerImportance> layers;
  std::vector<double> hidden;  // [hidden]: mean square after each norm
};

/// The texts to run, and a callback that receives the progress in [0, 1].
struct Probe {
  std::vector<std::string> texts;
  uint32_t max_tokens = 128;
  std::function<void(const char* what, double done)> progress;
};

/// Makes a probe from the texts of a file that `option` names, or from built-in ones if `option` is "", limited to the
/// number that importance needs. It reports no progress. Throws Error as read_texts does.
Probe make_probe(const Draft& draft, const char* option, const std::filesystem::path& file);

/// Measures heads and feed-forward columns from their weights alone: the energies above for white-noise inputs, |W_out
/// W_value|^2 for a head and |w_in|^2 |w_out|^2 for a column (times |w|^2 of its gate). Does not compute means, scores
/// or values.
Importance weight_importance(const Draft& draft);

/// Runs the draft in f32 over the texts.
Importance measure_importance(const Draft& draft, const Probe& probe);

/// Returns the `count` layers that preserve the outputs best when the others are removed. Removes one layer at a time:
/// the one whose removal causes the smallest divergence from the whole model. Runs the draft layers^2 / 2 times.
Indices important_layers(const Draft& draft, uint32_t count, const Probe& probe);

/// Returns the indices of the `count` largest values in ascending order; among equals, the first.
Indices largest(const std::vector<double>& values, size_t count);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_STUDENT_IMPORTANCE_H_
