// Text batches: each add() encodes one input and appends it.
#include "linked.h"
#include "model/task_traits.h"
#include "session/state.h"
#include "text/encoder.h"
#include "text/label_encoder.h"

namespace bantam {
namespace {

/// The most texts of one batch. A main pass that reads the sources' tokens must have room for all of them.
uint32_t most_texts(const SessionState& s, fb::Phase phase) {
  const uint32_t most = most_sequences(s.limits, phase);
  if (!linked::kSources || s.shifted_ids == nullptr || most < s.limits.max_sequences) return most;
  return s.limits.max_sequences;
}

/// Adds one input: encode(limit, buffer, result) writes at most `limit` tokens.
template <typename Encode>
Status add_one(SessionState& s, const EncodeOptions& options, bool pair, const Encode& encode) {
  if (!linked::kTokenizer || !s.has_tokenizer) return Status::kNoTokenizer;
  if (s.filled != Filled::kText) s.clear();
  s.has_run = false;
  const fb::Phase phase = reads_sources(s.limits) ? fb::Phase::source : fb::Phase::main;
  if (s.sequences == most_texts(s, phase)) return Status::kTooManySequences;
  const uint32_t left = most_tokens(s.limits, phase) - s.tokens;
  if (left == 0) return Status::kTooManyTokens;
  uint32_t limit = options.max_tokens;
  if (limit == 0) limit = s.tokenizer.max_tokens();
  const uint32_t longest = linked::kSources && phase == fb::Phase::source ? s.limits.source : s.limits.longest;
  // With fewer tokens, texts that are filled up would have another meaning.
  if (linked::kFill && limit > longest && text::fills_up(*text::table_of(s.tokenizer), pair))
    return Status::kTooManyTokens;
  if (limit == 0 || limit > longest) limit = longest;
  TokenBuffer buffer;
  buffer.ids = s.ids + s.tokens;
  buffer.segments = s.segments + s.tokens;
  if (linked::kOffsets && s.text_offsets != nullptr) {
    buffer.offsets = s.text_offsets + s.tokens;
    buffer.sequences = s.text_sequences + s.tokens;
  }
  buffer.capacity = left;
  EncodeResult& result = s.results[s.sequences];
  const Status status = encode(limit, buffer, &result);
  // A text that fits in an empty batch is not truncated because of other texts of the batch.
  const bool cut_by_batch = s.tokens != 0 && left < limit;
  if (cut_by_batch && (status == Status::kBufferTooSmall || (status == Status::kOk && result.truncated))) {
    return Status::kTooManyTokens;
  }
  // Truncation may not remove enough: the special tokens alone are too many, or the text to truncate is too short.
  if (status == Status::kBufferTooSmall) return Status::kTooManyTokens;
  if (status != Status::kOk) return status;
  if (result.count == 0) return Status::kInvalidArgument;
  if (s.sequences == 0) s.offsets[0] = 0;
  s.tokens += result.count;
  s.sequences += 1;
  s.offsets[s.sequences] = s.tokens;
  return Status::kOk;
}

/// Adds a text or a pair: encode(options, buffer, result) encodes it.
template <typename Encode>
Status add_texts(SessionState& s, const EncodeOptions& options, bool pair, const Encode& encode) {
  return add_one(s, options, pair, [&](uint32_t limit, const TokenBuffer& buffer, EncodeResult* result) {
    EncodeOptions limited = options;
    limited.max_tokens = limit;
    if constexpr (linked::kMarks) {
      for (uint32_t i = 0; s.marks != nullptr && i < buffer.capacity; ++i) s.marks[s.tokens + i] = 0;
    }
    return encode(limited, buffer, result);
  });
}

/// Checks that the tokens and segments of the batch are in range.
Status check_ids(SessionState& s, fb::Phase phase) {
  const uint32_t vocabulary = ids_input(root(s.model), phase)->limit();
  const uint32_t segment_types = s.model.segment_types();
  for (uint32_t i = 0; i < s.tokens; ++i) {
    // Models without segments accept pairs, too; their tokenizers may still number the segments.
    if (segment_types == 1) s.segments[i] = 0;
    if (static_cast<uint32_t>(s.ids[i]) >= vocabulary || static_cast<uint32_t>(s.segments[i]) >= segment_types) {
      return Status::kIndexOutOfRange;
    }
  }
  return Status::kOk;
}

/// Runs the main pass over the source's tokens, shifted by one and preceded by the file's start token or their last
/// one.
[[maybe_unused]] Status run_shifted(SessionState& s) {
  if (s.shifted_ids == nullptr) return Status::kInvalidArgument;
  if (s.tokens > s.limits.max_tokens) return Status::kTooManyTokens;
  for (uint32_t i = 0; i < s.sequences; ++i) {
    if (s.offsets[i + 1] - s.offsets[i] > s.limits.longest) return Status::kTooManyTokens;
    const int32_t start = root(s.model).task()->shift_id();
    s.shifted_ids[s.offsets[i]] = start == kLastInFront ? s.ids[s.offsets[i + 1] - 1] : start;
    for (uint32_t row = s.offsets[i] + 1; row < s.offsets[i + 1]; ++row) s.shifted_ids[row] = s.ids[row - 1];
  }
  int32_t* const source = s.ids;
  s.ids = s.shifted_ids;
  Status status = check_ids(s, fb::Phase::main);
  if (status == Status::kOk) status = execute(s, fb::Phase::main);
  s.ids = source;
  return status;
}

}  // namespace

void Session::clear() {
  SessionState& s = state(this);
  s.tokens = 0;
  s.sequences = 0;
  s.filled = Filled::kText;
  s.has_run = false;
}

Status Session::add(Text first, Text second, const EncodeOptions& options) {
  SessionState& s = state(this);
  return add_texts(s, options, second.data != nullptr,
                   [&](const EncodeOptions& limited, const TokenBuffer& buffer, EncodeResult* result) {
                     return s.tokenizer.encode(first, second, limited, buffer, result);
                   });
}

#if !defined(BANTAM_FIRMWARE)
Status Session::add(const TextTokens& first, const TextTokens* second, const EncodeOptions& options) {
  SessionState& s = state(this);
  return add_texts(s, options, second != nullptr,
                   [&](const EncodeOptions& limited, const TokenBuffer& buffer, EncodeResult* result) {
                     const text::Tables tables(*text::table_of(s.tokenizer), text::data_of(s.tokenizer));
                     return text::cut_window(tables, first, second, limited, buffer, result);
                   });
}
#endif

Status Session::add_labelled(Text text, const Text* labels, uint32_t count, const EncodeOptions& options) {
  if constexpr (!linked::kFind) {
    static_cast<void>(text), static_cast<void>(labels), static_cast<void>(count), static_cast<void>(options);
    return Status::kNoSuchTask;
  } else {
    SessionState& s = state(this);
    if (count > 0 && labels == nullptr) return Status::kInvalidArgument;
    if (!has_part(s.model.task(), kFoundPart)) return Status::kNoSuchTask;
    const fb::Finding& finding = *root(s.model).task()->finding();
    return add_one(s, options, false, [&](uint32_t limit, const TokenBuffer& buffer, EncodeResult* result) {
      const text::Tables tables(*text::table_of(s.tokenizer), text::data_of(s.tokenizer));
      const fb::Blob* split = text::find_blob(*tables.source, fb::BlobName::word_split);
      const text::LabelledText labelled = {text, labels, count, s.model.data() + split->offset()};
      return text::encode_labelled(tables, finding, labelled, limit, buffer, s.marks + s.tokens, result);
    });
  }
}

Status Session::mark(uint32_t sequence, bool second, Offset bytes, int32_t mark, bool* found) {
  if (found != nullptr) *found = false;
  if constexpr (!linked::kMarks) {
    static_cast<void>(sequence), static_cast<void>(second), static_cast<void>(bytes), static_cast<void>(mark);
    return Status::kNoSuchTask;
  } else {
    SessionState& s = state(this);
    if (s.marks == nullptr || has_part(s.model.task(), kFoundPart)) return Status::kNoSuchTask;
    if (!linked::kOffsets || s.text_offsets == nullptr) return Status::kUnavailable;
    if (s.filled != Filled::kText || sequence >= s.sequences) return Status::kNotRun;
    if (static_cast<uint32_t>(mark) >= s.model.mark_types()) return Status::kIndexOutOfRange;
    if (bytes.begin >= bytes.end) return Status::kInvalidArgument;
    for (uint32_t row = s.offsets[sequence]; row < s.offsets[sequence + 1]; ++row) {
      const Offset token = s.text_offsets[row];
      if (s.text_sequences[row] != (second ? 1 : 0) || token.end <= bytes.begin || token.begin >= bytes.end) continue;
      s.marks[row] = mark;
      s.has_run = false;
      if (found != nullptr) *found = true;
      break;
    }
    return Status::kOk;
  }
}

Status Session::encode() {
  SessionState& s = state(this);
  if (!reads_sources(s.limits)) return Status::kNoSuchTask;
  s.has_run = false;
  if (s.filled != Filled::kText || s.sequences == 0) return Status::kInvalidArgument;
  for (uint32_t i = 0; i < s.sequences; ++i) s.source_numbers[i] = i;
  const Status status = check_ids(s, fb::Phase::source);
  return status == Status::kOk ? encode_batch(s) : status;
}

Status take_texts(SessionState& s, const uint32_t* rows, uint32_t count) {
  if constexpr (linked::kContexts) {
    s.last_rows = false;
    s.want_listed(false);
    for (uint32_t i = 0; i < s.sequences && s.limits.context != 0; ++i) {
      s.store->numbers[i] = i;
      s.store->truncate(i, 0);
    }
  }
  const Status wanted = want_scored(s, rows, count, false);
  if (wanted != Status::kOk) return wanted;
  // the encoder run checks the sources' ids; run_shifted checks the shifted ones
  if (reads_sources(s.limits)) return Status::kOk;
  if constexpr (linked::kChunks) {
    for (uint32_t i = 0; i < s.sequences && s.limits.chunk != 0; ++i) s.source_numbers[i] = kNoSource;
  }
  return check_ids(s, fb::Phase::main);
}

Status Session::run() { return run(nullptr, 0); }

Status Session::run_masks() {
  SessionState& s = state(this);
  if constexpr (linked::kScoredRows) {
    if (s.limits.scored_rows != 0) {
      s.has_run = false;
      if (!linked::kTokenizer || !s.has_tokenizer) return Status::kNoTokenizer;
      // The row numbers are written where the run will store them.
      const int32_t mask = s.tokenizer.mask_id();
      uint32_t count = 0;
      for (uint32_t row = 0; row < s.tokens; ++row) {
        if (s.ids[row] != mask) continue;
        if (count == s.limits.scored_rows) return Status::kTooManyTokens;
        s.scored_numbers[count++] = row;
      }
      if (count == 0) s.scored_numbers[count++] = 0;
      return run(s.scored_numbers, count);
    }
  }
  return run();
}

Status Session::run(const uint32_t* rows, uint32_t count) {
  SessionState& s = state(this);
  s.has_run = false;
  if (s.filled != Filled::kText || s.sequences == 0) return Status::kInvalidArgument;
  if constexpr (linked::kSources) {
    if (reads_sources(s.limits)) {
      const Status encoded = s.shifted_ids == nullptr ? Status::kInvalidArgument : encode();
      if (encoded != Status::kOk) return encoded;
    }
  }
  const Status status = take_texts(s, rows, count);
  if (status != Status::kOk) return status;
  return reads_sources(s.limits) ? run_shifted(s) : execute(s, fb::Phase::main);
}

}  // namespace bantam
