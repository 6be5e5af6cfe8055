// Directories in Marian's own format (Junczys-Dowmunt et al., arXiv 1804.00344), such as the students that Bergamot
// publishes: weights and settings in one binary file, and SentencePiece vocabularies.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "source/marian/marian_file.h"
#include "source/marian/marian_settings.h"
#include "source/marian/marian_shortlist.h"
#include "source/model_source.h"
#include "source/source_path.h"
#include "tokenizer/sentencepiece_model.h"

namespace bantam::convert {
namespace fs = std::filesystem;
namespace {

constexpr uint64_t kMostMarianBytes = uint64_t{4} << 30, kMostListBytes = uint64_t{1} << 30;
constexpr uint32_t kMostMarianLayers = 1U << 10, kMostMarianWidth = 1U << 16, kMostMarianBeams = 1U << 8;
// Maximum text length in tokens: sinusoids are unlimited, and Marian's limit is a setting of each run.
constexpr uint32_t kMarianTokens = 512;
constexpr const char* kSharedTable = "Wemb";
constexpr const char* kOutputBias = "decoder_ff_logit_out_b";

/// Parts of names after "encoder_l1_" and "decoder_l1_", and their names in the family `marian_ssru`.
enum class MarianKind { kWeight, kVector };
struct Renamed {
  const char* marian;
  const char* name;
  MarianKind kind;
};
constexpr std::array<Renamed, 31> kRenamed = {{
    {"self_Wq", "self_attn.q_proj.weight", MarianKind::kWeight},
    {"self_bq", "self_attn.q_proj.bias", MarianKind::kVector},
    {"self_Wk", "self_attn.k_proj.weight", MarianKind::kWeight},
    {"self_bk", "self_attn.k_proj.bias", MarianKind::kVector},
    {"self_Wv", "self_attn.v_proj.weight", MarianKind::kWeight},
    {"self_bv", "self_attn.v_proj.bias", MarianKind::kVector},
    {"self_Wo", "self_attn.out_proj.weight", MarianKind::kWeight},
    {"self_bo", "self_attn.out_proj.bias", MarianKind::kVector},
    {"self_Wo_ln_scale", "self_attn_layer_norm.weight", MarianKind::kVector},
    {"self_Wo_ln_bias", "self_attn_layer_norm.bias", MarianKind::kVector},
    {"rnn_Wf", "ssru.forget.weight", MarianKind::kWeight},
    {"rnn_bf", "ssru.forget.bias", MarianKind::kVector},
    {"rnn_W", "ssru.candidate.weight", MarianKind::kWeight},
    {"rnn_ffn_ln_scale", "ssru_layer_norm.weight", MarianKind::kVector},
    {"rnn_ffn_ln_bias", "ssru_layer_norm.bias", MarianKind::kVector},
    {"context_Wq", "encoder_attn.q_proj.weight", MarianKind::kWeight},
    {"context_bq", "encoder_attn.q_proj.bias", MarianKind::kVector},
    {"context_Wk", "encoder_attn.k_proj.weight", MarianKind::kWeight},
    {"context_bk", "encoder_attn.k_proj.bias", MarianKind::kVector},
    {"context_Wv", "encoder_attn.v_proj.weight", MarianKind::kWeight},
    {"context_bv", "encoder_attn.v_proj.bias", MarianKind::kVector},
    {"context_Wo", "encoder_attn.out_proj.weight", MarianKind::kWeight},
    {"context_bo", "encoder_attn.out_proj.bias", MarianKind::kVector},
    {"context_Wo_ln_scale", "encoder_attn_layer_norm.weight", MarianKind::kVector},
    {"context_Wo_ln_bias", "encoder_attn_layer_norm.bias", MarianKind::kVector},
    {"ffn_W1", "fc1.weight", MarianKind::kWeight},
    {"ffn_b1", "fc1.bias", MarianKind::kVector},
    {"ffn_W2", "fc2.weight", MarianKind::kWeight},
    {"ffn_b2", "fc2.bias", MarianKind::kVector},
    {"ffn_ffn_ln_scale", "final_layer_norm.weight", MarianKind::kVector},
    {"ffn_ffn_ln_bias", "final_layer_norm.bias", MarianKind::kVector},
}};

bool has_prefix(std::string_view text, std::string_view with) { return text.substr(0, with.size()) == with; }
bool has_suffix(std::string_view text, std::string_view with) {
  return text.size() >= with.size() && text.substr(text.size() - with.size()) == with;
}

/// The names of the directory's files with this ending, in order.
std::vector<std::string> files_with(const Directory& files, std::string_view end) {
  std::vector<std::string> names = files.names();
  const auto is_other = [&](const std::string& name) { return !has_suffix(name, end); };
  names.erase(std::remove_if(names.begin(), names.end(), is_other), names.end());
  return names;
}

/// Returns true if `is` accepts the first bytes of a file.
bool begins_as(const Directory& files, const std::string& name, bool (*is)(std::string_view bytes)) {
  constexpr size_t kHead = 16;
  const std::string_view head = files.begin(name).substr(0, kHead);
  return head.size() == kHead && is(head);
}

/// The names of the directory's binary files whose first bytes `is` accepts.
std::vector<std::string> binaries_of(const Directory& files, bool (*is)(std::string_view bytes)) {
  std::vector<std::string> names = files_with(files, ".bin");
  const auto is_none = [&](const std::string& name) { return !begins_as(files, name, is); };
  names.erase(std::remove_if(names.begin(), names.end(), is_none), names.end());
  return names;
}
std::vector<std::string> models_of(const Directory& files) { return binaries_of(files, MarianFile::begins); }

/// The compressed files of the download.
std::vector<std::string> packed_of(const Directory& files) {
  std::vector<std::string> names = files_with(files, ".bin.gz");
  const auto is_other = [](const std::string& name) { return !has_prefix(name, "model."); };
  names.erase(std::remove_if(names.begin(), names.end(), is_other), names.end());
  return names;
}

class MarianOpening {
 public:
  MarianOpening(const SourcePath& named, fs::path shortlist)
      : files_(*named.files),
        directory_(files_.path("")),
        run_(settings_of_runs()),
        model_(named.is_folder() ? one_model() : named.path),
        shortlist_(std::move(shortlist)),
        file_(read_text_file(model_, kMostMarianBytes), model_.string()),
        settings_(file_.settings(), model_.string() + ": special:model.yml") {}

  ModelSource open(std::shared_ptr<const Directory> files) {
    if (!settings_.has("type")) {
      throw Error(ExitCode::kInvalid,
                  fmt::format("{}: item \"special:model.yml\", which says what the model is, is missing or has no "
                              "\"type\"; is the file complete?",
                              model_.string()));
    }
    check_marian(settings_, &problems_);
    problems_.raise();
    source_.files = std::move(files);
    source_.weight_files = {model_};
    const bool shared = file_.has(kSharedTable);
    const uint64_t source_rows = rows_of(shared ? kSharedTable : "encoder_Wemb"),
                   target_rows = rows_of(shared ? kSharedTable : "decoder_Wemb");
    settle(source_rows, target_rows);
    add_vocabularies(source_rows, target_rows, shared);
    add_words(source_rows, target_rows);
    add_tensors(shared);
    problems_.raise();
    source_.checkpoint = std::make_shared<const Checkpoint>(std::move(tensors_));
    return std::move(source_);
  }

 private:
  /// The settings of a run, in the directory, that name the vocabularies; they also name the model.
  MarianSettings settings_of_runs() const {
    for (const std::string& name : files_with(files_, ".yml")) {
      MarianSettings settings(files_.text(name), files_.path(name).string());
      if (settings.has("vocabs")) return settings;
    }
    return {"", ""};
  }

  /// The path of a file that the settings name, in their directory.
  fs::path beside(const std::string& key, const std::string& stated) const {
    const std::string name = fs::path(stated).filename().string();
    if (!name.empty() && files_.has(name)) return files_.path(name);
    throw Error(ExitCode::kIo,
                fmt::format("{}: {}: there is no file {} beside it; download it too, or correct the name", run_.where(),
                            key, name));
  }

  fs::path one_model() const {
    if (const std::vector<std::string> stated = run_.list("models"); !stated.empty()) {
      return beside("models", stated.front());
    }
    const std::vector<std::string> models = models_of(files_);
    if (models.empty()) {
      throw Error(ExitCode::kInvalid, fmt::format("{}: holds {}, which is compressed; unpack it first: gunzip {}/*.gz",
                                                  directory_.string(), packed_of(files_).front(), directory_.string()));
    }
    if (models.size() > 1) {
      throw Error(ExitCode::kInvalid, fmt::format("{}: holds several models of Marian ({}); name the file of one",
                                                  directory_.string(), fmt::join(models, ", ")));
    }
    return directory_ / models.front();
  }

  uint64_t rows_of(const std::string& table) const {
    const auto found = file_.items().find(table);
    if (found != file_.items().end() && found->second.shape.size() == 2) return found->second.shape[0];
    throw Error(ExitCode::kInvalid,
                fmt::format("{}: item \"{}\" is missing, or no matrix of a row a token; is the file "
                            "complete?",
                            model_.string(), table));
  }

  void settle(uint64_t source_rows, uint64_t target_rows) {
    const auto count = [&](const char* key, uint32_t most, uint32_t otherwise) {
      return settings_.count(key, most, otherwise, &problems_);
    };
    Json& config = source_.config;
    config = {{"model_type", "marian_ssru"}, {"architectures", {"MarianSsruMTModel"}}, {"scale_embedding", true}};
    config["vocab_size"] = source_rows + 1;
    config["decoder_vocab_size"] = target_rows + 1;
    config["decoder_start_token_id"] = config["pad_token_id"] = target_rows;
    config["d_model"] = count("dim-emb", kMostMarianWidth, 512);
    config["encoder_layers"] = count("enc-depth", kMostMarianLayers, 1);
    config["decoder_layers"] = count("dec-depth", kMostMarianLayers, 1);
    config["encoder_attention_heads"] = config["decoder_attention_heads"] =
        count("transformer-heads", kMostMarianWidth, 8);
    const uint32_t wide = count("transformer-dim-ffn", kMostMarianWidth, 2048);
    const bool own = settings_.text("transformer-decoder-dim-ffn", "0") != "0";
    config["encoder_ffn_dim"] = wide;
    config["decoder_ffn_dim"] = own ? count("transformer-decoder-dim-ffn", kMostMarianWidth, wide) : wide;
    const std::string activation = settings_.text("transformer-ffn-activation", "swish");
    config["activation_function"] = activation == "swish" ? "silu" : activation;
    config["max_position_embeddings"] = kMarianTokens;
    config["max_length"] = kMarianTokens;
    config["num_beams"] = run_.count("beam-size", kMostMarianBeams, 1, &problems_);
    config["length_penalty"] = run_.number("normalize", 0);
  }

  /// The vocabularies of source and target, which may be one file.
  std::pair<fs::path, fs::path> vocabularies() const {
    if (const std::vector<std::string> stated = run_.list("vocabs"); !stated.empty()) {
      return {beside("vocabs", stated.front()), beside("vocabs", stated.back())};
    }
    const std::vector<std::string> names = files_with(files_, ".spm");
    if (names.size() == 1) return {directory_ / names.front(), directory_ / names.front()};
    const auto of_side = [&](std::string_view side) {
      const auto is = [&](const std::string& name) { return has_prefix(name, side); };
      const auto found = std::find_if(names.begin(), names.end(), is);
      return found == names.end() ? std::string() : *found;
    };
    const std::string from = of_side("src"), to = of_side("trg");
    if (!from.empty() && !to.empty()) return {directory_ / from, directory_ / to};
    throw Error(
        ExitCode::kInvalid,
        fmt::format("{}: holds {} vocabularies of SentencePiece (.spm), where a model of Marian has one, or two "
                    "whose names begin with \"src\" and \"trg\"; download them, or name them by \"vocabs\" in "
                    "config.yml beside the model",
                    directory_.string(), names.size()));
  }

  /// A vocabulary whose piece numbers are the rows of a table with `rows` rows. *end, *unknown: ids of these tokens.
  SentencePieceFile vocabulary(const fs::path& path, uint64_t rows, uint64_t* end, uint64_t* unknown) {
    SentencePieceFile out{path.filename().string(), "", "marian_ssru", Json::object()};
    if (path.extension() != ".spm" && path.extension() != ".model") {
      problems_.add(
          ExitCode::kUnsupported,
          fmt::format("{}: only vocabularies of SentencePiece are supported, with the names of their files ending "
                      "in .spm",
                      path.string()));
      return out;
    }
    out.bytes = read_text_file(path);
    SentencePieceModel model;
    try {
      model = parse_sentencepiece(out.bytes);
    } catch (const std::invalid_argument& error) {
      problems_.add(ExitCode::kInvalid, fmt::format("{}: {}", path.string(), error.what()));
      return out;
    }
    uint64_t ends = rows, unknowns = rows;
    for (size_t i = 0; i < model.pieces.size(); ++i) {
      const SentencePiece& piece = model.pieces[i];
      out.numbers[piece.text] = i;
      if (piece.kind == SentencePiece::kControl && piece.text == "</s>") ends = i;
      if (piece.kind == SentencePiece::kUnknown) unknowns = i;
    }
    if (model.pieces.size() != rows) {
      problems_.add(ExitCode::kInvalid,
                    fmt::format("{}: has {} pieces, but the model's table has {} rows; the two do not belong together",
                                path.string(), model.pieces.size(), rows));
    } else if (out.numbers.size() != rows || ends == rows || unknowns == rows) {
      problems_.add(ExitCode::kInvalid,
                    fmt::format("{}: has a piece twice, or none for the end of a text (\"</s>\") or for "
                                "what is unknown; is this the model's vocabulary?",
                                path.string()));
    }
    // The decoder's start token; only its id matters.
    out.numbers[out.numbers.contains("<pad>") ? "<start>" : "<pad>"] = rows;
    *end = ends;
    *unknown = unknowns;
    return out;
  }

  void add_vocabularies(uint64_t source_rows, uint64_t target_rows, bool shared) {
    const auto [from, to] = vocabularies();
    uint64_t end = 0, unknown = 0;
    TokenizerFiles& files = source_.tokenizer;
    files.pieces = vocabulary(to, target_rows, &end, &unknown);
    source_.config["eos_token_id"] = end;
    source_.config["bad_words_ids"] = {{target_rows}, {unknown}};
    source_.weight_files.push_back(to);
    if (from == to) return;
    if (shared) {
      problems_.add(
          ExitCode::kInvalid,
          fmt::format("{}: has one table of embeddings, but the vocabularies {} and {} are two; the files do not "
                      "belong together",
                      model_.string(), from.string(), to.string()));
    }
    files.source = vocabulary(from, source_rows, &end, &unknown);
    source_.weight_files.push_back(from);
  }

  /// The shortlist that the user requested, or the one in the directory; "": none.
  fs::path shortlist_path() {
    if (shortlist_ == "none") return {};
    if (!shortlist_.empty()) return shortlist_;
    if (const std::vector<std::string> stated = run_.list("shortlist"); !stated.empty()) {
      const std::string name = fs::path(stated.front()).filename().string();
      if (begins_as(files_, name, is_marian_shortlist)) return files_.path(name);
      source_.notes.push_back(
          fmt::format("{}: shortlist: {} is {}: texts may have every word", run_.where(), name,
                      files_.has(name) ? "no binary shortlist (\"marian-conv --shortlist\" makes one)" : "not there"));
      return {};
    }
    const std::vector<std::string> names = binaries_of(files_, is_marian_shortlist);
    if (names.size() > 1) {
      problems_.add(ExitCode::kInvalid, fmt::format("{}: holds several shortlists ({}); name one by --shortlist",
                                                    directory_.string(), fmt::join(names, ", ")));
    }
    return names.size() == 1 ? directory_ / names.front() : fs::path();
  }

  void add_words(uint64_t source_rows, uint64_t target_rows) {
    const fs::path path = shortlist_path();
    if (path.empty()) return;
    try {
      SourceShortlist lists =
          read_marian_shortlist(read_text_file(path, kMostListBytes), path.string(), source_rows, target_rows);
      lists.shared = !source_.tokenizer.source;
      source_.shortlist = std::make_shared<const SourceShortlist>(std::move(lists));
      source_.weight_files.push_back(path);
    } catch (const Error& error) {
      for (const std::string& problem : error.problems()) problems_.add(error.code(), problem);
    }
  }

  static MemoryTensor as_vector(MemoryTensor tensor) {
    tensor.shape = {tensor.values.size()};
    return tensor;
  }
  /// Appends a row of zeros.
  static MemoryTensor with_start(MemoryTensor table) {
    table.values.resize(table.values.size() + static_cast<size_t>(table.shape[1]), 0.0F);
    ++table.shape[0];
    return table;
  }

  void add_tensors(bool shared) {
    for (const auto& [name, item] : file_.items()) {
      // Activation scales of other engines.
      if (has_prefix(name, "special:") || has_suffix(name, "_QuantMultA")) continue;
      if (!add_of_layer(name)) add_other(name, shared);
    }
    const size_t vocabulary = source_.config["decoder_vocab_size"].get<size_t>();
    if (!file_.has(kOutputBias)) {
      tensors_["final_logits_bias"] = {{1, vocabulary}, std::vector<float>(vocabulary, 0.0F)};
    }
  }

  /// Adds tensors such as "encoder_l3_ffn_W1".
  bool add_of_layer(const std::string& name) {
    const bool encoder = has_prefix(name, "encoder_l"), decoder = has_prefix(name, "decoder_l");
    if (!encoder && !decoder) return false;
    uint32_t layer = 0;
    const char *begin = name.data() + std::string_view("encoder_l").size(), *last = name.data() + name.size();
    const auto [end, error] = std::from_chars(begin, last, layer);
    if (error != std::errc() || layer == 0 || layer > kMostMarianLayers || end == last || *end != '_') return false;
    const std::string_view part(end + 1, static_cast<size_t>(last - end - 1));
    const auto found =
        std::find_if(kRenamed.begin(), kRenamed.end(), [&](const Renamed& r) { return part == r.marian; });
    if (found == kRenamed.end()) return false;
    const std::string prefix = fmt::format("model.{}.layers.{}.", encoder ? "encoder" : "decoder", layer - 1);
    MemoryTensor tensor = found->kind == MarianKind::kWeight ? file_.weight(name) : as_vector(file_.table(name));
    if (part == "rnn_W") {  // SSRU's second product has no bias
      tensors_[prefix + "ssru.candidate.bias"] = {{tensor.shape[0]},
                                                  std::vector<float>(static_cast<size_t>(tensor.shape[0]), 0.0F)};
    }
    tensors_[prefix + found->name] = std::move(tensor);
    return true;
  }

  void add_other(const std::string& name, bool shared) {
    if (name == kOutputBias) {
      MemoryTensor bias = file_.table(name);
      bias.values.push_back(0);
      bias.shape = {1, bias.values.size()};
      tensors_["final_logits_bias"] = std::move(bias);
    } else if (shared && name == kSharedTable) {
      tensors_["model.shared.weight"] = with_start(file_.table(name));
    } else if (!shared && name == "encoder_Wemb") {
      tensors_["model.encoder.embed_tokens.weight"] = with_start(file_.table(name));
    } else if (!shared && name == "decoder_Wemb") {
      tensors_["model.decoder.embed_tokens.weight"] = with_start(file_.table(name));
    } else {
      tensors_[name] = file_.table(name);  // unknown tensors are reported as for other models
    }
  }

  const Directory& files_;
  fs::path directory_;
  MarianSettings run_;
  fs::path model_;
  fs::path shortlist_;  // as requested by the user
  MarianFile file_;
  MarianSettings settings_;
  Problems problems_;
  ModelSource source_;
  std::map<std::string, MemoryTensor> tensors_;
};

}  // namespace

// Such a file, or a directory with one and without config.json.
bool is_marian(const SourcePath& named) {
  const Directory& files = *named.files;
  if (!named.is_folder()) {
    return named.is_file() && named.path.extension() == ".bin" && begins_as(files, named.file, MarianFile::begins);
  }
  return !files.has("config.json") && (!models_of(files).empty() || !packed_of(files).empty());
}

// A source of the family `marian_ssru`: its tensor names, f32, and an additional token with a row of zeros, with which
// Marian's decoders start. Reports every unsupported setting.
ModelSource open_marian(const SourcePath& named, const SourceOptions& options) {
  return MarianOpening(named, options.shortlist).open(named.files);
}

}  // namespace bantam::convert
