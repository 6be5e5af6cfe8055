// Reads spiece.model and similar files as transformers' tokenizers of SentencePiece models do.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <set>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "text/bpe.h"
#include "text/utf8.h"
#include "tokenizer/normal_tables.h"
#include "tokenizer/sentencepiece_model.h"
#include "tokenizer/tokenizer.h"
#include "tokenizer/tokenizer_source.h"

namespace bantam::convert {
namespace {

/// The families whose settings a SentencePiece model may have.
enum class SpmKin {
  kXlmRoberta,
  kCamembert,
  kAlbert,
  kT5,
  kXlnet,
  kDeberta,
  kLlama,
  kMarian,
  kM2m,
  kSiglip,
  kReformer,
  kUnknown,
  kOther
};

struct SpmName {
  std::string_view tokenizer;  // tokenizer_class
  std::string_view model;      // model_type of config.json
  SpmKin kin;
};
constexpr std::array<SpmName, 17> kSpmNames = {{{"XLMRobertaTokenizer", "xlm-roberta", SpmKin::kXlmRoberta},
                                                {"XLMRobertaTokenizer", "xlm-roberta-xl", SpmKin::kXlmRoberta},
                                                {"CamembertTokenizer", "camembert", SpmKin::kCamembert},
                                                {"AlbertTokenizer", "albert", SpmKin::kAlbert},
                                                {"T5Tokenizer", "t5", SpmKin::kT5},
                                                {"T5Tokenizer", "mt5", SpmKin::kT5},
                                                {"MT5Tokenizer", "umt5", SpmKin::kT5},
                                                {"XLNetTokenizer", "xlnet", SpmKin::kXlnet},
                                                {"DebertaV2Tokenizer", "deberta-v2", SpmKin::kDeberta},
                                                {"DebertaV2Tokenizer", "deberta-v3", SpmKin::kDeberta},
                                                {"LlamaTokenizer", "llama", SpmKin::kLlama},
                                                {"LlamaTokenizer", "mistral", SpmKin::kLlama},
                                                {"MarianTokenizer", "marian", SpmKin::kMarian},
                                                {"M2M100Tokenizer", "m2m_100", SpmKin::kM2m},
                                                {"SiglipTokenizer", "siglip", SpmKin::kSiglip},
                                                {"SiglipTokenizer", "siglip_text_model", SpmKin::kSiglip},
                                                {"ReformerTokenizer", "reformer", SpmKin::kReformer}}};

/// The languages of M2M-100, whose tokens follow the vocabulary in this order; below, those of its WMT 2021 students.
constexpr std::string_view kM2mLanguages =
    "af am ar ast az ba be bg bn br bs ca ceb cs cy da de el en es et fa ff fi fr fy ga gd gl gu ha he hi "
    "hr ht hu hy id ig ilo is it ja jv ka kk km kn ko lb lg ln lo lt lv mg mk ml mn mr ms my ne nl no ns "
    "oc or pa pl ps pt ro ru sd si sk sl so sq sr ss su sv sw ta th tl tn tr uk ur uz vi wo xh yi yo zh "
    "zu";
constexpr std::string_view kWmtLanguages = "en ha is ja cs ru zh de";

/// A special token: a string, or an object with "content".
std::string token_of(const Json& json) {
  const Json& content = json.is_object() ? member(json, "content") : json;
  return content.is_string() ? content.get<std::string>() : std::string();
}

std::string string_of(const Json& json) { return json.is_string() ? json.get<std::string>() : std::string(); }

bool truth(const Json& config, const char* key, bool otherwise) {
  const Json& value = member(config, key);
  return value.is_boolean() ? value.get<bool>() : otherwise;
}

class SpmReader {
 public:
  SpmReader(const SentencePieceFile& file, const Json& config, TokenizerSource& source, ProblemList& problems)
      : file_(file), config_(config), source_(source), problems_(problems) {}

  void read() {
    source_.file = file_.name;
    try {
      model_ = file_.read ? *file_.read : parse_sentencepiece(file_.bytes);
    } catch (const std::invalid_argument& error) {
      problems_.push_back(fmt::format("{}: {}", file_.name, error.what()));
      return;
    }
    kin_ = kin();
    check();
    if (!problems_.empty()) return;
    if (is_numbered()) {
      read_numbered_pieces();
    } else {
      read_pieces();
    }
    if (!problems_.empty()) return;
    if (kin_ == SpmKin::kLlama) {
      read_merges_of_pieces();
      read_llama_words();
    } else if (kin_ == SpmKin::kSiglip) {
      read_canonical_words();
    } else {
      if (model_.type == SentencePieceModel::kBpe) read_merges_of_pieces();
      read_words();
    }
    if (!truth(config_, "add_prefix_space", true)) {  // there is no space to remove
      const uint32_t fallback = kin_ == SpmKin::kLlama ? text::kDecodeByteFallback : 0u;
      set_decoder(source_, text::kDecodePieces, text::kDecodeMarks | fallback);
    }
    read_specials();
    read_templates();
  }

 private:
  void unsupported(const std::string& field, const std::string& what) {
    ++source_.unsupported;
    problems_.push_back(fmt::format("{}: {}: {}; {}", file_.name, field, what, kWithoutTokenizer));
  }

  bool has(const std::string& piece) const {
    const auto is = [&piece](const SentencePiece& p) { return p.text == piece; };
    return std::any_of(model_.pieces.begin(), model_.pieces.end(), is);
  }

  SpmKin kin() const {
    if (file_.numbers.is_object()) {
      return file_.model_type.rfind("marian", 0) == 0 ? SpmKin::kMarian : SpmKin::kM2m;
    }
    std::string name = string_of(member(config_, "tokenizer_class"));
    if (name.size() > 4 && name.compare(name.size() - 4, 4, "Fast") == 0) name.resize(name.size() - 4);
    for (const SpmName& known : kSpmNames) {
      if (name == known.tokenizer) return known.kin;
    }
    const bool says = !name.empty() && name != "PreTrainedTokenizer" && name != "TokenizersBackend";
    if (says) return SpmKin::kOther;
    for (const SpmName& known : kSpmNames) {
      if (file_.model_type == known.model) return known.kin;
    }
    // If the directory does not say, the special pieces determine the family.
    if (file_.name == "sentencepiece.bpe.model") return SpmKin::kXlmRoberta;
    if (has("[CLS]") && has("[SEP]")) return has("[UNK]") ? SpmKin::kDeberta : SpmKin::kAlbert;
    if (has("<sep>") && has("<cls>")) return SpmKin::kXlnet;
    const bool t5 = model_.pieces.size() > 2 && model_.pieces[0].text == "<pad>" && model_.pieces[1].text == "</s>";
    if (model_.type == SentencePieceModel::kBpe) return SpmKin::kLlama;
    return t5 ? SpmKin::kT5 : SpmKin::kUnknown;
  }

  /// Returns true if a vocabulary beside the model numbers the pieces.
  bool is_numbered() const { return kin_ == SpmKin::kMarian || kin_ == SpmKin::kM2m; }

  void check() {
    if (kin_ == SpmKin::kOther) {
      ++source_.unsupported;
      problems_.push_back(
          fmt::format("tokenizer_config.json: tokenizer_class: \"{}\" is not supported from {}; save the tokenizer "
                      "with transformers so "
                      "that the directory has a tokenizer.json",
                      string_of(member(config_, "tokenizer_class")), file_.name));
    }
    if (model_.pieces.empty()) {
      problems_.push_back(fmt::format("{}: pieces: there are none; is this a SentencePiece model?", file_.name));
    }
    constexpr std::array<const char*, 5> kTypes = {"of another kind", "Unigram", "BPE", "Word", "Char"};
    if (kin_ == SpmKin::kM2m && !file_.numbers.is_object()) {
      problems_.push_back(
          fmt::format("{}: M2M100Tokenizer has a vocab.json beside it, which numbers its pieces; add it", file_.name));
    }
    const bool merges = kin_ == SpmKin::kLlama || kin_ == SpmKin::kReformer;
    const bool either = kin_ == SpmKin::kM2m && model_.type == SentencePieceModel::kBpe;
    if (!either && model_.type != (merges ? SentencePieceModel::kBpe : SentencePieceModel::kUnigram)) {
      const bool known = model_.type >= 0 && model_.type < 5;
      unsupported(
          "trainer_spec.model_type",
          fmt::format("is {}; this version takes BPE with LlamaTokenizer and ReformerTokenizer, Unigram with others",
                      known ? kTypes.at(static_cast<size_t>(model_.type)) : kTypes[0]));
    } else if (kin_ == SpmKin::kUnknown) {
      ++source_.unsupported;
      problems_.push_back(fmt::format(
          "{}: it does not say where its special tokens go; name tokenizer_class in tokenizer_config.json: {} or {}",
          file_.name,
          "XLMRobertaTokenizer, CamembertTokenizer, AlbertTokenizer, T5Tokenizer, XLNetTokenizer, DebertaV2Tokenizer, "
          "SiglipTokenizer, M2M100Tokenizer (with vocab.json)",
          "LlamaTokenizer and ReformerTokenizer (BPE)"));
    }
    if (model_.blanks_end_words) unsupported("trainer_spec.treat_whitespace_as_suffix", "true is not supported");
    if (!model_.escape_blanks) unsupported("normalizer_spec.escape_whitespaces", "false is not supported");
    if (!model_.charsmap.empty() && !is_charsmap(model_.charsmap)) {
      problems_.push_back(
          fmt::format("{}: normalizer_spec.precompiled_charsmap: is not of the size that its first four "
                      "bytes say; the file is damaged",
                      file_.name));
    }
    if (kin_ == SpmKin::kDeberta && truth(config_, "split_by_punct", false)) {
      unsupported("split_by_punct", "true (tokenizer_config.json) is not supported");
    }
    for (size_t i = 0; i < model_.pieces.size(); ++i) {
      if (std::isfinite(model_.pieces[i].score)) continue;
      problems_.push_back(
          fmt::format("{}: pieces[{}].score: is not a finite number; the file is damaged", file_.name, i));
      return;
    }
  }

  void token(const std::string& text, double score) {
    source_.vocabulary.emplace_back(text, static_cast<int64_t>(source_.vocabulary.size()));
    source_.scores.push_back(score);
  }

  /// The fairseq ids of XLM-R and CamemBERT come before the pieces; tokens added in training come after them.
  void read_pieces() {
    const bool merges = kin_ == SpmKin::kLlama || kin_ == SpmKin::kReformer;
    source_.model.kind = merges ? fb::TokenModelKind::bpe : fb::TokenModelKind::unigram;
    if (merges) source_.model.traits = text::kCodePoints | text::kFuseUnknown;
    size_t from = 0;
    if (kin_ == SpmKin::kXlmRoberta) {
      for (const char* text : {"<s>", "<pad>", "</s>", "<unk>"}) token(text, 0);
      from = 3;
    }
    if (kin_ == SpmKin::kCamembert) {
      for (const char* text : {"<s>NOTUSED", "<pad>", "</s>NOTUSED", "<unk>"}) token(text, 0);
      token("<unk>NOTUSED", -100);
      from = 1;
    }
    for (; from < model_.pieces.size(); ++from) {
      const SentencePiece& piece = model_.pieces[from];
      token(piece.text, static_cast<double>(piece.score) - (is_avoided(piece.text) ? kAvoided : 0));
    }
    if (kin_ == SpmKin::kXlmRoberta || kin_ == SpmKin::kCamembert) token("<mask>", 0);
    if (kin_ != SpmKin::kT5) return;
    const Json& extra = member(config_, "extra_ids");
    const bool given = extra.is_number_unsigned() && extra.get<uint64_t>() <= kMostExtra;
    const auto count = static_cast<uint32_t>(given ? extra.get<uint64_t>() : kUsualExtra);
    for (uint32_t i = count; i-- > 0;) {
      const std::string text = fmt::format("<extra_id_{}>", i);
      if (!has(text)) token(text, 0);
    }
  }

  /// A vocabulary numbers the pieces; Marian's numbers those of two models and languages. A token of the other model
  /// occurs in this model's texts only if it is a code point that this one does not know, because the tokenizers of
  /// both look that up, too. Pieces without a number are unknown.
  void read_numbered_pieces() {
    const bool bpe = model_.type == SentencePieceModel::kBpe;
    source_.model.kind = bpe ? fb::TokenModelKind::bpe : fb::TokenModelKind::unigram;
    if (bpe) source_.model.traits = text::kCodePoints | text::kFuseUnknown;
    source_.byte_fallback = is_of_marian_itself() && model_.byte_fallback;
    const uint32_t bytes = source_.byte_fallback ? text::kDecodeByteFallback : 0u;
    // SentencePiece removes all spaces at the start of a decoded text.
    set_decoder(source_, text::kDecodePieces, text::kDecodeMarks | bytes, "",
                model_.add_dummy_prefix || !is_of_marian_itself() ? kAllBlanks : 0);
    read_vocabulary_object(file_.numbers, "vocabulary", source_, problems_);
    auto& vocabulary = source_.vocabulary;
    std::sort(vocabulary.begin(), vocabulary.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    std::unordered_map<std::string_view, double> scores;
    double least = 0;
    for (const SentencePiece& piece : model_.pieces) {
      const bool normal = piece.kind == SentencePiece::kNormal;
      if (normal) least = std::min(least, static_cast<double>(piece.score));
      const bool read = normal || piece.kind == SentencePiece::kUserDefined;
      if (read) scores.emplace(piece.text, static_cast<double>(piece.score));
    }
    std::set<std::string_view> numbered;
    for (size_t i = 0; i < vocabulary.size(); ++i) {
      const std::string& text = vocabulary[i].first;
      if (vocabulary[i].second != static_cast<int64_t>(i)) {
        problems_.push_back(
            fmt::format("{}: number {} is missing or given twice; is the file complete?", file_.name, i));
        return;
      }
      const auto found = scores.find(text);
      numbered.insert(text);
      const bool code = !text.empty() && text.size() == text::code_size(static_cast<uint8_t>(text[0]));
      source_.silent.push_back(found == scores.end() && !code);
      source_.scores.push_back(found != scores.end() ? found->second : least - kUnknownPenalty);
    }
    for (const SentencePiece& piece : model_.pieces) {
      if (scores.count(piece.text) == 0 || !numbered.insert(piece.text).second) continue;
      source_.hidden.push_back(piece.text);
      source_.hidden_scores.push_back(static_cast<double>(piece.score));
    }
  }

  /// Returns true for files of Marian's own program instead of transformers: that program uses SentencePiece without
  /// changes.
  bool is_of_marian_itself() const { return file_.model_type == "marian_ssru"; }

  /// The number of code points of a piece that repeats a single one; 0 for any other piece.
  static size_t length_of_run(const std::string& piece) {
    const size_t unit = piece.empty() ? 0 : text::code_size(static_cast<uint8_t>(piece[0]));
    if (unit == 0 || piece.size() % unit != 0 || piece.size() == unit) return 0;
    for (size_t at = unit; at < piece.size(); ++at) {
      if (piece[at] != piece[at - unit]) return 0;
    }
    return piece.size() / unit;
  }

  /// The lowest set bit: the smallest power of two in the sum that makes up a length.
  static size_t least_power(size_t length) { return length & (~length + 1); }
  static bool is_power(size_t length) { return least_power(length) == length; }

  /// The pieces that merges produce, in SentencePiece's order, which is by score. Among equal scores, SentencePiece
  /// merges the leftmost pair. Runs of spaces have one score and therefore grow from the left. Separate ranks give the
  /// same result if powers of two come first, and then the other lengths, those with the greater rest first: 14 = 12 +
  /// 2, 12 = 8 + 4.
  std::vector<const SentencePiece*> merge_order() const {
    std::vector<const SentencePiece*> order;
    for (const SentencePiece& piece : model_.pieces) {
      const bool text = piece.kind != SentencePiece::kControl && piece.kind != SentencePiece::kUnknown &&
                        piece.kind != SentencePiece::kByte;
      if (text && piece.text.size() <= text::kMaxBpeToken) order.push_back(&piece);  // longer ones are refused later
    }
    const auto is_run = [](const SentencePiece* piece) { return length_of_run(piece->text) > 0; };
    const auto place = [](const SentencePiece& piece) {
      const size_t length = length_of_run(piece.text);
      return std::tuple(!is_power(length), is_power(length) ? 0 : ~least_power(length), length);
    };
    std::stable_sort(order.begin(), order.end(),
                     [](const SentencePiece* a, const SentencePiece* b) { return a->score > b->score; });
    // Runs of one score take the places of runs among the pieces of that score; the others keep theirs.
    for (auto begin = order.begin(); begin != order.end();) {
      const auto end =
          std::find_if(begin, order.end(), [&](const SentencePiece* piece) { return piece->score != (*begin)->score; });
      std::vector<const SentencePiece*> runs;
      std::copy_if(begin, end, std::back_inserter(runs), is_run);
      std::stable_sort(runs.begin(), runs.end(),
                       [&](const SentencePiece* a, const SentencePiece* b) { return place(*a) < place(*b); });
      auto next = runs.begin();
      for (; begin != end; ++begin) {
        if (is_run(*begin)) *begin = *next++;
      }
    }
    return order;
  }

  /// Adds a merge for every two pieces whose concatenation is a piece.
  void read_merges_of_pieces() {
    std::unordered_map<std::string_view, size_t> ids;
    for (size_t i = 0; i < model_.pieces.size(); ++i) ids.emplace(model_.pieces[i].text, i);
    struct Pair {
      size_t left, right, size;  // size: number of bytes of the left piece
    };
    for (const SentencePiece* piece : merge_order()) {
      const std::string_view text = piece->text;
      const size_t run = length_of_run(piece->text);
      const size_t rest = is_power(run) ? run / 2 : least_power(run);
      const size_t first = run == 0 ? 0 : (run - rest) * (text.size() / run);
      std::vector<Pair> pairs;
      for (size_t at = 1; at < text.size(); ++at) {
        const auto left = ids.find(text.substr(0, at));
        const auto right = left == ids.end() ? ids.end() : ids.find(text.substr(at));
        if (right != ids.end()) pairs.push_back({left->second, right->second, at});
      }
      std::sort(pairs.begin(), pairs.end(), [first](const Pair& a, const Pair& b) {
        return std::pair(a.size != first, a.size) < std::pair(b.size != first, b.size);
      });
      for (const Pair& pair : pairs) {
        source_.merges.emplace_back(model_.pieces[pair.left].text, model_.pieces[pair.right].text);
      }
    }
  }

  void read_llama_words() {
    source_.byte_fallback = model_.byte_fallback;
    read_charsmap();
    source_.splitter.kind = fb::SplitterKind::metaspace;
    source_.splitter.whole = true;
    if (!model_.add_dummy_prefix || !truth(config_, "add_prefix_space", true)) return;
    if (truth(config_, "legacy", true)) {
      stage(fb::NormalizerKind::prepend);
      source_.stages.back().rule.content = "\u2581";
    } else {
      source_.splitter.prefix_blank = true;
      source_.splitter.first_only = true;
    }
  }

  void read_charsmap() {
    if (model_.charsmap.empty()) return;
    stage(fb::NormalizerKind::charsmap);
    source_.charsmap = model_.charsmap;
  }

  /// ALBERT and XLNet separate a comma from the digits before it.
  bool is_avoided(const std::string& piece) const {
    if (kin_ != SpmKin::kAlbert && kin_ != SpmKin::kXlnet) return false;
    const size_t size = piece.size();
    return size > 1 && piece[size - 1] == ',' && piece[size - 2] >= '0' && piece[size - 2] <= '9';
  }

  void stage(fb::NormalizerKind kind, CodeMap map = CodeMap::kNone) {
    source_.stages.emplace_back();
    source_.stages.back().rule.kind = kind;
    source_.stages.back().map = map;
  }
  void replace(const char* text, const char* content, uint32_t least = 0) {
    stage(fb::NormalizerKind::replace);
    source_.stages.back().rule.text = text;
    source_.stages.back().rule.content = content;
    source_.stages.back().rule.least = least;
  }

  /// Sets the normalizers, and how spaces begin words.
  void read_words() {
    const bool quotes = kin_ == SpmKin::kAlbert || kin_ == SpmKin::kXlnet;
    const bool deberta = kin_ == SpmKin::kDeberta;
    if (quotes) {
      replace("``", "\"");
      replace("''", "\"");
    }
    if (quotes && !truth(config_, "keep_accents", false)) {
      stage(fb::NormalizerKind::form, CodeMap::kCompatible);
      stage(fb::NormalizerKind::map, CodeMap::kStripAccents);
    }
    if ((quotes || deberta) && truth(config_, "do_lower_case", kin_ == SpmKin::kAlbert)) {
      stage(fb::NormalizerKind::map, CodeMap::kLowercase);
    }
    // Without a space before the text, words of white space alone would lose the text between them.
    const bool runs = deberta || (model_.remove_extra_blanks && !model_.add_dummy_prefix);
    if (runs) {
      stage(fb::NormalizerKind::strip);
      source_.stages.back().rule.left = true;
      source_.stages.back().rule.right = true;
    }
    read_charsmap();
    // Reformer's texts are not split at white space: spaces begin words, including those at the end of a text.
    const bool whole = kin_ == SpmKin::kReformer;
    if (runs || (whole && !model_.charsmap.empty())) replace(" ", " ", 2);
    source_.splitter.kind = fb::SplitterKind::metaspace;
    source_.splitter.prefix_blank = model_.add_dummy_prefix && truth(config_, "add_prefix_space", true);
    source_.splitter.white_words = model_.remove_extra_blanks && !runs && !whole;
    // As in transformers, there is no byte fallback: text without a piece is unknown, even if there are byte pieces.
  }

  /// SigLIP's normalization: lower case without punctuation, single spaces between words and none around them. Each
  /// text, but not each word, begins with a space mark.
  void read_canonical_words() {
    replace("\u2581", " ");
    stage(fb::NormalizerKind::prepend);
    source_.stages.back().rule.content = "\u2581";
    if (truth(config_, "do_lower_case", true)) stage(fb::NormalizerKind::map, CodeMap::kLowercase);
    stage(fb::NormalizerKind::map, CodeMap::kNoPunctuation);
    replace("", " ", 1);
    stage(fb::NormalizerKind::strip);
    source_.stages.back().rule.right = true;
    read_charsmap();
    if (model_.remove_extra_blanks) replace(" ", " ", 2);
    source_.splitter.kind = fb::SplitterKind::metaspace;
  }

  void read_specials() {
    const bool brackets = kin_ == SpmKin::kAlbert || kin_ == SpmKin::kDeberta;
    const bool xlnet = kin_ == SpmKin::kXlnet;
    source_.unknown = kin_ == SpmKin::kDeberta ? "[UNK]" : "<unk>";
    const bool siglip = kin_ == SpmKin::kSiglip;
    source_.pad = kin_ == SpmKin::kDeberta ? "[PAD]" : siglip ? "</s>" : "<pad>";
    source_.cls = brackets ? "[CLS]" : xlnet ? "<cls>" : "<s>";
    source_.sep = brackets ? "[SEP]" : xlnet ? "<sep>" : "</s>";
    source_.mask = brackets ? "[MASK]" : "<mask>";
    if (kin_ == SpmKin::kLlama) {
      for (const auto& [key, text] : {std::pair("bos_token", &source_.cls), std::pair("eos_token", &source_.sep),
                                      std::pair("unk_token", &source_.unknown)}) {
        if (const std::string stated = token_of(member(config_, key)); has(stated)) *text = stated;
      }
    }
    if (kin_ == SpmKin::kM2m) read_languages();
    read_added_tokens(config_, "tokenizer_config.json", source_, problems_);
    const bool marian = is_numbered();  // its vocabulary defines which tokens exist
    for (const SentencePiece& piece : model_.pieces) {
      const bool control = piece.kind == SentencePiece::kControl;
      if (!marian && !siglip && (control || piece.kind == SentencePiece::kUserDefined)) add(piece.text, control, false);
    }
    const bool t5 = kin_ == SpmKin::kT5, reformer = kin_ == SpmKin::kReformer;
    const bool merges = kin_ == SpmKin::kLlama || reformer;
    for (const std::string* text : {&source_.cls, &source_.sep, &source_.unknown, &source_.pad}) {
      if (text == &source_.cls && (t5 || siglip || reformer || kin_ == SpmKin::kMarian)) continue;
      if (text != &source_.pad || !merges) add(*text, true, false);
    }
    if (!t5 && !marian && !siglip && !merges) add(source_.mask, true, kin_ != SpmKin::kDeberta);
    if (kin_ == SpmKin::kCamembert) {
      for (const char* text : {"<s>NOTUSED", "</s>NOTUSED", "<unk>NOTUSED"}) add(text, true, false);
    }
    for (const auto& [text, id] : source_.vocabulary) {
      if (t5 && text.rfind("<extra_id_", 0) == 0) add(text, true, false);
      if (marian && text.size() > 4 && text.rfind(">>", 0) == 0 && text.substr(text.size() - 2) == "<<") {
        add(text, false, false);  // a language
      }
    }
    if (xlnet) {
      for (const char* text : {"<eop>", "<eod>"}) add(text, true, false);
    }
  }

  /// Adds the language tokens; texts of the source begin with the source language's token.
  void read_languages() {
    const std::string asked = string_of(member(config_, "src_lang")), source = asked.empty() ? "en" : asked;
    std::string_view codes = string_of(member(config_, "language_codes")) == "wmt21" ? kWmtLanguages : kM2mLanguages;
    for (size_t number = source_.vocabulary.size(); !codes.empty(); ++number) {
      const std::string_view code = codes.substr(0, codes.find(' '));
      codes.remove_prefix(std::min(code.size() + 1, codes.size()));
      add(fmt::format("__{}__", code), true, false);
      if (code == source) language_ = static_cast<int32_t>(number);
    }
    if (language_ >= 0) return;
    problems_.push_back(fmt::format(
        "tokenizer_config.json: src_lang: \"{}\" is not a language of M2M100Tokenizer; correct it", source));
  }

  void add(const std::string& text, bool special, bool lstrip) {
    if (!added_.insert(text).second) return;
    const auto same = [&text](const AddedSource& other) { return other.text == text; };
    if (std::any_of(source_.added.begin(), source_.added.end(), same)) return;
    source_.added.push_back({text, -1, special, false, lstrip, false, false});
  }

  void read_templates() {
    using Piece = fb::TemplatePiece;
    const Piece first(-1, 0, 0);
    const Piece cls(kTemplateCls, -1, 0);
    const Piece sep(kTemplateSep, -1, 0);
    switch (kin_) {
      case SpmKin::kXlmRoberta:
      case SpmKin::kCamembert:
        source_.single = {cls, first, sep};
        source_.pair = {cls, first, sep, sep, Piece(-1, 1, 0), sep};
        return;
      case SpmKin::kAlbert:
      case SpmKin::kDeberta:
        source_.single = {cls, first, sep};
        source_.pair = {cls, first, sep, Piece(-1, 1, 1), Piece(kTemplateSep, -1, 1)};
        return;
      case SpmKin::kMarian:
        source_.single = {first, sep};
        source_.pair = {first, Piece(-1, 1, 0), sep};
        return;
      case SpmKin::kM2m:
        source_.single = {Piece(language_, -1, 0), first, sep};
        source_.pair = {Piece(language_, -1, 0), first, Piece(-1, 1, 0), sep};
        return;
      case SpmKin::kT5:
      case SpmKin::kSiglip:
        source_.single = {first, sep};
        source_.pair = {first, sep, Piece(-1, 1, 0), sep};
        return;
      case SpmKin::kXlnet:
        source_.single = {first, sep, Piece(kTemplateCls, -1, 2)};
        source_.pair = {first, sep, Piece(-1, 1, 1), Piece(kTemplateSep, -1, 1), Piece(kTemplateCls, -1, 2)};
        return;
      case SpmKin::kReformer:
        source_.single = {first};
        source_.pair = {first, Piece(-1, 1, 1)};
        return;
      case SpmKin::kLlama:
        source_.single = {first};
        source_.pair = {first, Piece(-1, 1, 1)};
        if (truth(config_, "add_bos_token", true)) {
          source_.single.insert(source_.single.begin(), cls);
          source_.pair = {cls, first, Piece(kTemplateCls, -1, 1), Piece(-1, 1, 1)};
        }
        if (truth(config_, "add_eos_token", false)) {
          source_.single.push_back(sep);
          const auto second = std::find_if(source_.pair.begin() + 1, source_.pair.end(),
                                           [](const Piece& piece) { return piece.segment() == 1; });
          source_.pair.insert(second, sep);
          source_.pair.emplace_back(kTemplateSep, -1, 1);
        }
        return;
      case SpmKin::kUnknown:
      case SpmKin::kOther:
        return;
    }
  }

  static constexpr double kAvoided = 100;
  static constexpr double kUnknownPenalty = 10;  // as in SentencePiece
  static constexpr uint32_t kAllBlanks = 1U << 16;
  static constexpr uint32_t kUsualExtra = 100;
  static constexpr uint32_t kMostExtra = 10000;

  const SentencePieceFile& file_;
  const Json& config_;
  TokenizerSource& source_;
  ProblemList& problems_;
  SentencePieceModel model_;
  SpmKin kin_ = SpmKin::kUnknown;
  std::set<std::string> added_;
  int32_t language_ = -1;  // of M2M-100's source
};

}  // namespace

void read_sentencepiece(const SentencePieceFile& file, const Json& config, TokenizerSource& source,
                        ProblemList& problems) {
  SpmReader(file, config, source, problems).read();
}

}  // namespace bantam::convert
