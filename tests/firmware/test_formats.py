#!/usr/bin/env python3
"""Libraries of `bantam firmware --format`: compiled exactly as their lists say, linked and run.

- with this machine's compiler, portable kernels and no C++ library, and with a compiler that would fuse operations
- for Cortex-M4 and M55, linked with the start-up code of a project and run in QEMU
- examples compiled against stand-ins of what their systems have
- with clang, where it is: every source for Cortex-M4, M55 and M0+, assembler included

Answers are those of `bantam run --uart`, byte for byte. `./dev test` compiles the examples alone."""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path[:0] = [str(SOURCE / "tests"), str(SOURCE / "targets" / "firmware")]
import run as emulator  # noqa: E402
import skipping  # noqa: E402

TOKENS = 16
LINES = (SOURCE / "models" / "voice-commands" / "commands.txt").read_bytes()
CORES = {
    "cortex-m0plus": ["-mthumb", "-mcpu=cortex-m0plus", "-mfloat-abi=soft"],
    "cortex-m4": ["-mthumb", "-mcpu=cortex-m4", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard"],
    "cortex-m55": ["-mthumb", "-mcpu=cortex-m55", "-mfloat-abi=hard"],
}

# Stand-ins for the parts of systems that the examples use, and for no others.
STAND_INS = {
    "zephyr/device.h": "#pragma once\nstruct device {};\n#define DT_CHOSEN(x) 0\nextern const device stand_in;\n#define DEVICE_DT_GET(x) (&stand_in)\n",
    "zephyr/drivers/uart.h": "#pragma once\nvoid uart_poll_out(const device*, unsigned char);\nint uart_poll_in(const device*, unsigned char*);\n",
    "zephyr/kernel.h": "#pragma once\nint k_msleep(int);\n",
    "freertos/FreeRTOS.h": "#pragma once\n",
    "freertos/task.h": "#pragma once\nvoid vTaskDelay(unsigned);\n",
    "Arduino.h": "#pragma once\n#include <stddef.h>\n#include <stdint.h>\nstruct Port { void begin(long); size_t write(const uint8_t*, size_t);"
    " size_t print(const char*); int available(); int read(); explicit operator bool(); };\nextern Port Serial;\n",
    "main.h": "#include <stdint.h>\ntypedef struct { int x; } UART_HandleTypeDef;\ntypedef enum { HAL_OK } HAL_StatusTypeDef;\n"
    "#define HAL_MAX_DELAY 0xFFFFFFFFu\nHAL_StatusTypeDef HAL_UART_Transmit(UART_HandleTypeDef*, uint8_t*, uint16_t, uint32_t);\n"
    "HAL_StatusTypeDef HAL_UART_Receive(UART_HandleTypeDef*, uint8_t*, uint16_t, uint32_t);\n",
}
EXAMPLES = {
    "zephyr": "samples/lines/src/main.cpp",
    "esp-idf": "examples/lines/main/main.cpp",
    "arduino": "examples/lines/lines.ino",
    "platformio": "examples/lines/lines.ino",
    "cmsis-pack": "example/main.c",
    "stm32cube": "example/bantam_uart.c",
}

HOST_MAIN = """#include <stdio.h>
#include "bantam_lines.h"
static void answer(void* context, const char* data, size_t size) { fwrite(data, 1, size, stdout); (void)context; }
int main(void) {
  if (bantam_lines_start(answer, NULL) != 0) return 1;
  for (int byte = getchar(); byte >= 0; byte = getchar()) bantam_lines_put((uint8_t)byte);
  return 0;
}
"""
DEVICE_MAIN = """#include "bantam_lines.h"
#include "board.h"
static void answer(void* context, const char* data, size_t size) { board_write(data, size); (void)context; }
int main(void) {
  if (bantam_lines_start(answer, NULL) != 0) return 1;
  board_write("ready\\n", 6);
  for (int byte = board_read(); byte >= 0; byte = board_read()) bantam_lines_put((uint8_t)byte);
  bantam_lines_finish();
  return 0;
}
"""
DEVICE_LISTS = """cmake_minimum_required(VERSION 3.20)
set(CMAKE_TOOLCHAIN_FILE {project}/bantam/targets/firmware/toolchain.cmake)
set(CMAKE_BUILD_TYPE Release)
project(lines LANGUAGES C CXX ASM)
include({project}/bantam/targets/firmware/firmware.cmake)
add_subdirectory({library} bantam)
target_compile_options(bantam PRIVATE -Os "$<$<COMPILE_LANGUAGE:CXX>:-nostdinc++;-fno-exceptions;-fno-rtti>"
  -ffunction-sections -fdata-sections -Wall -Wextra -Werror)
bantam_firmware_image(lines SOURCES main.c LIBRARY bantam STACK 4096)
"""


def call(*command, **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, check=False, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {done.returncode}\n{done.stdout.decode()}\n{done.stderr.decode()}")
    return done.stdout


class Libraries:
    def __init__(self, command, model, work):
        self.command, self.model, self.work = command, model, work
        self.expected = call(command, "run", model, "--uart", "--max-tokens", TOKENS, input=LINES)

    def make(self, form, core):
        folder = self.work / f"{form}-{core}"
        shutil.rmtree(folder, ignore_errors=True)
        call(
            self.command, "firmware", self.model, "--core", core, "--format", form, "--max-tokens", TOKENS, "-o", folder
        )
        return folder

    def host(self):
        """This machine's compiler may fuse what it likes (-ffp-contract=fast), and the sources forbid it."""
        library = self.make("cmake", "any")
        build = self.work / "host"
        build.mkdir(exist_ok=True)
        (build / "main.c").write_text(HOST_MAIN)
        (build / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.16)\nproject(lines LANGUAGES C CXX)\n"
            f"add_subdirectory({library} bantam)\nadd_executable(lines main.c)\ntarget_link_libraries(lines bantam)\n"
        )
        flags = "-O2 -ffp-contract=fast" + (" -mfma" if os.uname().machine == "x86_64" else "")
        cmake(
            build,
            f"-DCMAKE_CXX_FLAGS={flags} -nostdinc++ -fno-exceptions -fno-rtti -Wall -Wextra -Werror",
            f"-DCMAKE_C_FLAGS={flags}",
        )
        answers = call(build / "build" / "lines", input=LINES)
        assert answers == self.expected, (answers, self.expected)
        source = library / "src" / "model" / "model.cpp"
        fast = subprocess.run(
            ["c++", "-std=c++17", "-ffast-math", "-fsyntax-only", "-I", library / "src", source],
            capture_output=True,
            check=False,
        )
        assert fast.returncode != 0 and b"-ffast-math and its parts change answers" in fast.stderr, fast.stderr

    def device(self, core):
        project = self.work / f"project-{core}"
        call(self.command, "firmware", self.model, "--board", core, "--max-tokens", TOKENS, "-o", project, "--force")
        library = self.make("cmake", core)
        build = self.work / f"image-{core}"
        build.mkdir(exist_ok=True)
        (build / "main.c").write_text(DEVICE_MAIN)
        (build / "CMakeLists.txt").write_text(DEVICE_LISTS.format(project=project, library=library))
        cmake(build, f"-DBANTAM_BOARD_DIR={project}/bantam/targets/{core}")
        status, output = emulator.run(emulator.MACHINES[core], build / "build" / "lines.elf", LINES, listen=True)
        answers = output.removeprefix(b"ready\n").rpartition(b"end\t")[0]
        assert status == 0 and answers == self.expected, (status, output, self.expected)

    def examples(self):
        """Each with its library's public header, the way its system compiles it."""
        stubs = self.work / "stubs"
        for name, text in STAND_INS.items():
            (stubs / name).parent.mkdir(parents=True, exist_ok=True)
            (stubs / name).write_text(text)
        for form, example in EXAMPLES.items():
            library = self.make(form, "any")
            plain_c = example.endswith(".c")
            language = ["-x", "c", "-std=c99"] if plain_c else ["-x", "c++", "-std=c++17"]
            more = ["-include", "Arduino.h"] if example.endswith(".ino") else []
            call(
                "c++" if not plain_c else "cc",
                *language,
                *more,
                "-Wall",
                "-Wextra",
                "-Werror",
                "-fsyntax-only",
                "-I",
                library / "src",
                "-I",
                stubs,
                library / example,
            )

    def clang(self, core):
        library = self.make("stm32cube", core)
        newlib = pathlib.Path("/usr/lib/arm-none-eabi/include")
        for source in sorted((library / "src").rglob("*.cpp")):
            call("clang++", "--target=arm-none-eabi", *CORES[core], "-nostdinc++", "-isystem", newlib, "-std=c++17", "-fno-exceptions", "-fno-rtti",
                 "-Os", "-c", "-o", self.work / "clang.o", "-I", library / "src", source)  # fmt: skip


def cmake(build, *options):
    if shutil.which("ccache"):
        options += ("-DCMAKE_C_COMPILER_LAUNCHER=ccache", "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache")
    call("cmake", "--fresh", "-G", "Ninja", "-S", build, "-B", build / "build", *options)
    call("cmake", "--build", build / "build")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--command", type=pathlib.Path, required=True)
    parser.add_argument("--models", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    given = parser.parse_args()
    skipping.need(
        ["arm-none-eabi-g++", "qemu-system-arm", "cmake", "ninja"], "targets/packages/debian.txt has the group firmware"
    )
    given.work.mkdir(parents=True, exist_ok=True)
    libraries = Libraries(given.command, given.models / "tiny-static.bantam", given.work)
    libraries.examples()
    if not os.environ.get("BANTAM_EXHAUSTIVE"):
        print("examples only: `./dev test all` compiles and runs the libraries")
        return
    libraries.host()
    for core in ("cortex-m4", "cortex-m55"):
        libraries.device(core)
    if shutil.which("clang++") is None:
        print("clang is not installed: its syntax is not checked")
        return
    for core in CORES:
        libraries.clang(core)


if __name__ == "__main__":
    main()
