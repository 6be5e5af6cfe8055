#include "text/bpe.h"

#include "text/bpe_merging.h"

namespace bantam::text {
namespace {

/// Look-ups allowed per byte of a window. Published vocabularies need a few.
constexpr uint32_t kLooksPerByte = 64;

/// The positions in a window from which its end cannot be reached.
class DeadEnds {
 public:
  explicit DeadEnds(uint32_t size) {
    for (uint32_t i = 0; i <= size / 32; ++i) bits_[i] = 0;
  }
  void add(uint32_t at) { bits_[at / 32] |= 1u << (at % 32); }
  bool has(uint32_t at) const { return (bits_[at / 32] >> (at % 32) & 1u) != 0; }

 private:
  uint32_t bits_[kBpeWindow / 32 + 1];
};

/// Returns the longest shorter token that is a prefix of `match`; size 0: none.
Match shorten(const Tables& tables, const Match& match) {
  const uint32_t shorter = tables.merges.entries[match.value].shorter;
  if (shorter == kNoToken) return {0, 0};
  const uint32_t size = tables.lexicon.begin[shorter + 1] - tables.lexicon.begin[shorter];
  return {shorter, size < match.size ? size : 0};
}

/// Returns false, and leaves *out undefined, if no segmentation exists or the search would take too many look-ups.
bool cut_exactly(const Tables& tables, uint32_t before, const uint8_t* bytes, uint32_t size, BpeCut* out) {
  const MergeTable& merges = tables.merges;
  uint32_t budget = size * kLooksPerByte;
  DeadEnds dead(size);
  uint32_t count = 0;
  uint32_t at = 0;
  Match match = tables.lexicon.longest_of_bytes(bytes, size);
  while (budget > 0) {
    const uint32_t last = count == 0 ? before : out->ids[count - 1];
    for (; match.size != 0 && budget > 0; match = shorten(tables, match), --budget) {
      if (dead.has(at + match.size) || merges.entries[match.value].rank == kNeverMade) continue;
      if (last == kNoToken || merges.stay_apart(last, match.value, &budget)) break;
    }
    if (match.size != 0) {
      at += match.size;
      out->ids[count] = match.value;
      out->ends[count++] = static_cast<uint16_t>(at);
      if (at == size) {
        out->count = count;
        return budget > 0;
      }
      match = tables.lexicon.longest_of_bytes(bytes + at, size - at);
      continue;
    }
    if (count == 0) return false;
    dead.add(at);
    const uint32_t end = at;
    --count;
    at = count == 0 ? 0 : out->ends[count - 1];
    match = shorten(tables, {out->ids[count], end - at});
  }
  return false;
}

void cut_greedily(const Tables& tables, const uint8_t* bytes, uint32_t size, BpeCut* out) {
  out->count = 0;
  for (uint32_t at = 0; at < size;) {
    Match match = tables.lexicon.longest_of_bytes(bytes + at, size - at);
    while (match.size != 0 && tables.merges.entries[match.value].rank == kNeverMade) match = shorten(tables, match);
    at += match.size == 0 ? 1 : match.size;
    out->ids[out->count] = match.size == 0 ? kNoToken : match.value;
    out->ends[out->count++] = static_cast<uint16_t>(at);
  }
}

Status check_merges(Check& check) {
  const fb::Blob* blob = find_blob(check.tokenizer, fb::BlobName::merges);
  const uint32_t count = check.tokenizer.vocab_size();
  if (blob == nullptr || blob->size() != uint64_t{count} * sizeof(MergeEntry)) {
    return check.fail("the table of merges does not hold an entry a token");
  }
  const auto* entries = reinterpret_cast<const MergeEntry*>(check.data + blob->offset());
  const auto* begin = lexicon_of(check.tokenizer, check.data).begin;
  const bool any_order = linked::kMergesInAnyOrder && (check.tokenizer.model()->traits() & kAnyOrder) != 0;
  for (uint32_t id = 0; id < count; ++id) {
    const MergeEntry& e = entries[id];
    if (begin[id + 1] - begin[id] > kMaxBpeToken && e.rank != kNeverMade) {
      return check.fail("a token has more bytes than this build takes", Status::kUnsupported);
    }
    if (e.shorter != kNoToken && e.shorter >= count) return check.fail("a token begins with one that is not there");
    const bool is_whole = e.rank == 0 || e.rank == kNeverMade;
    if (is_whole ? e.left != kNoToken || e.right != kNoToken : e.left >= count || e.right >= count) {
      return check.fail("a merge's part is not a token");
    }
    if (!any_order && !is_whole && (entries[e.left].rank >= e.rank || entries[e.right].rank >= e.rank)) {
      return check.fail("a merge comes before one of its parts is made");
    }
  }
  return Status::kOk;
}

Status check_pairs(Check& check) {
  const fb::Blob* blob = find_blob(check.tokenizer, fb::BlobName::pairs);
  if (blob == nullptr || blob->size() < sizeof(uint32_t)) return check.fail("the table of pairs is not there");
  const uint32_t bits = load_u32(check.data + blob->offset());
  if (bits > kMaxPairBits || blob->size() != 4 * ((uint64_t{1} << bits) + kMaxPairProbes + 1)) {
    return check.fail("the table of pairs is not of the size that it says");
  }
  return Status::kOk;
}

/// Checks the traits. unknown_id must be a token if words are looked up whole (unless unknown ones are skipped), or if
/// the initial units of words (bytes, or code points without byte tokens) may lack tokens.
Status check_traits(Check& check) {
  const fb::TokenModel& model = *check.tokenizer.model();
  const uint32_t traits = model.traits();
  if (traits == 0) return Status::kOk;
  if (!linked::kBpeTraits) return check.fail("this kind of byte pair encoding is not linked", Status::kOpNotLinked);
  if (traits >= kTraitsEnd || ((traits & kFuseUnknown) != 0 && (traits & (kCodePoints | kSomeBytes)) == 0) ||
      (traits & (kCodePoints | kSomeBytes)) == (kCodePoints | kSomeBytes) ||
      (traits & (kSkipUnknown | kWordLevel)) == kSkipUnknown) {
    return check.fail("a trait of byte pair encoding is not known", Status::kUnsupported);
  }
  const bool marked = (traits & (kEndMarks | kBeginMarks)) != 0;
  const bool whole = (traits & kWordLevel) != 0;
  if (((traits & (kCodePoints | kSomeBytes)) != 0 && !linked::kBpeWithUnknown) || (marked && !linked::kWordMarks) ||
      (whole && !linked::kWordLevel) || ((traits & kAnyOrder) != 0 && !linked::kMergesInAnyOrder)) {
    return check.fail("this kind of byte pair encoding is not linked", Status::kOpNotLinked);
  }
  const bool bytes = find_blob(check.tokenizer, fb::BlobName::byte_tokens) != nullptr;
  const bool unknown =
      (traits & kSkipUnknown) == 0 && (whole || (traits & kSomeBytes) != 0 || ((traits & kCodePoints) != 0 && !bytes));
  return !unknown || check.is_id(model.unknown_id()) ? Status::kOk : check.fail("unknown_id is not a token");
}

}  // namespace

Status Bpe::verify(Check& check, const LexiconRoots& /*roots*/) {
  if (const Status status = check_traits(check); status != Status::kOk) return status;
  if (const Status status = check_merges(check); status != Status::kOk) return status;
  return check_pairs(check);
}

uint32_t Bpe::unit_size(const Tables& tables, const uint8_t* bytes, uint32_t at, uint32_t size) {
  uint32_t end = at;
  if (linked::kWordMarks && (tables.traits & kBeginMarks) != 0 && bytes[at] == kBeginMark && at + 1 < size) ++end;
  end += linked::kBpeWithUnknown && (tables.traits & kCodePoints) != 0 ? code_size(bytes[end]) : 1;
  if (linked::kWordMarks && (tables.traits & kEndMarks) != 0 && end < size && bytes[end] == kEndMark) ++end;
  return end - at;
}

uint32_t Bpe::known_size(const Tables& tables, const uint8_t* bytes, uint32_t size, bool ends, bool* unknown) {
  uint32_t at = 0;
  while (at < size && !*unknown) {
    const uint32_t code = unit_size(tables, bytes, at, size);
    if (code > size - at) break;
    // An end mark that belongs to the last code point may follow.
    if (linked::kWordMarks && !ends && at > 0 && at + code == size && (tables.traits & kEndMarks) != 0) break;
    const Match match = tables.lexicon.longest_of_bytes(bytes + at, code);
    *unknown = match.size != code || tables.merges.entries[match.value].rank != 0;
    if (!*unknown) at += code;
  }
  return at;
}

void Bpe::cut(const Tables& tables, uint32_t before, const uint8_t* bytes, uint32_t size, BpeCut* out) {
  if (linked::kMergesInAnyOrder && (tables.traits & kAnyOrder) != 0) return cut_by_merging(tables, bytes, size, out);
  if (!cut_exactly(tables, before, bytes, size, out)) cut_greedily(tables, bytes, size, out);
}

TokenText Bpe::decode(const fb::Tokenizer& tokenizer, Text token) {
  const uint32_t traits = linked::kBpeTraits ? tokenizer.model()->traits() : 0;
  if (linked::kWordLevel && (traits & kWordLevel) != 0) return {token, false};
  if (linked::kWordMarks && (traits & kBeginMarks) != 0 && token.size > 0) {
    if (static_cast<uint8_t>(token.data[0]) != kBeginMark) return {token, true};
    token = {token.data + 1, token.size - 1};
    return {token, false};
  }
  if (linked::kWordMarks && (traits & kEndMarks) != 0) {
    const bool last = token.size > 1 && static_cast<uint8_t>(token.data[token.size - 1]) == kEndMark;
    return {{token.data, last ? token.size - 1 : token.size}, false};
  }
  if (token.size > 0 && token.data[0] == ' ') return {{token.data + 1, token.size - 1}, false};
  return {token, true};
}

}  // namespace bantam::text
