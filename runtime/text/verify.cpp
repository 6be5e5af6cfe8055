#include "text/verify.h"

#include "linked.h"
#include "text/char_map.h"
#include "text/lexicon.h"
#include "text/tables.h"

namespace bantam::text {
namespace {

class Verifier {
 public:
  Verifier(const fb::Tokenizer& tokenizer, const uint8_t* data, uint64_t data_size, Fault* fault)
      : t_(tokenizer), data_(data), data_size_(data_size), fault_(fault) {}

  Status run() {
    if (t_.kind() != fb::TokenizerKind::wordpiece) {
      return fail("only WordPiece tokenizers are executed by this version", Status::kUnsupported);
    }
    if (t_.max_word_chars() > kMaxWordChars) {
      return fail("max_word_chars is larger than this build takes", Status::kUnsupported);
    }
    if (t_.vocab_size() == 0 || t_.vocab_size() > kMaxVocabulary) {
      return fail("vocab_size is zero or more than 4194304");
    }
    if (!is_id(t_.unknown_id())) return fail("unknown_id is not a token");
    if (static_cast<uint8_t>(t_.truncation()) > static_cast<uint8_t>(fb::Truncation::none)) {
      return fail("truncation is not a known strategy");
    }
    for (const int32_t id : {t_.pad_id(), t_.cls_id(), t_.sep_id(), t_.mask_id()}) {
      if (id != -1 && !is_id(id)) return fail("a special id is not a token");
    }
    if (const Status status = check_blobs(); status != Status::kOk) return status;
    if (const Status status = check_tokens(); status != Status::kOk) return status;
    if (const Status status = check_units(); status != Status::kOk) return status;
    if (const Status status = check_words(); status != Status::kOk) return status;
    if (const Status status = check_added(); status != Status::kOk) return status;
    if (const Status status = check_template(t_.single(), false); status != Status::kOk) return status;
    return check_template(t_.pair(), true);
  }

 private:
  bool is_id(int32_t id) const { return id >= 0 && static_cast<uint32_t>(id) < t_.vocab_size(); }

  /// Inlined so that an image without the sentences holds none of them.
  [[gnu::always_inline]] Status fail(const char* what, Status status = Status::kCorrupt) {
    return report(linked::kFaultText ? what : "", status);
  }

  Status report(const char* what, Status status) {
    if (fault_ != nullptr) {
      *fault_ = Fault{};
      fault_->what = what;
      if (t_.name() != nullptr) {
        fault_->name = t_.name()->c_str();
        fault_->name_size = t_.name()->size();
      }
    }
    return status;
  }

  bool lies_inside(const fb::Blob* blob) const {
    return blob != nullptr && blob->segment() == 0 && blob->offset() % 4 == 0 && blob->offset() <= data_size_ &&
           blob->size() <= data_size_ - blob->offset();
  }

  Status check_blobs() {
    if (!lies_inside(t_.token_text()) || !lies_inside(t_.token_begin()) || !lies_inside(t_.trie()) ||
        !lies_inside(t_.trie_aux())) {
      return fail("a table lies outside the data section or is not aligned");
    }
    if (t_.token_begin()->size() != (uint64_t{t_.vocab_size()} + 1) * 4) {
      return fail("token_begin does not hold vocab_size + 1 offsets");
    }
    const uint64_t units = t_.trie()->size() / 4;
    if (t_.trie()->size() % 1024 != 0 || units == 0 || units > 1u << (32 - kUnitBaseShift)) {
      return fail("the trie's size is not a multiple of 256 units or too large");
    }
    if (t_.trie_aux()->size() < sizeof(LexiconRoots)) return fail("trie_aux does not hold the trie's roots");
    if constexpr (kSmall) {
      if (const Status status = check_char_map(); status != Status::kOk) return status;
    }
    unit_count_ = static_cast<uint32_t>(units);
    return Status::kOk;
  }

  /// Firmware has no other mappings than the file's. Their runs are judged where they are read.
  Status check_char_map() {
    if (!t_.lowercase() && !t_.strip_accents()) return Status::kOk;
    if (t_.charsmap() == nullptr || t_.charsmap()->size() == 0) {
      return fail("there is no map of code points (`bantam firmware` adds it)", Status::kUnsupported);
    }
    if (!lies_inside(t_.charsmap())) return fail("charsmap lies outside the data section or is not aligned");
    if (data_[t_.charsmap()->offset()] != kCharMapVersion) {
      return fail("the version of charsmap is not known", Status::kUnsupported);
    }
    return Status::kOk;
  }

  Status check_tokens() {
    const uint32_t* begin = reinterpret_cast<const uint32_t*>(data_ + t_.token_begin()->offset());
    if (begin[0] != 0 || begin[t_.vocab_size()] != t_.token_text()->size()) {
      return fail("token_begin does not span token_text");
    }
    bool ascending = true;
    for (uint32_t id = 0; id < t_.vocab_size(); ++id) ascending = ascending && begin[id] <= begin[id + 1];
    return ascending ? Status::kOk : fail("token_begin is not ascending");
  }

  Status check_units() {
    const uint32_t* units = reinterpret_cast<const uint32_t*>(data_ + t_.trie()->offset());
    for (uint32_t i = 0; i < unit_count_; ++i) {
      const uint32_t label = units[i] & 0xFF;
      if (label == kUnitValueLabel) continue;  // checked where a node leads to it
      if (label == 0) return fail("a unit of the trie has label 0");
      const uint32_t payload = units[i] >> kUnitBaseShift;
      if ((units[i] & kUnitLeaf) != 0) {
        if (payload >= t_.vocab_size()) return fail("a leaf of the trie is not a token");
        continue;
      }
      // The count is a multiple of 256, so base ^ byte is in range when base is.
      if (payload >= unit_count_) return fail("a node of the trie leads outside it");
      if ((units[i] & kUnitAccept) != 0 && units[payload] >> kUnitValueShift >= t_.vocab_size()) {
        return fail("a value of the trie is not a token");
      }
    }
    const LexiconRoots& roots = *reinterpret_cast<const LexiconRoots*>(data_ + t_.trie_aux()->offset());
    if (roots.version != kLexiconVersion) {
      return fail("the trie's version is not known", Status::kUnsupported);
    }
    for (const uint32_t root : {roots.vocabulary, roots.continuation, roots.added[0], roots.added[1]}) {
      if (root >= unit_count_) return fail("a root of the trie lies outside it");
    }
    const uint32_t prefix = t_.continuing_prefix() == nullptr ? 0 : t_.continuing_prefix()->size();
    if (roots.prefix_size != prefix) return fail("the trie was made for another continuing_prefix");
    if (roots.longest[0] > kMaxAddedBytes || roots.longest[1] > kMaxAddedBytes) {
      return fail("an added token has more than 512 bytes");
    }
    any_added_ = (roots.longest[0] | roots.longest[1]) != 0;
    if (!linked::kNormalizedTokens && roots.longest[1] != 0) {
      return fail("added tokens in normalised text are not linked", Status::kOpNotLinked);
    }
    return Status::kOk;
  }

  Status check_words() {
    const uint64_t size = t_.trie_aux()->size();
    if (kSmall || size == sizeof(LexiconRoots)) return Status::kOk;  // firmware does not read it
    const uint8_t* aux = data_ + t_.trie_aux()->offset();
    if (size < word_table_end(0, 1)) return fail("the table of words is cut short");
    if (load_u32(aux + sizeof(LexiconRoots)) > kMaxBucketBits) return fail("the table of words has too many buckets");
    if (reinterpret_cast<uintptr_t>(aux) % alignof(WordSlot) != 0) return fail("the table of words is not aligned");
    const uint32_t home_count = load_u32(aux + sizeof(LexiconRoots) + 4);
    if (home_count == 0 || size != word_table_end(load_u32(aux + sizeof(LexiconRoots)), home_count)) {
      return fail("the table of words is not of the size that it says");
    }
    return Status::kOk;  // ids are judged where a word leads to them
  }

  Status check_added() {
    const AddedTokens* added = t_.added_tokens();
    if (added == nullptr)
      return any_added_ ? fail("the trie matches added tokens, of which there are none") : Status::kOk;
    uint64_t least = 0;
    for (uint32_t i = 0; i < added->size(); ++i) {
      const fb::AddedToken& token = *added->Get(i);
      if (token.id() >= t_.vocab_size()) return fail("an added token's id is not a token");
      if (token.id() < least) return fail("added tokens are not in ascending order of id");
      if (token.text()->size() == 0) return fail("an added token is empty");
      if (!linked::kTokenEdges && (token.single_word() || token.lstrip() || token.rstrip())) {
        return fail("what lies beside added tokens is not linked", Status::kOpNotLinked);
      }
      least = uint64_t{token.id()} + 1;
    }
    return Status::kOk;
  }

  Status check_template(const flatbuffers::Vector<const fb::TemplatePiece*>* pieces, bool pair) {
    if (pieces == nullptr) return fail("a template is missing");
    if (pieces->size() > kMaxTemplate) return fail("a template has more than 64 pieces");
    uint32_t texts[2] = {0, 0};
    for (uint32_t i = 0; i < pieces->size(); ++i) {
      const fb::TemplatePiece& piece = *pieces->Get(i);
      if (piece.segment() > 0x7FFFFFFF) return fail("a template's segment is out of range");
      if (piece.token() == -1) {
        if (piece.sequence() < 0 || piece.sequence() > 1) return fail("a template names a sequence other than 0 and 1");
        ++texts[piece.sequence()];
      } else if (!is_id(piece.token())) {
        return fail("a template's token is not a token");
      }
    }
    if (texts[0] != 1 || texts[1] != (pair ? 1u : 0u)) {
      return fail("a template does not hold each of its texts once");
    }
    return Status::kOk;
  }

  static constexpr uint32_t kMaxTemplate = 64;

  const fb::Tokenizer& t_;
  const uint8_t* data_;
  const uint64_t data_size_;
  Fault* fault_;
  uint32_t unit_count_ = 0;
  bool any_added_ = false;
};

}  // namespace

Status verify_tokenizer(const fb::Tokenizer& tokenizer, const uint8_t* data, uint64_t data_size, Fault* fault) {
  return Verifier(tokenizer, data, data_size, fault).run();
}

}  // namespace bantam::text
