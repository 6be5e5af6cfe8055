// Determines when sparse weights are faster.
#ifndef BANTAM_CONVERTER_PRUNE_COSTS_H_
#define BANTAM_CONVERTER_PRUNE_COSTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "quantize/types.h"

namespace bantam::convert {

/// On this instruction set of this kind of core, with `tokens` tokens at a time and `inputs` inputs of a layer, layout
/// sparse_1x4 is faster than dense int8 weights if more than `break_even` of the blocks are 0; above 1: never.
struct SparseCost {
  const char* core;
  const char* isa;
  uint32_t tokens;
  uint32_t inputs;
  double break_even;
};

/// Costs on the processors that files are made for, relative to int8 tiles; measured by tests/bench/sparse_costs.cpp
/// for one core at a time.
const std::vector<SparseCost>& sparse_costs();

/// Costs on Cortex-M55, relative to rows (layout k16n1), to which firmware tools convert a finished file, in
/// instructions counted by tests/firmware/bench/bench_linear.py --break-even. Layout bitmask_k4n16 takes eleven times
/// the instructions of rows and has no break-even.
const std::vector<SparseCost>& helium_costs();

/// The values of `convert --target-cpu`: the kinds of cores (each with its best instruction set) and the instruction
/// sets (each on all kinds of cores that have it) of sparse_costs. O(costs).
std::vector<std::string> sparse_targets();

/// Returns the fraction of zero blocks above which a layer with `inputs` inputs is faster for `tokens` tokens on
/// `target`, or ("") on every measured core. Between measured numbers it uses the lower one, which is less favorable.
/// Above 1: never, or unknown. \pre target is "" or one of sparse_targets.
double least_zero_blocks(uint32_t tokens, uint32_t inputs, const std::string& target = "");

/// Returns this fraction for Cortex-M55.
double least_zero_blocks_helium(uint32_t tokens, uint32_t inputs);

/// Sets, for all int8 layers, the fraction of zeros above which they are stored sparse, or that they take the layout
/// with the fewest bytes. Call it after choose_types.
void choose_sparse(Graph& graph, const TypeOptions& options);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_PRUNE_COSTS_H_
