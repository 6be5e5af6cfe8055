// What tasks read of a run: one description, by which the verifier checks the outputs of a file and by which tasks find
// them, so that both mean the same rows.
#ifndef BANTAM_MODEL_HEADS_H_
#define BANTAM_MODEL_HEADS_H_

#include "format/verdict.h"
#include "format/view.h"

namespace bantam {

constexpr uint32_t bit(fb::TaskKind kind) { return 1u << static_cast<uint32_t>(kind); }

/// An output that tasks read.
struct Head {
  uint32_t tasks;     // bits of the tasks that do
  uint32_t rows;      // what its rows are: kTokens or kSequences
  uint32_t width;     // its columns; 0: any number
  int32_t set;        // the label set that names it; -1: none does
  const char* name;   // without such a set: the output of this name,
  const char* other;  // else of this one; null: none
  bool any = false;   // else the first with such rows
};

constexpr Head kLabelHead = {bit(fb::TaskKind::classify) | bit(fb::TaskKind::multi_label) | bit(fb::TaskKind::regress) |
                                 bit(fb::TaskKind::joint),
                             kSequences,
                             0,
                             0,
                             "logits",
                             nullptr};
constexpr Head kTagHead = {bit(fb::TaskKind::tag), kTokens, 0, 0, nullptr, nullptr};
constexpr Head kSlotHead = {bit(fb::TaskKind::joint), kTokens, 0, 1, nullptr, nullptr};
constexpr Head kStartHead = {bit(fb::TaskKind::answer), kTokens, 1, -1, "start_logits", nullptr};
constexpr Head kEndHead = {bit(fb::TaskKind::answer), kTokens, 1, -1, "end_logits", nullptr};
constexpr Head kChoiceHead = {bit(fb::TaskKind::choose), kSequences, 1, -1, "logits", nullptr};
constexpr Head kFillHead = {
    bit(fb::TaskKind::fill) | bit(fb::TaskKind::pretraining), kTokens, 0, -1, "prediction_logits", "logits"};
constexpr Head kNextHead = {bit(fb::TaskKind::next_sentence) | bit(fb::TaskKind::pretraining),
                            kSequences,
                            0,
                            -1,
                            "seq_relationship_logits",
                            "logits"};
constexpr Head kEmbeddingHead = {bit(fb::TaskKind::embed), kSequences, 0, -1, "sentence_embedding", nullptr, true};

/// Index of the output that `head` reads, -1 where the file has none. O(outputs).
int32_t find_head(const fb::Model& model, const Head& head);

/// Whether this output tensor has the rows and the width that the head's tasks expect.
inline bool fits(const Head& head, const fb::Tensor& output) {
  return rows_symbol(output) == head.rows && (head.width == 0 || width(output) == head.width);
}

/// Every output that this task reads is as its head says.
Verdict check_heads(const fb::Model& model, fb::TaskKind task);

}  // namespace bantam

#endif  // BANTAM_MODEL_HEADS_H_
