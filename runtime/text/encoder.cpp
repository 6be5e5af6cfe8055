#include "text/encoder.h"

#include "text/added_tokens.h"
#include "text/blank_trim.h"
#include "text/splitters.h"

namespace bantam::text {
namespace {

void emit_added([[maybe_unused]] const Tables& tables, const AddedMatch& match, TokenSink* sink) {
  Offset where = {match.begin, match.end};
#if BANTAM_IF_LINKED(TrimmedBlanks)
  if (linked::kTrimmedBlanks && tables.trim_blanks) trim_added(tables, *sink, &where);
#endif
  sink->emit(match.token->id(), where.begin, where.end);
}

fb::Truncation strategy_of(const fb::Tokenizer& tokenizer, TruncationSide asked) {
  switch (asked) {
    case TruncationSide::kLongestFirst:
      return fb::Truncation::longest_first;
    case TruncationSide::kOnlyFirst:
      return fb::Truncation::only_first;
    case TruncationSide::kOnlySecond:
      return fb::Truncation::only_second;
    case TruncationSide::kNone:
      return fb::Truncation::none;
    case TruncationSide::kFromFile:
      break;
  }
  return tokenizer.truncation();
}

/// The range of tokens of each sequence to write.
struct Window {
  uint32_t first[2];
  uint32_t count[2];
};

/// Replaces ids that only the model may use by the unknown token.
[[maybe_unused]] void replace_hidden(const fb::TokenModel& model, int32_t* ids, uint32_t count) {
  const uint32_t from = model.hidden_from();
  for (uint32_t i = 0; from != 0 && i < count; ++i) {
    if (static_cast<uint32_t>(ids[i]) >= from) ids[i] = model.unknown_id();
  }
}

const Template& template_of(const fb::Tokenizer& tokenizer, bool pair) {
  return pair ? *tokenizer.pair() : *tokenizer.single();
}

bool ends_with_fill(const Template& pieces) {
  if constexpr (!linked::kFill) return false;
  const fb::TemplatePiece& last = *pieces.Get(pieces.size() - 1);
  return last.token() < 0 && last.sequence() == kFillPiece;
}

/// Fills `out` with padding, from token `begin` to `end`.
[[maybe_unused]] void fill_up(const Tables& tables, bool pair, uint32_t begin, uint32_t end, const TokenBuffer& out) {
  const Template& pieces = template_of(*tables.source, pair);
  for (uint32_t i = begin; i < end; ++i) {
    out.ids[i] = tables.source->pad_id();
    if (linked::kOffsets && out.offsets != nullptr) out.offsets[i] = {0, 0};
    if (linked::kOffsets && out.sequences != nullptr) out.sequences[i] = kSpecial;
    if (out.segments != nullptr) out.segments[i] = static_cast<int32_t>(pieces.Get(pieces.size() - 1)->segment());
  }
}

/// The sources of tokens: texts, or tokens that an earlier call produced from them.
struct TextsAsTheyAre {
  const Tables& tables;
  const Text* texts;
  void encode(uint32_t which, TokenSink* sink) const { encode_text(tables, texts[which], sink); }
};
#if !defined(BANTAM_FIRMWARE)
struct TextsInTokens {
  const TextTokens* texts;
  void encode(uint32_t which, TokenSink* sink) const {
    const TextTokens& text = texts[which];
    const uint32_t left = sink->first < text.count ? text.count - sink->first : 0;
    for (uint32_t i = 0; i < left && i < sink->room; ++i) {
      sink->ids[i] = text.ids[sink->first + i];
      if (linked::kOffsets && sink->offsets != nullptr) sink->offsets[i] = text.offsets[sink->first + i];
    }
    sink->count = text.count;
  }
};
#endif

/// Writes the template's tokens, and the tokens of the texts that are in the window, from out[0] on. `counts`, if
/// given, receives the full number of tokens of each text.
template <class Texts>
void write(const Tables& tables, const Texts& texts, bool pair, bool add_special, const Window& window,
           const TokenBuffer& out, uint32_t* counts) {
  const Template& pieces = template_of(*tables.source, pair);
  uint32_t at = 0;
  for (uint32_t p = 0; p < pieces.size() - (ends_with_fill(pieces) ? 1 : 0); ++p) {
    const fb::TemplatePiece& piece = *pieces.Get(p);
    const uint32_t left = out.capacity - at;
    uint32_t written = 0;
    uint8_t sequence = kSpecial;
    if (piece.token() >= 0) {
      if (!add_special || left == 0) continue;
      out.ids[at] = piece.token();
      if (linked::kOffsets && out.offsets != nullptr) out.offsets[at] = {0, 0};
      written = 1;
    } else {
      const uint32_t which = piece.sequence() == 1 ? 1 : 0;
      sequence = static_cast<uint8_t>(which);
      TokenSink sink;
      sink.ids = out.ids + at;
      sink.offsets = linked::kOffsets && out.offsets != nullptr ? out.offsets + at : nullptr;
      sink.first = window.first[which];
      sink.room = window.count[which] < left ? window.count[which] : left;
      if (counts == nullptr) sink.stop = sink.first + sink.room;
      texts.encode(which, &sink);
      if (counts != nullptr) counts[which] = sink.count;
      const uint32_t reached = sink.count > sink.first ? sink.count - sink.first : 0;
      written = reached < sink.room ? reached : sink.room;
      if constexpr (linked::kHiddenTokens) replace_hidden(*tables.source->model(), out.ids + at, written);
    }
    for (uint32_t i = at; i < at + written; ++i) {
      if (out.segments != nullptr) out.segments[i] = static_cast<int32_t>(piece.segment());
      if (linked::kOffsets && out.sequences != nullptr) out.sequences[i] = sequence;
    }
    at += written;
  }
}

}  // namespace

void encode_text(const Tables& tables, Text text, TokenSink* sink) {
  const uint8_t* bytes = reinterpret_cast<const uint8_t*>(text.data);
  const uint32_t size = static_cast<uint32_t>(text.size);
  sink->text = bytes;
  AddedSearch search(tables, bytes, size);
  uint32_t done = 0;
  AddedMatch match;
  while (!sink->is_full() && search.next(&match)) {
    if (done < match.begin) encode_piece(tables, bytes, done, match.begin, sink);
    emit_added(tables, match, sink);
    done = match.end;
  }
  if (done < size) encode_piece(tables, bytes, done, size, sink);
}

bool truncate_counts(fb::Truncation strategy, bool pair, const uint32_t counts[2], uint32_t budget, uint32_t kept[2]) {
  kept[0] = counts[0];
  kept[1] = counts[1];
  const uint64_t total = uint64_t{counts[0]} + counts[1];
  if (total <= budget) return true;
  if (strategy == fb::Truncation::none) return false;
  if (budget == 0) {
    kept[0] = 0;
    kept[1] = 0;
    return true;
  }
  if (!pair) {
    kept[0] = budget;
    return true;
  }
  if (strategy == fb::Truncation::longest_first) {
    const uint32_t longer = counts[0] > counts[1] ? 0 : 1;
    const uint32_t shorter = 1 - longer;
    if (counts[shorter] <= budget / 2) {
      kept[longer] = budget - counts[shorter];
    } else {
      kept[shorter] = budget / 2;
      kept[longer] = budget / 2 + budget % 2;
    }
    return true;
  }
  const uint32_t target = strategy == fb::Truncation::only_first ? 0 : 1;
  const uint64_t excess = total - budget;
  if (counts[target] <= excess) return false;
  kept[target] = static_cast<uint32_t>(counts[target] - excess);
  return true;
}

uint32_t template_specials(const fb::Tokenizer& tokenizer, bool pair) {
  // A template contains each of its texts once, and may end with a fill piece; all other pieces are tokens.
  const Template& pieces = template_of(tokenizer, pair);
  return pieces.size() - (pair ? 2 : 1) - (ends_with_fill(pieces) ? 1 : 0);
}

bool fills_up(const fb::Tokenizer& tokenizer, bool pair) { return ends_with_fill(template_of(tokenizer, pair)); }

namespace {

template <class Texts>
Status encode_texts(const Tables& tables, const Texts& texts, bool pair, const EncodeOptions& options,
                    const TokenBuffer& out, EncodeResult* result) {
  const uint32_t specials = options.add_special ? template_specials(*tables.source, pair) : 0;
  uint32_t limit = options.max_tokens != 0 ? options.max_tokens : tables.source->max_length();
  [[maybe_unused]] uint32_t filled = 0;
  if (linked::kFill && options.add_special && fills_up(*tables.source, pair)) {
    filled = limit < tables.source->max_length() ? limit : tables.source->max_length();
    if (filled > out.capacity) return Status::kBufferTooSmall;
  }
  if (limit == 0 || limit > out.capacity) limit = out.capacity;
  const bool fits = limit >= specials;
  const uint32_t budget = fits ? limit - specials : 0;

  // Most texts fit: write them while counting. Otherwise, what to keep is known only afterwards, and a second pass
  // writes it, reading no further than necessary (longest tokens are kept from the left).
  Window window = {{0, 0}, {budget, budget}};
  write(tables, texts, pair, options.add_special, window, out, result->content);

  const fb::Truncation strategy = strategy_of(*tables.source, options.truncation);
  const uint32_t windowed = pair ? 1 : 0;
  uint32_t counts[2] = {result->content[0], result->content[1]};
  const uint32_t skip = options.skip < counts[windowed] ? options.skip : counts[windowed];
  counts[windowed] -= skip;
  if (!truncate_counts(strategy, pair, counts, budget, window.count) || !fits) return Status::kBufferTooSmall;

  result->kept[0] = window.count[0];
  result->kept[1] = window.count[1];
  result->count = specials + window.count[0] + window.count[1];
  result->truncated = result->kept[0] < result->content[0] || result->kept[1] < result->content[1];
  if (linked::kFill && result->count < filled) {
    fill_up(tables, pair, result->count, filled, out);
    result->count = filled;
  }
  if (!result->truncated) return Status::kOk;
  for (uint32_t s = 0; s < 2; ++s) {
    const uint32_t skipped = s == windowed ? skip : 0;
    window.first[s] = tables.source->truncate_left() ? result->content[s] - skipped - window.count[s] : skipped;
  }
  write(tables, texts, pair, options.add_special, window, out, nullptr);
  return Status::kOk;
}

}  // namespace

Status encode(const Tables& tables, Text first, Text second, const EncodeOptions& options, const TokenBuffer& out,
              EncodeResult* result) {
  if (result == nullptr || (out.ids == nullptr && out.capacity > 0) || (first.data == nullptr && first.size > 0)) {
    return Status::kInvalidArgument;
  }
  *result = EncodeResult{};
  constexpr size_t kMaxText = 0xFFFFFFFE;
  if (first.size > kMaxText || second.size > kMaxText) return Status::kTextTooLong;
  const Text texts[2] = {first, second};
  return encode_texts(tables, TextsAsTheyAre{tables, texts}, second.data != nullptr, options, out, result);
}

#if !defined(BANTAM_FIRMWARE)
Status cut_window(const Tables& tables, const TextTokens& first, const TextTokens* second, const EncodeOptions& options,
                  const TokenBuffer& out, EncodeResult* result) {
  *result = EncodeResult{};
  const TextTokens texts[2] = {first, second == nullptr ? TextTokens{} : *second};
  for (const TextTokens& text : texts) {
    const bool known = text.ids != nullptr && (out.offsets == nullptr || text.offsets != nullptr);
    if (text.count != 0 && !known) return Status::kInvalidArgument;
  }
  return encode_texts(tables, TextsInTokens{texts}, second != nullptr, options, out, result);
}
#endif

}  // namespace bantam::text
