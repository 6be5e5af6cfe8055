#include "cli/frame/choices.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/known_keys.h"
#include "base/text_positions.h"
#include "cli/frame/parse.h"

namespace bantam::cli {

Check one_of(std::vector<std::string> words) {
  const auto look_up = [words](const std::string& word) -> std::string {
    for (const std::string& known : words) {
      if (known == word) return "";
    }
    return fmt::format("\"{}\" is not one of {}{}", word, fmt::join(words, ", "), convert::guess(word, words));
  };
  return {look_up, std::move(words)};
}

Check replaced(const std::map<std::string, std::string>& values) {
  std::vector<std::string> words;
  words.reserve(values.size());
  for (const auto& [known, unused] : values) words.push_back(known);
  Check check = one_of(std::move(words));
  check.correct = [known = check.correct, values](std::string& word) -> std::string {
    const std::string problem = known(word);
    if (problem.empty()) word = values.at(word);
    return problem;
  };
  return check;
}

Check usual_words(std::vector<std::string> words) {
  return {[](const std::string&) { return std::string(); }, std::move(words)};
}

Check position_units() {
  return choices<convert::PositionUnit>({{"bytes", convert::PositionUnit::kBytes},
                                         {"chars", convert::PositionUnit::kCharacters},
                                         {"utf16", convert::PositionUnit::kUtf16}});
}

template <typename T>
Check between(T least, T most) {
  const auto check = [least, most](const std::string& text) -> std::string {
    T value{};
    if (!read_number(text, &value)) return fmt::format("\"{}\" is not a number", text);
    if (value >= least && value <= most) return "";
    return fmt::format("{} is not between {} and {}", text, least, most);
  };
  return {check, {}};
}
template Check between(int, int);
template Check between(unsigned, unsigned);
template Check between(unsigned long, unsigned long);
template Check between(float, float);
template Check between(double, double);

}  // namespace bantam::cli
