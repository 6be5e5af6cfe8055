// Options whose values are texts.
#ifndef BANTAM_CONVERTER_CLI_TEXT_OPTIONS_H_
#define BANTAM_CONVERTER_CLI_TEXT_OPTIONS_H_

#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace bantam::cli {

/// Options that take any text as it is, once or several times: CLI11's own conversion would take "[a, b]" and "{}"
/// apart and drop "".
CLI::Option* add_text(CLI::App& command, const char* name, std::optional<std::string>* text, const char* help);
CLI::Option* add_texts(CLI::App& command, const char* name, std::vector<std::string>* texts, const char* help);

/// Where neither `texts` nor a file of them are given: standard input, or a failure that asks for a `what` ("query").
void require_texts(const char* what, const std::string& file, std::vector<std::string>* texts);

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_TEXT_OPTIONS_H_
