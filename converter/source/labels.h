// Labels of a head, from config.json or transformers' defaults, and their tag scheme. Also token ids that end a text.
#ifndef BANTAM_CONVERTER_SOURCE_LABELS_H_
#define BANTAM_CONVERTER_SOURCE_LABELS_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bantam_generated.h"
#include "source/fields.h"

namespace bantam::convert {

/// Labels of whether the second text follows the first, in the order of BERT's head.
inline constexpr std::array<const char*, 2> kNextSentenceLabels = {"is_next", "not_next"};

/// Returns labels in the order of their index. `rows`: number of outputs of the head's weights, if they exist, which
/// must equal the number of labels. Without id2label: LABEL_0, LABEL_1, ... (`rows` of them, else num_labels, else 2).
std::vector<std::string> read_labels(const Fields& config, std::optional<uint64_t> rows);

/// Returns LABEL_0, LABEL_1, ...
std::vector<std::string> made_labels(uint64_t count);

/// Returns the list of strings under `key`; its absence is a problem.
std::vector<std::string> read_label_list(const Fields& config, const std::string& key);

/// Plain if no label has B- or I-; BIOES if E-/S- (or L-/U-) also occur; IOB1 if some name has an I- but no B- (in IOB2
/// every entity begins with B-); else IOB2.
fb::TagScheme guess_tag_scheme(const std::vector<std::string>& labels);

/// Parses "plain", "iob1", "iob2" ("bio"), "bioes" ("bilou"). Throws Error (usage) for any other name.
fb::TagScheme parse_tag_scheme(const std::string& name);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_LABELS_H_
