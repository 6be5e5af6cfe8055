#include "firmware/image.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "bantam/image.h"
#include "base/fail.h"
#include "base/known_keys.h"
#include "base/output_file.h"
#include "base/printable.h"
#include "base/size.h"
#include "base/status_error.h"
#include "firmware/config.h"
#include "firmware/device_file.h"
#include "firmware/library.h"
#include "firmware/memory.h"
#include "firmware/project.h"
#include "run/engine.h"

namespace bantam::firmware {
namespace {

namespace fs = std::filesystem;
using convert::ExitCode;
using convert::fail;
using convert::printable;

/// Returns true if the output is a folder with everything that a build needs, rather than only the file.
bool is_folder(const ImageRequest& request) {
  const std::vector<std::string> formats = library_formats();
  return request.format == "project" || std::find(formats.begin(), formats.end(), request.format) != formats.end();
}

Target find_board(const std::string& name) {
  const std::vector<std::string> known = target_names();
  if (std::find(known.begin(), known.end(), name) != known.end()) return read_target(name);
  if (fs::is_directory(name)) return read_target_folder(name);
  fail(ExitCode::kUsage,
       "--board {}: neither a known board nor a folder{}; the known boards are {} (--list-boards says more)",
       printable(name), convert::guess(name, known), fmt::join(known, ", "));
}

/// Returns the requested board, with the memories of the command line.
Target find_target(const ImageRequest& request) {
  if (request.board.empty() == request.core.empty()) {
    fail(ExitCode::kUsage, "--board NAME or folder, or --core, --flash and --ram of a board of your own are wanted");
  }
  const std::vector<std::string> cores = core_names();
  const bool any = request.core == kAnyCore && request.format != "project";
  if (!request.core.empty() && !any && std::find(cores.begin(), cores.end(), request.core) == cores.end()) {
    fail(ExitCode::kUsage, "--core {}: unknown core{}; the known cores are {}", printable(request.core),
         convert::guess(request.core, cores), fmt::join(cores, ", "));
  }
  std::map<std::string, Range> memories;
  if (!request.flash.empty()) memories["flash"] = parse_range(request.flash, "--flash");
  if (!request.ram.empty()) memories["ram"] = parse_range(request.ram, "--ram");
  if (!request.model_flash.empty()) memories["model"] = parse_range(request.model_flash, "--model-flash");
  if (!request.hot.empty()) memories["hot"] = parse_range(request.hot, "--hot");
  if (request.core.empty()) {
    const Target board = find_board(request.board);
    return memories.empty() ? board : with_memories(board, memories);
  }
  if (request.format == "project" && (request.flash.empty() || request.ram.empty())) {
    fail(ExitCode::kUsage, "--core {}: --flash and --ram are wanted, too", request.core);
  }
  // The memories of an output that is not a project are known only to the user's build. Large ranges stand in for them,
  // at addresses that no device uses for its own memory.
  memories.emplace("flash", Range{"0x80000000", "256M"});
  memories.emplace("ram", Range{"0xA0000000", "256M"});
  Target target = with_memories(bare_target(any ? "cortex-m0" : request.core), memories);
  if (any) target.core = kAnyCore;
  target.name = request.format == "project" ? target.name : target.core;
  return target;
}

/// Chooses the number of tokens. The model of a project must fit its board's flash, and a session of the requested
/// length its RAM. The board of an array or a file is unknown here.
void choose_tokens(const ImageRequest& request, Image* image) {
  const Target& target = image->target;
  const bool board_known = request.format == "project";
  const char* const other_board = "--format c-array or bin makes it for a board of your own with more";
  if (board_known && image->file.size() >= target.model) {
    fail(ExitCode::kUnsupported, "{}: {} bytes do not fit the {} bytes of flash that {} has; use a smaller model; {}",
         request.model, image->file.size(), target.model, target.name, other_board);
  }
  const uint32_t longest = longest_text(image->model);
  const bool limited =
      image->model.source_vocabulary() != 0 ? image->model.max_source() != 0 : image->model.max_sequence() != 0;
  ImageForm form;
  const bool pixels = image_form(image->model, &form) == Status::kOk;
  const uint32_t least = pixels ? form.tokens : image->model.has_tokenizer() ? 4 : 1;
  if (request.max_tokens > longest && limited) {
    fail(ExitCode::kUsage, "--max-tokens {}: the model takes at most {}", request.max_tokens, longest);
  }
  if (request.max_tokens != 0 && request.max_tokens < least) {
    fail(ExitCode::kUsage, "--max-tokens {}: an image {} takes at least {}", request.max_tokens,
         pixels ? "of this model of images" : "for texts", least);
  }
  const uint32_t of_texts = convert::text_limit(image->model);
  image->wanted_tokens = request.max_tokens != 0 ? request.max_tokens : of_texts != 0 ? of_texts : longest;
  const uint32_t fitting = tokens_that_fit(image->model, target, image->wanted_tokens, request.block_rows);
  if (board_known && (fitting < least || (request.max_tokens != 0 && fitting < request.max_tokens))) {
    const SessionOptions wanted = image_options(image->model, image->wanted_tokens, request.block_rows);
    const uint64_t arena = sum(arena_parts(image->model, wanted));
    const uint64_t others = other_ram(image->model);
    fail(ExitCode::kUnsupported, "{}: {} tokens need {} bytes of RAM ({} arena, {} stack and example), {} has {}; {}",
         request.model, image->wanted_tokens, arena + others, arena, others, target.name, target.ram,
         fitting < least ? fmt::format("use a smaller model; {}", other_board)
                         : fmt::format("--max-tokens {} would fit", fitting));
  }
  image->options = image_options(image->model, board_known ? fitting : image->wanted_tokens, request.block_rows);
}

void check_output(const ImageRequest& request, const std::vector<fs::path>& outputs) {
  for (const fs::path& output : outputs) {
    convert::refuse_input_as_output(output, {request.model});
    std::error_code error;
    // A project that contains its own source would replace it.
    const fs::path inside =
        fs::weakly_canonical(request.model, error).lexically_relative(fs::weakly_canonical(output, error));
    if (!inside.empty() && *inside.begin() != "..") {
      fail(ExitCode::kUsage, "-o {}: the input {} lies there; choose another place", output.string(), request.model);
    }
  }
}

/// Returns an identifier from a file's stem: "src/voice" -> "voice".
std::string symbol_of(const fs::path& stem) {
  std::string symbol = stem.filename().string();
  for (char& c : symbol) {
    const bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!word) c = '_';
  }
  return symbol.empty() || (symbol[0] >= '0' && symbol[0] <= '9') ? "model_" + symbol : symbol;
}

/// Creates the folder as for a project. If that fails, writing the file reports the reason.
void make_folder_of(const fs::path& path) {
  std::error_code ignored;
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), ignored);
}

}  // namespace

Image make_image(const ImageRequest& request) {
  Image image;
  image.target = find_target(request);
  const convert::ModelFile source(request.model);
  if (has_part(source.model().task(), kTokenVectorsPart | kFoundPart) && is_folder(request)) {
    fail(ExitCode::kUnsupported,
         "{}: the example of a project puts neither markers nor labels into texts, which vectors of tokens and found "
         "spans need; --format c-array or bin "
         "makes a file for a program of your own",
         request.model);
  }
  image.source_bytes = source.size();
  Target memory = image.target;
  if (request.format != "project") memory.model = UINT32_MAX;
  image.layout = device_file(source.model().bytes(), convert::in_memory(source.size()), memory, request.block_rows,
                             request.keep_sparse);
  image.file = std::move(image.layout.bytes);
  Fault fault;
  const Status status = Model::open(image.file.data(), image.file.size(), &image.model, &fault);
  if (status != Status::kOk) fail(ExitCode::kInternal, "the file for the device: {}", convert::describe(status, fault));
  choose_tokens(request, &image);
  return image;
}

void write_image(const ImageRequest& request, Image* image) {
  const Project project{image->target, image->file, image->model, image->options,
                        fs::path(request.model).filename().string()};
  if (is_folder(request)) {
    check_output(request, {request.output});
    const Tree tree =
        request.format == "project" ? project_tree(project) : library_tree(project, request.format, request.version);
    image->written = write_tree(request.output, tree, request.force);
    image->outputs = {request.output};
    return;
  }
  // Besides the model, a user's own build needs these settings.
  fs::path stem = request.output;
  for (const char* known : {".c", ".h", ".bin", ".bantam"}) {
    if (fs::path(request.output).extension() == known) stem.replace_extension();
  }
  const fs::path config = stem.string() + "_config.h";
  const std::string configuration = config_header(project, config.filename().string(), Rounding::kByPragma);
  if (request.format == "bin") {
    check_output(request, {request.output, config});
    make_folder_of(request.output);
    convert::OutputFile(request.output).commit(image->file.data(), image->file.size());
    convert::OutputFile(config).commit(configuration.data(), configuration.size());
    image->outputs = {request.output, config.string()};
  } else {
    const fs::path header = stem.string() + ".h";
    const fs::path source = stem.string() + ".c";
    check_output(request, {header, source, config});
    const std::string symbol = symbol_of(stem);
    const std::string declared = array_header(symbol, image->file.size());
    const std::string defined = array_source(header.filename().string(), symbol, image->file);
    // Write the large file first: if there is no room for it, no file is left.
    make_folder_of(header);
    convert::OutputFile header_file(header);
    convert::OutputFile(source).commit(defined.data(), defined.size());
    header_file.commit(declared.data(), declared.size());
    convert::OutputFile(config).commit(configuration.data(), configuration.size());
    image->outputs = {header.string(), source.string(), config.string()};
  }
}

}  // namespace bantam::firmware
