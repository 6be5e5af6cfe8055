#include "tokenizer/tokenizer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "base/is_there.h"
#include "tokenizer/assembler.h"
#include "tokenizer/tokenizer_source.h"

namespace bantam::convert {
namespace fs = std::filesystem;

namespace {

/// The model_type of config.json, or nothing.
std::string read_model_type(const fs::path& dir) {
  if (!is_there(dir / "config.json")) return "";
  const Json config = read_json_object(dir / "config.json");
  const auto type = config.find("model_type");
  return type != config.end() && type->is_string() ? type->get<std::string>() : "";
}

void read_pieces(const fs::path& dir, TokenizerFiles& files) {
  for (const char* name : {"spiece.model", "sentencepiece.bpe.model", "spm.model", "tokenizer.model"}) {
    if (!is_there(dir / name)) continue;
    files.pieces = SentencePieceFile{name, read_text_file(dir / name), "", {}};
    files.pieces->model_type = read_model_type(dir);
    const auto named = files.config.find("tokenizer_class");
    const bool says = named != files.config.end() && named->is_string();
    const bool numbered = says ? named->get<std::string>() == "M2M100Tokenizer" : files.pieces->model_type == "m2m_100";
    if (numbered && is_there(dir / "vocab.json")) files.pieces->numbers = read_json_object(dir / "vocab.json");
    return;
  }
}

/// Two models, whose pieces a vocabulary numbers; or each has one.
void read_marian(const fs::path& dir, TokenizerFiles& files) {
  const Json vocabulary = read_json_object(dir / "vocab.json");
  const bool apart = is_there(dir / "target_vocab.json");
  files.source = SentencePieceFile{"source.spm", read_text_file(dir / "source.spm"), "marian", vocabulary};
  files.pieces = SentencePieceFile{"target.spm", read_text_file(dir / "target.spm"), "marian",
                                   apart ? read_json_object(dir / "target_vocab.json") : vocabulary};
}

}  // namespace

TokenizerFiles read_tokenizer_files(const fs::path& dir) {
  TokenizerFiles files;
  const auto attempt = [&files](const auto& read) {
    try {
      read();
    } catch (const Error& error) {
      files.unreadable.insert(files.unreadable.end(), error.problems().begin(), error.problems().end());
    }
  };
  const auto object = [&](const char* name, Json& json) {
    if (is_there(dir / name)) attempt([&] { json = read_json_object(dir / name); });
  };
  object("tokenizer_config.json", files.config);
  object("tokenizer.json", files.json);
  if (!is_there(dir / "tokenizer.json") && is_there(dir / "vocab.txt")) {
    attempt([&] { files.vocab = read_text_file(dir / "vocab.txt"); });
  }
  if (!is_there(dir / "tokenizer.json") && !is_there(dir / "vocab.txt") && is_there(dir / "merges.txt")) {
    object("vocab.json", files.letters);
    if (files.letters.is_object()) attempt([&] { files.merges = read_text_file(dir / "merges.txt"); });
    if (files.letters.is_object()) attempt([&] { files.model_type = read_model_type(dir); });
  }
  const bool marian = is_there(dir / "vocab.json") && is_there(dir / "source.spm") && is_there(dir / "target.spm");
  if (!is_there(dir / "tokenizer.json") && !files.vocab && !files.merges) {
    attempt([&] { marian ? read_marian(dir, files) : read_pieces(dir, files); });
  }
  object("special_tokens_map.json", files.special);
  if (is_there(dir / "chat_template.jinja")) attempt([&] { files.chat = read_text_file(dir / "chat_template.jinja"); });
  // BPE; SentencePiece; tiktoken.
  for (const char* name : {"vocab.json", "merges.txt", "vocab.bpe", "bpe.codes", "encoder.json", "spiece.model",
                           "sentencepiece.bpe.model", "tokenizer.model", "spm.model", "source.spm", "target.spm",
                           "tokenizer.tiktoken", "qwen.tiktoken", "dict.txt"}) {
    if (is_there(dir / name)) files.others.emplace_back(name);
  }
  return files;
}

bool import_tokenizer(const fs::path& dir, Graph& graph, std::vector<std::string>& problems, bool* unsupported) {
  return import_tokenizer(read_tokenizer_files(dir), graph, problems, unsupported);
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
  if (files.words) {
    read_word_list(*files.words, source, found);
  } else if (has_json) {
    read_tokenizer_json(files.json, files.json_name, source, found);
  } else if (files.vocab) {
    read_vocabulary_text(*files.vocab, "vocab.txt", files.config, "tokenizer_config.json", source, found);
  } else if (files.merges) {
    read_bpe_files(files.letters, *files.merges, files.config, files.model_type, source, found);
  } else if (files.pieces) {
    read_sentencepiece(*files.pieces, files.config, source, found);
  }
  read_tokenizer_config(files.special, "special_tokens_map.json", source, found);
  read_tokenizer_config(files.config, "tokenizer_config.json", source, found);
  source.bert.lowercase = source.bert.lowercase || lowercase;
  if (lowercase && !source.is_wordpiece()) {
    ++source.unsupported;
    found.push_back(fmt::format("sentence_bert_config.json: do_lower_case: is supported with WordPiece only; {}",
                                kWithoutTokenizer));
  }
  std::vector<RawBlob> blobs;
  std::unique_ptr<fb::TokenizerT> tokenizer, of_sources;
  if (found.empty() && (files.source || files.source_json.is_object())) {
    TokenizerSource reads;
    if (files.source) {
      read_sentencepiece(*files.source, files.config, reads, found);
    } else {
      read_tokenizer_json(files.source_json, files.source_json_name, reads, found);
    }
    read_tokenizer_config(files.special, "special_tokens_map.json", reads, found);
    read_tokenizer_config(files.config, "tokenizer_config.json", reads, found);
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
