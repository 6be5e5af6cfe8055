#include "source/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "source/adapter.h"
#include "source/knowledge_ernie.h"
#include "source/model_source.h"
#include "source/source_path.h"

namespace bantam::convert {
namespace fs = std::filesystem;
namespace {

/// Returns true for names in the form of the hub: "bert-base-uncased" or "org/name".
bool is_hub_name(const std::string& text) {
  const auto legal = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.' || c == '/';
  };
  return !text.empty() && text.front() != '/' && text.front() != '.' && text.back() != '/' &&
         std::count(text.begin(), text.end(), '/') <= 1 && std::all_of(text.begin(), text.end(), legal);
}

/// Opening a pipe would wait for its writer.
bool begins_as(const fs::path& file, std::string_view begin) {
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) return begin.empty();
  std::string bytes(begin.size(), '\0');
  std::ifstream stream(file, std::ios::binary);
  stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return bytes == begin;
}

bool is_without_settings(const SourcePath& named) {
  return !named.files->has("config.json") && !named.files->has(kErnieSettings);
}

}  // namespace

void refuse_missing(const fs::path& named, const std::error_code& error) {
  const std::string name = named.string();
  if (error == std::errc::permission_denied) {
    throw Error(ExitCode::kIo, fmt::format("{}: permission denied; check who may read it", name));
  }
  if (!is_hub_name(name)) throw Error(ExitCode::kIo, fmt::format("{}: no such directory; check the path", name));
  const std::string local = name.substr(name.rfind('/') + 1);
  throw Error(ExitCode::kIo, fmt::format("{}: no such directory; if it is the name of a model of the Hugging Face hub, "
                                         "download it first: hf download {} --local-dir {}",
                                         name, name, local == name ? name + "-model" : local));
}

void refuse_file(const fs::path& named) {
  using namespace std::string_view_literals;
  struct Format {
    std::string_view extension;
    std::array<std::string_view, 2> begins;  // its first bytes, in two forms
    const char* what;
  };
  // Files of torch are zip files; older ones are pickles of protocol 2.
  constexpr std::array<std::string_view, 2> kAny = {""sv, ""sv}, kTorch = {"PK\x03\x04"sv, "\x80\x02"sv},
                                            kHdf5 = {"\x89HDF"sv, "\x89HDF"sv};
  static constexpr std::array<Format, 5> kFormats = {
      {{".safetensors", kAny, "the weights alone; name their directory, which holds config.json too"},
       {".bin", kTorch, "the weights alone; name their directory, which holds config.json too"},
       {".pt", kTorch, "a torch file; name a directory that transformers' save_pretrained() wrote"},
       {".h5", kHdf5, "TensorFlow weights; name a directory that holds model.safetensors"},
       {".bantam", kAny, "converted already; bantam run FILE answers texts"}}};
  for (const Format& format : kFormats) {
    if (named.extension() != format.extension) continue;
    if (begins_as(named, format.begins[0]) || begins_as(named, format.begins[1])) {
      throw Error(ExitCode::kIo, fmt::format("{}: is {}", named.string(), format.what));
    }
  }
  throw Error(ExitCode::kIo, fmt::format("{}: is not a kind of model that bantam reads, by its name and first bytes; "
                                         "name the directory that holds config.json and model.safetensors",
                                         named.string()));
}

// A folder of the hub's cache, which contains folders of models.
bool is_hub_cache(const SourcePath& named) {
  return named.is_folder() && is_without_settings(named) && named.files->has("snapshots");
}

ModelSource open_hub_cache(const SourcePath& named, const SourceOptions& /*options*/) {
  const std::vector<std::string> models = named.files->names("snapshots");
  const fs::path one = named.path / "snapshots" / (models.size() == 1 ? models.front() : "HASH");
  throw Error(ExitCode::kInvalid, fmt::format("{}: is a folder of the hub's cache; name the model in it: {}",
                                              named.path.string(), one.string()));
}

bool is_adapter(const SourcePath& named) {
  return named.is_folder() && is_without_settings(named) && named.files->has(kAdapterSettings);
}

ModelSource open_adapter(const SourcePath& named, const SourceOptions& /*options*/) {
  throw Error(ExitCode::kUnsupported, fmt::format("{}: {}", named.path.string(), lonely_adapter(*named.files, "")));
}

void refuse_pointer(const fs::path& file) {
  constexpr std::string_view kBegin = "version https://git-lfs.github.com/spec/";
  std::array<char, kBegin.size()> bytes{};
  std::ifstream stream(file, std::ios::binary);
  stream.read(bytes.data(), bytes.size());
  if (std::string_view(bytes.data(), bytes.size()) != kBegin) return;
  throw Error(ExitCode::kInvalid,
              fmt::format("{}: is Git LFS's note of a file, not the file; fetch it: git -C {} lfs pull", file.string(),
                          file.has_parent_path() ? file.parent_path().string() : "."));
}

std::string other_weights(const Directory& files, const std::string& folder) {
  const auto has = [&](const char* name) { return files.has(name_in(folder, name)); };
  // transformers 5 reads neither; in 4.57, from_pretrained(from_tf=True) leaves tensors without data, so that its
  // functions are called directly. The class that config.json names keeps the head.
  const auto convert = [](const char* what, const char* packages, const char* module, const char* function,
                          const char* file) {
    return fmt::format(
        "it holds {} weights; save them with transformers 4 (pip install \"transformers<5\" torch {}): python -c "
        "\"import "
        "transformers as t, transformers.modeling_{}_pytorch_utils as u; c = t.AutoConfig.from_pretrained('DIR'); u.{}("
        "getattr(t, c.architectures[0])(c), 'DIR/{}).save_pretrained('NEW_DIR')\", and copy the tokenizer's files",
        what, packages, module, function, file);
  };
  if (has(kAdapterSettings)) return lonely_adapter(files, folder);
  if (has("tf_model.h5")) {
    return convert("TensorFlow", "tf-keras", "tf", "load_tf2_checkpoint_in_pytorch_model",
                   "tf_model.h5', allow_missing_keys=True");
  }
  if (has("flax_model.msgpack")) {
    return convert("Flax", "flax", "flax", "load_flax_checkpoint_in_pytorch_model", "flax_model.msgpack'");
  }
  if (has("model.onnx") || has("onnx")) {
    return "it holds ONNX exports; name one of them: bantam convert DIR/onnx/model.onnx";
  }
  return "name the directory that holds the model's weights, or download them: hf download NAME --local-dir DIR";
}

}  // namespace bantam::convert
