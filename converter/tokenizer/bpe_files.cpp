// Reads vocab.json and merges.txt as transformers' tokenizers of RoBERTa, GPT-2, CLIP, GPT and BlenderbotSmall do.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>

#include "tokenizer/split_pattern.h"
#include "tokenizer/tokenizer_source.h"

namespace bantam::convert {
namespace {

enum class Kin { kGpt2, kRoberta, kClip, kGpt, kBlenderbotSmall, kOther };

/// The model whose tokenizer settings apply. If the directory does not say, RoBERTa's apply if it has RoBERTa's special
/// tokens, else GPT-2's.
Kin kin_of(const std::string& name, const std::string& model_type, const Json& vocabulary) {
  constexpr std::array<std::string_view, 4> kRobertas = {"RobertaTokenizer", "LongformerTokenizer", "BartTokenizer",
                                                         "LEDTokenizer"};
  std::string_view slow = name;
  if (slow.size() > 4 && slow.substr(slow.size() - 4) == "Fast") slow.remove_suffix(4);
  if (std::find(kRobertas.begin(), kRobertas.end(), slow) != kRobertas.end()) return Kin::kRoberta;
  if (slow == "GPT2Tokenizer") return Kin::kGpt2;
  if (slow == "CLIPTokenizer") return Kin::kClip;
  if (slow == "OpenAIGPTTokenizer") return Kin::kGpt;
  if (slow == "BlenderbotSmallTokenizer") return Kin::kBlenderbotSmall;
  if (!slow.empty() && slow != "PreTrainedTokenizer") return Kin::kOther;
  if (model_type.compare(0, 4, "clip") == 0) return Kin::kClip;
  if (model_type == "openai-gpt") return Kin::kGpt;
  if (model_type == "blenderbot-small") return Kin::kBlenderbotSmall;
  const bool marks = vocabulary.contains("<s>") && vocabulary.contains("</s>") && vocabulary.contains("<mask>");
  return marks ? Kin::kRoberta : Kin::kGpt2;
}

void add(TokenizerSource& source, const std::string& text, bool lstrip) {
  const auto same = [&text](const AddedSource& other) { return other.text == text; };
  const auto in = [&text](const auto& entry) { return entry.first == text; };
  if (std::any_of(source.added.begin(), source.added.end(), same)) return;
  if (std::none_of(source.vocabulary.begin(), source.vocabulary.end(), in)) return;
  AddedSource token;
  token.text = text;
  token.special = true;
  token.lstrip = lstrip;
  source.added.push_back(token);
}

void read_merges(const std::string& text, TokenizerSource& source, ProblemList& problems) {
  size_t line_number = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, end - at);
    at = end + 1;
    ++line_number;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty() || line.rfind("#version", 0) == 0) continue;
    const size_t blank = line.find(' ');
    if (blank == 0 || blank == std::string::npos || blank + 1 == line.size() || line.rfind(' ') != blank) {
      problems.push_back(
          fmt::format("merges.txt: line {}: should be two tokens with a blank between them", line_number));
      return;
    }
    source.merges.emplace_back(line.substr(0, blank), line.substr(blank + 1));
  }
}

constexpr std::array<const char*, 4> kBlenderbotSpecials = {"__null__", "__start__", "__end__", "__unk__"};

void stage(TokenizerSource& source, fb::NormalizerKind kind, CodeMap map = CodeMap::kNone) {
  source.stages.emplace_back();
  source.stages.back().rule.kind = kind;
  source.stages.back().map = map;
}
void replace(TokenizerSource& source, const char* text, const char* content, uint32_t least = 0) {
  stage(source, fb::NormalizerKind::replace);
  source.stages.back().rule.text = text;
  source.stages.back().rule.content = content;
  source.stages.back().rule.least = least;
}

/// A line feed directly after a word that does not end with "'" becomes the word "__newln__".
void read_blenderbot_lines(TokenizerSource& source) {
  stage(source, fb::NormalizerKind::map, CodeMap::kBlanks);
  replace(source, "\n", "\n", 2);
  replace(source, "'\n", "'");
  replace(source, " \n", " ");
  stage(source, fb::NormalizerKind::strip);
  source.stages.back().rule.left = true;
  replace(source, "\n", " __ne\n");  // in two parts, because contents are short
  replace(source, "\n", "wln__ ");
  stage(source, fb::NormalizerKind::map, CodeMap::kLowercase);
}

/// The vocabulary writes "low@@" if a word continues, the merges write "low</w>" if it ends. The model's tokens use the
/// form of the merges. Tokens that occur only in the merges are unknown in texts.
void read_blenderbot_tokens(TokenizerSource& source) {
  constexpr std::string_view kGoesOn = "@@", kEnds = "</w>";
  std::set<std::string> tokens;
  for (auto& [token, id] : source.vocabulary) {
    const auto is = [&token = token](const char* special) { return token == special; };
    if (std::any_of(kBlenderbotSpecials.begin(), kBlenderbotSpecials.end(), is)) continue;
    const bool goes_on = token.size() > kGoesOn.size() && std::string_view(token).substr(token.size() - 2) == kGoesOn;
    if (goes_on) {
      token.resize(token.size() - kGoesOn.size());
    } else {
      token.append(kEnds);
    }
    tokens.insert(token);
  }
  for (const auto& [left, right] : source.merges) {
    for (const std::string& token : {left, right, left + right}) {
      if (tokens.insert(token).second) source.hidden.push_back(token);
    }
  }
}

void read_blenderbot_small(TokenizerSource& source, ProblemList& problems) {
  source.end_suffix = "</w>";
  source.model.traits = text::kEndMarks | text::kCodePoints;
  source.pad = kBlenderbotSpecials[0];
  source.cls = kBlenderbotSpecials[1];
  source.sep = kBlenderbotSpecials[2];
  source.unknown = kBlenderbotSpecials[3];
  for (const char* special : kBlenderbotSpecials) add(source, special, false);
  read_blenderbot_lines(source);
  read_blenderbot_tokens(source);
  const Json words = {{"type", "Split"},
                      {"pattern", {{"Regex", "'|[.,!?()][^\\s.,!?()']*|[^\\s.,!?()']+"}}},
                      {"behavior", "Removed"},
                      {"invert", true}};
  bool bytes = false;
  read_splitters({&words}, source, problems, &bytes);
  set_decoder(source, text::kDecodeSuffix, text::kDecodeEndMarks, "</w>");
}

/// Sets the steps that transformers adds to the models of CLIP and GPT, whose tokens end words with "</w>".
void read_end_suffix(Kin kin, TokenizerSource& source) {
  source.end_suffix = "</w>";
  source.model.traits = text::kEndMarks;
  std::vector<Json> steps;
  bool bytes = false;
  ProblemList none;
  if (kin == Kin::kGpt) {
    source.model.traits |= text::kCodePoints;
    source.unknown = "<unk>";
    add(source, source.unknown, false);
    read_bert_normalizer(Json::object(), source);
    steps = {{{"type", "BertPreTokenizer"}}};
  } else {
    source.unknown = source.pad = source.sep = "<|endoftext|>";
    source.cls = "<|startoftext|>";
    add(source, source.cls, false);
    add(source, source.sep, false);
    const Json row = {{{"type", "NFC"}},
                      {{"type", "Replace"}, {"pattern", {{"Regex", "\\s+"}}}, {"content", " "}},
                      {{"type", "Lowercase"}}};
    read_normalizers({&row[0], &row[1], &row[2]}, source, none);
    steps = {{{"type", "Split"},
              {"pattern",
               {{"Regex",
                 "<\\|startoftext\\|>|<\\|endoftext\\|>|'s|'t|'re|'ve|'m|'ll|'d|[\\p{L}]+|[\\p{N}]|"
                 "[^\\s\\p{L}\\p{N}]+"}}},
              {"behavior", "Removed"},
              {"invert", true}},
             {{"type", "ByteLevel"}, {"add_prefix_space", false}}};
  }
  std::vector<const Json*> parts;
  parts.reserve(steps.size());
  for (const Json& step : steps) parts.push_back(&step);
  read_splitters(parts, source, none, &bytes);
  set_decoder(source, kin == Kin::kGpt ? text::kDecodeSuffix : text::kDecodeBytes, text::kDecodeEndMarks, "</w>");
}

/// Each of two texts has `cls` before and `sep` after it, as in RoBERTa.
void set_roberta_template(TokenizerSource& source) {
  using Piece = fb::TemplatePiece;
  const Piece cls(kTemplateCls, -1, 0);
  const Piece sep(kTemplateSep, -1, 0);
  source.single = {cls, Piece(-1, 0, 0), sep};
  source.pair = {cls, Piece(-1, 0, 0), sep, sep, Piece(-1, 1, 0), sep};
}

}  // namespace

void read_bpe_files(const Json& vocabulary, const std::string& merges, const Json& config,
                    const std::string& model_type, TokenizerSource& source, ProblemList& problems) {
  source.file = "vocab.json";
  const Json& named = member(config, "tokenizer_class");
  const std::string name = named.is_string() ? named.get<std::string>() : "";
  const Kin kin = kin_of(name, model_type, vocabulary);
  if (kin == Kin::kOther) {
    ++source.unsupported;
    problems.push_back(
        fmt::format("tokenizer_config.json: tokenizer_class: \"{}\" is not supported from vocab.json and merges.txt; "
                    "save the tokenizer with "
                    "transformers so that the directory has a tokenizer.json",
                    name));
  }
  read_vocabulary_object(vocabulary, "tokens", source, problems);
  // It skips the first line, and the text after the last line feed.
  const bool blenderbot = kin == Kin::kBlenderbotSmall;
  const size_t begin = blenderbot ? std::min(merges.find('\n'), merges.size()) : 0;
  const size_t end = blenderbot ? merges.rfind('\n') : merges.size();
  read_merges(merges.substr(begin, end == std::string::npos ? 0 : end - begin), source, problems);
  source.model.kind = fb::TokenModelKind::bpe;
  if (blenderbot) return read_blenderbot_small(source, problems);
  if (kin == Kin::kClip || kin == Kin::kGpt) {
    read_end_suffix(kin, source);
    if (kin == Kin::kClip) set_roberta_template(source);
    return;
  }
  source.splitter.kind = fb::SplitterKind::pattern;
  source.rules = {{kByteLevelPattern, {}, SplitBehaviour::kIsolated, false}};
  const Json& prefix = member(config, "add_prefix_space");
  source.splitter.prefix_blank = prefix.is_boolean() && prefix.get<bool>();
  if (kin != Kin::kRoberta) {
    source.unknown = "<|endoftext|>";
    add(source, "<|endoftext|>", false);
    return;
  }
  source.unknown = "<unk>";
  source.cls = "<s>";
  source.sep = "</s>";
  source.pad = "<pad>";
  source.mask = "<mask>";
  for (const std::string* special : {&source.cls, &source.pad, &source.sep, &source.unknown}) {
    add(source, *special, false);
  }
  add(source, source.mask, true);
  source.trim_blanks = true;
  source.trim_prefix = source.splitter.prefix_blank;
  set_roberta_template(source);
}

}  // namespace bantam::convert
