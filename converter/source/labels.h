// Labels of a head: from config.json, or transformers' defaults; and the tag scheme they follow. Tokens that end a text.
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

/// Labels of scores whether a second text follows the first, in the order of BERT's head.
inline constexpr std::array<const char*, 2> kNextSentenceLabels = {"is_next", "not_next"};

/// Labels in order of their index. `rows`: outputs of the head's weights, if they exist; the labels must
/// be as many. Without id2label: LABEL_0, LABEL_1, ... (`rows` of them, else num_labels, else 2).
std::vector<std::string> read_labels(const Fields& config, std::optional<uint64_t> rows);

/// LABEL_0, LABEL_1, ...
std::vector<std::string> made_labels(uint64_t count);

/// A plain list of strings under `key`; its absence is a problem.
std::vector<std::string> read_label_list(const Fields& config, const std::string& key);

/// Plain without B- and I-; BIOES where E-/S- (or L-/U-) occur too; IOB1 where some name has an I- but no
/// B- (in IOB2 every entity begins with B-); else IOB2.
fb::TagScheme guess_tag_scheme(const std::vector<std::string>& labels);

/// "plain", "iob1", "iob2" ("bio"), "bioes" ("bilou"); throws Error (usage) for another name.
fb::TagScheme parse_tag_scheme(const std::string& name);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_LABELS_H_
