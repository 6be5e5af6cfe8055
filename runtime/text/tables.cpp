#include "text/tables.h"

#include "linked.h"

namespace bantam {

struct TokenizerAccess {
  static Tokenizer make(const fb::Tokenizer& tokenizer, const uint8_t* data) {
    Tokenizer result;
    result.table_ = &tokenizer;
    result.data_ = data;
    return result;
  }
  static const fb::Tokenizer* table(const Tokenizer& tokenizer) {
    return static_cast<const fb::Tokenizer*>(tokenizer.table_);
  }
  static const uint8_t* data(const Tokenizer& tokenizer) { return tokenizer.data_; }
};

}  // namespace bantam

namespace bantam::text {

Normalization rules_of(const fb::Tokenizer& tokenizer) {
  Normalization rules;
  const auto* normalizers = tokenizer.normalizers();
  if (normalizers == nullptr || normalizers->size() == 0) return rules;
  if (linked::kNormalSequence && normalizers->Get(0)->kind() != fb::NormalizerKind::bert) return rules;
  const fb::Normalizer& bert = *normalizers->Get(0);
  rules.clean_text = bert.clean_text();
  rules.split_chinese = bert.split_chinese();
  rules.lowercase = bert.lowercase();
  rules.strip_accents = bert.strip_accents();
  return rules;
}

Lexicon lexicon_of(const fb::Tokenizer& tokenizer, const uint8_t* data) {
  // Names are ascending, and these blobs always exist: each one's index equals its name.
  const auto& blobs = *tokenizer.blobs();
  const auto bytes = [&](fb::BlobName name) { return data + blobs.Get(static_cast<uint32_t>(name))->data()->offset(); };
  Lexicon lexicon;
  lexicon.units = reinterpret_cast<const uint32_t*>(bytes(fb::BlobName::trie));
  lexicon.begin = reinterpret_cast<const uint32_t*>(bytes(fb::BlobName::token_begin));
  lexicon.text = bytes(fb::BlobName::token_text);
  lexicon.roots = reinterpret_cast<const LexiconRoots*>(bytes(fb::BlobName::roots));
  lexicon.vocab_size = tokenizer.vocab_size();
  return lexicon;
}

Tables::Tables(const fb::Tokenizer& tokenizer, const uint8_t* data)
    : source(&tokenizer),
      lexicon(lexicon_of(tokenizer, data)),
      rules(rules_of(tokenizer)),
      added(tokenizer.added_tokens()) {
#if BANTAM_IF_LINKED(normalizer_any)
  if constexpr (linked::kNormalSequence) sequence = NormalSequence::of(tokenizer, data);
#endif
  const fb::TokenModel& settings = *tokenizer.model();
  model = settings.kind();
  max_word_chars = settings.max_word_chars();
  unknown_id = settings.unknown_id();
  if (kSmall && (rules.lowercase || rules.strip_accents)) {
    const fb::Blob& map = *find_blob(tokenizer, fb::BlobName::char_map);
    rules.map.begin = data + map.offset() + 1;
    rules.map.end = data + map.offset() + map.size();
  }
  splitter = tokenizer.splitters()->Get(0)->kind();
  if constexpr (linked::kTrimmedBlanks) {
    trim_blanks = tokenizer.trim_blanks();
    trim_prefix = tokenizer.trim_prefix();
  }
#if BANTAM_IF_LINKED(splitter_pattern)
  if (linked::splitter(static_cast<uint32_t>(fb::SplitterKind::pattern)) && splitter == fb::SplitterKind::pattern) {
    const uint8_t* table = data + find_blob(tokenizer, fb::BlobName::split)->offset();
    split = SplitTable(table);
    if constexpr (linked::kSplitPasses) {
      const bool passes = reinterpret_cast<const SplitHeader*>(table)->version != kSplitVersion;
      split_passes = passes ? table : nullptr;
    }
    prefix_blank = tokenizer.splitters()->Get(0)->prefix_blank();
  }
#endif
  [[maybe_unused]] constexpr bool kUnigram = linked::token_model(static_cast<uint32_t>(fb::TokenModelKind::unigram));
  if constexpr (kByteTokens) {
    const fb::Blob* bytes = find_blob(tokenizer, fb::BlobName::byte_tokens);
    of_byte = bytes == nullptr ? nullptr : reinterpret_cast<const uint32_t*>(data + bytes->offset());
  }
  if constexpr (linked::kBpeTraits) traits = settings.traits();
#if BANTAM_IF_LINKED(token_model_bpe)
  if (linked::token_model(static_cast<uint32_t>(fb::TokenModelKind::bpe)) && model == fb::TokenModelKind::bpe) {
    const uint8_t* pairs = data + find_blob(tokenizer, fb::BlobName::pairs)->offset();
    merges.entries = reinterpret_cast<const MergeEntry*>(data + find_blob(tokenizer, fb::BlobName::merges)->offset());
    merges.bits = load_u32(pairs);
    merges.slots = reinterpret_cast<const uint32_t*>(pairs) + 1;
    merges.vocab_size = tokenizer.vocab_size();
    whole_words = settings.whole_words();
    max_word_chars = kMaxTableWord;  // only for words to look up; other words have no limit
  }
#endif
  if constexpr (linked::splitter(static_cast<uint32_t>(fb::SplitterKind::metaspace))) metaspace = {};
#if BANTAM_IF_LINKED(token_model_unigram)
  if constexpr (kUnigram) scores = {nullptr, false, 0};
#endif
  if (linked::splitter(static_cast<uint32_t>(fb::SplitterKind::metaspace)) && splitter == fb::SplitterKind::metaspace) {
    if constexpr (linked::kSplitPasses) {
      const fb::Blob* table = find_blob(tokenizer, fb::BlobName::split);
      split_passes = table == nullptr ? nullptr : data + table->offset();
    }
    const fb::Splitter& rules_of_words = *tokenizer.splitters()->Get(0);
    metaspace = {rules_of_words.prefix_blank(), rules_of_words.first_only(), rules_of_words.white_words(),
                 rules_of_words.whole()};
  }
#if BANTAM_IF_LINKED(token_model_unigram)
  if (kUnigram && model == fb::TokenModelKind::unigram) {
    const fb::Blob& blob = *find_blob(tokenizer, fb::BlobName::scores);
    const bool wide = blob.size() != uint64_t{4} * tokenizer.vocab_size();
    scores = UnigramScores(data + blob.offset(), wide, settings.unknown_score());
    scores.unknown_id = static_cast<uint32_t>(unknown_id);
    max_word_chars = kMaxTableWord;
  }
#endif
  if constexpr (linked::token_model(static_cast<uint32_t>(fb::TokenModelKind::hashed))) {
    const fb::Blob* there = find_blob(tokenizer, fb::BlobName::buckets);
    buckets = there == nullptr ? nullptr : reinterpret_cast<const uint32_t*>(data + there->offset());
    bucket_count = there == nullptr ? 0 : static_cast<uint32_t>(there->size() / sizeof(uint32_t));
  }
  if constexpr (!kSmall) {  // for the fast path
    table_chars = max_word_chars < kMaxTableWord ? max_word_chars : kMaxTableWord;
    if (rules.lowercase) ascii_fold = 0x2020202020202020u;
    const fb::Blob* table = find_blob(tokenizer, fb::BlobName::words);
    if (table != nullptr) words = WordTable(data + table->offset());
  }
}

const fb::Tokenizer* table_of(const Tokenizer& tokenizer) { return TokenizerAccess::table(tokenizer); }
const uint8_t* data_of(const Tokenizer& tokenizer) { return TokenizerAccess::data(tokenizer); }

Tokenizer open_tables(const fb::Tokenizer& tokenizer, const uint8_t* data) {
  return TokenizerAccess::make(tokenizer, data);
}

}  // namespace bantam::text
