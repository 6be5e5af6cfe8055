// The commands of `bantam`: each function adds one command or a family of commands. The variables that options write to
// live as long as the program (the action holds a shared_ptr to them). An action does the work and reports failures by
// throwing; cli/frame/errors.h maps each exception to an exit code.
#ifndef BANTAM_CONVERTER_CLI_COMMANDS_H_
#define BANTAM_CONVERTER_CLI_COMMANDS_H_

namespace bantam::cli {

struct Program;

// Headings of the list of commands.
constexpr const char* kMakeGroup = "Make a file";
constexpr const char* kAnswerGroup = "Answer texts";
constexpr const char* kExamineGroup = "Examine a file";
constexpr const char* kAboutGroup = "About bantam";

void add_convert(Program& program);
void add_sensitivity(Program& program);  // sensitivity
void add_student(Program& program);      // convert
void add_run(Program& program);          // run, classify, choose, tag, answer, embed, fill, similar
void add_generate(Program& program);     // generate, translate, summarize, complete
void add_perplexity(Program& program);
void add_search(Program& program);     // index, search
void add_ask(Program& program);        // ask
void add_phrases(Program& program);    // keywords, topics
void add_label(Program& program);      // label
void add_rank(Program& program);       // rank
void add_serve(Program& program);      // serve
void add_tokenize(Program& program);   // tokenize
void add_eval(Program& program);       // eval
void add_bench(Program& program);      // bench
void add_report(Program& program);     // report
void add_firmware(Program& program);   // firmware
void add_monitor(Program& program);    // monitor
void add_inspect(Program& program);    // inspect
void add_verify(Program& program);     // verify
void add_bundle(Program& program);     // bundle
void add_sign(Program& program);       // sign
void add_version(Program& program);    // version
void add_documents(Program& program);  // help, completion, man

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_COMMANDS_H_
