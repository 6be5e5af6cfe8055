#include "cli/text_options.h"

#include <CLI/CLI.hpp>

#include "cli/errors.h"
#include "run/text_source.h"

namespace bantam::cli {

CLI::Option* add_text(CLI::App& command, const char* name, std::optional<std::string>* text, const char* help) {
  const auto take = [text](const CLI::results_t& results) {
    *text = results.empty() ? std::string() : results.back();
    return true;
  };
  return command.add_option(name, take, help)->type_name("TEXT")->expected(1)->allow_extra_args(false);
}

CLI::Option* add_texts(CLI::App& command, const char* name, std::vector<std::string>* texts, const char* help) {
  const auto take = [texts](const CLI::results_t& results) {
    *texts = results;
    return true;
  };
  CLI::Option* option = command.add_option(name, take, help)->type_name("TEXT")->allow_extra_args(false)->take_all();
  // Without extra arguments a positional takes as many as its minimum; fewer are no error with take_all().
  const int most = CLI::detail::expected_max_vector_size;
  return option->get_positional() ? option->expected(most, most) : option->expected(1);
}

void require_texts(const char* what, const std::string& file, std::vector<std::string>* texts) {
  if (!texts->empty() || !file.empty()) return;
  if (!convert::input_is_given()) {
    fail(ExitCode::kUsage, "no {}: pass it as an argument, by --file, or on standard input", what);
  }
  *texts = {"-"};
}

}  // namespace bantam::cli
