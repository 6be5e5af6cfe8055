#include "text/unigram.h"

#include <string.h>

namespace bantam::text {
namespace {

bool is_finite(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof(bits));
  return (bits >> 52 & 0x7FF) != 0x7FF;
}

}  // namespace

Status Unigram::verify(Check& check, const LexiconRoots& /*roots*/) {
  const fb::TokenModel& model = *check.tokenizer.model();
  const fb::Blob* blob = find_blob(check.tokenizer, fb::BlobName::scores);
  const uint64_t count = check.tokenizer.vocab_size();
  if (blob == nullptr || (blob->size() != 4 * count && blob->size() != 8 * count) ||
      (blob->size() == 8 * count && blob->offset() % 8 != 0)) {
    return check.fail("the table of scores does not hold a score a token");
  }
  if (!check.is_id(model.unknown_id())) return check.fail("unknown_id is not a token");
  if (!is_finite(model.unknown_score())) return check.fail("unknown_score is not a number");
  const UnigramScores scores(check.data + blob->offset(), blob->size() == 8 * count, model.unknown_score());
  bool good = true;
  for (uint32_t id = 0; id < count; ++id) good = good && is_finite(scores.of(id));
  return good ? Status::kOk : check.fail("a score is not a number");
}

void Unigram::cut(const Lexicon& lexicon, const UnigramScores& scores, const uint8_t* bytes, uint32_t size,
                  UnigramCut* out) {
  constexpr uint16_t kNever = 0xFFFF;
  double best[kUnigramWord + 1];
  uint32_t ids[kUnigramWord + 1];
  uint16_t starts[kUnigramWord + 1];
  for (uint32_t i = 0; i <= size; ++i) starts[i] = kNever;
  best[0] = 0;
  for (uint32_t at = 0; at < size;) {
    const double here = best[at];
    const uint32_t step = code_size(bytes[at]) < size - at ? code_size(bytes[at]) : size - at;
    bool single = false;
    const auto offer = [&](uint32_t id, double score, uint32_t length) {
      const uint32_t end = at + length;
      const double sum = score + here;
      if (starts[end] != kNever && sum <= best[end]) return;
      best[end] = sum;
      ids[end] = id;
      starts[end] = static_cast<uint16_t>(at);
    };
    lexicon.each_prefix(bytes + at, size - at < kMaxUnigramToken ? size - at : kMaxUnigramToken,
                        [&](uint32_t id, uint32_t length) {
                          offer(id == scores.unknown_id ? kNoToken : id, scores.of(id), length);
                          single = single || length == step;
                        });
    if (!single) offer(kNoToken, scores.unknown, step);
    at += step;
  }
  uint32_t count = 0;
  for (uint32_t at = size; at > 0; at = starts[at]) ++count;
  out->count = count;
  for (uint32_t at = size; at > 0; at = starts[at]) {
    out->ids[--count] = ids[at];
    out->ends[count] = static_cast<uint16_t>(at);
  }
}

TokenText Unigram::decode(const fb::Tokenizer& /*tokenizer*/, Text token) {
  if (token.size > 0 && token.data[0] == ' ') return {{token.data + 1, token.size - 1}, false};
  return {token, true};
}

}  // namespace bantam::text
