#include "cli/student_options.h"

#include <filesystem>

#include "cli/frame/command.h"
#include "cli/frame/errors.h"

namespace bantam::cli {
namespace {

namespace fs = std::filesystem;

/// Parses "6" or "0.5" as JSON. Anything else stays a string, which the recipe's parser refuses with a message that
/// names the key.
convert::Json number(const std::string& text) {
  convert::Json value;
  std::string problem;
  return convert::parse_json(text, &value, &problem) && value.is_number() ? value : convert::Json(text);
}

/// Parses "3", "0.5", "first:3", "importance:0.5" or "0,2,4".
convert::Json layers(const std::string& text) {
  const size_t colon = text.find(':');
  if (colon != std::string::npos) return {{"by", text.substr(0, colon)}, {"keep", number(text.substr(colon + 1))}};
  if (text.find(',') == std::string::npos) return number(text);
  convert::Json list = convert::Json::array();
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    list.push_back(number(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return list;
}

/// Parses "6", "0.5" or "across:0.5".
convert::Json units(const std::string& text) {
  const std::string across = "across:";
  if (text.compare(0, across.size(), across) != 0) return number(text);
  return {{"across", "model"}, {"keep", number(text.substr(across.size()))}};
}

/// Makes a path absolute: paths on the command line are relative to the current directory, those in a recipe to the
/// recipe's folder.
std::string absolute(const std::string& path) { return fs::absolute(path).string(); }

}  // namespace

void add_layout_flags(Command& command, LayoutFlags* flags) {
  const auto add = [&](const char* name, auto& value, const char* what, const char* type) {
    command.add_option(name, value, type, what).group("Layout (overrides the recipe)");
  };
  add("--layers", flags->layers,
      "Layers to keep (in encoder-decoders, the encoder's): N or a share, alternate:N, first:N, "
      "last:N, importance:N, or 0,2,4",
      "WHICH");
  add("--decoder-layers", flags->decoder_layers, "Encoder-decoders: layers of the decoder to keep, in the same form",
      "WHICH");
  add("--heads", flags->heads,
      "Attention heads to keep, by importance: N or a share in each layer; across:N of all layers", "N");
  add("--ffn", flags->ffn, "Feed-forward columns to keep, in the same form", "N");
  add("--hidden", flags->hidden, "Hidden columns to keep, by importance", "N");
  add("--head-width", flags->head_width, "Columns per head", "N");
  add("--embedding-rank", flags->embedding_rank, "Split the word embeddings into two factors with N columns between",
      "N");
  add("--share", flags->share, "Make N groups of neighbouring layers that share the same matrices", "N");
  add("--vocabulary", flags->vocabulary, "Keep the tokens that these texts use", "FILE");
  add("--vocabulary-size", flags->vocabulary_size, "Keep at most N tokens, the most used", "N");
  add("--script", flags->scripts, "Keep the tokens of this script: latin, cyrillic, ...", "NAME");
  add("--data", flags->data, "Texts for measuring importance (default: built-in texts)", "FILE");
}

convert::Recipe layout_recipe(const LayoutFlags& flags) {
  convert::Json json = convert::Json::object();
  std::string where = "the options";
  fs::path base;
  if (!flags.recipe.empty()) {
    json = convert::read_json_object(flags.recipe);
    where = fs::path(flags.recipe).filename().string();
    base = fs::path(flags.recipe).parent_path();
  }
  if (!flags.layers.empty()) json["layers"] = layers(flags.layers);
  if (!flags.decoder_layers.empty()) json["decoder_layers"] = layers(flags.decoder_layers);
  if (!flags.heads.empty()) json["heads"] = units(flags.heads);
  if (!flags.ffn.empty()) json["ffn"] = units(flags.ffn);
  if (!flags.hidden.empty()) json["hidden"] = number(flags.hidden);
  if (flags.head_width != 0) json["head_width"] = flags.head_width;
  if (flags.embedding_rank != 0) json["embedding_rank"] = flags.embedding_rank;
  if (flags.share != 0) json["share"] = flags.share;
  if (!flags.data.empty()) json["data"] = absolute(flags.data);
  const bool trims = !flags.vocabulary.empty() || !flags.scripts.empty() || flags.vocabulary_size != 0;
  if (trims) {
    convert::Json& vocabulary = json["vocabulary"];
    if (vocabulary.is_string()) vocabulary = {{"corpus", vocabulary}};
    if (!flags.vocabulary.empty()) vocabulary["corpus"] = convert::Json::array();
    for (const std::string& file : flags.vocabulary) vocabulary["corpus"].push_back(absolute(file));
    for (const std::string& script : flags.scripts) vocabulary["scripts"].push_back(script);
    if (flags.vocabulary_size != 0) vocabulary["size"] = flags.vocabulary_size;
  }
  if (json.empty()) {
    throw Error(ExitCode::kUsage,
                "nothing says what the student is to be; name --recipe FILE, or options such as --layers 3");
  }
  return convert::parse_recipe(json, where, base);
}

}  // namespace bantam::cli
