// State: everything in a run that changes from step to step, and its file. Randomness depends only on the seed and the
// number of the step, so that it is not part of the state.
#ifndef BANTAM_CONVERTER_TRAIN_STATE_H_
#define BANTAM_CONVERTER_TRAIN_STATE_H_

#include <torch/torch.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "train/curve.h"
#include "train/trainer.h"

namespace bantam::train {

struct State {
  uint64_t step = 0;
  std::vector<at::Tensor> values;   // what is trained: the student's parameters, then projections; shared, in place
  std::vector<at::Tensor> average;  // of the parameters (ema); empty: none
  std::vector<at::Tensor> best;     // the parameters that scored best; empty: none yet
  std::vector<at::Tensor> masks;    // by parameter; undefined: dense
  std::unique_ptr<torch::optim::AdamW> optimizer;
  uint32_t best_epoch = 0;
  Scores best_scores;
  uint32_t worse = 0;   // epochs since the best
  Named sums;           // of the losses of this epoch so far
  uint64_t summed = 0;  // steps in them
  std::vector<CurvePoint> curve;
};

/// Returns the mean square of the gradient of value `i`, decayed over some fifty steps, as AdamW keeps it; undefined
/// before the first step.
at::Tensor mean_square_gradient(const State& state, size_t i);

/// Writes the file, whole or not at all. Throws Error (I/O, out of space).
void save_state(const State& state, const std::filesystem::path& file, const std::string& fingerprint);

/// Puts the file's contents into a state whose `values`, `optimizer` and counts of tensors are those of a fresh run.
/// Throws Error if the file belongs to another run (usage) or is damaged (invalid).
void load_state(const std::filesystem::path& file, const std::string& fingerprint, State* state);

}  // namespace bantam::train

#endif  // BANTAM_CONVERTER_TRAIN_STATE_H_
