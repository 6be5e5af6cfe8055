// Tokenizer throughput in bytes of text per second. Set BANTAM_SHARED to a folder with models/minilm-sst2 and
// data/text; otherwise a small vocabulary and a text of its words are used.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/text/bpe_vocabulary.h"
#include "tests/text/fixture.h"
#include "tests/text/vocabulary.h"

namespace bantam::tests {
namespace {

std::filesystem::path shared_folder() {
  const char* named = std::getenv("BANTAM_SHARED");
  return named != nullptr ? std::filesystem::path(named) : std::filesystem::path(BANTAM_SOURCE_DIR) / "../shared";
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

/// Returns RoBERTa's tokenizer, or a small one with a few merges.
Tokenizer& bpe_tokenizer() {
  static SmallTokenizer small(bpe_json({{" ", "t"}, {" t", "h"}, {" th", "e"}, {"o", "x"}, {" ", "f"}, {" f", "ox"}}));
  static Tokenizer result = [] {
    static convert::Graph graph;
    std::vector<std::string> problems;
    if (!convert::import_tokenizer(shared_folder() / "tokenizers/roberta", graph, problems)) return small.open();
    static TokenizerImage image(graph);
    return image.open();
  }();
  return result;
}

/// Returns T5's tokenizer, or a small one with a few pieces.
Tokenizer& unigram_tokenizer() {
  static SmallTokenizer small([] {
    nlohmann::json json;
    json["model"] = {
        {"type", "Unigram"},
        {"unk_id", 0},
        {"vocab", nlohmann::json::parse(R"([["<unk>", 0], ["\u2581", -2], ["\u2581the", -1], ["ox", -3]])")}};
    json["pre_tokenizer"] = {{"type", "Metaspace"}, {"replacement", "\u2581"}};
    return json;
  }());
  static Tokenizer result = [] {
    static convert::Graph graph;
    std::vector<std::string> problems;
    if (!convert::import_tokenizer(shared_folder() / "tokenizers/t5_small", graph, problems)) return small.open();
    static TokenizerImage image(graph);
    return image.open();
  }();
  return result;
}

/// Returns the real tokenizer, or a small one with common words.
Tokenizer& tokenizer() {
  static SmallTokenizer small(
      std::vector<std::string>{"the", "quick", "brown", "fox", "jump", "##s", "over", "lazy", "dog", "."});
  static Tokenizer result = [] {
    static convert::Graph graph;
    std::vector<std::string> problems;
    if (!convert::import_tokenizer(shared_folder() / "models/minilm-sst2", graph, problems)) return small.open();
    static TokenizerImage image(graph);
    return image.open();
  }();
  return result;
}

std::string fallback_text() {
  std::string text;
  while (text.size() < 1000000) text += "The quick brown fox jumps over the lazy dog. ";
  return text;
}

void run(benchmark::State& state, const std::string& text, const Tokenizer& with = tokenizer()) {
  std::vector<int32_t> ids(text.size() + 2);
  std::vector<Offset> offsets(ids.size());
  const TokenBuffer buffer = {ids.data(), nullptr, offsets.data(), nullptr, static_cast<uint32_t>(ids.size())};
  EncodeOptions options;
  options.max_tokens = buffer.capacity;
  EncodeResult result;
  for (auto _ : state) {
    if (with.encode({text.data(), text.size()}, {}, options, buffer, &result) != Status::kOk) {
      state.SkipWithError("encode failed");
      break;
    }
    benchmark::DoNotOptimize(ids.data());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(text.size()));
  state.counters["tokens/s"] =
      benchmark::Counter(static_cast<double>(result.count), benchmark::Counter::kIsIterationInvariantRate);
}

void BM_English(benchmark::State& state) {
  std::string text = read_file(shared_folder() / "data/text/tinyshakespeare.txt");
  run(state, text.empty() ? fallback_text() : text);
}
BENCHMARK(BM_English);

void BM_Wikipedia(benchmark::State& state) {
  std::string text = read_file(shared_folder() / "data/text/wikitext2.valid.txt");
  run(state, text.empty() ? fallback_text() : text);
}
BENCHMARK(BM_Wikipedia);

void BM_ManyScripts(benchmark::State& state) {
  std::string text = read_file(shared_folder() / "data/multilingual/udhr_core.jsonl");
  run(state, text.empty() ? "\u4eca\u5929 caf\u00e9 \u043c\u0438\u0440 " + fallback_text() : text);
}
BENCHMARK(BM_ManyScripts);

void BM_OneShortSentence(benchmark::State& state) { run(state, "Play some jazz in the kitchen, please."); }
BENCHMARK(BM_OneShortSentence);

void BM_BpeEnglish(benchmark::State& state) {
  const std::string text = read_file(shared_folder() / "data/text/tinyshakespeare.txt");
  run(state, text.empty() ? fallback_text() : text, bpe_tokenizer());
}
BENCHMARK(BM_BpeEnglish);

void BM_BpeWikipedia(benchmark::State& state) {
  const std::string text = read_file(shared_folder() / "data/text/wikitext2.valid.txt");
  run(state, text.empty() ? fallback_text() : text, bpe_tokenizer());
}
BENCHMARK(BM_BpeWikipedia);

void BM_BpeManyScripts(benchmark::State& state) {
  const std::string text = read_file(shared_folder() / "data/multilingual/udhr_core.jsonl");
  run(state, text.empty() ? fallback_text() : text, bpe_tokenizer());
}
BENCHMARK(BM_BpeManyScripts);

void BM_BpeOneLetter(benchmark::State& state) { run(state, std::string(1000000, 'a'), bpe_tokenizer()); }
BENCHMARK(BM_BpeOneLetter);

void BM_UnigramEnglish(benchmark::State& state) {
  const std::string text = read_file(shared_folder() / "data/text/tinyshakespeare.txt");
  run(state, text.empty() ? fallback_text() : text, unigram_tokenizer());
}
BENCHMARK(BM_UnigramEnglish);

void BM_UnigramWikipedia(benchmark::State& state) {
  const std::string text = read_file(shared_folder() / "data/text/wikitext2.valid.txt");
  run(state, text.empty() ? fallback_text() : text, unigram_tokenizer());
}
BENCHMARK(BM_UnigramWikipedia);

void BM_UnigramManyScripts(benchmark::State& state) {
  const std::string text = read_file(shared_folder() / "data/multilingual/udhr_core.jsonl");
  run(state, text.empty() ? fallback_text() : text, unigram_tokenizer());
}
BENCHMARK(BM_UnigramManyScripts);

void BM_UnigramOneLetter(benchmark::State& state) { run(state, std::string(1000000, 'a'), unigram_tokenizer()); }
BENCHMARK(BM_UnigramOneLetter);

}  // namespace
}  // namespace bantam::tests
