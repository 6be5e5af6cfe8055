// Everything that a program may do with an open model, in an order and with options chosen by a number.
#ifndef BANTAM_TESTS_FUZZ_USE_MODEL_H_
#define BANTAM_TESTS_FUZZ_USE_MODEL_H_

#include <cstdint>
#include <vector>

#include "bantam/session.h"

namespace bantam::fuzz {

/// Counts of the work that this process has done.
struct Done {
  uint64_t inputs = 0;   // files given to the target
  uint64_t opened = 0;   // files that Model::open accepted
  uint64_t sound = 0;    // of these, files that `bantam verify` accepts
  uint64_t ran = 0;      // files for which some run succeeded
  uint64_t runs = 0;     // successful runs
  uint64_t steps = 0;    // runs in steps
  uint64_t sources = 0;  // passes over sources
  uint64_t chosen = 0;   // chosen tokens
  uint64_t beams = 0;    // beam searches
  uint64_t json = 0;     // JSON constraints
  uint64_t texts = 0;    // batches of texts
};
extern Done done;

struct Used {
  Status created = Status::kOk;  // result of Session::create, or kArenaTooSmall if the arena is too large to try
  bool ran = false;              // some run succeeded
  uint64_t hash = 0;             // hash of all results
};

/// The result depends only on `model` and `number`, not on the instruction set or on the arena's content, which is
/// initially `fill`.
Used use_model(const Model& model, uint64_t number, Isa isa, uint8_t fill);

}  // namespace bantam::fuzz

#endif  // BANTAM_TESTS_FUZZ_USE_MODEL_H_
