// The commands of `bantam`: each function adds one family of subcommands to the application. Options
// live as long as the application (shared_ptr captured by the callback); a callback does the work and
// reports failure by throwing (cli/errors.h says which exit code each exception becomes).
#ifndef BANTAM_CONVERTER_CLI_COMMANDS_H_
#define BANTAM_CONVERTER_CLI_COMMANDS_H_

namespace CLI {
class App;
}

namespace bantam::cli {

// Headings of the list of commands.
constexpr const char* kMakeGroup = "Make a file";
constexpr const char* kAnswerGroup = "Answer texts";
constexpr const char* kExamineGroup = "Examine a file";
constexpr const char* kAboutGroup = "About bantam";

void add_convert(CLI::App& app);
void add_sensitivity(CLI::App& app);  // sensitivity
void add_student(CLI::App& app);      // convert
void add_run(CLI::App& app);          // run, classify, choose, tag, answer, embed, fill, similar
void add_generate(CLI::App& app);     // generate, translate, summarize, complete
void add_perplexity(CLI::App& app);
void add_search(CLI::App& app);     // index, search
void add_phrases(CLI::App& app);    // keywords, topics
void add_rank(CLI::App& app);       // rank
void add_tokenize(CLI::App& app);   // tokenize
void add_eval(CLI::App& app);       // eval
void add_bench(CLI::App& app);      // bench
void add_report(CLI::App& app);     // report
void add_firmware(CLI::App& app);   // firmware
void add_inspect(CLI::App& app);    // inspect
void add_verify(CLI::App& app);     // verify
void add_version(CLI::App& app);    // version
void add_documents(CLI::App& app);  // help, completion, man

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_COMMANDS_H_
