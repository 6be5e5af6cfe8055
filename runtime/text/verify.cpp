#include "text/verify.h"

#include "linked.h"
#include "text/char_map.h"
#include "text/encoder.h"
#include "text/models.h"
#include "text/splitters.h"
#if BANTAM_IF_LINKED(Decode)
#include "text/decode_rules.h"
#endif
#if BANTAM_IF_LINKED(part_Found) || BANTAM_IF_LINKED(splitter_pattern) || BANTAM_IF_LINKED(SplitPasses)
#include "text/split_table.h"
#endif
#if BANTAM_IF_LINKED(token_model_bpe) || BANTAM_IF_LINKED(token_model_unigram)
#include "text/byte_tokens.h"
#endif

namespace bantam::text {

Status Check::report(const char* what, Status status) {
  if (fault != nullptr) {
    *fault = Fault{};
    fault->what = what;
    if (tokenizer.name() != nullptr) {
      fault->name = tokenizer.name()->c_str();
      fault->name_size = tokenizer.name()->size();
    }
  }
  return status;
}

namespace {

/// Verifies the parts that every tokenizer has; its model verifies the rest.
class Verifier {
 public:
  explicit Verifier(const Check& check) : check_(check) {}

  Status run() {
    if (t_.vocab_size() == 0 || t_.vocab_size() > kMaxVocabulary) {
      return check_.fail("vocab_size is zero or more than 4194304");
    }
    if (static_cast<uint8_t>(t_.truncation()) > static_cast<uint8_t>(fb::Truncation::none)) {
      return check_.fail("truncation is not a known strategy");
    }
    for (const int32_t id : {t_.pad_id(), t_.cls_id(), t_.sep_id(), t_.mask_id()}) {
      if (id != -1 && !check_.is_id(id)) return check_.fail("a special id is not a token");
    }
    if (linked::kOffsets && !linked::kTrimmedBlanks && t_.trim_blanks()) {
      return check_.fail("offsets without blanks are not linked", Status::kOpNotLinked);
    }
    if (const Status status = check_kinds(); status != Status::kOk) return status;
    if (const Status status = check_hidden(); status != Status::kOk) return status;
    if (const Status status = check_places(); status != Status::kOk) return status;
    if (const Status status = check_blobs(); status != Status::kOk) return status;
    if (const Status status = check_optional(); status != Status::kOk) return status;
#if BANTAM_IF_LINKED(normalizer_any)
    if constexpr (linked::kNormalSequence) {
      if (const Status status = has_sequence_ ? verify_sequence(check_) : Status::kOk; status != Status::kOk) {
        return status;
      }
    }
#endif
    if (const Status status = check_tokens(); status != Status::kOk) return status;
    if (const Status status = check_units(); status != Status::kOk) return status;
    if (const Status status = check_roots(); status != Status::kOk) return status;
    if (const Status status = check_added(); status != Status::kOk) return status;
    if (const Status status = check_template(t_.single(), false); status != Status::kOk) return status;
    if (const Status status = check_template(t_.pair(), true); status != Status::kOk) return status;
    const Status status =
        with_splitter(t_.splitters()->Get(0)->kind(), [this](auto splitter) { return splitter.verify(check_); });
    if (status != Status::kOk) return status;
    return with_model(t_.model()->kind(), [this](auto model) { return model.verify(check_, *roots_); });
  }

 private:
  /// Checks the stages of the pipeline that this version executes: BERT's normalizer or a sequence of others, one
  /// splitter, one model.
  Status check_kinds() {
    const auto* normalizers = t_.normalizers();
    const auto* splitters = t_.splitters();
    const uint32_t count = normalizers == nullptr ? 0 : normalizers->size();
    has_sequence_ = count > 0 && (count > 1 || normalizers->Get(0)->kind() != fb::NormalizerKind::bert);
    if (has_sequence_ && !linked::kNormalSequence) {
      return check_.fail("normalisers other than BERT's are not linked", Status::kOpNotLinked);
    }
    if (splitters == nullptr || splitters->size() != 1 || !is_executed(splitters->Get(0)->kind())) {
      return check_.fail("this version executes one splitter, of the kinds that it knows", Status::kUnsupported);
    }
    if (t_.model() == nullptr || !is_executed(t_.model()->kind())) {
      return check_.fail("this kind of tokenizer model is not executed by this version", Status::kUnsupported);
    }
    if (!linked::splitter(static_cast<uint32_t>(splitters->Get(0)->kind())) ||
        !linked::token_model(static_cast<uint32_t>(t_.model()->kind()))) {
      return check_.fail("this kind of tokenizer is not linked", Status::kOpNotLinked);
    }
    return Status::kOk;
  }

  /// Checks that hidden tokens are replaced by a token that is not hidden.
  Status check_hidden() {
    const uint32_t from = t_.model()->hidden_from();
    if (from == 0) return Status::kOk;
    if (!linked::kHiddenTokens) return check_.fail("tokens of the model alone are not linked", Status::kOpNotLinked);
    const int32_t unknown = t_.model()->unknown_id();  // a negative id becomes larger than every id
    const bool fits = from <= t_.vocab_size() && static_cast<uint32_t>(unknown) < from;
    return fits ? Status::kOk : check_.fail("tokens of the model alone have no token in their place");
  }

  const fb::Blob* blob(fb::BlobName name) const { return find_blob(t_, name); }

  /// Checks the positions of all tables. Afterwards, find_blob alone tells whether a table exists.
  Status check_places() {
    const auto* blobs = t_.blobs();
    uint32_t always = 0;  // how many of the first four blobs exist; every tokenizer has them
    for (uint32_t i = 0; blobs != nullptr && i < blobs->size(); ++i) {
      const fb::TokenizerBlob& blob = *blobs->Get(i);
      if (i > 0 && blob.name() <= blobs->Get(i - 1)->name()) return check_.fail("the blobs' names do not ascend");
      if (blob.name() > fb::BlobName::MAX) break;  // names are ascending, so the remaining blobs are unknown, too
      if (!check_.lies_inside(blob.data())) {
        return check_.fail("a table has no data, lies outside the data section or is not aligned");
      }
      always += blob.name() <= fb::BlobName::roots ? 1u : 0u;
    }
    return always == 4 ? Status::kOk : check_.fail("a table that every tokenizer has is not there");
  }

  /// Checks tables that are read whenever they exist. Tables that depend on the kinds are checked with the code that
  /// reads them.
  Status check_optional() {
    Status status = kSmall ? check_char_map() : check_words(check_);
#if BANTAM_IF_LINKED(token_model_bpe) || BANTAM_IF_LINKED(token_model_unigram)
    if (kByteTokens && status == Status::kOk) status = check_byte_tokens(check_);
#endif
#if BANTAM_IF_LINKED(splitter_pattern) || BANTAM_IF_LINKED(SplitPasses)
    if (status == Status::kOk) status = verify_split(check_, fb::BlobName::split, kMaxSplitPasses);
#endif
#if BANTAM_IF_LINKED(part_Found)
    if (status == Status::kOk) status = verify_split(check_, fb::BlobName::word_split, 1);
#endif
#if BANTAM_IF_LINKED(Decode)
    if (status == Status::kOk) status = check_decoder(check_);
#endif
    return status;
  }

  Status check_blobs() {
    if (blob(fb::BlobName::token_begin)->size() != (uint64_t{t_.vocab_size()} + 1) * 4) {
      return check_.fail("token_begin does not hold vocab_size + 1 offsets");
    }
    const uint64_t trie_bytes = blob(fb::BlobName::trie)->size();
    const uint64_t units = trie_bytes / 4;
    if (trie_bytes % 1024 != 0 || units == 0 || units > 1u << (32 - kUnitBaseShift)) {
      return check_.fail("the trie's size is not a multiple of 256 units or too large");
    }
    const fb::Blob* roots = blob(fb::BlobName::roots);
    if (roots->size() != sizeof(LexiconRoots)) {
      return check_.fail("roots does not hold the trie's roots");
    }
    unit_count_ = static_cast<uint32_t>(units);
    roots_ = reinterpret_cast<const LexiconRoots*>(check_.data + roots->offset());
    return Status::kOk;
  }

  /// Firmware has only the mappings in the file. Their runs are checked when they are read.
  Status check_char_map() {
    const Normalization rules = rules_of(t_);
    if (!rules.lowercase && !rules.strip_accents) return Status::kOk;
    const fb::Blob* map = blob(fb::BlobName::char_map);
    if (map == nullptr || map->size() == 0) {
      return check_.fail("there is no map of code points", Status::kUnsupported);
    }
    if (check_.data[map->offset()] != kCharMapVersion) {
      return check_.fail("the version of char_map is not known", Status::kUnsupported);
    }
    return Status::kOk;
  }

  Status check_tokens() {
    const auto* begin = reinterpret_cast<const uint32_t*>(check_.data + blob(fb::BlobName::token_begin)->offset());
    if (begin[0] != 0 || begin[t_.vocab_size()] != blob(fb::BlobName::token_text)->size()) {
      return check_.fail("token_begin does not span token_text");
    }
    bool ascending = true;
    for (uint32_t id = 0; id < t_.vocab_size(); ++id) ascending = ascending && begin[id] <= begin[id + 1];
    return ascending ? Status::kOk : check_.fail("token_begin is not ascending");
  }

  Status check_units() {
    const auto* units = reinterpret_cast<const uint32_t*>(check_.data + blob(fb::BlobName::trie)->offset());
    for (uint32_t i = 0; i < unit_count_; ++i) {
      const uint32_t label = units[i] & 0xFF;
      if (label == kUnitValueLabel) continue;  // checked where a node refers to it
      if (label == 0) return check_.fail("a unit of the trie has label 0");
      const uint32_t payload = units[i] >> kUnitBaseShift;
      if ((units[i] & kUnitLeaf) != 0) {
        if (payload >= t_.vocab_size()) return check_.fail("a leaf of the trie is not a token");
        continue;
      }
      // The count is a multiple of 256, so base ^ byte is in range if base is.
      if (payload >= unit_count_) return check_.fail("a node of the trie leads outside it");
      if ((units[i] & kUnitAccept) != 0 && units[payload] >> kUnitValueShift >= t_.vocab_size()) {
        return check_.fail("a value of the trie is not a token");
      }
    }
    return Status::kOk;
  }

  Status check_roots() {
    if (roots_->version != kLexiconVersion) {
      return check_.fail("the trie's version is not known", Status::kUnsupported);
    }
    for (const uint32_t root : {roots_->vocabulary, roots_->continuation, roots_->added[0], roots_->added[1]}) {
      if (root >= unit_count_) return check_.fail("a root of the trie lies outside it");
    }
    if (roots_->longest[0] > kMaxAddedBytes || roots_->longest[1] > kMaxAddedBytes) {
      return check_.fail("an added token has more than 512 bytes");
    }
    if (!linked::kNormalizedTokens && roots_->longest[1] != 0) {
      return check_.fail("added tokens in normalised text are not linked", Status::kOpNotLinked);
    }
    return Status::kOk;
  }

  Status check_added() {
    const AddedTokens* added = t_.added_tokens();
    if (added == nullptr) {
      return (roots_->longest[0] | roots_->longest[1]) == 0
                 ? Status::kOk
                 : check_.fail("the trie matches added tokens, of which there are none");
    }
    uint64_t least = 0;
    for (uint32_t i = 0; i < added->size(); ++i) {
      const fb::AddedToken& token = *added->Get(i);
      if (token.id() >= t_.vocab_size()) return check_.fail("an added token's id is not a token");
      if (token.id() < least) return check_.fail("added tokens are not in ascending order of id");
      if (token.text()->size() == 0) return check_.fail("an added token is empty");
      if (!linked::kTokenEdges && (token.single_word() || token.lstrip() || token.rstrip())) {
        return check_.fail("what lies beside added tokens is not linked", Status::kOpNotLinked);
      }
      least = uint64_t{token.id()} + 1;
    }
    return Status::kOk;
  }

  Status check_template(const flatbuffers::Vector<const fb::TemplatePiece*>* pieces, bool pair) {
    if (pieces == nullptr) return check_.fail("a template is missing");
    if (pieces->size() > kMaxTemplate) return check_.fail("a template has more than 64 pieces");
    uint32_t texts[2] = {0, 0};
    for (uint32_t i = 0; i < pieces->size(); ++i) {
      const fb::TemplatePiece& piece = *pieces->Get(i);
      if (piece.segment() > 0x7FFFFFFF) return check_.fail("a template's segment is out of range");
      if (piece.token() == -1 && piece.sequence() == kFillPiece) {
        if constexpr (linked::kFill) {
          if (const Status status = check_fill(i + 1 == pieces->size()); status != Status::kOk) return status;
        } else {
          return check_.fail("templates that fill texts up are not linked", Status::kOpNotLinked);
        }
      } else if (piece.token() == -1) {
        if (piece.sequence() < 0 || piece.sequence() > 1) {
          return check_.fail("a template names a sequence other than 0 and 1");
        }
        ++texts[piece.sequence()];
      } else if (!check_.is_id(piece.token())) {
        return check_.fail("a template's token is not a token");
      }
    }
    if (texts[0] != 1 || texts[1] != (pair ? 1u : 0u)) {
      return check_.fail("a template does not hold each of its texts once");
    }
    return Status::kOk;
  }

  [[maybe_unused]] Status check_fill(bool is_last) {
    if (!is_last) return check_.fail("what fills a text up is not the template's last piece");
    if (t_.pad_id() < 0 || t_.max_length() == 0) {
      return check_.fail("texts are filled up with no token, or to no length");
    }
    // Labels require a template without a fill piece.
    return blob(fb::BlobName::word_split) == nullptr ? Status::kOk : check_.fail("texts with labels are filled up");
  }

  static constexpr uint32_t kMaxTemplate = 64;

  Check check_;
  const fb::Tokenizer& t_ = check_.tokenizer;
  uint32_t unit_count_ = 0;
  bool has_sequence_ = false;
  const LexiconRoots* roots_ = nullptr;
};

}  // namespace

Status verify_tokenizer(const fb::Tokenizer& tokenizer, const uint8_t* data, uint64_t data_size, Fault* fault) {
  return Verifier({tokenizer, data, data_size, fault}).run();
}

}  // namespace bantam::text
