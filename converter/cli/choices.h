// Options whose value is one of a few words.
#ifndef BANTAM_CONVERTER_CLI_CHOICES_H_
#define BANTAM_CONVERTER_CLI_CHOICES_H_

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

namespace bantam::cli {

/// For an option's transform(): the words that it takes and what they stand for; another word is an error that names them.
template <typename T>
CLI::Validator choices(const std::map<std::string, T>& values) {
  const auto look_up = [values](std::string& word) -> std::string {
    const auto found = values.find(word);
    if (found != values.end()) {
      word = CLI::detail::value_string(found->second);
      return "";
    }
    std::vector<std::string> words;
    words.reserve(values.size());
    for (const auto& [known, unused] : values) words.push_back(known);
    return fmt::format("{} is not one of {}", word, fmt::join(words, ", "));
  };
  return CLI::Validator(look_up, "");
}

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_CHOICES_H_
