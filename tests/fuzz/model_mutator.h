// Changes .bantam files as an attacker who knows the schema would: fields and tables instead of bytes. Sizes and
// checksums are correct afterwards, and often so are offsets in the arena.
#ifndef BANTAM_TESTS_FUZZ_MODEL_MUTATOR_H_
#define BANTAM_TESTS_FUZZ_MODEL_MUTATOR_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <vector>

#include "flatbuffers/reflection.h"
#include "format/header.h"

namespace bantam::fuzz {

/// Returns the graph of a file, and its header in `header`; null if it has none or FlatBuffers' verifier refuses it.
const uint8_t* graph_of(const std::vector<uint8_t>& file, FileHeader* header);

/// Returns `file` with one to four changes; parts may be taken from `other`. Returns nothing if one of them does not
/// have a well-formed graph, or if the result has more than `most` bytes.
std::optional<std::vector<uint8_t>> mutate_model(const std::vector<uint8_t>& file, const std::vector<uint8_t>& other,
                                                 uint64_t seed, size_t most);

/// Calls `use` with every version of `file` in which one operand differs: another tensor, none, or a tensor of another
/// type, layout, role or shape; or an operator's field refers to another operand. Only the first operator of each kind
/// is changed.
void change_operands(const std::vector<uint8_t>& file, size_t most,
                     const std::function<void(const std::vector<uint8_t>&, uint64_t)>& use);

/// Changes the number at `bytes` to a value of its enumeration (`index`, -1: none), to a nearby value, or to one that
/// is often invalid.
void change_number(uint8_t* bytes, reflection::BaseType base, int32_t index, std::mt19937_64& random);

}  // namespace bantam::fuzz

#endif  // BANTAM_TESTS_FUZZ_MODEL_MUTATOR_H_
