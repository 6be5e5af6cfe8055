// Directories of Marian's own (Junczys-Dowmunt et al., arXiv 1804.00344), of the students that Bergamot publishes: weights and
// settings in one binary file, and SentencePiece vocabularies.
#ifndef BANTAM_CONVERTER_SOURCE_MARIAN_H_
#define BANTAM_CONVERTER_SOURCE_MARIAN_H_

#include <filesystem>

#include "source/model_source.h"

namespace bantam::convert {

/// Is this such a file, or a directory with one and no config.json?
bool is_marian(const std::filesystem::path& named);

/// The directory as a source of the family `marian_ssru`: tensors by its names, f32, and with one more token that has a row of
/// zeros, for that is what Marian's decoders begin with. Throws Error as open_model_source does, and names every setting that is
/// not supported. `shortlist`: as in SourceOptions.
ModelSource open_marian(const std::filesystem::path& named, const std::filesystem::path& shortlist);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_MARIAN_H_
