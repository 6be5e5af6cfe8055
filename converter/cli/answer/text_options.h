// Options whose values are texts.
#ifndef BANTAM_CONVERTER_CLI_TEXT_OPTIONS_H_
#define BANTAM_CONVERTER_CLI_TEXT_OPTIONS_H_

#include <optional>
#include <string>
#include <vector>

namespace bantam::cli {

/// Where neither `texts` nor a file of them are given: standard input, or a failure that asks for a `what` ("query").
void require_texts(const char* what, const std::string& file, std::vector<std::string>* texts);

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_TEXT_OPTIONS_H_
