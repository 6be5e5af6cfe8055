#include "tokenizer/tokenizer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "tokenizer/assembler.h"
#include "tokenizer/tokenizer_source.h"

namespace bantam::convert {
namespace fs = std::filesystem;

namespace {

/// The folder with a tokenizer's files.
class TokenizerFolder {
 public:
  TokenizerFolder(const Directory& files, const std::string& folder) : files_(files), folder_(folder) {}

  bool has(const char* name) const { return files_.has(name_in(folder_, name)); }
  const Json& object(const char* name) const { return files_.object(name_in(folder_, name)); }
  const std::string& text(const char* name) const { return files_.text(name_in(folder_, name)); }

  /// The model_type of config.json, or "".
  std::string model_type() const {
    if (!has("config.json")) return "";
    const Json& config = object("config.json");
    const auto type = config.find("model_type");
    return type != config.end() && type->is_string() ? type->get<std::string>() : "";
  }

 private:
  const Directory& files_;
  const std::string& folder_;
};

void read_pieces(const TokenizerFolder& folder, TokenizerFiles& files) {
  for (const char* name : {"spiece.model", "sentencepiece.bpe.model", "spm.model", "tokenizer.model"}) {
    if (!folder.has(name)) continue;
    files.pieces = SentencePieceFile{name, folder.text(name), "", {}};
    files.pieces->model_type = folder.model_type();
    const auto named = files.config.find("tokenizer_class");
    const bool says = named != files.config.end() && named->is_string();
    const bool numbered = says ? named->get<std::string>() == "M2M100Tokenizer" : files.pieces->model_type == "m2m_100";
    if (numbered && folder.has("vocab.json")) files.pieces->numbers = folder.object("vocab.json");
    return;
  }
}

/// Reads Marian's two models. One vocabulary numbers the pieces of both, or each has its own.
void read_marian(const TokenizerFolder& folder, TokenizerFiles& files) {
  const Json& vocabulary = folder.object("vocab.json");
  const bool apart = folder.has("target_vocab.json");
  files.source = SentencePieceFile{"source.spm", folder.text("source.spm"), "marian", vocabulary};
  files.pieces = SentencePieceFile{"target.spm", folder.text("target.spm"), "marian",
                                   apart ? folder.object("target_vocab.json") : vocabulary};
}

}  // namespace

TokenizerFiles read_tokenizer_files(const Directory& directory, const std::string& folder_name) {
  const TokenizerFolder folder(directory, folder_name);
  TokenizerFiles files;
  const auto attempt = [&files](const auto& read) {
    try {
      read();
    } catch (const Error& error) {
      files.unreadable.insert(files.unreadable.end(), error.problems().begin(), error.problems().end());
    }
  };
  const auto object = [&](const char* name, Json& json) {
    if (folder.has(name)) attempt([&] { json = folder.object(name); });
  };
  object("tokenizer_config.json", files.config);
  object("tokenizer.json", files.json);
  const bool whole = folder.has("tokenizer.json"), words = folder.has("vocab.txt");
  if (!whole && words) attempt([&] { files.vocab = folder.text("vocab.txt"); });
  if (!whole && !words && folder.has("merges.txt")) {
    object("vocab.json", files.letters);
    if (files.letters.is_object()) attempt([&] { files.merges = folder.text("merges.txt"); });
    if (files.letters.is_object()) attempt([&] { files.model_type = folder.model_type(); });
  }
  const bool marian = folder.has("vocab.json") && folder.has("source.spm") && folder.has("target.spm");
  if (!whole && !files.vocab && !files.merges) {
    attempt([&] { marian ? read_marian(folder, files) : read_pieces(folder, files); });
  }
  object("special_tokens_map.json", files.special);
  object("added_tokens.json", files.added);
  files.names_tokens = true;
  if (files.config.is_object() && whole) {
    const Json stated = files.config.value("tokenizer_class", Json());
    attempt([&] {
      files.tokenizer_class =
          tokenizer_class_of(stated.is_string() ? stated.get<std::string>() : "", folder.model_type());
    });
  }
  if (folder.has("chat_template.jinja")) attempt([&] { files.chat = folder.text("chat_template.jinja"); });
  // Files of BPE, SentencePiece and tiktoken.
  for (const char* name : {"vocab.json", "merges.txt", "vocab.bpe", "bpe.codes", "encoder.json", "spiece.model",
                           "sentencepiece.bpe.model", "tokenizer.model", "spm.model", "source.spm", "target.spm",
                           "tokenizer.tiktoken", "qwen.tiktoken", "dict.txt"}) {
    if (folder.has(name)) files.others.emplace_back(name);
  }
  return files;
}

bool import_tokenizer(const fs::path& dir, Graph& graph, std::vector<std::string>& problems, bool* unsupported) {
  return import_tokenizer(read_tokenizer_files(Directory(dir)), graph, problems, unsupported);
}

const char* const kWithoutTokenizer =
    "convert with --ids-only for a file that takes token ids, and tokenize with the original library";

bool import_tokenizer(const TokenizerFiles& files, Graph& graph, std::vector<std::string>& problems, bool* unsupported,
                      bool lowercase) {
  const bool has_json = files.json.is_object();
  if (unsupported != nullptr) *unsupported = false;
  if (!has_json && !files.vocab && !files.merges && !files.pieces && !files.words && files.unreadable.empty()) {
    if (files.others.empty()) return false;
    if (unsupported != nullptr) *unsupported = true;
    problems.push_back(
        fmt::format("{}: a tokenizer of this kind is not supported; this version takes WordPiece "
                    "tokenizers, from tokenizer.json or vocab.txt, BPE, from tokenizer.json or vocab.json "
                    "with merges.txt, WordLevel, from tokenizer.json, and SentencePiece's unigram models, from "
                    "tokenizer.json or spiece.model; {}",
                    fmt::join(files.others, ", "), kWithoutTokenizer));
    return false;
  }
  ProblemList found = files.unreadable;
  TokenizerSource source;
  source.unsupported = files.unsupported;
  const Json config = complete_config(files);
  if (files.words) {
    read_word_list(*files.words, source, found);
  } else if (has_json) {
    read_tokenizer_json(files.json, files.json_name, files.tokenizer_class, config, source, found);
  } else if (files.vocab) {
    read_vocabulary_text(*files.vocab, "vocab.txt", config, "tokenizer_config.json", source, found);
  } else if (files.merges) {
    read_bpe_files(files.letters, *files.merges, config, files.model_type, source, found);
  } else if (files.pieces) {
    read_sentencepiece(*files.pieces, config, source, found);
  }
  read_tokenizer_config(files.special, "special_tokens_map.json", source, found);
  read_tokenizer_config(config, "tokenizer_config.json", source, found);
  if (files.names_tokens) read_added_names(config, source, found);
  source.bert.lowercase = source.bert.lowercase || lowercase;
  if (lowercase && !source.has_bert_words()) {
    ++source.unsupported;
    found.push_back(fmt::format("sentence_bert_config.json: do_lower_case: is supported with WordPiece only; {}",
                                kWithoutTokenizer));
  }
  std::vector<RawBlob> blobs;
  std::unique_ptr<fb::TokenizerT> tokenizer, of_sources;
  if (found.empty() && (files.source || files.source_json.is_object())) {
    TokenizerSource reads;
    if (files.source) {
      read_sentencepiece(*files.source, config, reads, found);
    } else {
      read_tokenizer_json(files.source_json, files.source_json_name, "", config, reads, found);
    }
    read_tokenizer_config(files.special, "special_tokens_map.json", reads, found);
    read_tokenizer_config(config, "tokenizer_config.json", reads, found);
    if (found.empty()) of_sources = assemble_tokenizer(reads, found, blobs);
    source.notes.insert(source.notes.end(), reads.notes.begin(), reads.notes.end());
  }
  if (found.empty()) {
    if (files.vocab && !has_json) {
      for (const std::string* special : {&source.unknown, &source.sep, &source.pad, &source.cls, &source.mask}) {
        const auto in = [special](const auto& entry) { return entry.first == *special; };
        const auto same = [special](const AddedSource& added) { return added.text == *special; };
        if (std::any_of(source.vocabulary.begin(), source.vocabulary.end(), in) &&
            std::none_of(source.added.begin(), source.added.end(), same)) {
          source.added.push_back({*special, -1, true});
        }
      }
    }
    tokenizer = assemble_tokenizer(source, found, blobs);
  }
  graph.notes.insert(graph.notes.end(), source.notes.begin(), source.notes.end());
  problems.insert(problems.end(), found.begin(), found.end());
  if (unsupported != nullptr) *unsupported = !found.empty() && source.unsupported == found.size();
  if (!tokenizer) return false;
  graph.model.tokenizers.push_back(std::move(tokenizer));
  if (of_sources) {
    graph.model.source_tokenizer = static_cast<uint32_t>(graph.model.tokenizers.size());
    graph.model.tokenizers.push_back(std::move(of_sources));
  }
  for (RawBlob& blob : blobs) graph.blobs.push_back(std::move(blob));
  return true;
}

}  // namespace bantam::convert
