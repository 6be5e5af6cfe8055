#include "source/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <string_view>
#include <system_error>

#include "base/error.h"
#include "base/is_there.h"
#include "base/json_file.h"

namespace bantam::convert {
namespace fs = std::filesystem;
namespace {

/// "bert-base-uncased" or "org/name": what the hub calls models.
bool is_hub_name(const std::string& text) {
  const auto legal = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.' || c == '/';
  };
  return !text.empty() && text.front() != '/' && text.front() != '.' && text.back() != '/' &&
         std::count(text.begin(), text.end(), '/') <= 1 && std::all_of(text.begin(), text.end(), legal);
}

/// The one name below `directory`, or "HASH" where there are none or several.
std::string one_entry(const fs::path& directory) {
  std::error_code error;
  std::string name;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    if (!name.empty()) return "HASH";
    name = it->path().filename().string();
  }
  return name.empty() ? "HASH" : name;
}

[[noreturn]] void refuse_missing(const fs::path& named, const std::error_code& error) {
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

[[noreturn]] void refuse_file(const fs::path& named) {
  struct Format {
    std::string_view extension;
    const char* what;
  };
  static constexpr std::array<Format, 5> kFormats = {
      {{".safetensors", "the weights alone; name their directory, which holds config.json too"},
       {".bin", "the weights alone; name their directory, which holds config.json too"},
       {".pt", "a torch file; name a directory that transformers' save_pretrained() wrote"},
       {".h5", "TensorFlow weights; name a directory that holds model.safetensors"},
       {".bantam", "converted already; bantam run FILE answers texts"}}};
  for (const Format& format : kFormats) {
    if (named.extension() == format.extension) {
      throw Error(ExitCode::kIo, fmt::format("{}: is {}", named.string(), format.what));
    }
  }
  throw Error(ExitCode::kIo, fmt::format("{}: is not a directory; name the one that holds config.json and "
                                         "model.safetensors",
                                         named.string()));
}

[[noreturn]] void refuse_adapter(const fs::path& directory) {
  std::string base;
  try {
    const Json config = read_json_object(directory / "adapter_config.json");
    if (config.contains("base_model_name_or_path") && config["base_model_name_or_path"].is_string()) {
      base = fmt::format(" of {}", config["base_model_name_or_path"].get<std::string>().substr(0, 80));
    }
  } catch (const Error&) {
    // The name of its model is all that is wanted.
  }
  throw Error(ExitCode::kUnsupported,
              fmt::format("{}: holds a PEFT adapter{}, not a model; merge it into its model with peft: "
                          "PeftModel.from_pretrained(MODEL, DIR).merge_and_unload().save_pretrained(NEW_DIR)",
                          directory.string(), base));
}

}  // namespace

void check_directory(const fs::path& named) {
  std::error_code error;
  const fs::file_status status = fs::status(named, error);
  if (!fs::exists(status)) refuse_missing(named, error);
  if (!fs::is_directory(status)) refuse_file(named);
  if (is_there(named / "config.json") || is_there(named / "ernie_config.json")) return;
  const fs::directory_iterator readable(named, error);
  if (error == std::errc::permission_denied) refuse_missing(named, error);
  if (is_there(named / "snapshots")) {
    throw Error(ExitCode::kInvalid,
                fmt::format("{}: is a folder of the hub's cache; name the model in it: {}", named.string(),
                            (named / "snapshots" / one_entry(named / "snapshots")).string()));
  }
  if (is_there(named / "adapter_config.json")) refuse_adapter(named);
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

std::string other_weights(const fs::path& directory) {
  const auto convert = [](const char* what, const char* option) {
    return fmt::format(
        "it holds {} weights; save them with transformers: AutoModel.from_pretrained(DIR, {}=True)"
        ".save_pretrained(NEW_DIR)",
        what, option);
  };
  if (is_there(directory / "tf_model.h5")) return convert("TensorFlow", "from_tf");
  if (is_there(directory / "flax_model.msgpack")) return convert("Flax", "from_flax");
  if (is_there(directory / "model.onnx") || is_there(directory / "onnx")) {
    return "it holds ONNX exports; name one of them: bantam convert DIR/onnx/model.onnx";
  }
  return "name the directory that holds the model's weights, or download them: hf download NAME --local-dir DIR";
}

}  // namespace bantam::convert
