// Everything that a program may do with an opened model, in an order and with options that a number chooses.
#ifndef BANTAM_TESTS_FUZZ_USE_MODEL_H_
#define BANTAM_TESTS_FUZZ_USE_MODEL_H_

#include <cstdint>
#include <vector>

#include "bantam/session.h"

namespace bantam::fuzz {

/// Counts of the work that this process has done.
struct Done {
  uint64_t inputs = 0;   // given to the target
  uint64_t opened = 0;   // that Model::open took
  uint64_t sound = 0;    // of them, as `bantam verify` judges
  uint64_t ran = 0;      // that had an answer to some run
  uint64_t runs = 0;     // that had one
  uint64_t steps = 0;    // runs in steps
  uint64_t sources = 0;  // passes over sources
  uint64_t chosen = 0;   // tokens
  uint64_t beams = 0;    // searches
  uint64_t json = 0;     // constraints
  uint64_t texts = 0;    // batches of texts
};
extern Done done;

struct Used {
  Status created = Status::kOk;  // what Session::create said, kArenaTooSmall where it would be too large to try
  bool ran = false;              // some run had an answer
  uint64_t hash = 0;             // of all that was said
};

/// The same for the same `number`, whatever the instruction set, and whatever the arena held, each of whose bytes is `fill` at first.
Used use_model(const Model& model, uint64_t number, Isa isa, uint8_t fill);

}  // namespace bantam::fuzz

#endif  // BANTAM_TESTS_FUZZ_USE_MODEL_H_
