// Texts with retrieved texts for their chunks (RETRO): the same bits for any pieces, any batch, any number of threads
// and every instruction set; which runs a session refuses; and files that violate the rules. models_test.cpp compares
// the answers with the paper (retro.py).
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "golden/decoder.h"
#include "golden/model_bytes.h"
#include "graph/access.h"
#include "run/chunks.h"
#include "run/runner.h"
#include "tests/every_isa.h"
#include "tests/session/edit_file.h"

namespace bantam::golden::chunks_test {
namespace {

constexpr uint32_t kLongest = 24, kVocabulary = 61, kChunk = 5, kNeighbours = 2, kNeighbour = 9;  // of retro-generate
constexpr uint32_t kLogits = 61;

std::vector<int32_t> random_ids(uint32_t count, uint32_t seed) { return random_tokens(count, seed, kVocabulary); }

/// Returns the neighbors of each chunk of a text: two, a single short one, none, two.
std::vector<convert::Neighbours> some_neighbours(uint32_t seed) {
  return {{random_ids(kNeighbour, seed), random_ids(kNeighbour, seed + 1)},
          {random_ids(1, seed + 2)},
          {},
          {random_ids(4, seed + 3), random_ids(kNeighbour, seed + 4)}};
}

convert::Retrieve from(const std::vector<convert::Neighbours>& all) {
  return [&all](uint32_t chunk, const std::vector<int32_t>& ids) {
    EXPECT_EQ(ids.size(), kChunk);
    return chunk < all.size() ? all[chunk] : convert::Neighbours();
  };
}

void add_rows(Session& session, uint32_t output, uint32_t sequence, Bits* bits) {
  OutputView view;
  ASSERT_EQ(session.output(output, sequence, &view), Status::kOk);
  for (uint32_t row = 0; row < view.rows; ++row) {
    const size_t at = bits->size();
    bits->resize(at + view.width);
    std::memcpy(bits->data() + at, view.data + row * view.stride, view.width * sizeof(float));
  }
}

struct Kind {
  fb::DType weights;
  bool f32_attention;
};

class Chunks : public ::testing::TestWithParam<Kind> {
 protected:
  static SessionOptions options(uint32_t sequences = 1) {
    SessionOptions options;
    options.max_sequences = sequences;
    options.max_tokens = kLongest * sequences;
    options.max_context = kLongest;
    options.f32_attention = GetParam().f32_attention;
    return options;
  }
  static Decoder decoder(const SessionOptions& options) { return {"retro-generate", GetParam().weights, options}; }

  /// Returns the scores of a text that is run in pieces of `piece` tokens.
  static Bits run(Decoder& decoder, const std::vector<int32_t>& ids, const convert::Retrieve& retrieve, uint32_t piece,
                  uint32_t context = 0, uint32_t source = 0) {
    Bits bits;
    convert::ChunkedText text(decoder.session(), "a file", context, source, retrieve);
    for (size_t at = 0; at < ids.size(); at += piece) {
      text.run(ids.data() + at, std::min<size_t>(piece, ids.size() - at), false,
               [&](size_t, uint32_t) { add_rows(decoder.session(), 0, 0, &bits); });
    }
    EXPECT_EQ(bits.size(), ids.size() * kLogits);
    return bits;
  }
};

TEST_P(Chunks, HaveTheSameBitsEverywhere) {
  const std::vector<int32_t> ids = random_ids(kLongest, 1);
  const std::vector<convert::Neighbours> neighbours = some_neighbours(2);
  SessionOptions reference = options();
  reference.isa = Isa::kReference;
  Decoder slow = decoder(reference);
  const Bits expected = run(slow, ids, from(neighbours), kLongest);
  const testing::Threads threads(3);
  for (const Isa isa : testing::every_isa()) {
    if (!isa_available(isa)) continue;
    for (const uint32_t tile : {0U, 4U, 12U}) {
      SessionOptions other = options();
      other.isa = isa;
      other.tile_rows = tile;
      other.block_rows = tile == 4 ? 1 : 0;
      other.workers = tile == 0 ? 1 : 3;
      other.parallel = tile == 0 ? nullptr : threads.get();
      Decoder decoder = Chunks::decoder(other);
      for (const uint32_t piece : {kLongest, 1U, 7U}) {
        EXPECT_EQ(run(decoder, ids, from(neighbours), piece), expected)
            << isa_name(isa) << ", tiles of " << tile << ", pieces of " << piece;
      }
    }
  }
}

TEST_P(Chunks, WithoutAnythingRetrievedAreAPlainDecoders) {
  const std::vector<int32_t> ids = random_ids(kLongest, 3);
  Decoder pieces = decoder(options());
  const Bits expected = run(pieces, ids, nullptr, kLongest);
  SessionOptions whole = options();
  whole.max_context = 0;
  Decoder alone = decoder(whole);
  EXPECT_EQ(alone.run({ids})[0], expected);
  EXPECT_EQ(alone.run({ids}, {}, false, {kNoSource})[0], expected);
  const convert::Retrieve nothing = [](uint32_t, const std::vector<int32_t>&) { return convert::Neighbours(); };
  EXPECT_EQ(run(pieces, ids, nothing, kLongest), expected);
  // Texts retrieved for a chunk change no row before the chunk's last token, but every row from there on.
  const std::vector<convert::Neighbours> neighbours = some_neighbours(4);
  const Bits with = run(pieces, ids, from(neighbours), kLongest);
  EXPECT_EQ(rows_of(with, 0, kChunk - 1, kLogits), rows_of(expected, 0, kChunk - 1, kLogits));
  for (uint32_t row = kChunk - 1; row < kLongest; ++row) {
    EXPECT_NE(rows_of(with, row, row + 1, kLogits), rows_of(expected, row, row + 1, kLogits)) << row;
  }
}

/// Two texts in a batch whose sources are encoded in one batch; each text uses the source with the other's number.
TEST_P(Chunks, OthersInTheBatchChangeNothing) {
  const std::vector<std::vector<int32_t>> texts = {random_ids(2 * kChunk - 1, 5), random_ids(2 * kChunk - 3, 6)};
  const std::vector<convert::Neighbours> found = {{random_ids(4, 7), random_ids(3, 8)}, {random_ids(6, 9)}};
  Decoder alone = decoder(options());
  std::vector<Bits> expected;
  for (size_t i = 0; i < texts.size(); ++i) {
    expected.push_back(run(alone, texts[i], from({found[i]}), kLongest));
  }
  Decoder decoder = Chunks::decoder(options(2));
  Session& session = decoder.session();
  const auto first = [&](size_t i) { return slice(texts[i], 0, kChunk); };
  decoder.run({first(0), first(1)});
  // Computes the rows of both chunks; then each text is truncated to before its chunk's last token.
  const uint32_t width = decoder.model().feature_width();
  std::vector<int32_t> ids, segments;
  std::vector<float> features;
  std::vector<uint32_t> offsets = {0};
  for (const uint32_t i : {1U, 0U}) {  // source 0 belongs to the second text
    OutputView rows;
    ASSERT_EQ(session.output(1, i, &rows), Status::kOk);
    ASSERT_EQ(rows.width, width);
    for (uint32_t row = 0; row < kChunk; ++row) {
      features.insert(features.end(), rows.data + row * rows.stride, rows.data + row * rows.stride + width);
    }
    ids.insert(ids.end(), kChunk, 0);
    segments.insert(segments.end(), kChunk, 0);
    for (size_t text = 0; text < found[i].size(); ++text) {
      ids.insert(ids.end(), found[i][text].begin(), found[i][text].end());
      segments.insert(segments.end(), found[i][text].size(), static_cast<int32_t>(text) + 1);
    }
    features.resize(ids.size() * width);
    offsets.push_back(static_cast<uint32_t>(ids.size()));
  }
  Batch sources;
  sources.ids = ids.data();
  sources.segments = segments.data();
  sources.features = features.data();
  sources.offsets = offsets.data();
  sources.sequences = 2;
  sources.tokens = offsets.back();
  ASSERT_EQ(session.encode(sources), Status::kOk);
  for (uint32_t i = 0; i < 2; ++i) ASSERT_EQ(session.truncate(i, kChunk - 1), Status::kOk);
  const std::vector<Bits> got = decoder.run(
      {slice(texts[0], kChunk - 1, texts[0].size()), slice(texts[1], kChunk - 1, texts[1].size())}, {}, false, {1, 0});
  for (size_t i = 0; i < 2; ++i) EXPECT_EQ(got[i], rows_of(expected[i], kChunk - 1, texts[i].size(), kLogits)) << i;
}

INSTANTIATE_TEST_SUITE_P(Retro, Chunks,
                         ::testing::Values(Kind{fb::DType::f32, false}, Kind{fb::DType::i8, false},
                                           Kind{fb::DType::i8, true}, Kind{fb::DType::i4, false}),
                         [](const auto& kind) {
                           return std::string(fb::EnumNameDType(kind.param.weights)) +
                                  (kind.param.f32_attention ? "_f32_attention" : "");
                         });

// ---------------------------------------------------------------------------------------- what is refused

TEST(ChunksRefuse, RunsThatGoWithNoSuchSource) {
  SessionOptions options;
  options.max_context = kLongest;
  Decoder decoder("retro-generate", fb::DType::f32, options);
  Session& session = decoder.session();
  EXPECT_EQ(decoder.model().chunk_tokens(), kChunk);
  EXPECT_EQ(decoder.model().source_vocabulary(), 0U);
  EXPECT_EQ(convert::most_neighbours(decoder.model()), kNeighbours);
  EXPECT_EQ(convert::most_neighbour_tokens(decoder.model()), kNeighbour);
  const std::vector<int32_t> ids = random_ids(kLongest, 10);
  const auto run = [&](uint32_t tokens, uint32_t source) {
    Batch batch;
    batch.ids = ids.data();
    batch.tokens = tokens;
    batch.sources = &source;
    return session.run(batch);
  };
  EXPECT_EQ(run(kChunk, 0), Status::kNotRun);
  EXPECT_EQ(run(kChunk, 1), Status::kIndexOutOfRange);
  const std::vector<float> rows(size_t{kChunk} * decoder.model().feature_width());
  convert::encode_chunk(session, "a file", 0, rows, {random_ids(3, 11)});
  EXPECT_EQ(session.source_length(0), kChunk + 3);
  EXPECT_EQ(run(1, 0), Status::kInvalidArgument);  // it has no source yet
  EXPECT_EQ(run(kChunk - 1, kNoSource), Status::kOk);
  EXPECT_EQ(run(kChunk + 1, 0), Status::kInvalidArgument);  // the last token belongs to the next chunk
  EXPECT_EQ(run(kChunk, 0), Status::kOk);
  EXPECT_EQ(run(1, 0), Status::kOk) << "a caller's matter: the chunk that the source is of";
  Batch batch;
  batch.ids = ids.data();
  batch.tokens = 1;
  batch.features = rows.data();
  EXPECT_EQ(session.run(batch), Status::kInvalidArgument);  // only encode() takes features
  batch.features = nullptr;
  EXPECT_EQ(session.encode(batch), Status::kInvalidArgument);
  EXPECT_EQ(session.encode(), Status::kNoSuchTask);  // the tokenizer is for the decoder's texts
}

TEST(ChunksRefuse, WhatAModelDoesNotTake) {
  SessionOptions options;
  options.max_context = kLongest;
  Decoder decoder("retro-generate", fb::DType::f32, options);
  const std::vector<float> rows(size_t{kChunk} * decoder.model().feature_width());
  const std::pair<const char*, convert::Neighbours> wrong[] = {
      {"3 texts are given for a chunk; the model takes up to 2", {{1}, {2}, {3}}},
      {"text 2 for a chunk has 0 tokens", {{1}, {}}},
      {"text 1 for a chunk has 10 tokens; the model takes from 1 to 9", {random_ids(kNeighbour + 1, 12)}},
      {"text 1 for a chunk has token 61; the model's are from 0 to 60", {{1, 61}}},
      {"text 1 for a chunk has token -1", {{-1}}},
  };
  for (const auto& [what, neighbours] : wrong) {
    try {
      convert::encode_chunk(decoder.session(), "a file", 0, rows, neighbours);
      ADD_FAILURE() << what;
    } catch (const convert::Error& error) {
      EXPECT_EQ(error.code(), convert::ExitCode::kInvalid);
      EXPECT_NE(std::string(error.what()).find(what), std::string::npos) << error.what();
    }
  }
  EXPECT_EQ(decoder.session().source_length(0), 0U);
}

/// Short texts are concatenated, so that retrieved texts affect the comparison of files.
TEST(ChunksOfTexts, AreThreeOrMoreWhereFilesAreCompared) {
  convert::TypeOptions types;
  types.weights = fb::DType::f32;
  const convert::FileBytes file = convert::build(convert::import_hugging_face(model_directory("retro-text")), types);
  convert::Runner runner(file, 24);
  const std::string words = "ba be bi bo ban";
  const std::vector<convert::Sample> samples = runner.encode_all({words, words, words, words, words, "ba"});
  ASSERT_EQ(samples.size(), 2U);  // after the third text there are three chunks of 4 tokens
  EXPECT_EQ(samples[0].ids.size(), 15U);
  EXPECT_EQ(samples[0].content.size(), 15U);
  EXPECT_EQ(samples[0].text, words + " " + words + " " + words);
  EXPECT_EQ(samples[1].ids.size(), 11U);
  convert::Sample whole = samples[0];
  runner.complete(&whole, 0);
  ASSERT_EQ(whole.neighbours.size(), 3U);
  for (const convert::Neighbours& found : whole.neighbours) {
    ASSERT_EQ(found.size(), 2U);
    for (const std::vector<int32_t>& text : found) EXPECT_EQ(text.size(), 8U);
  }
  EXPECT_NE(runner.run(whole).front().values, runner.run(samples[0]).front().values);
}

// ---------------------------------------------------------------------------------------- hostile files

using Edit = std::function<void(fb::ModelT&)>;

fb::OpT& attention_of(fb::ModelT& m, const std::function<bool(const fb::AttentionT&)>& wanted) {
  for (const auto& op : m.subgraphs[0]->ops) {
    if (op->attributes.type == fb::OpAttributes::Attention && wanted(*op->attributes.AsAttention())) return *op;
  }
  throw std::runtime_error("no attention");
}
fb::OpT& cross(fb::ModelT& m) {
  return attention_of(m, [](const fb::AttentionT& a) { return a.cross; });
}
fb::OpT& masked(fb::ModelT& m, fb::MaskKind mask) {
  return attention_of(m, [mask](const fb::AttentionT& a) { return a.mask == mask; });
}
void leave_out(fb::ModelT& m, fb::InputKind kind) {
  m.inputs.erase(
      std::remove_if(m.inputs.begin(), m.inputs.end(), [kind](const auto& input) { return input->kind == kind; }),
      m.inputs.end());
}
/// Copies a field from another attention.
void take_bias(fb::ModelT& m, fb::OpT& op, int8_t fb::AttentionT::*field) {
  fb::AttentionT& a = *op.attributes.AsAttention();
  const fb::AttentionT& own = *masked(m, fb::MaskKind::causal).attributes.AsAttention();
  op.inputs.push_back(
      masked(m, fb::MaskKind::causal).inputs[static_cast<size_t>(own.*field >= 0 ? own.*field : own.distance_bias)]);
  a.*field = static_cast<int8_t>(op.inputs.size() - 1);
}

const std::pair<const char*, Edit> kEdits[] = {
    {"features without chunks", [](auto& m) { m.chunk = 0; }},
    {"chunks of too many tokens", [](auto& m) { m.chunk = (1U << 16) + 1; }},
    {"a chunk that leaves no room", [](auto& m) { m.max_source = m.chunk; }},
    {"no rows of chunks", [](auto& m) { leave_out(m, fb::InputKind::features); }},
    {"nothing that tells texts apart", [](auto& m) { leave_out(m, fb::InputKind::segments); }},
    {"one segment",
     [](auto& m) {
       for (auto& input : m.inputs) {
         if (input->kind == fb::InputKind::segments) input->limit = 1;
       }
     }},
    {"no ids of what is retrieved", [](auto& m) { leave_out(m, fb::InputKind::source_ids); }},
    {"a source that is shifted", [](auto& m) { m.task->shift_id = 1; }},
    {"a shortlist", [](auto& m) { m.task->shortlist = std::make_unique<fb::ShortlistT>(); }},
    {"a token that generating begins with",
     [](auto& m) {
       m.task->generations.push_back(std::make_unique<fb::GenerationT>());
       m.task->generations.back()->start_id = 1;
     }},
    {"the chunk's rows in the main pass",
     [](auto& m) {
       for (auto& step : m.subgraphs[0]->steps) step->phase = fb::Phase::main;
     }},
    {"a mask over what is retrieved",
     [](auto& m) { cross(m).attributes.AsAttention()->mask = fb::MaskKind::segments; }},
    {"slopes over what is retrieved", [](auto& m) { take_bias(m, cross(m), &fb::AttentionT::slopes); }},
    {"keys of segments of what is retrieved", [](auto& m) { take_bias(m, cross(m), &fb::AttentionT::segment_keys); }},
    {"scores of places of what is retrieved",
     [](auto& m) {
       take_bias(m, cross(m), &fb::AttentionT::place_rows);
       take_bias(m, cross(m), &fb::AttentionT::place_keys);
     }},
    {"keys of segments within segments",
     [](auto& m) { take_bias(m, masked(m, fb::MaskKind::segments), &fb::AttentionT::segment_keys); }},
    {"keys of segments of the first one",
     [](auto& m) { take_bias(m, masked(m, fb::MaskKind::first_segment), &fb::AttentionT::segment_keys); }},
    {"an unknown mask",
     [](auto& m) { masked(m, fb::MaskKind::segments).attributes.AsAttention()->mask = static_cast<fb::MaskKind>(13); }},
    {"rows that are left beside keys and values",
     [](auto& m) {
       const int32_t keys = cross(m).inputs[1];
       m.tensors[static_cast<size_t>(keys)]->layout = fb::Layout::rows;
     }},
};

TEST(HostileChunks, AreRefusedWithAReason) {
  for (const fb::DType weights : {fb::DType::f32, fb::DType::i8}) {
    const std::vector<uint8_t> file = model_bytes("retro-generate", weights);
    Fault fault;
    ASSERT_EQ(open_bytes(file, &fault), Status::kOk) << fault.what;
    for (const auto& [name, edit] : kEdits) {
      const std::vector<uint8_t> edited = testing::edit_file(file, [&edit = edit](fb::ModelT& m, auto&) { edit(m); });
      EXPECT_NE(open_bytes(edited, &fault), Status::kOk) << name;
      EXPECT_STRNE(fault.what, "") << name;
    }
  }
}

/// A decoder's self-attention with a mask of segments sees following tokens, so it cannot keep contexts.
TEST(HostileChunks, MasksOfSegmentsKeepNoContexts) {
  for (const fb::MaskKind mask : {fb::MaskKind::segments, fb::MaskKind::first_segment}) {
    const std::vector<uint8_t> file = testing::edit_file(
        model_bytes("retro-generate", fb::DType::f32),
        [mask](fb::ModelT& m, auto&) { masked(m, fb::MaskKind::causal).attributes.AsAttention()->mask = mask; });
    const testing::FileBytes aligned(file);
    Model model;
    ASSERT_EQ(Model::open(aligned.data(), aligned.size(), &model), Status::kOk);
    SessionOptions options;
    EXPECT_NE(arena_bytes(model, options), 0U);
    options.max_context = kLongest;
    EXPECT_EQ(arena_bytes(model, options), 0U);
  }
}

}  // namespace
}  // namespace bantam::golden::chunks_test
