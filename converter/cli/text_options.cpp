#include "cli/text_options.h"

#include <CLI/CLI.hpp>

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

}  // namespace bantam::cli
