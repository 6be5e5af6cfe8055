// Changes .bantam files as a stranger who knows the schema would: fields and tables instead of bytes. Sizes and checksums are right
// afterwards, and often so are places in the arena.
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

/// The graph of a file whose header `header` becomes; null where FlatBuffers' verifier refuses it, or there is none.
const uint8_t* graph_of(const std::vector<uint8_t>& file, FileHeader* header);

/// `file` with one to four changes; `other` is a file that parts may come from. Nothing where one of them is no file with a well-formed
/// graph, or what becomes of it has more than `most` bytes.
std::optional<std::vector<uint8_t>> mutate_model(const std::vector<uint8_t>& file, const std::vector<uint8_t>& other,
                                                 uint64_t seed, size_t most);

/// Calls `use` with every file in which one operand of `file` differs: it is another tensor, none, or a tensor of another
/// type, layout, role or shape; or an operator names another of its operands. The first operator of a kind stands for all.
void change_operands(const std::vector<uint8_t>& file, size_t most,
                     const std::function<void(const std::vector<uint8_t>&, uint64_t)>& use);

/// Changes the number at `bytes` to one of its enumeration (`index`, -1: none), to one near it, or to one that is often wrong.
void change_number(uint8_t* bytes, reflection::BaseType base, int32_t index, std::mt19937_64& random);

}  // namespace bantam::fuzz

#endif  // BANTAM_TESTS_FUZZ_MODEL_MUTATOR_H_
