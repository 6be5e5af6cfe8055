// Decoders in pieces: a sequence in several runs gives the same bits as in a single run, for any pieces, batch, number
// of threads and instruction set. golden_test.cpp compares the result of a single run with transformers.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "bantam/sampling.h"
#include "base/json_file.h"
#include "golden/decoder.h"
#include "tests/every_isa.h"

namespace bantam::golden::contexts_test {
namespace {

constexpr uint32_t kLongest = 24, kVocabulary = 61;

std::vector<int32_t> random_ids(uint32_t count, uint32_t seed) { return random_tokens(count, seed, kVocabulary); }
Bits rows(const Bits& all, size_t begin, size_t end) { return rows_of(all, begin, end, kVocabulary); }

struct Kind {
  const char* model;
  fb::DType weights;
  bool f32_attention;
  bool states = false;  // contexts can be cut to nothing only
};

class Contexts : public ::testing::TestWithParam<Kind> {
 protected:
  static SessionOptions options(uint32_t contexts) {
    SessionOptions options;
    options.max_sequences = contexts;
    options.max_tokens = kLongest * contexts;
    options.max_context = kLongest;
    options.f32_attention = GetParam().f32_attention;
    return options;
  }
  static Decoder decoder(const SessionOptions& options) { return {GetParam().model, GetParam().weights, options}; }

  /// Returns the bits of one run without contexts.
  static Bits whole(const std::vector<int32_t>& ids) {
    SessionOptions alone = options(1);
    alone.max_context = 0;
    return decoder(alone).run({ids})[0];
  }
};

TEST_P(Contexts, PiecesOfAnySizeHaveTheSameBits) {
  const std::vector<int32_t> ids = random_ids(kLongest, 1);
  const Bits expected = whole(ids);
  for (const uint32_t piece : {1U, 3U, 7U, 16U, 23U, 24U}) {
    Decoder pieces = decoder(options(1));
    EXPECT_EQ(pieces.run_in_pieces(ids, piece), expected) << "in pieces of " << piece;
    EXPECT_EQ(std::vector<int32_t>(pieces.session().context_ids(0), pieces.session().context_ids(0) + kLongest), ids);
  }
}

TEST_P(Contexts, LastRowsAreThoseOfAllRows) {
  const std::vector<int32_t> ids = random_ids(20, 2), others = random_ids(11, 3);
  const Bits a = whole(ids), b = whole(others);
  Decoder decoder = Contexts::decoder(options(2));
  const std::vector<Bits> first = decoder.run({slice(ids, 0, 18), others}, {}, true);
  EXPECT_EQ(first[0], rows(a, 17, 18));
  EXPECT_EQ(first[1], rows(b, 10, 11));
  OutputView all;
  EXPECT_EQ(decoder.session().output(0, &all), Status::kInvalidArgument);
  EXPECT_EQ(decoder.run({{ids[18], ids[19]}}, {0}, true)[0], rows(a, 19, 20));
}

/// Contexts do not depend on other sequences in the batch, on the number of threads, or on the type of pages.
TEST_P(Contexts, OthersInTheBatchChangeNothing) {
  std::vector<std::vector<int32_t>> ids;
  std::vector<Bits> expected;
  for (uint32_t i = 0; i < 3; ++i) {
    ids.push_back(random_ids(17 + 3 * i, 10 + i));
    expected.push_back(whole(ids.back()));
  }
  const testing::Threads threads(3);
  for (const uint32_t workers : {1U, 3U}) {
    SessionOptions many = options(3);
    many.workers = workers;
    many.tile_rows = 4;
    many.parallel = workers == 1 ? nullptr : threads.get();
    Decoder decoder = Contexts::decoder(many);
    std::mt19937 random(workers);
    std::vector<uint32_t> done(3, 0);
    for (;;) {
      std::vector<std::vector<int32_t>> pieces;
      std::vector<uint32_t> contexts;
      for (uint32_t i = 0; i < 3; ++i) {
        const auto left = static_cast<uint32_t>(ids[i].size()) - done[i];
        const uint32_t count = std::min(left, static_cast<uint32_t>(random() % 6));
        if (count == 0) continue;
        contexts.push_back(i);
        pieces.push_back(slice(ids[i], done[i], done[i] + count));
      }
      if (pieces.empty()) {
        if (done[0] == ids[0].size() && done[1] == ids[1].size() && done[2] == ids[2].size()) break;
        continue;
      }
      const std::vector<Bits> found = decoder.run(pieces, contexts);
      for (size_t k = 0; k < contexts.size(); ++k) {
        const uint32_t i = contexts[k];
        const auto count = static_cast<uint32_t>(pieces[k].size());
        EXPECT_EQ(found[k], rows(expected[i], done[i], done[i] + count)) << workers << " workers, context " << i;
        done[i] += count;
      }
    }
  }
}

TEST_P(Contexts, AreCutCopiedAndGoneOnWith) {
  const std::vector<int32_t> one = random_ids(20, 4);
  std::vector<int32_t> other = one;
  for (size_t i = 9; i < other.size(); ++i) other[i] = (other[i] + 7) % static_cast<int32_t>(kVocabulary);
  const Bits a = whole(one), b = whole(other);
  Decoder decoder = Contexts::decoder(options(2));
  decoder.run({slice(one, 0, 14)});
  ASSERT_EQ(decoder.session().copy_context(0, 1), Status::kOk);
  if (GetParam().states) {
    for (const uint32_t length : {1U, 9U, 13U}) EXPECT_EQ(decoder.session().truncate(1, length), Status::kUnavailable);
    EXPECT_EQ(decoder.session().truncate(1, 14), Status::kOk);
    EXPECT_EQ(decoder.session().context_length(1), 14U);
    EXPECT_EQ(decoder.session().truncate(1, 0), Status::kOk);
    decoder.run({slice(one, 0, 9)}, {1});
  } else {
    ASSERT_EQ(decoder.session().truncate(1, 9), Status::kOk);
  }
  EXPECT_EQ(decoder.session().context_length(0), 14U);
  EXPECT_EQ(decoder.session().context_length(1), 9U);
  const std::vector<Bits> found = decoder.run({slice(one, 14, 20), slice(other, 9, 20)});
  EXPECT_EQ(found[0], rows(a, 14, 20));
  EXPECT_EQ(found[1], rows(b, 9, 20));
}

/// However contexts are truncated, copied and exchanged, each has the bits of its own tokens.
TEST_P(Contexts, ShareWhatTheyHaveInCommon) {
  constexpr uint32_t kContexts = 4;
  Decoder decoder = Contexts::decoder(options(kContexts));  // of one page of 16 tokens and an incomplete one
  Session& session = decoder.session();
  std::vector<std::vector<int32_t>> held(kContexts);
  std::mt19937 random(3);
  const auto below = [&](size_t limit) { return static_cast<uint32_t>(random() % limit); };
  for (uint32_t step = 0; step < 60; ++step) {
    const uint32_t one = below(kContexts), other = below(kContexts);
    switch (below(4)) {
      case 0: {
        uint32_t length = below(held[one].size() + 1);
        if (GetParam().states && length != held[one].size()) length = 0;
        ASSERT_EQ(session.truncate(one, length), Status::kOk);
        held[one].resize(length);
        break;
      }
      case 1:
        ASSERT_EQ(session.copy_context(one, other), Status::kOk);
        held[other] = held[one];
        break;
      case 2: {
        const uint32_t count = 1 + below(kContexts);
        uint32_t from[kContexts];
        const auto before = held;
        for (uint32_t i = 0; i < count; ++i) held[i] = before[from[i] = below(kContexts)];
        ASSERT_EQ(session.reorder_contexts(from, count), Status::kOk);
        break;
      }
      default:
        break;
    }
    std::vector<std::vector<int32_t>> pieces;
    std::vector<uint32_t> numbers;
    for (uint32_t i = 0; i < kContexts; ++i) {
      const auto count = static_cast<uint32_t>(std::min<size_t>(below(8), kLongest - held[i].size()));
      if (count == 0) continue;
      pieces.push_back(random_ids(count, step));
      numbers.push_back(i);
    }
    if (pieces.empty()) continue;
    const std::vector<Bits> found = decoder.run(pieces, numbers);
    for (size_t k = 0; k < numbers.size(); ++k) {
      std::vector<int32_t>& all = held[numbers[k]];
      const size_t past = all.size();
      all.insert(all.end(), pieces[k].begin(), pieces[k].end());
      ASSERT_EQ(session.context_length(numbers[k]), all.size());
      ASSERT_EQ(std::vector<int32_t>(session.context_ids(numbers[k]), session.context_ids(numbers[k]) + all.size()),
                all);
      ASSERT_EQ(found[k], rows(whole(all), past, all.size())) << "step " << step << ", context " << numbers[k];
    }
  }
  const uint32_t beyond[] = {0, kContexts};
  EXPECT_EQ(session.reorder_contexts(beyond, 2), Status::kIndexOutOfRange);
  EXPECT_EQ(session.reorder_contexts(nullptr, 1), Status::kInvalidArgument);
}

TEST_P(Contexts, EveryInstructionSetHasTheSameBits) {
  const std::vector<int32_t> ids = random_ids(19, 5);
  const Bits expected = whole(ids);
  for (const Isa isa : testing::every_isa()) {
    if (!isa_available(isa)) continue;
    SessionOptions of_isa = options(1);
    of_isa.isa = isa;
    Decoder decoder = Contexts::decoder(of_isa);
    decoder.run({slice(ids, 0, 10)});
    EXPECT_EQ(decoder.run({slice(ids, 10, 19)})[0], rows(expected, 10, 19)) << isa_name(isa);
  }
}

TEST_P(Contexts, WhatDoesNotFitChangesNothing) {
  const std::vector<int32_t> ids = random_ids(kLongest, 6);
  const Bits expected = whole(ids);
  Decoder decoder = Contexts::decoder(options(2));
  Session& session = decoder.session();
  decoder.run({slice(ids, 0, 20)}, {1});
  Batch batch;
  batch.ids = ids.data();
  batch.tokens = 5;
  const uint32_t second = 1, beyond = 2, twice[] = {1, 1}, offsets[] = {0, 2, 5};
  batch.contexts = &second;
  EXPECT_EQ(session.run(batch), Status::kTooManyTokens);
  batch.contexts = &beyond;
  EXPECT_EQ(session.run(batch), Status::kIndexOutOfRange);
  batch.offsets = offsets;
  batch.sequences = 2;
  batch.contexts = twice;
  EXPECT_EQ(session.run(batch), Status::kInvalidArgument);
  EXPECT_EQ(session.truncate(1, 21), Status::kIndexOutOfRange);
  EXPECT_EQ(session.truncate(2, 0), Status::kIndexOutOfRange);
  EXPECT_EQ(session.copy_context(0, 2), Status::kIndexOutOfRange);
  EXPECT_EQ(session.context_length(1), 20U);
  EXPECT_EQ(session.context_length(2), 0U);
  EXPECT_EQ(session.context_ids(2), nullptr);
  EXPECT_EQ(decoder.run({slice(ids, 20, kLongest)}, {1})[0], rows(expected, 20, kLongest));
}

const Kind kKinds[] = {{"gpt2-generate", fb::DType::f32, false},
                       {"gpt2-generate", fb::DType::i8, false},
                       {"gpt2-generate", fb::DType::i8, true},
                       {"gpt-generate", fb::DType::i8, false},
                       {"gpt-neo-generate", fb::DType::i8, false},
                       {"opt-generate", fb::DType::i8, false},
                       {"llama-generate", fb::DType::f32, false},
                       {"llama-generate", fb::DType::i8, false},
                       {"mistral-generate", fb::DType::i8, false},
                       {"mistral-generate", fb::DType::i8, true},
                       {"qwen2-generate", fb::DType::i8, false},
                       {"llama-scaled", fb::DType::i4, false},
                       {"qwen3-generate", fb::DType::i8, false},
                       {"gemma2-generate", fb::DType::i8, false},
                       {"gemma2-generate", fb::DType::f32, false},
                       {"gemma3-generate", fb::DType::i8, false},
                       {"gptj-generate", fb::DType::i8, false},
                       {"gpt-neox-generate", fb::DType::i8, false},
                       {"falcon-generate", fb::DType::i8, false},
                       {"olmo2-generate", fb::DType::i8, false},
                       {"nplm-generate", fb::DType::f32, false},
                       {"nplm-generate", fb::DType::i8, false},
                       {"nplm-generate-newest", fb::DType::i4, false},
                       {"mixtral-generate", fb::DType::i8, false},
                       {"mixtral-generate", fb::DType::i4, false},
                       {"qwen3-moe-generate", fb::DType::i8, false},
                       {"olmoe-generate", fb::DType::f32, false},
                       {"gpt3-generate", fb::DType::i8, false},
                       {"lfm2-generate", fb::DType::f32, false, true},
                       {"lfm2-generate", fb::DType::i8, false, true},
                       {"lfm2-biased", fb::DType::i4, false, true},
                       {"lfm2-biased", fb::DType::i8, true, true},
                       {"mamba-generate", fb::DType::f32, false, true},
                       {"mamba-generate", fb::DType::i8, false, true},
                       {"falcon-mamba-generate", fb::DType::i8, false, true},
                       {"recurrent-gemma-generate", fb::DType::f32, false, true},
                       {"recurrent-gemma-generate", fb::DType::i8, false, true},
                       {"rwkv-generate", fb::DType::f32, false, true},
                       {"rwkv-generate", fb::DType::i8, false, true},
                       {"rwkv-halved", fb::DType::i4, false, true},
                       {"transfo-xl-generate", fb::DType::f32, false},
                       {"transfo-xl-generate", fb::DType::i8, false},
                       {"transfo-xl-generate", fb::DType::i8, true},
                       {"transfo-xl-generate-table", fb::DType::i8, false}};

INSTANTIATE_TEST_SUITE_P(Decoders, Contexts, ::testing::ValuesIn(kKinds), [](const auto& kind) {
  std::string name = kind.param.model + std::string("_") + fb::EnumNameDType(kind.param.weights) +
                     (kind.param.f32_attention ? "_f32_attention" : "");
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
});

/// Token by token, greedy decoding gives the same tokens as transformers' generate().
TEST(Greedy, DecodersSayWhatTransformersSays) {
  size_t models = 0, texts = 0;
  for (const auto& folder : std::filesystem::directory_iterator(model_directory(""))) {
    std::ifstream lines(folder.path() / "greedy.jsonl");
    if (!lines) continue;
    ++models;
    const std::string name = folder.path().filename().string();
    for (std::string line; std::getline(lines, line);) {
      const convert::Json expected = convert::Json::parse(line);
      auto ids = expected.at("prompt").get<std::vector<int32_t>>();
      const auto made = expected.at("ids").get<std::vector<int32_t>>();
      SessionOptions options;
      options.max_tokens = options.max_context = static_cast<uint32_t>(ids.size() + made.size());
      if (name == "phi3-long" && options.max_context > 12)
        continue;  // transformers switches to the angles of long texts here
      ++texts;
      options.f32_attention = true;
      Decoder decoder(name, fb::DType::f32, options);
      for (const int32_t id : made) {
        decoder.run({ids}, {}, true);
        NextToken next;
        ASSERT_EQ(next_token(decoder.session(), 0, Sampling(), &next), Status::kOk);
        ASSERT_EQ(next.id, id) << name << ": " << line;
        ids = {id};
      }
    }
  }
  EXPECT_GE(models, 28U);
  EXPECT_GE(texts, 150U);
}

TEST(NoContexts, ForModelsWhoseTokensSeeWhatIsBehindThem) {
  const convert::FileBytes bytes =
      convert::build(convert::import_hugging_face(model_directory("bert-classify")), convert::TypeOptions());
  Model model;
  ASSERT_EQ(Model::open(bytes.data(), bytes.size(), &model), Status::kOk);
  SessionOptions options;
  options.max_context = 8;
  EXPECT_EQ(arena_bytes(model, options), 0U);
}

}  // namespace
}  // namespace bantam::golden::contexts_test
