// Text batches: each add() encodes one input behind the ones before.
#include "linked.h"
#include "session/state.h"

namespace bantam {

void Session::clear() {
  SessionState& s = state(this);
  s.tokens = 0;
  s.sequences = 0;
  s.filled = Filled::kText;
  s.has_run = false;
}

Status Session::add(Text first, Text second, const EncodeOptions& options) {
  SessionState& s = state(this);
  if (!linked::kTokenizer || !s.has_tokenizer) return Status::kNoTokenizer;
  if (s.filled != Filled::kText) clear();
  s.has_run = false;
  if (s.sequences == s.limits.max_sequences) return Status::kTooManySequences;
  const uint32_t left = s.limits.max_tokens - s.tokens;
  if (left == 0) return Status::kTooManyTokens;
  EncodeOptions limited = options;
  if (limited.max_tokens == 0) limited.max_tokens = s.tokenizer.max_tokens();
  if (limited.max_tokens == 0 || limited.max_tokens > s.limits.longest) limited.max_tokens = s.limits.longest;
  TokenBuffer buffer;
  buffer.ids = s.ids + s.tokens;
  buffer.segments = s.segments + s.tokens;
  if (linked::kOffsets && s.text_offsets != nullptr) {
    buffer.offsets = s.text_offsets + s.tokens;
    buffer.sequences = s.text_sequences + s.tokens;
  }
  buffer.capacity = left;
  EncodeResult& result = s.results[s.sequences];
  const Status status = s.tokenizer.encode(first, second, limited, buffer, &result);
  // What would fit an empty batch is not cut short for the sake of its neighbours.
  const bool cut_by_batch = s.tokens != 0 && left < limited.max_tokens;
  if (cut_by_batch && (status == Status::kBufferTooSmall || (status == Status::kOk && result.truncated))) {
    return Status::kTooManyTokens;
  }
  // Truncation may not remove enough: the special tokens alone are too many, or the text that may be cut is too short.
  if (status == Status::kBufferTooSmall) return Status::kTooManyTokens;
  if (status != Status::kOk) return status;
  if (result.count == 0) return Status::kInvalidArgument;
  if (s.sequences == 0) s.offsets[0] = 0;
  s.tokens += result.count;
  s.sequences += 1;
  s.offsets[s.sequences] = s.tokens;
  return Status::kOk;
}

Status Session::run() {
  SessionState& s = state(this);
  s.has_run = false;
  if (s.filled != Filled::kText || s.sequences == 0) return Status::kInvalidArgument;
  if constexpr (linked::kContexts) {
    s.last_rows = false;
    for (uint32_t i = 0; i < s.sequences && s.limits.context != 0; ++i) {
      s.store->numbers[i] = i;
      s.store->truncate(i, 0);
    }
  }
  const uint32_t vocabulary = s.model.vocabulary();
  const uint32_t segment_types = s.model.segment_types();
  for (uint32_t i = 0; i < s.tokens; ++i) {
    // Models without segments take pairs too; their tokenizers may still number them.
    if (segment_types == 1) s.segments[i] = 0;
    if (static_cast<uint32_t>(s.ids[i]) >= vocabulary || static_cast<uint32_t>(s.segments[i]) >= segment_types) {
      return Status::kIndexOutOfRange;
    }
  }
  return execute(s);
}

}  // namespace bantam
