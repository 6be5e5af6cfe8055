// monitor: sends lines to a device over its serial port and compares its answers with this machine's.
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <memory>
#include <optional>

#include "cli/answer/host_terminal.h"
#include "cli/commands.h"
#include "cli/frame/appearance.h"
#include "cli/frame/command.h"
#include "cli/frame/errors.h"
#include "cli/frame/output.h"
#include "data/text_source.h"
#include "firmware/device_link.h"

namespace bantam::cli {
namespace {

using firmware::DeviceLink;

using Milliseconds = std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr const char* kMonitorExamples =
    "The device runs an image from `bantam firmware` and answers each line with a line "
    "(docs/firmware.md). monitor prints both lines and the time between them. --parity also "
    "answers the lines on this machine and exits with code 6 if an answer differs in one byte; "
    "the hash at the end of an answer covers all its bits. --memory stops the image, which then "
    "reports its memory use.\n\n"
    "Examples:\n"
    "  bantam monitor /dev/ttyACM0 \"play some jazz\"\n"
    "  bantam monitor /dev/ttyACM0 --file lines.txt --parity voice.bantam --max-tokens 32 --json\n"
    "  # in the folder of a project: its image in QEMU\n"
    "  bantam monitor --command 'bantam/targets/firmware/run.py --attach build/*elf' --file lines.txt --memory";

struct MonitorArguments {
  std::string port;
  std::vector<std::string> texts;
  std::string file;
  std::string command;
  std::string parity;
  uint32_t baud = 115200;
  uint32_t max_tokens = 0;
  uint32_t timeout = 30;
  bool memory = false;
  bool json = false;
};

struct DeviceAnswer {
  std::string text, answer, host;
  double milliseconds = 0;
  bool same = true;
};

/// Formats an answer for people, with blanks between its fields.
std::string fields(const std::string& answer) {
  std::string apart;
  for (const char c : answer) apart += c == '\t' ? std::string("  ") : std::string(1, c);
  return printable(apart);
}

/// The values of the device's memory line, in bytes.
struct DeviceMemory {
  uint64_t arena_used = 0, arena = 0, stack_used = 0, stack = 0;
};

/// Throws if the line is "error<TAB>model|session|compiler<TAB>...", which means that the image has ended.
void refuse_ended(const DeviceLink& link, const std::string& line) {
  for (const char* where : {"model", "session", "compiler"}) {
    const std::string start = fmt::format("error\t{}\t", where);
    if (line.compare(0, start.size(), start) == 0) {
      fail(ExitCode::kInvalid, "{}: the image cannot run its {}: {}", printable(link.name()), where,
           printable(line.substr(start.size())));
    }
  }
  if (line.compare(0, 7, "fault: ") == 0) {
    fail(ExitCode::kInvalid, "{}: {}", printable(link.name()), printable(line));
  }
}

/// Waits until an image is ready. An image behind a port may have started long ago, so there a missing "ready" is no
/// error.
void await_ready(const MonitorArguments& arguments, DeviceLink* link) {
  const bool starts = !arguments.command.empty();
  const Milliseconds patience = starts ? Milliseconds(arguments.timeout * 1000) : Milliseconds(300);
  for (std::string line; link->read_line(&line, patience);) {
    refuse_ended(*link, line);
    if (line == "ready") return;
  }
  if (starts) fail(ExitCode::kIo, "{}: not ready within {} s", printable(link->name()), arguments.timeout);
}

DeviceAnswer ask_device(const MonitorArguments& arguments, const std::string& text, DeviceLink* link) {
  DeviceAnswer answer;
  answer.text = text;
  const Milliseconds timeout(arguments.timeout * 1000);
  const Clock::time_point begin = Clock::now();
  link->write(text + "\n", timeout);
  do {
    if (!link->read_line(&answer.answer, timeout)) {
      fail(ExitCode::kIo, "{}: no answer within {} s; does an image of bantam run there, at this --baud? (--timeout)",
           printable(link->name()), arguments.timeout);
    }
    refuse_ended(*link, answer.answer);
  } while (answer.answer == "ready");  // the image restarted, or became ready only now
  answer.milliseconds = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  return answer;
}

/// Ends the image and reads its memory line. Throws Error (I/O) if it answers nothing or something else.
DeviceMemory ask_memory(const MonitorArguments& arguments, DeviceLink* link) {
  link->write("\x04", Milliseconds(arguments.timeout * 1000));
  std::string line;
  DeviceMemory memory;
  if (!link->read_line(&line, Milliseconds(arguments.timeout * 1000)) ||
      sscanf(line.c_str(), "end\tarena %" SCNu64 " of %" SCNu64 "\tstack %" SCNu64 " of %" SCNu64, &memory.arena_used,
             &memory.arena, &memory.stack_used, &memory.stack) != 4) {
    fail(ExitCode::kIo, "{}: it does not say what memory it used: {}", printable(link->name()),
         line.empty() ? "no line came" : printable(line));
  }
  return memory;
}

/// Sends lines to the terminal of this machine and collects one answer per line.
class HostAnswers {
 public:
  explicit HostAnswers(const MonitorArguments& arguments)
      : terminal_(arguments.parity, options(arguments), {keep, &answer_}) {}

  std::string ask(const std::string& text) {
    answer_.clear();
    terminal_.put(text + "\n");
    if (!answer_.empty() && answer_.back() == '\n') answer_.pop_back();
    return answer_;
  }

 private:
  static EngineOptions options(const MonitorArguments& arguments) {
    EngineOptions options;
    options.max_tokens = arguments.max_tokens;
    return options;
  }
  static void keep(void* context, const char* data, size_t size) {
    static_cast<std::string*>(context)->append(data, size);
  }

  std::string answer_;
  HostTerminal terminal_;
};

Json monitor_json(const MonitorArguments& arguments, const std::vector<DeviceAnswer>& answers,
                  const std::optional<DeviceMemory>& memory) {
  Json object = json_object("monitor");
  object["device"] = arguments.command.empty() ? arguments.port : arguments.command;
  object["answers"] = Json::array();
  for (const DeviceAnswer& answer : answers) {
    Json one = {{"text", answer.text}, {"answer", answer.answer}, {"milliseconds", answer.milliseconds}};
    if (!arguments.parity.empty()) {
      one["host"] = answer.host;
      one["same"] = answer.same;
    }
    object["answers"].push_back(one);
  }
  if (memory) {
    object["memory"] = {{"arena_used", memory->arena_used},
                        {"arena", memory->arena},
                        {"stack_used", memory->stack_used},
                        {"stack", memory->stack}};
  }
  return object;
}

void run_monitor(const MonitorArguments& given) {
  MonitorArguments arguments = given;
  // With a command, the positional is not a port but a text.
  if (!arguments.command.empty() && !arguments.port.empty()) {
    arguments.texts.insert(arguments.texts.begin(), arguments.port);
    arguments.port.clear();
  }
  if (arguments.port.empty() && arguments.command.empty()) {
    fail(ExitCode::kUsage,
         "monitor: PORT is missing; name one such as /dev/ttyACM0, or an emulator's command by --command");
  }
  if (arguments.texts.empty() && arguments.file.empty() && !arguments.memory) {
    fail(ExitCode::kUsage, "nothing to ask: give texts, --file FILE (- for standard input) or --memory");
  }
  std::unique_ptr<HostAnswers> reference;
  if (!arguments.parity.empty()) reference = std::make_unique<HostAnswers>(arguments);
  DeviceLink link = arguments.command.empty() ? DeviceLink::port(arguments.port, arguments.baud)
                                              : DeviceLink::program(arguments.command);
  await_ready(arguments, &link);
  std::vector<DeviceAnswer> answers;
  size_t differing = 0;
  if (!arguments.texts.empty() || !arguments.file.empty()) {
    convert::TextSource source(arguments.texts, arguments.file, warn, show_prompt);
    for (std::string text; source.next(&text);) {
      if (text.find_first_of("\r\n\x04") != std::string::npos) {
        fail(ExitCode::kUsage, "{}: a text is one line without control characters", printable(text));
      }
      DeviceAnswer answer = ask_device(arguments, text, &link);
      if (reference != nullptr) {
        answer.host = reference->ask(text);
        answer.same = answer.host == answer.answer;
        differing += answer.same ? 0 : 1;
      }
      if (!arguments.json) {
        out().print("{}\n  {}  {}{:.1f} ms\n", printable(text), fields(answer.answer), answer.same ? "" : "DIFFERS, ",
                    answer.milliseconds);
        if (!answer.same) out().print("  {}  here\n", fields(answer.host));
        out().flush();
      }
      answers.push_back(std::move(answer));
    }
  }
  std::optional<DeviceMemory> memory;
  if (arguments.memory) memory = ask_memory(arguments, &link);
  if (arguments.json) {
    out().line(monitor_json(arguments, answers, memory));
  } else if (memory) {
    out().print("arena {} of {} bytes, stack {} of {}\n", memory->arena_used, memory->arena, memory->stack_used,
                memory->stack);
  }
  if (reference != nullptr && !arguments.json && !quiet()) {
    out().print("{} of {} answers are the same here\n", answers.size() - differing, answers.size());
  }
  out().flush();
  if (differing != 0) {
    fail(ExitCode::kGate, "{} of {} answers differ from {}: is it the image's model, and --max-tokens the image's?",
         differing, answers.size(), printable(arguments.parity));
  }
}

}  // namespace

void add_monitor(Program& program) {
  auto arguments = std::make_shared<MonitorArguments>();
  Command& command = program.add_command("monitor", "Send texts to a device over its serial port", kExamineGroup);
  command.footer(kMonitorExamples);
  command.add_option("PORT", arguments->port, "PORT", "Serial port of the device; with --command, the first text");
  command.add_option("TEXT", arguments->texts, "TEXT", "Lines to send");
  command.add_option("--file", arguments->file, "FILE", "File with lines to send (-: standard input)");
  command.add_option(
      "--command", arguments->command, "COMMAND",
      "Instead of PORT, a shell command that runs the image with the UART on its standard input and output");
  command.add_option("--parity", arguments->parity, "FILE.bantam",
                     "Model of the image: compare each answer with this machine's answer");
  command.add_option("--max-tokens", arguments->max_tokens, "N", "With --parity: the image's --max-tokens");
  command.add_option("--baud", arguments->baud, "N", "Speed of PORT (default: 115200)");
  command.add_option("--timeout", arguments->timeout, "SECONDS", "Seconds to wait for an answer (default: 30)",
                     between(1u, 86400u));
  command.add_flag("--memory", arguments->memory,
                   "At the end, stop the image and print the arena and the stack that it used");
  command.add_flag("--json", arguments->json, "Print one JSON object");
  command.action([arguments] { run_monitor(*arguments); });
}

}  // namespace bantam::cli
