#include "bantam/decode.h"

#include <string.h>

#include "linked.h"
#include "text/added_ids.h"
#include "text/decode_rules.h"
#include "text/tables.h"
#include "text/utf8.h"

#if BANTAM_IF_LINKED(Decode)

namespace bantam {
namespace text {

Status check_decoder(Check& check) {
  const fb::Blob* blob = find_blob(check.tokenizer, fb::BlobName::decoder);
  if (blob == nullptr) return Status::kOk;
  if (blob->size() < sizeof(DecodeRules)) return check.fail("the decoder is cut short");
  const auto& rules = *reinterpret_cast<const DecodeRules*>(check.data + blob->offset());
  if (rules.version != kDecoderVersion || rules.kind >= kDecodeKinds || rules.flags >= kDecodeFlagsEnd) {
    return check.fail("the decoder is of a kind that is not known", Status::kUnsupported);
  }
  if (rules.size > kMaxDecoderText || blob->size() - sizeof(DecodeRules) != rules.size) {
    return check.fail("the decoder's text is not of the size that it says");
  }
  return Status::kOk;
}

namespace {

constexpr char kBadCharacter[] = "\xEF\xBF\xBD";
constexpr int32_t kNoByte = -1;

/// Returns the byte that a letter represents in byte-level vocabularies, or kNoByte.
int32_t byte_of_letter(uint32_t code) {
  if ((code > 0x20 && code < 0x7F) || (code > 0xA0 && code <= 0xFF && code != 0xAD)) return static_cast<int32_t>(code);
  if (code < 0x100 || code > 0x143) return kNoByte;
  const uint32_t place = code - 0x100;  // index among the bytes that do not represent themselves
  if (place == 0x43) return 0xAD;
  return static_cast<int32_t>(place <= 0x20 ? place : place + 0x7F - 0x21);
}

int32_t hex_digit(uint8_t c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : kNoByte;
}

/// A token as stored in the file.
struct TokenBytes {
  const uint8_t* bytes = nullptr;
  uint32_t size = 0;
  bool own = false;  // a token of the model; else an added token, whose text was stored unchanged

  bool begins_with(uint32_t at, const void* text, uint32_t length) const {
    return size - at >= length && memcmp(bytes + at, text, length) == 0;
  }
  /// Returns the byte that "<0x0A>" represents, or kNoByte.
  int32_t fallback() const {
    if (size != 6 || !begins_with(0, "<0x", 3) || bytes[5] != '>') return kNoByte;
    const int32_t high = hex_digit(bytes[3]);
    const int32_t low = hex_digit(bytes[4]);
    return high < 0 || low < 0 ? kNoByte : high * 16 + low;
  }
};

struct Cleaned {
  const char* from;  // begins with a blank
  uint32_t from_size;
  const char* to;
  uint32_t to_size;
};
constexpr Cleaned kCleaned[] = {{" .", 2, ".", 1},     {" ?", 2, "?", 1},           {" !", 2, "!", 1},
                                {" ,", 2, ",", 1},     {" ' ", 3, "'", 1},          {" n't", 4, "n't", 3},
                                {" 'm", 3, "'m", 2},   {" do not", 7, " don't", 6}, {" 's", 3, "'s", 2},
                                {" 've", 4, "'ve", 3}, {" 're", 4, "'re", 3}};

/// Classifies bytes[0, size), where bytes[0, size - 1) are the beginning of a character.
enum class Judgement { kCharacter, kBeginning, kNothing };
Judgement judge(const uint8_t* bytes, uint32_t size) {
  const bool lead = bytes[0] < 0x80 || (bytes[0] >= 0xC2 && bytes[0] <= 0xF4);
  if (!lead || decode_utf8(bytes, size).size != size) return Judgement::kNothing;
  return size == code_size(bytes[0]) ? Judgement::kCharacter : Judgement::kBeginning;
}

}  // namespace
}  // namespace text

/// The implementation of TextDecoder.
struct DecoderAccess {
  TextDecoder& d;

  const fb::Tokenizer& table() const { return *static_cast<const fb::Tokenizer*>(d.table_); }
  bool has(uint32_t flag) const { return (d.flags_ & flag) != 0; }
  Status read_rules() {
    const fb::TokenModel& model = *table().model();
    text::DecodeRules rules = text::usual_rules(model.kind(), (model.traits() & text::kCodePoints) != 0);
    if (const fb::Blob* blob = text::find_blob(table(), fb::BlobName::decoder); blob != nullptr) {
      memcpy(&rules, d.data_ + blob->offset(), sizeof(rules));
      d.text_ = d.data_ + blob->offset() + sizeof(rules);
      d.text_size_ = rules.size;
    } else if (rules.kind == text::kDecodeWordPiece && model.continuing_prefix() != nullptr) {
      d.text_ = reinterpret_cast<const uint8_t*>(model.continuing_prefix()->c_str());
      d.text_size_ = model.continuing_prefix()->size();
    }
    d.kind_ = rules.kind;
    d.flags_ = rules.flags;
    d.strip_ = rules.strip;
    return rules.kind == text::kDecodeNot ? Status::kUnsupported : Status::kOk;
  }
  void set_broken(bool broken) { d.broken_ = broken; }

  void put(const void* bytes, uint32_t size) {
    const char* from = static_cast<const char*>(bytes);
    while (d.strip_ > 0 && size > 0) {
      d.strip_ = *from == ' ' ? d.strip_ - 1 : 0;
      if (*from != ' ') break;
      ++from;
      --size;
    }
    if (size > 0) d.write_(d.target_, from, size);
  }
  void put_bad() { put(text::kBadCharacter, 3); }

  /// Takes one byte of the text, and writes characters once they are complete.
  void put_byte(uint8_t byte) {
    if (d.broken_) return put_bad();
    for (bool again = true; again;) {
      d.pending_[d.pending_size_++] = byte;
      const text::Judgement is = text::judge(d.pending_, d.pending_size_);
      if (is == text::Judgement::kBeginning) return;
      if (is == text::Judgement::kCharacter) {
        put(d.pending_, d.pending_size_);
        d.pending_size_ = 0;
        return;
      }
      // The pending bytes are not a character; the new byte may begin another one.
      again = d.pending_size_ > 1;
      if (again) --d.pending_size_;
      end_bytes();
    }
  }
  /// Writes U+FFFD for pending bytes that did not form a character: one for all or, with byte fallback, one for each.
  void end_bytes() {
    const bool one = d.kind_ == text::kDecodeBytes && d.pending_size_ > 0;
    for (uint32_t i = one ? 1 : d.pending_size_; i > 0; --i) put_bad();
    d.pending_size_ = 0;
  }

  /// Returns false for ids outside the vocabulary, and for special tokens that are skipped.
  bool find(int32_t id, text::TokenBytes* out) const {
    if (id < 0 || static_cast<uint32_t>(id) >= table().vocab_size()) return false;
    const auto number = static_cast<uint32_t>(id);
    if (const fb::AddedToken* added = text::find_added(table(), number); added != nullptr) {
      *out = {reinterpret_cast<const uint8_t*>(added->text()->c_str()), added->text()->size(), false};
      return !added->special() || !d.skip_special_;
    }
    const text::Lexicon lexicon = text::lexicon_of(table(), d.data_);
    *out = {lexicon.text + lexicon.begin[number], lexicon.begin[number + 1] - lexicon.begin[number], true};
    return out->size > 0;
  }

  void put_bytes(const text::TokenBytes& token) {
    bool letters = !token.own;
    for (uint32_t at = 0; letters && at < token.size;) {
      const text::CodePoint c = text::decode_utf8(token.bytes + at, token.size - at);
      letters = text::byte_of_letter(c.code) != text::kNoByte;
      at += c.size;
    }
    const bool ends = ends_word(token);
    for (uint32_t at = 0; at < token.size - (ends ? 1u : 0u);) {
      const text::CodePoint c = text::decode_utf8(token.bytes + at, token.size - at);
      put_byte(letters ? static_cast<uint8_t>(text::byte_of_letter(c.code)) : token.bytes[at]);
      at += letters ? c.size : 1;
    }
    for (uint32_t at = 0; ends && at < d.text_size_; ++at) put_byte(d.text_[at]);
  }

  /// Returns true if the token's last byte is an end mark.
  bool ends_word(const text::TokenBytes& token) const {
    return has(text::kDecodeEndMarks) && token.own && token.size > 1 && token.bytes[token.size - 1] == text::kEndMark;
  }

  void put_word(const text::TokenBytes& token) {
    const bool continues = d.begun_ && d.text_size_ > 0 && token.begins_with(0, d.text_, d.text_size_);
    uint32_t done = continues ? d.text_size_ : 0;
    if (d.begun_ && !continues && !loses_blank(token)) put(" ", 1);
    for (uint32_t at = done; has(text::kDecodeCleans) && at < token.size;) {
      const text::Cleaned* found = nullptr;
      for (const text::Cleaned& rule : text::kCleaned) {
        if (found == nullptr && token.begins_with(at, rule.from, rule.from_size)) found = &rule;
      }
      if (found != nullptr) {
        put(token.bytes + done, at - done);
        put(found->to, found->to_size);
        done = at + found->from_size;
      }
      at += found == nullptr ? 1 : found->from_size;
    }
    put(token.bytes + done, token.size - done);
  }
  bool loses_blank(const text::TokenBytes& token) const {
    bool found = false;
    for (const text::Cleaned& rule : text::kCleaned) {
      const bool shorter = rule.to_size + 1 == rule.from_size && rule.to[0] != ' ';
      found = found || (shorter && token.begins_with(0, rule.to, rule.to_size));
    }
    return found && has(text::kDecodeCleans);
  }

  void put_piece(const text::TokenBytes& token) {
    if (has(text::kDecodeByteFallback)) {
      const int32_t byte = token.fallback();
      if (byte != text::kNoByte) return put_byte(static_cast<uint8_t>(byte));
      end_bytes();
    }
    // The model's tokens contain blanks instead of marks if its splitter uses blanks.
    const bool blanks = token.own && table().splitters()->Get(0)->kind() == fb::SplitterKind::metaspace;
    const bool drops = !d.begun_ && has(text::kDecodeDropsFirst);
    uint32_t done = 0;
    for (uint32_t at = 0; at < token.size;) {
      const text::CodePoint c = text::decode_utf8(token.bytes + at, token.size - at);
      if (c.code == text::kMetaspace || (blanks && c.code == ' ')) {
        put(token.bytes + done, at - done);
        if (!has(text::kDecodeMarks)) {
          put("\xE2\x96\x81", 3);
        } else if (!drops) {
          put(" ", 1);
        }
        done = at + c.size;
      }
      at += c.size;
    }
    put(token.bytes + done, token.size - done);
  }

  /// Writes the token that was held back, if any; `last`: no token follows.
  void put_held(bool last) {
    text::TokenBytes token;
    if (d.held_ < 0 || !find(d.held_, &token)) return;
    d.held_ = -1;
    const bool ends = ends_word(token);
    if (ends) --token.size;
    uint32_t done = 0;
    for (uint32_t at = 0; d.text_size_ > 0 && at < token.size;) {
      const bool found = token.begins_with(at, d.text_, d.text_size_);
      if (found) {
        put(token.bytes + done, at - done);
        if (!last) put(" ", 1);
        done = at + d.text_size_;
      }
      at += found ? d.text_size_ : 1;
    }
    put(token.bytes + done, token.size - done);
    if (ends && !last) put(" ", 1);
  }

  void add(int32_t id) {
    text::TokenBytes token;
    if (!find(id, &token)) return;
    switch (d.kind_) {
      case text::kDecodeBytes:
        put_bytes(token);
        break;
      case text::kDecodeWordPiece:
        put_word(token);
        break;
      case text::kDecodeSuffix:
        put_held(false);
        d.held_ = id;
        break;
      case text::kDecodePieces:
        put_piece(token);
        break;
      default:
        if (d.begun_) put(" ", 1);
        put(token.bytes, token.size);
    }
    d.begun_ = true;
  }

  /// Returns the end of the run of byte tokens that begins at ids[begin), and sets *whole if the run is valid UTF-8.
  size_t run_end(const int32_t* ids, size_t begin, size_t count, bool* whole) const {
    uint8_t kept[4];
    uint32_t size = 0;
    size_t at = begin;
    *whole = true;
    for (; at < count; ++at) {
      text::TokenBytes token;
      if (!find(ids[at], &token)) continue;
      const int32_t byte = token.fallback();
      if (byte == text::kNoByte) break;
      kept[size++] = static_cast<uint8_t>(byte);
      const text::Judgement is = text::judge(kept, size);
      *whole = *whole && is != text::Judgement::kNothing;
      if (is != text::Judgement::kBeginning) size = 0;
    }
    *whole = *whole && size == 0;
    return at;
  }
};

namespace {

struct Buffer {
  char* out;
  size_t capacity;
  size_t size;

  static void write(void* target, const char* bytes, size_t size) {
    auto& buffer = *static_cast<Buffer*>(target);
    if (buffer.size < buffer.capacity) {
      const size_t room = buffer.capacity - buffer.size;
      memcpy(buffer.out + buffer.size, bytes, size < room ? size : room);
    }
    buffer.size += size;
  }
};

}  // namespace

Status TextDecoder::open(const Tokenizer& tokenizer, bool skip_special, Write write, void* target, TextDecoder* out) {
  if (write == nullptr || out == nullptr) return Status::kInvalidArgument;
  if (!linked::kDecode) return Status::kOpNotLinked;
  const fb::Tokenizer* table = text::table_of(tokenizer);
  if (table == nullptr) return Status::kNoTokenizer;
  *out = {};
  out->table_ = table;
  out->data_ = text::data_of(tokenizer);
  out->write_ = write;
  out->target_ = target;
  out->skip_special_ = skip_special;
  return DecoderAccess{*out}.read_rules();
}

void TextDecoder::add(int32_t id) {
  if (table_ != nullptr) DecoderAccess{*this}.add(id);
}

uint32_t TextDecoder::missing() const { return pending_size_ == 0 ? 0 : text::code_size(pending_[0]) - pending_size_; }

void TextDecoder::finish() {
  if (table_ == nullptr) return;
  DecoderAccess access{*this};
  access.put_held(true);
  access.end_bytes();
}

Status decode(const Tokenizer& tokenizer, const int32_t* ids, size_t count, bool skip_special, char* out,
              size_t capacity, size_t* size) {
  if ((ids == nullptr && count > 0) || (out == nullptr && capacity > 0) || size == nullptr) {
    return Status::kInvalidArgument;
  }
  Buffer buffer = {out, capacity, 0};
  TextDecoder decoder;
  const Status status = TextDecoder::open(tokenizer, skip_special, Buffer::write, &buffer, &decoder);
  if (status != Status::kOk) return status;
  DecoderAccess access{decoder};
  size_t run = 0;
  for (size_t at = 0; at < count; ++at) {
    // Byte tokens are decoded as a run: if the run is not valid UTF-8, each byte becomes U+FFFD.
    if (access.has(text::kDecodeByteFallback) && at >= run) {
      bool whole = true;
      run = access.run_end(ids, at, count, &whole);
      access.set_broken(!whole);
      if (run == at) ++run;
    }
    decoder.add(ids[at]);
  }
  decoder.finish();
  *size = buffer.size;
  return buffer.size <= capacity ? Status::kOk : Status::kBufferTooSmall;
}

}  // namespace bantam

#endif  // BANTAM_IF_LINKED(Decode)
