// Encoder-decoders in pieces: a decoder's tokens have the same bits as in a single run with its source alone, for any
// pieces, any batch, any number of threads and every instruction set. golden_test.cpp compares these with transformers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "format/header.h"
#include "golden/decoder.h"
#include "golden/model_bytes.h"
#include "graph/access.h"
#include "tests/every_isa.h"
#include "tests/session/edit_file.h"

namespace bantam::golden::sources_test {
namespace {

constexpr uint32_t kLongest = 24, kVocabulary = 37;  // common to all of them

std::vector<int32_t> random_ids(uint32_t count, uint32_t seed) { return random_tokens(count, seed, kVocabulary); }

struct Pair {
  const char* model;
  fb::DType weights;
  uint32_t width;  // of the output
  bool f32_attention;
};

class Sources : public ::testing::TestWithParam<Pair> {
 protected:
  static SessionOptions options(uint32_t sequences) {
    SessionOptions options;
    options.max_sequences = sequences;
    options.max_tokens = kLongest * sequences;
    options.max_context = kLongest;
    options.max_source = kLongest;
    options.f32_attention = GetParam().f32_attention;
    return options;
  }
  static Decoder decoder(const SessionOptions& options) { return {GetParam().model, GetParam().weights, options}; }

  /// Returns the bits of one run without contexts.
  static Bits whole(const std::vector<int32_t>& source, const std::vector<int32_t>& ids) {
    SessionOptions alone = options(1);
    alone.max_context = 0;
    Decoder decoder = Sources::decoder(alone);
    decoder.encode({source});
    return decoder.run({ids})[0];
  }
  static Bits rows(const Bits& all, size_t begin, size_t end) { return rows_of(all, begin, end, GetParam().width); }
};

TEST_P(Sources, PiecesOfAnySizeHaveTheSameBits) {
  const std::vector<int32_t> source = random_ids(19, 1), ids = random_ids(kLongest, 2);
  const Bits expected = whole(source, ids);
  for (const uint32_t piece : {1U, 7U, 16U, 24U}) {
    Decoder pieces = decoder(options(1));
    pieces.encode({source});
    EXPECT_EQ(pieces.session().source_length(0), 19U);
    EXPECT_EQ(pieces.run_in_pieces(ids, piece), expected) << "in pieces of " << piece;
  }
}

/// Sources of different lengths in one batch and in several; decoders that share a source, as beams do, or use sources
/// with other numbers than their own.
TEST_P(Sources, OthersInTheBatchChangeNothing) {
  const std::vector<std::vector<int32_t>> sources = {random_ids(1, 3), random_ids(17, 4), random_ids(6, 5)};
  const std::vector<int32_t> a = random_ids(9, 6), b = random_ids(21, 7), c = random_ids(2, 8);
  const testing::Threads threads(3);
  for (const uint32_t workers : {1U, 3U}) {
    SessionOptions many = options(3);
    many.workers = workers;
    many.tile_rows = 4;
    many.parallel = workers == 1 ? nullptr : threads.get();
    Decoder decoder = Sources::decoder(many);
    decoder.encode(sources);
    const std::vector<uint32_t> with = {1, 1, 0};
    const std::vector<Bits> found = decoder.run({a, b, c}, {}, false, with);
    EXPECT_EQ(found[0], whole(sources[1], a));
    EXPECT_EQ(found[1], whole(sources[1], b));
    EXPECT_EQ(found[2], whole(sources[0], c));
    // Replaces one source; the others stay.
    decoder.encode({sources[2]}, {0});
    ASSERT_EQ(decoder.session().truncate(2, 0), Status::kOk);
    EXPECT_EQ(decoder.run({c}, {2}, true, {0})[0], rows(whole(sources[2], c), 1, 2));
    EXPECT_EQ(decoder.session().source_length(1), 17U);
    EXPECT_EQ(decoder.session().source_length(2), 6U);
  }
}

TEST_P(Sources, BeamsOfOneSourceAreReordered) {
  const std::vector<int32_t> source = random_ids(13, 9);
  Decoder decoder = Sources::decoder(options(4));
  decoder.encode({source});
  std::vector<std::vector<int32_t>> beams(4, random_ids(3, 10));
  const std::vector<uint32_t> first(4, 0);
  decoder.run(beams, {}, true, first);
  std::mt19937 random(11);
  for (uint32_t step = 0; step < 12; ++step) {
    uint32_t from[4];
    const auto before = beams;
    std::vector<std::vector<int32_t>> next;
    for (uint32_t i = 0; i < 4; ++i) {
      from[i] = static_cast<uint32_t>(random() % 4);
      next.push_back({static_cast<int32_t>(random() % kVocabulary)});
      beams[i] = before[from[i]];
      beams[i].push_back(next[i][0]);
    }
    ASSERT_EQ(decoder.session().reorder_contexts(from, 4), Status::kOk);
    const std::vector<Bits> found = decoder.run(next, {}, true, first);
    for (uint32_t i = 0; i < 4; ++i) {
      EXPECT_EQ(found[i], rows(whole(source, beams[i]), beams[i].size() - 1, beams[i].size())) << step << ", " << i;
    }
  }
}

TEST_P(Sources, EveryInstructionSetHasTheSameBits) {
  const std::vector<int32_t> source = random_ids(20, 12), ids = random_ids(18, 13);
  const Bits expected = whole(source, ids);
  for (const Isa isa : testing::every_isa()) {
    if (!isa_available(isa)) continue;
    SessionOptions of_isa = options(1);
    of_isa.isa = isa;
    Decoder decoder = Sources::decoder(of_isa);
    decoder.encode({source});
    decoder.run({slice(ids, 0, 5)});
    EXPECT_EQ(decoder.run({slice(ids, 5, 18)})[0], rows(expected, 5, 18)) << isa_name(isa);
  }
}

TEST_P(Sources, WhatDoesNotFitIsAStatus) {
  Decoder decoder = Sources::decoder(options(2));
  Session& session = decoder.session();
  const std::vector<int32_t> ids = random_ids(30, 14);
  Batch batch;
  batch.ids = ids.data();
  batch.tokens = 3;
  EXPECT_EQ(session.run(batch), Status::kNotRun);  // there is no source yet
  const uint32_t beyond = 2, twice[] = {0, 0}, offsets[] = {0, 1, 3};
  batch.sources = &beyond;
  EXPECT_EQ(session.encode(batch), Status::kIndexOutOfRange);
  EXPECT_EQ(session.run(batch), Status::kIndexOutOfRange);
  batch.offsets = offsets;
  batch.sequences = 2;
  batch.sources = twice;
  EXPECT_EQ(session.encode(batch), Status::kInvalidArgument);
  batch = {};
  batch.ids = ids.data();
  batch.tokens = 30;
  EXPECT_EQ(session.encode(batch), Status::kTooManyTokens);
  batch.tokens = 5;
  ASSERT_EQ(session.encode(batch), Status::kOk);
  OutputView view;
  EXPECT_EQ(session.output(0, &view), Status::kNotRun);
  EXPECT_EQ(session.run(batch), Status::kOk);
  EXPECT_EQ(session.source_length(0), 5U);
  EXPECT_EQ(session.source_length(1), 0U);
  EXPECT_EQ(session.source_length(7), 0U);
  const int32_t unknown = 1000;
  batch.ids = &unknown;
  batch.tokens = 1;
  EXPECT_EQ(session.encode(batch), Status::kIndexOutOfRange);
  EXPECT_EQ(session.source_length(0), 5U);
}

TEST_P(Sources, TheArenaIsExact) {
  SessionOptions most = options(3);
  most.max_source = 24;
  most.max_sources = 2;
  Decoder decoder = Sources::decoder(most);
  decoder.encode({random_ids(24, 15)}, {1});
  decoder.run({random_ids(24, 16), random_ids(24, 17), random_ids(24, 18)}, {}, false, {1, 1, 1});
  EXPECT_EQ(decoder.session().arena_high_water(), arena_bytes(decoder.model(), most));
}

const Pair kPairs[] = {{"bart-generate", fb::DType::f32, 61, false},
                       {"bart-generate", fb::DType::i8, 61, false},
                       {"bart-generate", fb::DType::i8, 61, true},
                       {"t5-generate", fb::DType::f32, 61, false},
                       {"t5-generate", fb::DType::i8, 61, false},
                       {"mt5-generate", fb::DType::i4, 61, false},
                       {"marian-apart", fb::DType::i8, 53, false},
                       {"m2m-translate", fb::DType::i8, 61, false},
                       {"blenderbot-small-generate", fb::DType::i8, 61, false},
                       {"seq2seq-lstm", fb::DType::f32, 37, false},
                       {"seq2seq-lstm", fb::DType::i8, 37, false},
                       {"seq2seq-bridge", fb::DType::i8, 37, false},
                       {"seq2seq-last", fb::DType::i4, 37, false},
                       {"seq2seq-zeros", fb::DType::i8, 37, false},
                       {"seq2seq-general", fb::DType::i8, 37, false},
                       {"seq2seq-dot", fb::DType::f32, 37, false},
                       {"marian-ssru", fb::DType::f32, 39, false},
                       {"marian-ssru-apart", fb::DType::i8, 289, false},
                       {"seq2seq-local", fb::DType::i8, 37, false},
                       {"seq2seq-tutorial", fb::DType::i4, 37, false},
                       {"evolved-generate", fb::DType::f32, 61, false},
                       {"evolved-generate", fb::DType::i8, 61, false},
                       {"evolved-meena", fb::DType::i4, 61, false},
                       {"seq2seq-all", fb::DType::f32, 37, false},
                       {"seq2seq-all", fb::DType::i8, 37, false}};

INSTANTIATE_TEST_SUITE_P(Pairs, Sources, ::testing::ValuesIn(kPairs), [](const auto& kind) {
  std::string name = kind.param.model + std::string("_") + fb::EnumNameDType(kind.param.weights) +
                     (kind.param.f32_attention ? "_f32_attention" : "");
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
});

// ---------------------------------------------------------------------------------------- hostile files

using Edit = std::function<void(fb::ModelT&)>;

fb::OpT& op_of(fb::ModelT& m, fb::OpAttributes type, const std::function<bool(const fb::OpT&)>& wanted) {
  for (const auto& op : m.subgraphs[0]->ops) {
    if (op->attributes.type == type && wanted(*op)) return *op;
  }
  throw std::runtime_error("no op");
}
fb::OpT& cross(fb::ModelT& m) {
  return op_of(m, fb::OpAttributes::Attention, [](const fb::OpT& op) { return op.attributes.AsAttention()->cross; });
}
fb::OpT& own(fb::ModelT& m) {
  return op_of(m, fb::OpAttributes::Attention,
               [](const fb::OpT& op) { return !op.attributes.AsAttention()->cross && op.tag->side() == 0; });
}
fb::TensorT& tensor_at(fb::ModelT& m, int32_t index) { return *m.tensors[static_cast<size_t>(index)]; }
fb::TensorT& state(fb::ModelT& m) { return tensor_at(m, cross(m).inputs[1]); }
fb::OpT& leaves(fb::ModelT& m) {
  const int32_t keys = cross(m).inputs[1];
  return op_of(m, fb::OpAttributes::SplitHeads, [&](const fb::OpT& op) { return op.outputs[1] == keys; });
}
fb::OpT& last_linear(fb::ModelT& m) {
  return op_of(m, fb::OpAttributes::Linear, [&](const fb::OpT& op) { return op.outputs[0] == m.outputs[0]->tensor; });
}
size_t source_steps(const fb::ModelT& m) {
  size_t steps = 0;
  for (const auto& step : m.subgraphs[0]->steps) steps += step->phase == fb::Phase::source ? 1U : 0U;
  return steps;
}

const std::pair<const char*, Edit> kEdits[] = {
    {"no source ids",
     [](auto& m) {
       m.inputs.erase(std::remove_if(m.inputs.begin(), m.inputs.end(),
                                     [](const auto& i) { return i->kind == fb::InputKind::source_ids; }),
                      m.inputs.end());
     }},
    {"no ids", [](auto& m) { m.inputs.back()->kind = fb::InputKind::source_ids; }},
    {"source ids of none", [](auto& m) { m.inputs.front()->limit = 0; }},
    {"source ids beyond the table", [](auto& m) { m.inputs.front()->limit = 62; }},
    {"places of sources beyond the table", [](auto& m) { m.max_source = 25; }},
    {"all steps of the source",
     [](auto& m) {
       for (auto& step : m.subgraphs[0]->steps) step->phase = fb::Phase::source;
     }},
    {"all steps of the main pass",
     [](auto& m) {
       for (auto& step : m.subgraphs[0]->steps) step->phase = fb::Phase::main;
     }},
    {"a step more of the source", [](auto& m) { m.subgraphs[0]->steps[source_steps(m)]->phase = fb::Phase::source; }},
    {"a step less of the source", [](auto& m) { m.subgraphs[0]->steps[source_steps(m) - 1]->phase = fb::Phase::main; }},
    {"a main step first", [](auto& m) { m.subgraphs[0]->steps[0]->phase = fb::Phase::main; }},
    {"an unknown pass", [](auto& m) { m.subgraphs[0]->steps[0]->phase = static_cast<fb::Phase>(2); }},
    {"attention to a source that is none", [](auto& m) { cross(m).attributes.AsAttention()->cross = false; }},
    {"attention to a source without states", [](auto& m) { own(m).attributes.AsAttention()->cross = true; }},
    {"a mask over a source", [](auto& m) { cross(m).attributes.AsAttention()->mask = fb::MaskKind::causal; }},
    {"a state that is an activation", [](auto& m) { state(m).role = fb::Role::activation; }},
    {"a state that is an output", [](auto& m) { state(m).role = fb::Role::output; }},
    {"values that are not a state", [](auto& m) { tensor_at(m, cross(m).inputs[2]).role = fb::Role::activation; }},
    {"a state with a place", [](auto& m) { state(m).offset = {0}; }},
    {"a state of a tile",
     [](auto& m) {
       state(m).region = fb::Region::tile;
       state(m).shape[0] = fb::Dim(2, 1, 0, 1);
     }},
    {"a state of sequences", [](auto& m) { state(m).shape[0] = fb::Dim(1, 1, 0, 1); }},
    {"a state in rows", [](auto& m) { state(m).layout = fb::Layout::rows; }},
    {"a state of another width", [](auto& m) { state(m).shape[1] = fb::Dim(-1, 0, 12, 1); }},
    {"a state that nothing leaves", [](auto& m) { leaves(m).outputs[1] = leaves(m).outputs[2]; }},
    {"a state that a row operator reads", [](auto& m) { last_linear(m).inputs[0] = cross(m).inputs[1]; }},
    {"a state that a row operator writes", [](auto& m) { last_linear(m).outputs[0] = cross(m).inputs[1]; }},
    {"keys of the source's own pass in the main one",
     [](auto& m) {
       const fb::OpT& encoder =
           op_of(m, fb::OpAttributes::Attention, [](const fb::OpT& op) { return op.tag->side() == 1; });
       own(m).inputs[1] = encoder.inputs[1];
       own(m).inputs[2] = encoder.inputs[2];
     }},
    {"states that the main pass leaves",
     [](auto& m) {
       fb::OpT& split = op_of(m, fb::OpAttributes::SplitHeads,
                              [](const fb::OpT& op) { return op.tag->side() == 0 && op.outputs[1] >= 0; });
       split.outputs[1] = cross(m).inputs[1];
       split.outputs[2] = cross(m).inputs[2];
     }},
    {"an output of the source's pass that the main one makes",
     [](auto& m) {
       m.outputs[0]->role = fb::OutputRole::none;
       m.outputs[0]->phase = fb::Phase::source;
     }},
    {"an output of a task in the source's pass", [](auto& m) { m.outputs[0]->phase = fb::Phase::source; }},
    {"an output of an unknown pass", [](auto& m) { m.outputs[0]->phase = static_cast<fb::Phase>(2); }},
    {"a plan of the source that is too small", [](auto& m) { m.source_shared_bytes = {}; }},
    {"tiles of the source that are too small", [](auto& m) { m.source_tile_bytes = {}; }},
    {"a plan of unknown symbols", [](auto& m) { m.source_shared_bytes.resize(9); }},
    {"a tokenizer that is not there", [](auto& m) { m.source_tokenizer = 1; }},
    {"a first token that is none", [](auto& m) { m.task->generations.front()->start_id = 61; }},
    {"no first token", [](auto& m) { m.task->generations.front()->start_id = -1; }},
    {"nothing said of generating", [](auto& m) { m.task->generations.clear(); }},
    {"a forced token that is none", [](auto& m) { m.task->generations.front()->first_id = -2; }},
    {"a last token that is none", [](auto& m) { m.task->generations.front()->last_id = 1 << 20; }},
    {"a banned token that is none",
     [](auto& m) {
       m.task->generations.front()->banned = {5, 61};
     }},
    {"more tokens banned at the beginning than in all",
     [](auto& m) {
       m.task->generations.front()->banned = {5};
       m.task->generations.front()->begin_banned = 2;
     }},
    {"no beams", [](auto& m) { m.task->generations.front()->beams = 0; }},
    {"a length penalty that is not a number", [](auto& m) { m.task->generations.front()->length_penalty = NAN; }},
    {"a repetition penalty of 0", [](auto& m) { m.task->generations.front()->repetition_penalty = 0; }},
    {"an unknown end of beams",
     [](auto& m) { m.task->generations.front()->early_stopping = static_cast<fb::EarlyStopping>(3); }},
    {"a shift by what is not a token", [](auto& m) { m.task->shift_id = 61; }},
};

// Rows of sources that Slice copies to the main pass.

fb::OpT& leaves_row(fb::ModelT& m) {
  return op_of(m, fb::OpAttributes::Slice,
               [&](const fb::OpT& op) { return op.outputs[0] >= 0 && convert::is_state(tensor_at(m, op.outputs[0])); });
}
fb::OpT& takes_row(fb::ModelT& m) {
  return op_of(m, fb::OpAttributes::Slice,
               [&](const fb::OpT& op) { return convert::is_state(tensor_at(m, op.inputs[0])); });
}
int32_t row_state(fb::ModelT& m) { return leaves_row(m).outputs[0]; }
fb::OpT& begins(fb::ModelT& m) {
  return op_of(m, fb::OpAttributes::Recurrent,
               [](const fb::OpT& op) { return op.inputs.size() > 7 && op.inputs[7] >= 0; });
}

const std::pair<const char*, Edit> kRowEdits[] = {
    {"a row of tokens", [](auto& m) { tensor_at(m, row_state(m)).shape[0] = fb::Dim(0, 1, 0, 1); }},
    {"a row of i8",
     [](auto& m) {
       tensor_at(m, row_state(m)).type = fb::DType::i8;
       tensor_at(m, row_state(m)).scale_kind = fb::ScaleKind::per_row;
     }},
    {"a row of a tile",
     [](auto& m) {
       tensor_at(m, row_state(m)).region = fb::Region::tile;
       tensor_at(m, row_state(m)).shape[0] = fb::Dim(2, 1, 0, 1);
     }},
    {"a row in a tile", [](auto& m) { tensor_at(m, row_state(m)).region = fb::Region::tile; }},
    {"a row with a place", [](auto& m) { tensor_at(m, row_state(m)).offset = {64}; }},
    {"a row of more columns", [](auto& m) { tensor_at(m, row_state(m)).shape[1] = fb::Dim(-1, 0, 99, 1); }},
    {"a row as keys",
     [](auto& m) {
       tensor_at(m, row_state(m)).layout = fb::Layout::key_pages;
       tensor_at(m, row_state(m)).heads = 1;
     }},
    {"a row that is an activation", [](auto& m) { tensor_at(m, row_state(m)).role = fb::Role::activation; }},
    {"a row that is an output", [](auto& m) { tensor_at(m, row_state(m)).role = fb::Role::output; }},
    {"a row that its own pass takes",
     [](auto& m) {
       fb::OpT& last = op_of(m, fb::OpAttributes::Slice, [&](const fb::OpT& op) {
         return convert::is_state(tensor_at(m, op.outputs[0])) && op.outputs[0] != row_state(m);
       });
       last.inputs[0] = row_state(m);
     }},
    {"a row that the main pass leaves", [](auto& m) { takes_row(m).outputs[0] = row_state(m); }},
    {"a row that is left twice",
     [](auto& m) {
       fb::OpT& last = op_of(m, fb::OpAttributes::Slice, [&](const fb::OpT& op) {
         return convert::is_state(tensor_at(m, op.outputs[0])) && op.outputs[0] != row_state(m);
       });
       last.outputs[0] = row_state(m);
     }},
    {"a copy of a row", [](auto& m) { leaves_row(m).outputs.push_back(leaves_row(m).inputs[0]); }},
    {"a row behind an activation",
     [](auto& m) {
       leaves_row(m).epilogue = std::make_unique<fb::EpilogueT>();
       leaves_row(m).epilogue->activation = fb::ActivationKind::tanh;
     }},
    {"columns beyond a row", [](auto& m) { takes_row(m).attributes.AsSlice()->begin = 1; }},
    {"no columns of a row", [](auto& m) { leaves_row(m).attributes.AsSlice()->width = 0; }},
    {"a row that a layer begins with as it is", [](auto& m) { begins(m).inputs[7] = row_state(m); }},
    {"a row that is added as it is",
     [](auto& m) {
       fb::OpT& sum = op_of(m, fb::OpAttributes::Linear,
                            [](const fb::OpT& op) { return op.epilogue != nullptr && op.epilogue->residual >= 0; });
       sum.inputs[static_cast<size_t>(sum.epilogue->residual)] = row_state(m);
     }},
};

// Ops that run token by token, and ops that attend to a source's rows.

fb::OpT& any(fb::ModelT& m, fb::OpAttributes type) {
  return op_of(m, type, [](const fb::OpT&) { return true; });
}
fb::OpT& before(fb::ModelT& m) { return any(m, fb::OpAttributes::Previous); }
fb::OpT& fed(fb::ModelT& m) {
  return op_of(m, fb::OpAttributes::Previous, [](const fb::OpT& op) { return op.inputs[1] < 0; });
}
fb::OpT& cell(fb::ModelT& m) { return any(m, fb::OpAttributes::RecurrentCell); }
fb::OpT& align(fb::ModelT& m) { return any(m, fb::OpAttributes::Align); }
fb::AlignT& sight(fb::ModelT& m) { return *align(m).attributes.AsAlign(); }
fb::StepT& step_by_tokens(fb::ModelT& m) {
  size_t at = 0;
  while (m.subgraphs[0]->ops[at].get() != &before(m)) ++at;
  for (const auto& step : m.subgraphs[0]->steps) {
    if (at < step->first_op + step->op_count) return *step;
  }
  throw std::runtime_error("no step");
}
int32_t words_of(fb::ModelT& m) {
  return op_of(m, fb::OpAttributes::Embed, [](const fb::OpT& op) { return op.tag->side() == 0; }).outputs[0];
}
fb::Dim columns_of(int32_t n) { return {-1, 0, n, 1}; }

const std::pair<const char*, Edit> kTokenEdits[] = {
    {"rows before of a step of sequences", [](auto& m) { step_by_tokens(m).rows = 1; }},
    {"rows before in the pass over a source", [](auto& m) { step_by_tokens(m).phase = fb::Phase::source; }},
    {"rows before that are a state", [](auto& m) { before(m).inputs[0] = align(m).inputs[1]; }},
    {"rows before that an earlier step makes", [](auto& m) { fed(m).inputs[0] = words_of(m); }},
    {"rows before that this op makes", [](auto& m) { before(m).inputs[0] = before(m).outputs[0]; }},
    {"rows before that nothing makes",
     [](auto& m) {
       fb::TensorT& same = tensor_at(m, before(m).inputs[0]);
       m.tensors.push_back(std::make_unique<fb::TensorT>(same));
       before(m).inputs[0] = static_cast<int32_t>(m.tensors.size() - 1);
     }},
    {"rows before in a tile",
     [](auto& m) {
       tensor_at(m, fed(m).inputs[0]).region = fb::Region::tile;
       tensor_at(m, fed(m).inputs[0]).shape[0] = fb::Dim(2, 1, 0, 1);
     }},
    {"rows before absent", [](auto& m) { before(m).inputs[0] = -1; }},
    {"a first row of tokens", [](auto& m) { before(m).inputs[1] = before(m).inputs[0]; }},
    {"a first row of another width", [](auto& m) { tensor_at(m, before(m).inputs[1]).shape[1] = columns_of(11); }},
    {"rows before that lie where others do",
     [](auto& m) { tensor_at(m, fed(m).inputs[0]).offset = tensor_at(m, before(m).inputs[0]).offset; }},
    {"an unknown cell", [](auto& m) { cell(m).attributes.AsRecurrentCell()->cell = static_cast<fb::Cell>(2); }},
    {"another cell", [](auto& m) { cell(m).attributes.AsRecurrentCell()->cell = fb::Cell::gru; }},
    {"cells that are not kept", [](auto& m) { cell(m).outputs[2] = -1; }},
    {"cells that are the state", [](auto& m) { cell(m).outputs[2] = cell(m).outputs[0]; }},
    {"gates of another width", [](auto& m) { std::swap(cell(m).inputs[0], cell(m).inputs[2]); }},
    {"what the state gives of another width", [](auto& m) { cell(m).inputs[1] = cell(m).inputs[2]; }},
    {"a cell of nothing before", [](auto& m) { cell(m).inputs[2] = -1; }},
    {"keys that are not a state", [](auto& m) { align(m).inputs[1] = align(m).inputs[0]; }},
    {"values that are not a state", [](auto& m) { align(m).inputs[2] = align(m).inputs[0]; }},
    {"keys of another width", [](auto& m) { std::swap(align(m).inputs[1], align(m).inputs[2]); }},
    {"keys of a source's one row", [](auto& m) { tensor_at(m, align(m).inputs[1]).shape[0] = fb::Dim(1, 1, 0, 1); }},
    {"a sum of another length", [](auto& m) { tensor_at(m, align(m).inputs[3]).shape[0] = columns_of(11); }},
    {"a scale of 0", [](auto& m) { sight(m).scale = 0; }},
    {"a scale that is not a number", [](auto& m) { sight(m).scale = NAN; }},
    {"a window of no row", [](auto& m) { sight(m).window = 0; }},
    {"a window of too many rows", [](auto& m) { sight(m).window = 1U << 25; }},
    {"a window where all rows are looked at",
     [](auto& m) {
       sight(m).place = fb::AlignPlace::all;
       align(m).inputs[4] = -1;
     }},
    {"an unknown place", [](auto& m) { sight(m).place = static_cast<fb::AlignPlace>(3); }},
    {"a place that nobody gives", [](auto& m) { align(m).inputs[4] = -1; }},
    {"a place that nobody asks for", [](auto& m) { sight(m).place = fb::AlignPlace::token; }},
    {"a place of several columns", [](auto& m) { align(m).inputs[4] = align(m).inputs[0]; }},
    {"another output", [](auto& m) { align(m).outputs[0] = align(m).inputs[0]; }},
};

template <size_t kCount>
void expect_all_refused(const char* model, const std::pair<const char*, Edit> (&edits)[kCount]) {
  for (const fb::DType type : {fb::DType::f32, fb::DType::i8}) {
    const std::vector<uint8_t> file = model_bytes(model, type);
    Fault fault;
    ASSERT_EQ(open_bytes(testing::edit_file(file, [](auto&, auto&) {}), &fault), Status::kOk) << fault.what;
    for (const auto& [name, edit] : edits) {
      const auto apply = [&edit = edit](fb::ModelT& m, std::vector<uint8_t>&) { edit(m); };
      const Status status = open_bytes(testing::edit_file(file, apply), &fault);
      EXPECT_TRUE(status == Status::kCorrupt || status == Status::kUnsupported)
          << name << ": " << status_message(status);
      EXPECT_STRNE(fault.what, "") << name;
    }
  }
}

TEST(HostileSources, AreRefusedWithAReason) { expect_all_refused("bart-generate", kEdits); }
TEST(HostileSources, RowsAreRefusedWithAReason) { expect_all_refused("seq2seq-lstm", kRowEdits); }
TEST(HostileSources, TokenByTokenIsRefusedWithAReason) { expect_all_refused("seq2seq-all", kTokenEdits); }

TEST(MoreSourcesThanSequences, LeaveContextsAsTheyAre) {
  SessionOptions options;
  options.max_sequences = 1;
  options.max_tokens = options.max_context = 16;
  options.max_source = kLongest;
  options.max_sources = 20;
  Decoder decoder("bart-generate", fb::DType::i8, options);
  Session& session = decoder.session();
  decoder.encode({random_ids(4, 1)});
  const std::vector<int32_t> ids = random_ids(8, 2);
  decoder.run({ids}, {}, true);
  decoder.encode(std::vector<std::vector<int32_t>>(20, {5}));
  for (uint32_t i = 0; i < 20; ++i) EXPECT_EQ(session.source_length(i), 1U);
  ASSERT_EQ(session.context_length(0), 8U);
  EXPECT_EQ(std::vector<int32_t>(session.context_ids(0), session.context_ids(0) + 8), ids);
  const std::vector<std::vector<int32_t>> more(21, {5});
  EXPECT_EQ(session.encode(Sequences(more).batch()), Status::kTooManySequences);
}

/// An encoder-decoder with a tokenizer whose decoder reads the source's own tokens.
std::vector<uint8_t> shifting_file() {
  return testing::edit_file(model_bytes("bart-text", fb::DType::f32), [](fb::ModelT& m, std::vector<uint8_t>&) {
    m.task = std::make_unique<fb::TaskT>();
    m.task->shift_id = 2;
    for (const auto& output : m.outputs) output->role = fb::OutputRole::none;
  });
}

TEST(MoreSourcesThanSequences, TakeNoMoreTextsThanARun) {
  const testing::FileBytes file(shifting_file());
  Model model;
  Fault fault;
  ASSERT_EQ(Model::open(file.data(), file.size(), &model, &fault), Status::kOk) << fault.what;
  const auto run = [&](uint32_t sequences, uint32_t texts, std::unique_ptr<testing::Arena>* arena) {
    SessionOptions options;
    options.max_sequences = sequences;
    options.max_sources = 6;
    options.max_tokens = options.max_source = 24;
    *arena = std::make_unique<testing::Arena>(arena_bytes(model, options));
    Session* session = nullptr;
    EXPECT_EQ(Session::create(model, options, (*arena)->data(), (*arena)->size(), &session), Status::kOk);
    uint32_t added = 0;
    Status status = Status::kOk;
    EncodeOptions encode;
    encode.add_special = false;
    for (; added < texts && status == Status::kOk; ++added)
      status = session->add({added % 2 == 0 ? "a" : "b", 1}, {}, encode);
    EXPECT_EQ(status, texts > sequences ? Status::kTooManySequences : Status::kOk);
    EXPECT_EQ(session->sequence_count(), std::min(texts, sequences));
    EXPECT_EQ(session->run(), Status::kOk);
    return session;
  };
  std::unique_ptr<testing::Arena> few, many;
  Session* one = run(1, 2, &few);
  Session* all = run(3, 3, &many);
  OutputView a, b;
  ASSERT_EQ(one->output(0, 0, &a), Status::kOk);
  ASSERT_EQ(all->output(0, 0, &b), Status::kOk);
  EXPECT_EQ(std::memcmp(a.data, b.data, a.width * sizeof(float)), 0);
}

TEST(HostileSources, DecodersBeginWithNothing) {
  const std::vector<uint8_t> file = model_bytes("gpt2-generate", fb::DType::f32);
  Fault fault;
  const auto begin = [](fb::ModelT& m, std::vector<uint8_t>&) {
    m.task->generations.push_back(std::make_unique<fb::GenerationT>());
    m.task->generations.front()->start_id = 3;
  };
  EXPECT_EQ(open_bytes(testing::edit_file(file, begin), &fault), Status::kCorrupt);
  const auto shift = [](fb::ModelT& m, std::vector<uint8_t>&) { m.task->shift_id = 3; };
  EXPECT_EQ(open_bytes(testing::edit_file(file, shift), &fault), Status::kCorrupt);
}

TEST(HostileSources, OtherModelsHaveNone) {
  const std::vector<uint8_t> file = model_bytes("gpt2-generate", fb::DType::f32);
  const testing::FileBytes aligned(file);
  Model model;
  ASSERT_EQ(Model::open(aligned.data(), aligned.size(), &model), Status::kOk);
  SessionOptions options;
  EXPECT_NE(arena_bytes(model, options), 0U);
  options.max_source = 8;
  EXPECT_EQ(arena_bytes(model, options), 0U);
}

}  // namespace
}  // namespace bantam::golden::sources_test
