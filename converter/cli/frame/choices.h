// The values that an option takes: one of a few words, or a number in a range. Errors and completion know the words.
#ifndef BANTAM_CONVERTER_CLI_FRAME_CHOICES_H_
#define BANTAM_CONVERTER_CLI_FRAME_CHOICES_H_

#include <functional>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

namespace bantam::cli {

struct Check {
  /// Returns the error in a word, or an empty text; it may replace the word.
  std::function<std::string(std::string&)> correct;
  /// All words that pass, or the usual ones, where there are few.
  std::vector<std::string> words;
};

/// Takes one of `words`; any other word is an error that names them.
Check one_of(std::vector<std::string> words);
/// Takes the words of `values` and replaces each by its value.
Check replaced(const std::map<std::string, std::string>& values);
/// Takes other words, too; completion offers these.
Check usual_words(std::vector<std::string> words);
/// Takes bytes, chars and utf16, for --offsets.
Check position_units();
/// Takes a number from `least` to `most`. For int, unsigned, size_t, float and double.
template <typename T>
Check between(T least, T most);

/// Takes words that stand for values of an enumeration or of a switch.
template <typename T>
Check choices(const std::map<std::string, T>& values) {
  std::map<std::string, std::string> numbers;
  for (const auto& [word, value] : values) numbers[word] = std::to_string(static_cast<long long>(value));
  return replaced(numbers);
}

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_FRAME_CHOICES_H_
