// The values that an option accepts: one of a few words, or a number in a range. Error messages and completion use the
// words.
#ifndef BANTAM_CONVERTER_CLI_FRAME_CHOICES_H_
#define BANTAM_CONVERTER_CLI_FRAME_CHOICES_H_

#include <functional>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

namespace bantam::cli {

struct Check {
  /// Returns the error in a word, or an empty string if it is valid; it may replace the word.
  std::function<std::string(std::string&)> correct;
  /// All valid words if there are few, or the usual ones.
  std::vector<std::string> words;
};

/// Accepts one of `words`; the error for any other word lists them.
Check one_of(std::vector<std::string> words);
/// Accepts the keys of `values` and replaces each by its value.
Check replaced(const std::map<std::string, std::string>& values);
/// Accepts any word; completion offers these.
Check usual_words(std::vector<std::string> words);
/// Accepts bytes, chars and utf16, for --offsets.
Check position_units();
/// Accepts a number from `least` to `most`. For int, unsigned, size_t, float and double.
template <typename T>
Check between(T least, T most);

/// Accepts words for the values of an enumeration or of a switch.
template <typename T>
Check choices(const std::map<std::string, T>& values) {
  std::map<std::string, std::string> numbers;
  for (const auto& [word, value] : values) numbers[word] = std::to_string(static_cast<long long>(value));
  return replaced(numbers);
}

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_FRAME_CHOICES_H_
