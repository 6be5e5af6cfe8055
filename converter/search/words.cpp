// Words of texts.
#include <string>

#include "search/phrases.h"
#include "text/unicode/unicode.h"
#include "text/utf8.h"

namespace bantam::convert {
namespace {

constexpr const char* kEnglish =
    "about above after again against all almost along already also although always am among an and another any anyone "
    "anything are aren around as at away back be became because been before behind being below between both but by "
    "came can "
    "cannot could couldn did didn do does doesn doing don done down during each either else enough even ever every "
    "everyone "
    "everything few first for from further gave get gets getting give given gives go goes going gone got had hadn has "
    "hasn "
    "have haven having he hence her here hers herself him himself his how however if in indeed instead into is isn it "
    "its "
    "itself just kept last least less let like ll made make makes making many may maybe me might mine more moreover "
    "most "
    "much must my myself near need neither never next no nobody none nor not nothing now of off often on once one only "
    "onto "
    "or other others otherwise our ours ourselves out over own per perhaps put quite rather re really same say says "
    "see "
    "seem seemed seems several shall she should shouldn since so some somehow someone something sometimes somewhere "
    "still "
    "such take than that the their theirs them themselves then there therefore these they thing things this those "
    "though "
    "through thus to together too toward towards under unless until up upon us use used using ve very via was wasn we "
    "well "
    "went were weren what whatever when where whether which while who whole whom whose why will with within without "
    "won "
    "would wouldn yes yet you your yours yourself yourselves";

void append_lower(uint32_t code, std::string* word) {
  uint32_t lower[text::kMaxExpansion] = {code};
  const uint32_t count = (text::character_class(code) & text::kUpper) != 0 ? text::lower_case(code, lower) : 1;
  for (uint32_t i = 0; i < count; ++i) {
    uint8_t bytes[4];
    word->append(reinterpret_cast<const char*>(bytes), text::encode_utf8(lower[i], bytes));
  }
}

}  // namespace

const StopWords& english_stop_words() {
  static const StopWords words = [] {
    const std::vector<std::string> list = words_of(kEnglish);
    return StopWords(list.begin(), list.end());
  }();
  return words;
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::string word;
  size_t characters = 0;
  const auto finish = [&] {
    if (characters >= 2) words.push_back(word);
    word.clear();
    characters = 0;
  };
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  for (size_t at = 0; at < text.size();) {
    const size_t left = text.size() - at;
    const text::CodePoint point = text::decode_utf8(bytes + at, left < 4 ? static_cast<uint32_t>(left) : 4U);
    at += point.size;
    if (!text::is_word_character(point.code)) {
      finish();
      continue;
    }
    append_lower(point.code, &word);
    ++characters;
  }
  finish();
  return words;
}

}  // namespace bantam::convert
