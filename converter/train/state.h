// State: everything in a run that changes from step to step, and its file. Randomness depends only on the seed and the
// step number, so it is not part of the state.
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
  // Trained values, shared and updated in place: the student's parameters, then projections.
  std::vector<at::Tensor> values;
  std::vector<at::Tensor> average;  // moving average of the parameters (ema); empty: none
  std::vector<at::Tensor> best;     // the parameters with the best score; empty: none yet
  std::vector<at::Tensor> masks;    // by parameter; undefined: dense
  std::unique_ptr<torch::optim::AdamW> optimizer;
  uint32_t best_epoch = 0;
  Scores best_scores;
  uint32_t worse = 0;   // epochs since the best score
  Named sums;           // sums of the losses of this epoch so far
  uint64_t summed = 0;  // number of steps in `sums`
  std::vector<CurvePoint> curve;
};

/// Returns AdamW's running mean of the squared gradient of value `i`, which decays over about fifty steps; undefined
/// before the first step.
at::Tensor mean_square_gradient(const State& state, size_t i);

/// Writes the file, completely or not at all. Throws Error (I/O, out of space).
void save_state(const State& state, const std::filesystem::path& file, const std::string& fingerprint);

/// Loads the file into a state whose `values`, `optimizer` and numbers of tensors are those of a new run. Throws Error
/// if the file belongs to another run (usage) or is damaged (invalid).
void load_state(const std::filesystem::path& file, const std::string& fingerprint, State* state);

}  // namespace bantam::train

#endif  // BANTAM_CONVERTER_TRAIN_STATE_H_
