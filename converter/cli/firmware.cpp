// firmware: a CMake project, a C array or a stripped file for a microcontroller.
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>

#include "bantam/image.h"
#include "base/known_keys.h"
#include "base/output_file.h"
#include "base/size.h"
#include "cli/answer/engine.h"
#include "cli/commands.h"
#include "cli/frame/appearance.h"
#include "cli/frame/build_info.h"
#include "cli/frame/command.h"
#include "cli/frame/errors.h"
#include "cli/frame/output.h"
#include "cli/frame/signals.h"
#include "firmware/config.h"
#include "firmware/device_file.h"
#include "firmware/library.h"
#include "firmware/linked.h"
#include "firmware/memory.h"
#include "firmware/project.h"

namespace bantam::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFirmwareExamples =
    "Examples:\n"
    "  bantam firmware voice.bantam --board cortex-m4 -o voice-m4\n"
    "  cmake -S voice-m4 -B voice-m4/build && cmake --build voice-m4/build\n"
    "  bantam firmware voice.bantam --board cortex-m55 --max-tokens 32 -o voice-m55 --force\n"
    "  # a board of yours: behind a bootloader, 96 KB of RAM\n"
    "  bantam firmware voice.bantam --core cortex-m33 --flash 0x08008000:2016K --ram 0x20000000:256K -o voice-m33\n"
    "  # voice.h and voice.c\n"
    "  bantam firmware voice.bantam --board cortex-m7 --format c-array -o voice\n"
    "  bantam firmware voice.bantam --board cortex-m7 --format bin -o voice-m7.bantam\n"
    "  # for another build system; core any: portable kernels\n"
    "  bantam firmware voice.bantam --core cortex-m4 --format zephyr --max-tokens 32 -o bantam\n"
    "  bantam firmware voice.bantam --core any --format esp-idf --max-tokens 32 -o components/bantam\n\n"
    "The project is self-contained: it has the runtime sources, the board's start-up code and "
    "linker script, the model, and an example that answers lines from the UART and sleeps "
    "between them (WFI). It builds with cmake and arm-none-eabi-gcc, and the build prints flash "
    "and RAM for each part. docs/firmware.md explains how to run it in QEMU and on your own board.";

struct FirmwareArguments {
  std::string model;
  std::string board;  // a name or a folder
  std::string core;   // in place of a board
  std::string flash, ram, hot, model_flash;
  bool list_boards = false;
  std::string output;
  std::string format = "project";
  uint32_t max_tokens = 0;  // 0: as many as fit
  uint32_t block_rows = firmware::kBlockRows;
  bool keep_sparse = false;
  bool force = false;
  bool json = false;
};

/// A folder with all that a build needs, not the file alone.
bool is_folder(const FirmwareArguments& arguments) {
  const std::vector<std::string> formats = firmware::library_formats();
  return arguments.format == "project" || std::find(formats.begin(), formats.end(), arguments.format) != formats.end();
}

struct Image {
  firmware::Target target;
  convert::FileBytes file;
  convert::HeliumFile layout;  // without the bytes
  Model model;
  SessionOptions options;
  uint32_t wanted_tokens = 0;
  uint64_t source_bytes = 0;
  firmware::Written written;
  std::vector<std::string> outputs;
};

firmware::Target find_board(const std::string& name) {
  const std::vector<std::string> known = firmware::target_names();
  if (std::find(known.begin(), known.end(), name) != known.end()) return firmware::read_target(name);
  if (fs::is_directory(name)) return firmware::read_target_folder(name);
  fail(ExitCode::kUsage,
       "--board {}: neither a known board nor a folder{}; the known boards are {} (--list-boards says more)",
       printable(name), convert::guess(name, known), fmt::join(known, ", "));
}

/// The board that was asked for, with the memories of the command line.
firmware::Target find_target(const FirmwareArguments& arguments) {
  if (arguments.board.empty() == arguments.core.empty()) {
    fail(ExitCode::kUsage, "--board NAME or folder, or --core, --flash and --ram of a board of your own are wanted");
  }
  const std::vector<std::string> cores = firmware::core_names();
  const bool any = arguments.core == firmware::kAnyCore && arguments.format != "project";
  if (!arguments.core.empty() && !any && std::find(cores.begin(), cores.end(), arguments.core) == cores.end()) {
    fail(ExitCode::kUsage, "--core {}: unknown core{}; the known cores are {}", printable(arguments.core),
         convert::guess(arguments.core, cores), fmt::join(cores, ", "));
  }
  std::map<std::string, firmware::Range> memories;
  if (!arguments.flash.empty()) memories["flash"] = firmware::parse_range(arguments.flash, "--flash");
  if (!arguments.ram.empty()) memories["ram"] = firmware::parse_range(arguments.ram, "--ram");
  if (!arguments.model_flash.empty()) memories["model"] = firmware::parse_range(arguments.model_flash, "--model-flash");
  if (!arguments.hot.empty()) memories["hot"] = firmware::parse_range(arguments.hot, "--hot");
  if (arguments.core.empty()) {
    const firmware::Target board = find_board(arguments.board);
    return memories.empty() ? board : firmware::with_memories(board, memories);
  }
  if (arguments.format == "project" && (arguments.flash.empty() || arguments.ram.empty())) {
    fail(ExitCode::kUsage, "--core {}: --flash and --ram are wanted, too", arguments.core);
  }
  // Only the user's build knows the memories of an output that is not a project: large ranges stand in for them, where
  // no device has its own memory.
  memories.emplace("flash", firmware::Range{"0x80000000", "256M"});
  memories.emplace("ram", firmware::Range{"0xA0000000", "256M"});
  firmware::Target target =
      firmware::with_memories(firmware::bare_target(any ? "cortex-m0" : arguments.core), memories);
  if (any) target.core = firmware::kAnyCore;
  target.name = arguments.format == "project" ? target.name : target.core;
  return target;
}

/// --list-boards.
void list_boards(bool json) {
  std::vector<std::vector<std::string>> rows = {{"board", "core", "flash", "RAM", "QEMU", "like"}};
  Json boards = Json::array();
  for (const std::string& name : firmware::target_names()) {
    const firmware::Target target = firmware::read_target(name);
    rows.push_back({name, target.core, readable_bytes(target.flash), readable_bytes(target.ram),
                    target.machine.empty() ? "-" : target.machine, target.like});
    boards.push_back({{"board", name},
                      {"core", target.core},
                      {"flash", target.flash},
                      {"ram", target.ram},
                      {"qemu", target.machine},
                      {"like", target.like}});
  }
  if (!json) return print_table(rows);
  Json object = json_object("boards");
  object["boards"] = boards;
  out().line(object);
}

/// A project's model must lie in its board's flash, and a session of the wanted length in its RAM. An array or a file is for a
/// board that only its owner knows.
void choose_tokens(const FirmwareArguments& arguments, Image* image) {
  const firmware::Target& target = image->target;
  const bool board_known = arguments.format == "project";
  const char* const other_board = "--format c-array or bin makes it for a board of your own with more";
  if (board_known && image->file.size() >= target.model) {
    fail(ExitCode::kUnsupported, "{}: {} bytes do not fit the {} bytes of flash that {} has; use a smaller model; {}",
         arguments.model, image->file.size(), target.model, target.name, other_board);
  }
  const uint32_t longest = firmware::longest_text(image->model);
  const bool limited =
      image->model.source_vocabulary() != 0 ? image->model.max_source() != 0 : image->model.max_sequence() != 0;
  ImageForm form;
  const bool pixels = image_form(image->model, &form) == Status::kOk;
  const uint32_t least = pixels ? form.tokens : image->model.has_tokenizer() ? 4 : 1;
  if (arguments.max_tokens > longest && limited) {
    fail(ExitCode::kUsage, "--max-tokens {}: the model takes at most {}", arguments.max_tokens, longest);
  }
  if (arguments.max_tokens != 0 && arguments.max_tokens < least) {
    fail(ExitCode::kUsage, "--max-tokens {}: an image {} takes at least {}", arguments.max_tokens,
         pixels ? "of this model of images" : "for texts", least);
  }
  const uint32_t of_texts = text_limit(image->model);
  image->wanted_tokens = arguments.max_tokens != 0 ? arguments.max_tokens : of_texts != 0 ? of_texts : longest;
  const uint32_t fitting = firmware::tokens_that_fit(image->model, target, image->wanted_tokens, arguments.block_rows);
  if (board_known && (fitting < least || (arguments.max_tokens != 0 && fitting < arguments.max_tokens))) {
    const SessionOptions wanted = firmware::image_options(image->model, image->wanted_tokens, arguments.block_rows);
    const uint64_t arena = firmware::sum(firmware::arena_parts(image->model, wanted));
    const uint64_t others = firmware::other_ram(image->model);
    fail(ExitCode::kUnsupported, "{}: {} tokens need {} bytes of RAM ({} arena, {} stack and example), {} has {}; {}",
         arguments.model, image->wanted_tokens, arena + others, arena, others, target.name, target.ram,
         fitting < least ? fmt::format("use a smaller model; {}", other_board)
                         : fmt::format("--max-tokens {} would fit", fitting));
  }
  image->options =
      firmware::image_options(image->model, board_known ? fitting : image->wanted_tokens, arguments.block_rows);
}

void check_output(const FirmwareArguments& arguments, const std::vector<fs::path>& outputs) {
  for (const fs::path& output : outputs) {
    convert::refuse_input_as_output(output, {arguments.model});
    std::error_code error;
    // A project around its own source would be replaced with it.
    const fs::path inside =
        fs::weakly_canonical(arguments.model, error).lexically_relative(fs::weakly_canonical(output, error));
    if (!inside.empty() && *inside.begin() != "..") {
      fail(ExitCode::kUsage, "-o {}: the input {} lies there; choose another place", output.string(), arguments.model);
    }
  }
}

/// "src/voice" -> "voice", made an identifier.
std::string symbol_of(const fs::path& stem) {
  std::string symbol = stem.filename().string();
  for (char& c : symbol) {
    const bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!word) c = '_';
  }
  return symbol.empty() || (symbol[0] >= '0' && symbol[0] <= '9') ? "model_" + symbol : symbol;
}

/// As a project's folders are made. Where that fails, the file's error says why.
void make_folder_of(const fs::path& path) {
  std::error_code ignored;
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), ignored);
}

void write_outputs(const FirmwareArguments& arguments, Image* image) {
  const firmware::Project project{image->target, image->file, image->model, image->options,
                                  fs::path(arguments.model).filename().string()};
  if (is_folder(arguments)) {
    check_output(arguments, {arguments.output});
    const firmware::Tree tree = arguments.format == "project"
                                    ? firmware::project_tree(project)
                                    : firmware::library_tree(project, arguments.format, kVersion);
    // A folder cannot be removed from a signal's handler.
    const DeferredInterrupts interrupts;
    image->written = firmware::write_tree(arguments.output, tree, arguments.force);
    image->outputs = {arguments.output};
    return;
  }
  // The settings that a user's own build needs beside the model.
  fs::path stem = arguments.output;
  for (const char* known : {".c", ".h", ".bin", ".bantam"}) {
    if (fs::path(arguments.output).extension() == known) stem.replace_extension();
  }
  const fs::path config = stem.string() + "_config.h";
  const std::string configuration =
      firmware::config_header(project, config.filename().string(), firmware::Rounding::kByPragma);
  if (arguments.format == "bin") {
    check_output(arguments, {arguments.output, config});
    make_folder_of(arguments.output);
    convert::OutputFile(arguments.output).commit(image->file.data(), image->file.size());
    convert::OutputFile(config).commit(configuration.data(), configuration.size());
    image->outputs = {arguments.output, config.string()};
  } else {
    const fs::path header = stem.string() + ".h";
    const fs::path source = stem.string() + ".c";
    check_output(arguments, {header, source, config});
    const std::string symbol = symbol_of(stem);
    const std::string declared = firmware::array_header(symbol, image->file.size());
    const std::string defined = firmware::array_source(header.filename().string(), symbol, image->file);
    // Writes the large file first: without room for it, no file is left behind.
    make_folder_of(header);
    convert::OutputFile header_file(header);
    convert::OutputFile(source).commit(defined.data(), defined.size());
    header_file.commit(declared.data(), declared.size());
    convert::OutputFile(config).commit(configuration.data(), configuration.size());
    image->outputs = {header.string(), source.string(), config.string()};
  }
}

Json parts_json(const firmware::Parts& parts) {
  Json object = Json::object();
  for (const auto& [name, bytes] : parts) object[name] = bytes;
  return object;
}

void print_json(const FirmwareArguments& arguments, const Image& image) {
  const firmware::Parts model = firmware::model_parts(image.model);
  const firmware::Parts arena = firmware::arena_parts(image.model, image.options);
  Json object = json_object("firmware");
  object["file"] = arguments.model;
  object["target"] = image.target.name;
  object["format"] = arguments.format;
  object["outputs"] = image.outputs;
  object["kept"] = image.written.kept;
  object["max_tokens"] = firmware::text_tokens(image.options);
  object["tile_rows"] = image.options.tile_rows;
  object["block_rows"] = image.options.block_rows;
  object["linked"] = firmware::linked_by(image.model).words;
  object["source_bytes"] = image.source_bytes;
  object["flash"] = {{"device", image.target.flash}, {"model", image.file.size()}, {"model_parts", parts_json(model)}};
  object["sparse"] = {{"expanded", image.layout.expanded},
                      {"expanded_bytes", image.layout.expanded_bytes},
                      {"slower", image.layout.slower},
                      {"slower_bytes", image.layout.slower_bytes},
                      {"faster", image.layout.sparse}};
  object["ram"] = {{"device", image.target.ram},
                   {"arena_at_most", firmware::sum(arena)},
                   {"arena_parts", parts_json(arena)},
                   {"stack", firmware::stack_bytes(image.model)},
                   {"image", firmware::pixel_bytes(image.model) + firmware::feature_bytes(image.model) +
                                 firmware::sound_bytes(image.model)}};
  object["savings"] = Json::array();
  for (const firmware::Saving& saving : firmware::savings(image.model, image.options)) {
    object["savings"].push_back(
        {{"command", saving.convert ? "convert" : "firmware"}, {"option", saving.option}, {"ram", saving.bytes}});
  }
  out().line(object);
}

std::string layers(uint32_t count) { return fmt::format("{} layer{}", count, count == 1 ? "" : "s"); }

std::string bytes_apart(int64_t bytes) {
  return fmt::format("{} bytes {}", std::abs(bytes), bytes < 0 ? "less" : "more");
}

void print_parts(const char* title, const firmware::Parts& parts) {
  out().print("  {:<26}{:>10}\n", title, firmware::sum(parts));
  for (const auto& [name, bytes] : parts) {
    if (bytes != 0) out().print("    {:<24}{:>10}\n", name, bytes);
  }
}

/// Prints how layers were stored whose zeros need not be stored, where leaving them out can be slower than storing
/// them.
void print_sparse(const FirmwareArguments& arguments, const Image& image) {
  const convert::HeliumFile& layout = image.layout;
  if (layout.expanded != 0) {
    out().print("  {} with {} zeros, faster so: {} (--sparse keep: without)\n", layers(layout.expanded),
                layout.expanded == 1 ? "its" : "their", bytes_apart(layout.expanded_bytes));
  }
  if (layout.slower != 0) {
    out().print("  {} without zeros, slower so{}; with them: {}\n", layers(layout.slower),
                arguments.keep_sparse ? " (--sparse keep)" : ", but the flash is full",
                bytes_apart(layout.slower_bytes));
  }
  if (layout.sparse != 0) out().print("  {} without zeros, faster so\n", layers(layout.sparse));
}

void print_report(const FirmwareArguments& arguments, const Image& image) {
  const firmware::Target& target = image.target;
  out().print("{}: {} for {}, {} tokens\n", bold(printable(image.outputs.front())), arguments.format, target.name,
              firmware::text_tokens(image.options));
  if (firmware::text_tokens(image.options) < image.wanted_tokens) {
    out().print("  the model takes {} tokens; {} are what fits {} of RAM\n", image.wanted_tokens,
                firmware::text_tokens(image.options), readable_bytes(target.ram));
  }
  for (const std::string& kept : image.written.kept) out().print("  kept as you changed it: {}\n", printable(kept));
  out().print("  links {}\n\n", fmt::join(firmware::linked_by(image.model).words, ", "));
  const bool board_known = arguments.format == "project";
  const auto of_device = [&](uint64_t bytes) { return board_known ? fmt::format("{:>12}of {}", "", bytes) : ""; };
  out().print("{:<28}{}\n", "flash, bytes", of_device(target.flash));
  print_parts(target.model_apart ? "model, in its own memory" : "model", firmware::model_parts(image.model));
  const int64_t left_out =
      static_cast<int64_t>(image.source_bytes) + image.layout.expanded_bytes - static_cast<int64_t>(image.file.size());
  if (left_out > 0) out().print("    {:<24}{:>10}  not needed there\n", "left out", left_out);
  out().print("  {:<26}{:>10}\n", "program", "known after linking");
  print_sparse(arguments, image);
  out().print("{:<28}{}\n", "RAM, bytes", of_device(target.ram));
  print_parts("arena", firmware::arena_parts(image.model, image.options));
  out().print("  {:<26}{:>10}\n", "stack", firmware::stack_bytes(image.model));
  const uint64_t pixels = firmware::pixel_bytes(image.model);
  if (pixels != 0) {
    firmware::Parts parts = {{"pixels", pixels}, {"numbers made of them", firmware::feature_bytes(image.model)}};
    const uint64_t sound = firmware::sound_bytes(image.model);
    if (sound != 0) parts = {{"rows of a sound", pixels}, parts[1], {"filter bank", sound}};
    print_parts(sound != 0 ? "one sound" : "one image", parts);
  }
  for (const firmware::Saving& saving : firmware::savings(image.model, image.options)) {
    out().print("  {} less with {}{}\n", saving.bytes, saving.convert ? "a file of bantam convert " : "",
                saving.option);
  }
  if (!board_known) return;
  const std::string directory = printable(arguments.output);
  out().print("\nBuild it: cmake -S {0} -B {0}/build && cmake --build {0}/build\n", directory);
}

void run_firmware(const FirmwareArguments& arguments) {
  if (arguments.list_boards) return list_boards(arguments.json);
  if (arguments.model.empty()) fail(ExitCode::kUsage, "FILE is required");
  if (arguments.output.empty()) fail(ExitCode::kUsage, "--output is required");
  Image image;
  image.target = find_target(arguments);
  const ModelFile source(arguments.model);
  if (has_part(source.model().task(), kTokenVectorsPart | kFoundPart) && is_folder(arguments)) {
    fail(ExitCode::kUnsupported,
         "{}: the example of a project puts neither markers nor labels into texts, which vectors of tokens and found "
         "spans need; --format c-array or bin "
         "makes a file for a program of your own",
         arguments.model);
  }
  image.source_bytes = source.size();
  firmware::Target memory = image.target;
  if (arguments.format != "project") memory.model = UINT32_MAX;
  image.layout = firmware::device_file(source.model().bytes(), convert::in_memory(source.size()), memory,
                                       arguments.block_rows, arguments.keep_sparse);
  image.file = std::move(image.layout.bytes);
  Fault fault;
  const Status status = Model::open(image.file.data(), image.file.size(), &image.model, &fault);
  if (status != Status::kOk) fail(ExitCode::kInternal, "the file for the device: {}", describe(status, fault));
  choose_tokens(arguments, &image);
  write_outputs(arguments, &image);
  if (arguments.json) {
    print_json(arguments, image);
  } else if (!quiet()) {
    print_report(arguments, image);
  }
}

}  // namespace

void add_firmware(Program& program) {
  auto arguments = std::make_shared<FirmwareArguments>();
  Command& command =
      program.add_command("firmware", "Make a firmware project, a library or an array for a device", kMakeGroup);
  command.usual(
      {"--target", "--output", "--list-boards", "--core", "--flash", "--ram", "--format", "--max-tokens", "--force"});
  command.footer(kFirmwareExamples);
  command.add_option("FILE", arguments->model, "FILE.bantam", "A .bantam file");
  command.add_option("--board,--target", arguments->board, "BOARD",
                     "Board from --list-boards, or a folder with a target.json");
  command.add_option(
      "-o,--output", arguments->output, "PATH",
      "Directory of the project or library; with --format bin the file, with c-array the name without .h and .c");
  command.add_flag("--list-boards", arguments->list_boards, "List the known boards");
  command.add_option("--core", arguments->core, "CORE",
                     fmt::format("Core, in place of --board: {}", fmt::join(firmware::core_names(), ", ")));
  command.add_option("--flash", arguments->flash, "START:SIZE",
                     "Address and size of the flash: with --core, or in place of the board's");
  command.add_option("--ram", arguments->ram, "START:SIZE",
                     "Address and size of the RAM: with --core, or in place of the board's");
  command.add_option("--model-flash", arguments->model_flash, "START:SIZE",
                     "Address and size of the memory for the model, if that is not the flash");
  command.add_option("--hot", arguments->hot, "START:SIZE",
                     "Address and size of a memory without wait states, such as ITCM, to copy kernels to");
  std::vector<std::string> formats = {"project", "c-array", "bin"};
  for (const std::string& format : firmware::library_formats()) formats.push_back(format);
  command.add_option(
      "--format", arguments->format, "FORMAT",
      fmt::format("project (default); a library for {}; c-array (.h and .c) or bin (the file), with a header "
                  "that states the arena and the operators",
                  fmt::join(firmware::library_formats(), ", ")),
      one_of(formats));
  command.add_option("--max-tokens", arguments->max_tokens, "N",
                     "Maximum tokens per text, in decoders together with the generated text (default: as many as "
                     "the model takes and the RAM holds)",
                     between(1u, 1u << 20));
  command.add_option(
      "--block-rows", arguments->block_rows, "N",
      "Rows that a layer computes at a time: 4 (default, fast) to 1 (least RAM); the answers stay the same",
      between(1u, firmware::kBlockRows));
  const std::map<std::string, bool> sparse = {{"auto", false}, {"keep", true}};
  command.add_option("--sparse", arguments->keep_sparse, "WHEN",
                     "Layers stored without zeros: auto (default: put the zeros back if that is faster and fits, "
                     "on cortex-m55) or keep (leave the zeros out, which takes less flash)",
                     choices(sparse));
  command.add_flag("--force", arguments->force, "Replace the output of an earlier call; files that you changed stay");
  command.add_flag("--json", arguments->json, "Print one JSON object");
  command.action([arguments] { run_firmware(*arguments); });
}

}  // namespace bantam::cli
