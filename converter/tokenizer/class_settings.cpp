// Settings that classes of transformers take from tokenizer_config.json, whatever tokenizer.json says, in both 5.24 and
// 4.57. If the two differ, 5.24 applies: it follows the file for ConvBertTokenizer, BloomTokenizer and
// PreTrainedTokenizerFast.
#include <fmt/format.h>

#include <array>
#include <string_view>

#include "tokenizer/tokenizer_source.h"

namespace bantam::convert {
namespace {

/// The settings that a class takes from tokenizer_config.json.
enum class Takes {
  kLetters,       // BERT's normalizer: do_lower_case, strip_accents, tokenize_chinese_chars
  kBlank,         // add_prefix_space of the splitter; false if it is missing
  kBlankAndEnds,  // the same, also of the post-processor
  kStatedBlank,   // add_prefix_space of the splitter, only if it is stated
};

struct ClassRow {
  std::string_view tokenizer;  // tokenizer_class, without "Fast"
  Takes takes;
};
constexpr std::array<ClassRow, 21> kClasses = {{{"BertTokenizer", Takes::kLetters},
                                                {"DistilBertTokenizer", Takes::kLetters},
                                                {"ElectraTokenizer", Takes::kLetters},
                                                {"MobileBertTokenizer", Takes::kLetters},
                                                {"SqueezeBertTokenizer", Takes::kLetters},
                                                {"FunnelTokenizer", Takes::kLetters},
                                                {"LayoutLMTokenizer", Takes::kLetters},
                                                {"LxmertTokenizer", Takes::kLetters},
                                                {"MPNetTokenizer", Takes::kLetters},
                                                {"SplinterTokenizer", Takes::kLetters},
                                                {"RobertaTokenizer", Takes::kBlankAndEnds},
                                                {"BartTokenizer", Takes::kBlankAndEnds},
                                                {"LongformerTokenizer", Takes::kBlankAndEnds},
                                                {"LEDTokenizer", Takes::kBlankAndEnds},
                                                {"MvpTokenizer", Takes::kBlankAndEnds},
                                                {"GPT2Tokenizer", Takes::kBlank},
                                                {"CodeGenTokenizer", Takes::kBlank},
                                                {"GPTNeoXTokenizer", Takes::kBlank},
                                                {"DebertaTokenizer", Takes::kBlank},
                                                {"WhisperTokenizer", Takes::kBlank},
                                                {"BlenderbotTokenizer", Takes::kStatedBlank}}};

/// The class for a model_type, used if tokenizer_config.json does not name one.
constexpr std::array<std::pair<std::string_view, std::string_view>, 26> kModelTypes = {
    {{"bert", "BertTokenizer"},       {"distilbert", "BertTokenizer"},    {"electra", "BertTokenizer"},
     {"mobilebert", "BertTokenizer"}, {"squeezebert", "BertTokenizer"},   {"layoutlm", "BertTokenizer"},
     {"lxmert", "BertTokenizer"},     {"megatron-bert", "BertTokenizer"}, {"nezha", "BertTokenizer"},
     {"ernie", "BertTokenizer"},      {"visual_bert", "BertTokenizer"},   {"funnel", "FunnelTokenizer"},
     {"mpnet", "MPNetTokenizer"},     {"splinter", "SplinterTokenizer"},  {"roberta", "RobertaTokenizer"},
     {"bart", "RobertaTokenizer"},    {"longformer", "RobertaTokenizer"}, {"led", "RobertaTokenizer"},
     {"mvp", "RobertaTokenizer"},     {"gpt2", "GPT2Tokenizer"},          {"gpt_neo", "GPT2Tokenizer"},
     {"gptj", "GPT2Tokenizer"},       {"opt", "GPT2Tokenizer"},           {"gpt_neox", "GPTNeoXTokenizer"},
     {"deberta", "DebertaTokenizer"}, {"whisper", "WhisperTokenizer"}}};

const ClassRow* row_of(std::string_view name) {
  constexpr std::string_view kFast = "Fast";
  const bool fast = name.size() > kFast.size() && name.substr(name.size() - kFast.size()) == kFast;
  if (fast) name.remove_suffix(kFast.size());
  for (const ClassRow& row : kClasses) {
    if (row.tokenizer == name) return &row;
  }
  return nullptr;
}

bool is_of_type(const Json& part, const char* type) {
  return part.is_object() && part.contains("type") && part["type"] == type;
}

/// Sets `name` of a part to `value`, with a note if the file has another value.
void follow(const char* key, const char* name, const Json& value, Json& part, TokenizerSource& source) {
  const Json stated = part.value(name, Json());
  if (stated == value) return;
  part[name] = value;
  source.notes.push_back(fmt::format("tokenizer_config.json: {}: {} counts, as in transformers; tokenizer.json has {}",
                                     key, value.dump(), stated.dump()));
}

}  // namespace

std::string tokenizer_class_of(const std::string& stated, const std::string& model_type) {
  if (!stated.empty()) return stated;
  for (const auto& [type, name] : kModelTypes) {
    if (type == model_type) return std::string(name);
  }
  return "";
}

void follow_class(const std::string& tokenizer_class, const Json& config, Json& normalizer, Json& splitter,
                  Json& processor, TokenizerSource& source) {
  const ClassRow* row = row_of(tokenizer_class);
  if (row == nullptr) return;
  const auto setting = [&config](const char* key, const Json& otherwise) {
    const auto found = config.find(key);
    return found == config.end() || !found->is_boolean() ? otherwise : *found;
  };
  if (row->takes == Takes::kLetters) {
    if (!is_of_type(normalizer, "BertNormalizer")) return;
    follow("do_lower_case", "lowercase", setting("do_lower_case", true), normalizer, source);
    follow("strip_accents", "strip_accents", setting("strip_accents", nullptr), normalizer, source);
    follow("tokenize_chinese_chars", "handle_chinese_chars", setting("tokenize_chinese_chars", true), normalizer,
           source);
    return;
  }
  if (!is_of_type(splitter, "ByteLevel")) return;
  const Json blank = setting("add_prefix_space", row->takes == Takes::kStatedBlank ? Json() : Json(false));
  if (blank.is_null()) return;
  follow("add_prefix_space", "add_prefix_space", blank, splitter, source);
  const bool ends = row->takes == Takes::kBlankAndEnds && is_of_type(processor, "RobertaProcessing");
  if (ends) processor["add_prefix_space"] = blank;
}

}  // namespace bantam::convert
