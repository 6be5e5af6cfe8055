// Says when sparse weights are worth it.
#ifndef BANTAM_CONVERTER_PRUNE_COSTS_H_
#define BANTAM_CONVERTER_PRUNE_COSTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "quantize/types.h"

namespace bantam::convert {

/// On this instruction set of this kind of core, with `tokens` tokens at a time and `inputs` inputs of a layer, layout
/// sparse_1x4 takes less time than dense int8 weights if more than `break_even` of the blocks are 0; above 1: never.
struct SparseCost {
  const char* core;
  const char* isa;
  uint32_t tokens;
  uint32_t inputs;
  double break_even;
};

/// Costs on the processors that files are made for, against int8 tiles; measured by tests/bench/sparse_costs.cpp, a
/// core at a time.
const std::vector<SparseCost>& sparse_costs();

/// Costs on Cortex-M55, against rows (layout k16n1), into which firmware rearranges a finished file, in instructions
/// counted by tests/firmware/bench/bench_linear.py --break-even. Layout bitmask_k4n16 takes eleven times the
/// instructions of rows and has no break-even.
const std::vector<SparseCost>& helium_costs();

/// The values of `convert --target-cpu`: the kinds of core (each with the best of its instruction sets) and the
/// instruction sets (each on every kind that has it) of sparse_costs. O(costs).
std::vector<std::string> sparse_targets();

/// Returns the share of zero blocks above which a layer of `inputs` inputs is faster with `tokens` tokens on `target`,
/// or ("") on every measured core. Between measured numbers the lower neighbour counts, which is less favourable; above
/// 1: never, or unknown. \pre target is "" or one of sparse_targets.
double least_zero_blocks(uint32_t tokens, uint32_t inputs, const std::string& target = "");

/// Returns this share on Cortex-M55.
double least_zero_blocks_helium(uint32_t tokens, uint32_t inputs);

/// Sets for every int8 layer the share of zeros above which it is stored sparse, or that it shall take the fewest
/// bytes. Call it after choose_types.
void choose_sparse(Graph& graph, const TypeOptions& options);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_PRUNE_COSTS_H_
