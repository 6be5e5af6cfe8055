// Values of options: one of a few words, or a number in a range. Errors and completion know the words.
#ifndef BANTAM_CONVERTER_CLI_CHOICES_H_
#define BANTAM_CONVERTER_CLI_CHOICES_H_

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

#include "base/known_keys.h"
#include "base/text_positions.h"

namespace bantam::cli {

/// "{a|b}": how cli/manual.h finds the words that an option takes.
inline std::string word_list(const std::vector<std::string>& words) {
  return fmt::format("{{{}}}", fmt::join(words, "|"));
}

/// For an option's check(): one of `words`.
inline CLI::Validator one_of(const std::vector<std::string>& words) {
  const auto look_up = [words](std::string& word) -> std::string {
    for (const std::string& known : words) {
      if (known == word) return "";
    }
    return fmt::format("\"{}\" is not one of {}{}", word, fmt::join(words, ", "), convert::guess(word, words));
  };
  return CLI::Validator(look_up, word_list(words));
}

/// For an option's transform(): the words that it takes and what they stand for; another word is an error that names them.
template <typename T>
CLI::Validator choices(const std::map<std::string, T>& values) {
  std::vector<std::string> words;
  words.reserve(values.size());
  for (const auto& [known, unused] : values) words.push_back(known);
  const auto look_up = [values, words](std::string& word) -> std::string {
    const auto found = values.find(word);
    if (found != values.end()) {
      word = CLI::detail::value_string(found->second);
      return "";
    }
    return one_of(words)(word);
  };
  return CLI::Validator(look_up, word_list(words));
}

/// For --offsets.
inline CLI::Validator position_units() {
  return choices<convert::PositionUnit>({{"bytes", convert::PositionUnit::kBytes},
                                         {"chars", convert::PositionUnit::kCharacters},
                                         {"utf16", convert::PositionUnit::kUtf16}});
}

/// For an option that takes other words too: those that completion offers.
inline CLI::Validator usual_words(const std::vector<std::string>& words) {
  return CLI::Validator([](std::string&) { return std::string(); }, word_list(words));
}

/// For an option's check(): a number from `least` to `most`.
template <typename T>
CLI::Validator between(T least, T most) {
  const auto check = [least, most](std::string& text) -> std::string {
    T value{};
    if (!CLI::detail::lexical_cast(text, value)) return fmt::format("\"{}\" is not a number", text);
    if (value >= least && value <= most) return "";
    return fmt::format("{} is not between {} and {}", text, least, most);
  };
  return CLI::Validator(check, "");
}

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_CHOICES_H_
