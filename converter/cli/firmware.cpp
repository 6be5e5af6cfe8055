// firmware: writes a CMake project, a C array or a stripped file for a microcontroller.
#include <fmt/ranges.h>

#include <cstdlib>
#include <map>
#include <memory>

#include "cli/commands.h"
#include "cli/frame/appearance.h"
#include "cli/frame/build_info.h"
#include "cli/frame/command.h"
#include "cli/frame/errors.h"
#include "cli/frame/output.h"
#include "cli/frame/signals.h"
#include "cli/frame/usage_error.h"
#include "firmware/image.h"
#include "firmware/library.h"
#include "firmware/linked.h"
#include "firmware/memory.h"

namespace bantam::cli {
namespace {

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
  const Command* command = nullptr;
  firmware::ImageRequest image;
  bool list_boards = false;
  bool json = false;
};

/// firmware::core_names(): asking for them would unpack the embedded sources at the start of every command.
constexpr const char* kCores =
    "cortex-m0, cortex-m0plus, cortex-m23, cortex-m3, cortex-m33, cortex-m4, cortex-m55, cortex-m7, cortex-m85, "
    "rv32imac";

/// Prints the boards, for --list-boards.
void list_boards(bool json) {
  Json object = json_object("boards");
  Json& boards = object["boards"] = Json::array();
  for (const std::string& name : firmware::target_names()) {
    const firmware::Target target = firmware::read_target(name);
    boards.push_back({{"board", name},
                      {"core", target.core},
                      {"flash", target.flash},
                      {"ram", target.ram},
                      {"qemu", target.machine},
                      {"like", target.like}});
  }
  if (json) return out().line(object);
  const Form dash = [](const Json& name) { return name == "" ? "-" : plain_form(name); };
  print_table(
      boards,
      {"board", "core", {"flash", "flash", bytes_form}, {"ram", "RAM", bytes_form}, {"qemu", "QEMU", dash}, "like"});
}

Json parts_json(const firmware::Parts& parts) {
  Json object = Json::object();
  for (const auto& [name, bytes] : parts) object[name] = bytes;
  return object;
}

void print_json(const FirmwareArguments& arguments, const firmware::Image& image) {
  const firmware::Parts model = firmware::model_parts(image.model);
  const firmware::Parts arena = firmware::arena_parts(image.model, image.options);
  Json object = json_object("firmware");
  object["file"] = arguments.image.model;
  object["target"] = image.target.name;
  object["format"] = arguments.image.format;
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

std::string bytes_apart(int64_t bytes) {
  return fmt::format("{} bytes {}", std::abs(bytes), bytes < 0 ? "less" : "more");
}

void print_parts(const char* title, const firmware::Parts& parts) {
  out().print("  {:<26}{:>10}\n", title, firmware::sum(parts));
  for (const auto& [name, bytes] : parts) {
    if (bytes != 0) out().print("    {:<24}{:>10}\n", name, bytes);
  }
}

/// Prints how sparse layers were stored. Skipping zeros saves space but can be slower than storing them.
void print_sparse(const FirmwareArguments& arguments, const firmware::Image& image) {
  const convert::HeliumFile& layout = image.layout;
  if (layout.expanded != 0) {
    out().print("  {} with {} zeros, faster so: {} (--sparse keep: without)\n", counted(layout.expanded, "layer"),
                layout.expanded == 1 ? "its" : "their", bytes_apart(layout.expanded_bytes));
  }
  if (layout.slower != 0) {
    out().print("  {} without zeros, slower so{}; with them: {}\n", counted(layout.slower, "layer"),
                arguments.image.keep_sparse ? " (--sparse keep)" : ", but the flash is full",
                bytes_apart(layout.slower_bytes));
  }
  if (layout.sparse != 0) out().print("  {} without zeros, faster so\n", counted(layout.sparse, "layer"));
}

void print_report(const FirmwareArguments& arguments, const firmware::Image& image) {
  const firmware::Target& target = image.target;
  out().print("{}: {} for {}, {} tokens\n", bold(printable(image.outputs.front())), arguments.image.format, target.name,
              firmware::text_tokens(image.options));
  if (firmware::text_tokens(image.options) < image.wanted_tokens) {
    out().print("  the model takes {} tokens; {} are what fits {} of RAM\n", image.wanted_tokens,
                firmware::text_tokens(image.options), readable_bytes(target.ram));
  }
  for (const std::string& kept : image.written.kept) out().print("  kept as you changed it: {}\n", printable(kept));
  out().print("  links {}\n\n", fmt::join(firmware::linked_by(image.model).words, ", "));
  const bool board_known = arguments.image.format == "project";
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
  const std::string directory = printable(arguments.image.output);
  out().print("\nBuild it: cmake -S {0} -B {0}/build && cmake --build {0}/build\n", directory);
}

void run_firmware(const FirmwareArguments& arguments) {
  if (arguments.list_boards) return list_boards(arguments.json);
  if (arguments.image.model.empty()) fail_missing(*arguments.command, "FILE");
  if (arguments.image.output.empty()) fail_missing(*arguments.command, "--output");
  firmware::Image image = firmware::make_image(arguments.image);
  {
    // A signal handler cannot remove a folder.
    const DeferredInterrupts interrupts;
    firmware::write_image(arguments.image, &image);
  }
  if (arguments.json) {
    print_json(arguments, image);
  } else if (!quiet()) {
    print_report(arguments, image);
  }
}

}  // namespace

void add_firmware(Program& program) {
  auto arguments = std::make_shared<FirmwareArguments>();
  arguments->image.version = kVersion;
  Command& command =
      program.add_command("firmware", "Make a firmware project, a library or an array for a device", kMakeGroup);
  arguments->command = &command;
  command.usual(
      {"--target", "--output", "--list-boards", "--core", "--flash", "--ram", "--format", "--max-tokens", "--force"});
  command.footer(kFirmwareExamples);
  command.add_option("FILE", arguments->image.model, "FILE.bantam", "A .bantam file");
  command.add_option("--board,--target", arguments->image.board, "BOARD",
                     "Board from --list-boards, or a folder with a target.json");
  command.add_option(
      "-o,--output", arguments->image.output, "PATH",
      "Directory of the project or library; with --format bin the file, with c-array the name without .h and .c");
  command.add_flag("--list-boards", arguments->list_boards, "List the known boards");
  command.add_option("--core", arguments->image.core, "CORE", std::string("Core, in place of --board: ") + kCores);
  command.add_option("--flash", arguments->image.flash, "START:SIZE",
                     "Address and size of the flash: with --core, or in place of the board's");
  command.add_option("--ram", arguments->image.ram, "START:SIZE",
                     "Address and size of the RAM: with --core, or in place of the board's");
  command.add_option("--model-flash", arguments->image.model_flash, "START:SIZE",
                     "Address and size of the memory for the model, if that is not the flash");
  command.add_option("--hot", arguments->image.hot, "START:SIZE",
                     "Address and size of a memory without wait states, such as ITCM, to copy kernels to");
  std::vector<std::string> formats = {"project", "c-array", "bin"};
  for (const std::string& format : firmware::library_formats()) formats.push_back(format);
  command.add_option(
      "--format", arguments->image.format, "FORMAT",
      fmt::format("project (default); a library for {}; c-array (.h and .c) or bin (the file), with a header "
                  "that states the arena and the operators",
                  fmt::join(firmware::library_formats(), ", ")),
      one_of(formats));
  command.add_option("--max-tokens", arguments->image.max_tokens, "N",
                     "Maximum tokens per text, in decoders together with the generated text (default: as many as "
                     "the model takes and the RAM holds)",
                     between(1u, 1u << 20));
  command.add_option(
      "--block-rows", arguments->image.block_rows, "N",
      "Rows that a layer computes at a time: 4 (default, fast) to 1 (least RAM); the answers stay the same",
      between(1u, firmware::kBlockRows));
  command.add_option("--sparse", arguments->image.keep_sparse, "WHEN",
                     "Layers stored without zeros: auto (default: put the zeros back if that is faster and fits, "
                     "on cortex-m55) or keep (leave the zeros out, which takes less flash)",
                     choices<bool>({{"auto", false}, {"keep", true}}));
  command.add_flag("--force", arguments->image.force,
                   "Replace the output of an earlier call; files that you changed stay");
  command.add_flag("--json", arguments->json, "Print one JSON object");
  command.action([arguments] { run_firmware(*arguments); });
}

}  // namespace bantam::cli
