#include "firmware/project.h"

#include <fmt/format.h>

#include "base/printable.h"
#include "base/strings.h"
#include "firmware/c_names.h"
#include "firmware/config.h"
#include "firmware/flashing.h"
#include "firmware/linked.h"
#include "firmware/memory.h"
#include "firmware/resources.h"
#include "firmware/sources.h"

namespace bantam::firmware {
namespace {

using convert::to_string;

constexpr std::string_view kExample = "targets/firmware/example/";

constexpr const char* kLists = R"(cmake_minimum_required(VERSION 3.20)
set(BANTAM_BOARD_DIR ${{CMAKE_CURRENT_LIST_DIR}}/bantam/targets/{target} CACHE PATH "Folder of target.json and board.c")
if(NOT CMAKE_TOOLCHAIN_FILE)
  set(CMAKE_TOOLCHAIN_FILE ${{CMAKE_CURRENT_LIST_DIR}}/bantam/targets/firmware/toolchain.cmake)
endif()
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type")
endif()
project(firmware LANGUAGES C CXX ASM)
include(bantam/targets/firmware/firmware.cmake)

set(STACK_BYTES {stack} CACHE STRING "Bytes of main's stack; the example reports how much of it was used")
set(HANDLER_STACK_BYTES 256 CACHE STRING "Bytes of the stack of interrupt handlers")

bantam_firmware_library(bantam CONFIG ${{CMAKE_CURRENT_SOURCE_DIR}}/bantam_config.h)
bantam_firmware_image(firmware SOURCES main.cpp terminal.cpp LIBRARY bantam
  MODEL ${{CMAKE_CURRENT_SOURCE_DIR}}/model.bantam STACK ${{STACK_BYTES}}
  HANDLER_STACK ${{HANDLER_STACK_BYTES}})

# Programmers and bootloaders take these files.
add_custom_command(TARGET firmware POST_BUILD VERBATIM
  COMMAND ${{CMAKE_OBJCOPY}} -O ihex $<TARGET_FILE:firmware> firmware.hex{bin})

find_package(Python3 QUIET COMPONENTS Interpreter)
if(Python3_FOUND)  # flash and RAM, by part
  add_custom_command(TARGET firmware POST_BUILD VERBATIM
    COMMAND ${{Python3_EXECUTABLE}} ${{CMAKE_CURRENT_SOURCE_DIR}}/bantam/targets/firmware/size.py firmware.map)
endif()
)";

constexpr const char* kReadme = R"(# Firmware for {target}

{name} in flash, {input} in over {port}, answers out. Everything is here; nothing is downloaded.

```sh
cmake -S . -B build && cmake --build build   # {tools}-gcc; prints flash and RAM by part
{frames}{emulator}bantam run {source} --uart --max-tokens {tokens} < lines.txt   # the same on this machine, byte for byte
```

(Debian: {packages} cmake python3.)

## Put it on the board
The build writes {images} to `build`.

{flashing}

## Files
| | |
|---|---|
| `main.cpp`, `terminal.*` | the example: lines from the UART, one line of answer each; yours to change |
| `model.bantam` | the model for this target: {model_bytes} bytes, in flash by `.incbin` |
| `bantam_config.h` | all that configures it, in place of options of the compiler: session, arena, what the model needs of the runtime |
| `bantam/targets/{target}/target.json` | the board: core, memories, clock, UART; what changes for your board |
| `bantam/runtime/`, `bantam/generated/` | bantam's sources for this model, and the file format's reader: C++17, without a C++ library |
| `bantam/runtime/include/bantam/bantam.h` | the same API for C |

It links: {words}. Sources of yours that include bantam's headers include `bantam_config.h` first.

Your board: copy `bantam/targets/{target}/` elsewhere, change `target.json`, and configure with
`-DBANTAM_BOARD_DIR=path/to/it`, or give the folder to `bantam firmware --board`. A `board.c` there takes the place of
`bantam/targets/firmware/uart_board.c`; `bantam/targets/firmware/board.h` says what it provides.

`bantam firmware --force` writes a new model or version over this project, with the sources that it needs; files that you changed
stay.

bantam is under the Apache License 2.0: `bantam/LICENSE`. The model's licence: {licence}.
)";

/// Returns true if code and model lie in one memory. Otherwise firmware.bin would also hold the gap between them.
bool has_binary(const Target& target) { return !target.model_apart; }

std::string readme(const Project& project, const Linked& linked) {
  const std::string name = to_string(project.model.name());
  const std::string licence = to_string(project.model.licence());
  const std::string source = convert::shell_word(project.source);
  const bool pixels = pixel_bytes(project.model) != 0;
  const std::string tools = tools_of(project.target.core);
  return fmt::format(
      kReadme, fmt::arg("target", project.target.name), fmt::arg("tools", tools),
      fmt::arg("packages",
               convert::starts_with(tools, "riscv")
                   ? "gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf qemu-system-misc"
                   : "gcc-arm-none-eabi libnewlib-arm-none-eabi libstdc++-arm-none-eabi-newlib qemu-system-arm"),
      fmt::arg("name", name.empty() ? "A model" : convert::markdown_text(name)), fmt::arg("source", source),
      fmt::arg("port", project.target.semihosting ? "semihosting (a debugger)" : "the UART"),
      fmt::arg("images", has_binary(project.target) ? "`firmware.elf`, `firmware.hex` and `firmware.bin`"
                                                    : "`firmware.elf` and `firmware.hex`"),
      fmt::arg("flashing", flashing_list(project.target)), fmt::arg("tokens", text_tokens(project.options)),
      fmt::arg("model_bytes", project.file.size()), fmt::arg("words", fmt::join(linked.words, ", ")),
      fmt::arg("input", pixels ? "pixels" : "text"),
      fmt::arg(
          "frames",
          pixels ? fmt::format("bantam run {} IMAGE... --frame > lines.txt   # pixels, a line each\n", source) : ""),
      fmt::arg(
          "emulator",
          project.target.machine.empty()
              ? std::string()
              : fmt::format("bantam/targets/firmware/run.py --board {} build/firmware.elf < lines.txt   # in QEMU\n",
                            project.target.name)),
      fmt::arg("licence", licence.empty() ? "not stated in the file" : convert::markdown_text(licence)));
}

}  // namespace

Tree project_tree(const Project& project) {
  Tree tree;
  const Linked linked = linked_by(project.model);
  std::vector<std::string> roots;
  for (const Resource& resource : resources()) {
    const std::string_view folder = folder_of(resource.path);
    if (folder == "targets/firmware/" || folder == "targets/firmware/uart/" || folder == kExample) {
      roots.emplace_back(resource.path);
    }
  }
  for (const auto& [path, text] : project_sources(project.target, linked, roots)) {
    const bool example = convert::starts_with(path, kExample);
    tree[example ? path.substr(kExample.size()) : fmt::format("bantam/{}", path)] = runtime_file(path, text);
  }
  for (const auto& [name, text] : project.target.files) {
    tree[fmt::format("bantam/targets/{}/{}", project.target.name, name)] = text;
  }
  tree["CMakeLists.txt"] =
      fmt::format(kLists, fmt::arg("target", project.target.name), fmt::arg("stack", stack_bytes(project.model)),
                  fmt::arg("bin", has_binary(project.target)
                                      ? "\n  COMMAND ${CMAKE_OBJCOPY} -O binary $<TARGET_FILE:firmware> firmware.bin"
                                      : ""));
  tree["README.md"] = readme(project, linked);
  tree[kConfigName] = config_header(project, kConfigName, Rounding::kByOption);
  tree["model.bantam"] = std::string(project.file.begin(), project.file.end());
  return tree;
}

std::string array_header(const std::string& symbol, size_t size) {
  return fmt::format(
      "/* Written by bantam firmware: a model for bantam::Model::open, in read-only memory. */\n"
      "#ifndef {0}\n#define {0}\n\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n"
      "#define {1}_SIZE {2}\nextern const unsigned char {1}[{1}_SIZE];\n\n"
      "#ifdef __cplusplus\n}}\n#endif\n\n#endif\n",
      guard_of(symbol + ".h"), symbol, size);
}

std::string array_source(const std::string& header_name, const std::string& symbol, const convert::FileBytes& file) {
  std::string text = fmt::format(
      "/* Written by bantam firmware. */\n#include \"{}\"\n\n"
      "#if defined(__GNUC__)\n__attribute__((aligned(64)))\n#elif defined(__ICCARM__)\n#pragma data_alignment = "
      "64\n#endif\n"
      "const unsigned char {}[{}] = {{\n",
      header_name, symbol, file.size());
  text.reserve(text.size() + file.size() * 4 + file.size() / 8);
  constexpr size_t kPerLine = 30;
  for (size_t i = 0; i < file.size(); ++i) {
    text += fmt::format_int(file[i]).c_str();
    text += i + 1 == file.size() || (i + 1) % kPerLine == 0 ? ",\n" : ",";
  }
  return text + "};\n";
}

}  // namespace bantam::firmware
