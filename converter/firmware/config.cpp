#include "firmware/config.h"

#include <fmt/format.h>

#include "base/strings.h"
#include "firmware/c_names.h"
#include "firmware/linked.h"
#include "firmware/memory.h"
#include "firmware/reader.h"
#include "firmware/sources.h"

namespace bantam::firmware {
namespace {

constexpr const char* kSession =
    R"(#define BANTAM_MAX_TOKENS {tokens}
#define BANTAM_MAX_CONTEXT {context}
#define BANTAM_MAX_SOURCE {source}
#define BANTAM_TILE_ROWS {tile}
#define BANTAM_BLOCK_ROWS {block}
#define BANTAM_TEXT_OFFSETS {offsets}
// Bytes of an image's pixels, and numbers that they become; 0: the model reads texts.
#define BANTAM_PIXELS {pixels}
#define BANTAM_FEATURES {features}
)";

constexpr const char* kConfig =
    R"(// Written by bantam firmware for {core}: how the runtime is built, what the model needs of it (runtime/links.inc), the session's options.
// Every source of bantam has `#define BANTAM_SOURCE 1` and an include of this in front, in place of options of the compiler.
#ifndef {guard}
#define {guard}

#define BANTAM_FIRMWARE 1
#define BANTAM_FIRMWARE_ISA {isa}
#define BANTAM_ARENA_ALIGNMENT 16
#define BANTAM_KERNEL_SMALL
#define BANTAM_LINKED_HEADER "{name}"

// The code that the model needs. Model::open refuses a model that needs other code.
{linked}#define BANTAM_LINK_ROWS {rows}

// Options of the session: bantam::SessionOptions.
{session}// Bytes of the arena, at most: a session on a core of 32 bits takes some less.
#define BANTAM_ARENA_BYTES {arena}
// The bytes of it besides the session, whose size only the core's compiler knows (configured_session.h): activations
// {activations}, tile and scratch {tile_bytes}, ids and offsets {ids}, contexts {contexts}.
#define BANTAM_ARENA_REST {rest}

#if defined(BANTAM_SOURCE)
// Answers have the same bits everywhere only where each product and each sum is rounded.
#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__)
#error "bantam: -ffast-math and its parts change answers; compile these sources with -fno-fast-math"
#endif
{pragmas}{check}#endif

#endif  // {guard}
)";

constexpr const char* kPragmas = R"(#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#if __clang_major__ >= 18
#pragma clang fp reassociate(off) reciprocal(off) contract(off)
#elif __clang_major__ >= 13
#pragma clang fp reassociate(off) contract(off)
#endif
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif
)";

constexpr const char* kCoreCheck = R"(#if !defined({feature})
#error "bantam: made for {core}, whose instructions this compiler is not told to use; `bantam firmware --core` has others"
#endif
)";

/// Returns the enumerator of an instruction set: "kMve" for "mve".
std::string isa_enumerator(std::string isa) {
  isa[0] = static_cast<char>(isa[0] - 'a' + 'A');
  return "k" + isa;
}

/// Returns `#define` lines for the session's options and the memory for an image's pixels.
std::string session_macros(const Project& project) {
  const SessionOptions& options = project.options;
  return fmt::format(kSession, fmt::arg("tokens", options.max_tokens), fmt::arg("context", options.max_context),
                     fmt::arg("source", options.max_source), fmt::arg("tile", options.tile_rows),
                     fmt::arg("block", options.block_rows), fmt::arg("offsets", options.text_offsets ? 1 : 0),
                     fmt::arg("pixels", pixel_bytes(project.model)),
                     fmt::arg("features", feature_bytes(project.model) / sizeof(float)));
}

}  // namespace

std::string config_header(const Project& project, const std::string& name, Rounding rounding) {
  const std::string& isa = project.target.isa;
  const Parts arena = arena_parts(project.model, project.options);
  const char* feature = isa == "mve" ? "__ARM_FEATURE_MVE" : isa == "dsp" ? "__ARM_FEATURE_DSP" : nullptr;
  return fmt::format(kConfig, fmt::arg("core", project.target.core), fmt::arg("guard", guard_of(name)),
                     fmt::arg("name", name), fmt::arg("isa", isa_enumerator(isa)),
                     fmt::arg("linked", linked_macro(linked_by(project.model))),
                     fmt::arg("rows", project.options.block_rows), fmt::arg("session", session_macros(project)),
                     fmt::arg("arena", sum(arena)), fmt::arg("activations", arena.at(1).second),
                     fmt::arg("tile_bytes", arena.at(2).second), fmt::arg("ids", arena.at(3).second),
                     fmt::arg("contexts", arena.at(4).second), fmt::arg("rest", sum(arena) - arena.at(0).second),
                     fmt::arg("pragmas", rounding == Rounding::kByPragma ? kPragmas : ""),
                     fmt::arg("check", feature == nullptr ? std::string()
                                                          : fmt::format(kCoreCheck, fmt::arg("feature", feature),
                                                                        fmt::arg("core", project.target.core))));
}

std::string runtime_file(std::string_view path, const std::string& text) {
  if (path == kGenerated) return reader_of(text);
  if (!convert::ends_with(path, ".cpp")) return text;
  return fmt::format("#define BANTAM_SOURCE 1\n#include \"{}\"\n{}", kConfigName, text);
}

}  // namespace bantam::firmware
