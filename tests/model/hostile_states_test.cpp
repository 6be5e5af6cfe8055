// hostile_test.cpp for models with several passes: states are not in the arena, and some ops are for one pass only.
#include <gtest/gtest.h>

#include "tests/model/hostile.h"

namespace bantam::testing::hostile_states_test {
namespace {

constexpr uint32_t kIds = 9, kColumns = 6;

void add_input(ModelBuilder& b, fb::InputKind kind, uint32_t limit) {
  b.model.inputs.push_back(std::make_unique<fb::InputT>());
  b.model.inputs.back()->name = fb::EnumNameInputKind(kind);
  b.model.inputs.back()->kind = kind;
  b.model.inputs.back()->limit = limit;
}

void begin(ModelBuilder& b, int32_t symbol, fb::Phase phase) {
  b.step(symbol);
  b.model.subgraphs[0]->steps.back()->phase = phase;
}

/// Rows of words, computed in their own step.
int32_t embed(ModelBuilder& b, const std::string& name, fb::Phase phase) {
  const int32_t words = b.table(name + " words", kIds, kColumns, std::vector<float>(kIds * kColumns), WeightType::kF32);
  begin(b, 0, phase);
  const int32_t x = b.activation(name, 0, kColumns);
  fb::EmbedT one;
  one.tables.push_back(std::make_unique<fb::EmbedTableT>());
  fb::OpT& op = b.op(name, attributes(one), {}, {x});
  op.attributes.AsEmbed()->tables[0]->tensor = name_input(op, words);
  return x;
}

int32_t state(ModelBuilder& b, const std::string& name, uint32_t width, fb::Layout layout = fb::Layout::rows) {
  const int32_t index = b.activation(name, 0, width, fb::DType::f32, layout, layout == fb::Layout::rows ? 0 : 1);
  b.model.tensors.back()->role = fb::Role::state;
  b.model.tensors.back()->offset.clear();
  return index;
}

Status open_passes(ModelBuilder& b, Fault* fault) {
  b.model.source_shared_bytes = b.model.shared_bytes;
  return open(b, fault);
}

fb::SliceT first_columns(uint32_t width) {
  fb::SliceT slice;
  slice.width = width;
  return slice;
}

int32_t weights(ModelBuilder& b, const std::string& name, uint32_t n, uint32_t k) {
  return b.weights(name, n, k, std::vector<float>(size_t{n} * k), WeightType::kF32);
}

int32_t transitions(ModelBuilder& b) {
  const uint32_t rows = kColumns + 2;
  return b.table("transitions", rows, kColumns, std::vector<float>(size_t{rows} * kColumns), WeightType::kF32);
}

fb::ChunkAttentionT chunks() {
  fb::ChunkAttentionT chunks;
  chunks.heads = 1;
  chunks.chunk = chunks.multiple = 4;
  chunks.scale = 0.5f;
  return chunks;
}

/// An op that reads rows of tokens outside its own tile, which must therefore be in the arena.
struct Reader {
  const char* sentence;
  std::function<void(ModelBuilder&, int32_t)> add;
};

const Reader kReaders[] = {
    {"rows beside their neighbours are read from shared f32 rows of tokens",
     [](ModelBuilder& b, int32_t rows) {
       fb::UnfoldT unfold;
       unfold.before = 1;
       begin(b, 0, fb::Phase::main);
       b.op("unfold", attributes(unfold), {rows}, {b.output("y", 0, 2 * kColumns)});
     }},
    {"rows beside their neighbours are read from shared f32 rows of tokens",
     [](ModelBuilder& b, int32_t rows) {
       fb::DepthwiseT convolution;
       convolution.before = 1;
       const int32_t matrix = b.table("matrix", 2, 16, std::vector<float>(2 * 16), WeightType::kF32);
       begin(b, 0, fb::Phase::main);
       b.op("depthwise", attributes(convolution), {rows, matrix}, {b.output("y", 0, kColumns)});
     }},
    {"rows of a scan are not shared f32 rows of tokens of their width",
     [](ModelBuilder& b, int32_t rows) {
       fb::ScanT scan;
       scan.kind = fb::ScanKind::gated;
       scan.states = 1;
       const int32_t rates = b.table("rates", 1, 16, std::vector<float>(16), WeightType::kF32);
       begin(b, 1, fb::Phase::main);
       b.op("scan", attributes(scan), {rows, rows, rates}, {b.output("y", 0, kColumns)});
     }},
    {"scores of spans are of shared f32 rows of tokens, of equal widths",
     [](ModelBuilder& b, int32_t rows) {
       add_input(b, fb::InputKind::marks, 3);
       const int32_t own = embed(b, "own", fb::Phase::main);
       fb::SpansT spans;
       spans.width = spans.labels = 2;
       begin(b, 0, fb::Phase::main);
       b.op("spans", attributes(spans), {own, rows, own}, {b.output("y", 0, 4)});
     }},
    {"pooling reads shared f32 or i8 rows of tokens",
     [](ModelBuilder& b, int32_t rows) {
       begin(b, 1, fb::Phase::main);
       b.op("pool", attributes(fb::PoolT{}), {rows}, {b.output("y", 1, kColumns)});
     }},
    {"weights of terms are made of shared f32 or i8 rows of tokens",
     [](ModelBuilder& b, int32_t rows) {
       fb::LinearT terms;
       terms.saturations = 1;
       const int32_t matrix = weights(b, "terms", 5, kColumns);
       begin(b, 1, fb::Phase::main);
       b.op("terms", attributes(terms), {rows, matrix}, {b.output("y", 1, 5)});
     }},
    {"chunks are of shared f32 rows of tokens",
     [](ModelBuilder& b, int32_t rows) {
       begin(b, 1, fb::Phase::main);
       b.op("chunks", attributes(chunks()), {rows}, {b.output("y", 0, kColumns / 3)});
     }},
    {"a chain of tags reads shared f32 rows of tokens",
     [](ModelBuilder& b, int32_t rows) {
       const int32_t matrix = transitions(b);
       begin(b, 1, fb::Phase::main);
       b.op("crf", attributes(fb::CrfT{}), {rows, matrix}, {b.output("y", 0, kColumns)});
     }},
    {"rows are selected from shared f32 rows of tokens by scores of one column",
     [](ModelBuilder& b, int32_t rows) {
       const int32_t own = embed(b, "own", fb::Phase::main), scores = b.activation("scores", 0, 1);
       b.op("scores", attributes(first_columns(1)), {own}, {scores});
       begin(b, 0, fb::Phase::main);
       b.op("select", attributes(fb::SelectT{}), {scores, own, rows}, {b.output("y", 0, kColumns)});
     }},
    {"keys and values are not shared f32 rows of tokens",
     [](ModelBuilder& b, int32_t rows) {
       fb::KeySumsT sums;
       sums.kind = fb::FeatureKind::relu;
       sums.heads = 1;
       sums.features = 5;
       sums.epsilon = 1e-3f;
       const int32_t matrix = weights(b, "vectors", 5, kColumns / 2);
       begin(b, 1, fb::Phase::main);
       b.op("sums", attributes(sums), {rows, matrix}, {b.output("y", 1, 16 * 5 + 16)});
     }},
};

TEST(HostileRowsOfTokens, AreFloatsInRowsThatTokensCount) {
  for (const Reader& reader : kReaders) {
    if (std::string(reader.sentence).find("f32 rows") == std::string::npos) continue;  // it can also read i8 rows
    const std::function<void(fb::TensorT&)> forms[] = {
        [](fb::TensorT& t) { t.shape[0] = fb::Dim(1, 1, 0, 1); },
        [](fb::TensorT& t) {
          t.type = fb::DType::i8;
          t.scale_kind = fb::ScaleKind::per_row;
        },
        [](fb::TensorT& t) {
          t.layout = fb::Layout::key_pages;
          t.heads = 1;
        },
    };
    for (const auto& form : forms) {
      ModelBuilder b;
      add_input(b, fb::InputKind::ids, kIds);
      embed(b, "x", fb::Phase::main);
      const int32_t rows = b.activation("rows", 0, kColumns);  // no op writes it
      form(*b.model.tensors.back());
      reader.add(b, rows);
      Fault fault;
      EXPECT_EQ(open(b, &fault), Status::kCorrupt);
      EXPECT_STREQ(fault.what, reader.sentence);
    }
  }
}

/// States have no place in the arena: an op that used one as rows there would access memory outside the arena.
TEST(HostileStates, AreNoRowsOfTheArena) {
  for (const Reader& reader : kReaders) {
    for (const bool of_source : {false, true}) {
      ModelBuilder b;
      add_input(b, fb::InputKind::ids, kIds);
      add_input(b, fb::InputKind::source_ids, kIds);
      const int32_t source = embed(b, "source", fb::Phase::source), left = state(b, "left", kColumns);
      b.op("leave", attributes(first_columns(kColumns)), {source}, {left});
      const int32_t x = embed(b, "x", fb::Phase::main);
      reader.add(b, of_source ? left : x);
      Fault fault;
      EXPECT_EQ(open_passes(b, &fault), of_source ? Status::kCorrupt : Status::kOk) << reader.sentence;
      EXPECT_STREQ(fault.what, of_source ? reader.sentence : "");
    }
  }
}

/// SplitHeads may write states too.
TEST(HostileStates, AreLeftBySlicesAlone) {
  const std::pair<const char*, std::function<void(ModelBuilder&, int32_t)>> writers[] = {
      {"a chain of tags writes rows like those that it reads",
       [](ModelBuilder& b, int32_t rows) {
         const int32_t matrix = transitions(b);
         b.op("crf", attributes(fb::CrfT{}), {rows, matrix}, {state(b, "left", kColumns)});
       }},
      {"rows of an operator over sequences are of another kind, type or width",
       [](ModelBuilder& b, int32_t rows) {
         b.op("chunks", attributes(chunks()), {rows}, {state(b, "left", kColumns / 3)});
       }},
  };
  for (const auto& [sentence, add] : writers) {
    ModelBuilder b;
    add_input(b, fb::InputKind::ids, kIds);
    add_input(b, fb::InputKind::source_ids, kIds);
    const int32_t source = embed(b, "source", fb::Phase::source);
    begin(b, 1, fb::Phase::source);
    add(b, source);
    const int32_t x = embed(b, "x", fb::Phase::main);
    b.op("y", attributes(fb::RowT{}), {x}, {b.output("y", 0, kColumns)});
    Fault fault;
    EXPECT_EQ(open_passes(b, &fault), Status::kCorrupt);
    EXPECT_STREQ(fault.what, sentence);
  }
}

TEST(HostileStates, AreSplitAlone) {
  for (const bool alone : {false, true}) {
    ModelBuilder b;
    add_input(b, fb::InputKind::ids, kIds);
    add_input(b, fb::InputKind::source_ids, kIds);
    const int32_t source = embed(b, "source", fb::Phase::source);
    fb::SplitHeadsT split;
    split.heads = alone ? 0 : 1;
    split.kv_heads = 1;
    split.head_width = alone ? 3 : 2;
    const int32_t q = alone ? -1 : b.activation("q", 0, split.head_width);
    const int32_t k = state(b, "k", split.head_width, fb::Layout::key_pages);
    const int32_t v = state(b, "v", split.head_width, fb::Layout::value_pages);
    b.op("split", attributes(split), {source}, {q, k, v});
    const int32_t x = embed(b, "x", fb::Phase::main);
    b.op("y", attributes(fb::RowT{}), {x}, {b.output("y", 0, kColumns)});
    Fault fault;
    EXPECT_EQ(open_passes(b, &fault), alone ? Status::kOk : Status::kCorrupt);
    EXPECT_STREQ(fault.what, alone ? "" : "states are split alone, by the pass over a source");
  }
}

/// A source has no global tokens but its first one.
TEST(HostilePasses, GlobalTokensOfASourceAreItsFirst) {
  for (const fb::GlobalTokens kind : {fb::GlobalTokens::first, fb::GlobalTokens::before}) {
    const bool is_first = kind == fb::GlobalTokens::first;
    ModelBuilder b;
    add_input(b, fb::InputKind::ids, kIds);
    add_input(b, fb::InputKind::source_ids, kIds);
    b.model.globals = std::make_unique<fb::GlobalsT>();
    b.model.globals->kind = kind;
    b.model.globals->separator = 2;
    const int32_t matrix = weights(b, "matrix", 5, kColumns);
    const int32_t source = embed(b, "source", fb::Phase::source);
    fb::LinearT layer;
    layer.only_globals = true;
    b.op("layer", attributes(layer), {source, matrix}, {b.activation("layer", 0, 5)});
    const int32_t x = embed(b, "x", fb::Phase::main);
    b.op("y", attributes(fb::RowT{}), {x}, {b.output("y", 0, kColumns)});
    Fault fault;
    EXPECT_EQ(open_passes(b, &fault), is_first ? Status::kOk : Status::kCorrupt);
    EXPECT_STREQ(fault.what, is_first ? "" : "global tokens of a source are its first one, or none");
  }
}

/// The rows of a chunk come with its retrieved texts; a run of the main pass has none.
TEST(HostilePasses, FeaturesOfAChunkAreOfWhatIsRetrievedForIt) {
  for (const bool in_main : {false, true}) {
    ModelBuilder b;
    add_input(b, fb::InputKind::ids, kIds);
    add_input(b, fb::InputKind::source_ids, kIds);
    add_input(b, fb::InputKind::segments, 2);
    add_input(b, fb::InputKind::features, kColumns);
    b.model.chunk = 4;
    begin(b, 0, fb::Phase::source);
    b.op("of the chunk", attributes(fb::FeaturesT{}), {}, {b.activation("of the chunk", 0, kColumns)});
    const int32_t x = embed(b, "x", fb::Phase::main);
    if (in_main) b.op("again", attributes(fb::FeaturesT{}), {}, {b.activation("again", 0, kColumns)});
    b.op("y", attributes(fb::RowT{}), {x}, {b.output("y", 0, kColumns)});
    Fault fault;
    EXPECT_EQ(open_passes(b, &fault), in_main ? Status::kCorrupt : Status::kOk);
    EXPECT_STREQ(fault.what, in_main
                                 ? "features of a chunk are taken by the pass over what is retrieved for it, others "
                                   "by the main pass"
                                 : "");
  }
}

}  // namespace
}  // namespace bantam::testing::hostile_states_test
