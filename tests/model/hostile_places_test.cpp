// hostile_test.cpp for positions in attention: biases, rotary positions.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/model/hostile.h"
#include "tests/session/bert.h"

namespace bantam::testing::hostile_places_test {
namespace {

BertShape shape_with_places() {
  BertShape shape;
  shape.mask = fb::MaskKind::window;
  shape.window = 7;
  shape.distances = 5;
  shape.slopes = true;
  shape.angles = 3;
  shape.placed = 9;
  shape.head_norms = true;
  shape.segment_keys = true;
  shape.sinks = true;
  return shape;
}

fb::OpT& op(fb::ModelT& m, const std::string& name) {
  for (const auto& o : m.subgraphs[0]->ops) {
    if (o->name == name) return *o;
  }
  throw std::runtime_error("no op " + name);
}

fb::OpT& attention(fb::ModelT& m) { return op(m, "layer.0.attention"); }
fb::TensorT& input(fb::ModelT& m, fb::OpT& of, int8_t position) {
  return *m.tensors[static_cast<size_t>(of.inputs[static_cast<size_t>(position)])];
}
fb::TensorT& biases(fb::ModelT& m) {
  return input(m, attention(m), attention(m).attributes.AsAttention()->distance_bias);
}
fb::TensorT& slopes(fb::ModelT& m) { return input(m, attention(m), attention(m).attributes.AsAttention()->slopes); }
fb::TensorT& sinks(fb::ModelT& m) { return input(m, attention(m), attention(m).attributes.AsAttention()->sinks); }
fb::TensorT& rotary(fb::ModelT& m) {
  fb::OpT& split = op(m, "layer.0.split");
  return input(m, split, split.attributes.AsSplitHeads()->rotary);
}
fb::TensorT& norms(fb::ModelT& m) {
  fb::OpT& split = op(m, "layer.0.split");
  return input(m, split, split.attributes.AsSplitHeads()->norms);
}
fb::TensorT& place_rows(fb::ModelT& m) {
  return input(m, attention(m), attention(m).attributes.AsAttention()->place_rows);
}
fb::TensorT& place_keys(fb::ModelT& m) {
  return input(m, attention(m), attention(m).attributes.AsAttention()->place_keys);
}
fb::TensorT& place_queries(fb::ModelT& m) {
  return input(m, attention(m), attention(m).attributes.AsAttention()->place_queries);
}
fb::TensorT& segment_keys(fb::ModelT& m) {
  return input(m, attention(m), attention(m).attributes.AsAttention()->segment_keys);
}
void set_extent(fb::TensorT& t, size_t dimension, int32_t n) { t.shape[dimension] = fb::Dim(-1, 0, n, 1); }

const OpEdit kEdits[] = {
    {"biases of fewer heads", [](auto& m) { set_extent(biases(m), 0, 4); }},
    {"biases of more heads", [](auto& m) { set_extent(biases(m), 0, 6); }},
    {"biases of an even number of distances", [](auto& m) { set_extent(biases(m), 1, 8); }},
    {"biases of no distance", [](auto& m) { set_extent(biases(m), 1, 0); }},
    {"biases that are a vector", [](auto& m) { biases(m).shape.pop_back(); }},
    {"biases as i32", [](auto& m) { biases(m).type = fb::DType::i32; }},
    {"biases that are activations",
     [](auto& m) {
       fb::OpT& a = attention(m);
       a.inputs[static_cast<size_t>(a.attributes.AsAttention()->distance_bias)] = a.inputs[0];
     }},
    {"biases absent",
     [](auto& m) {
       fb::OpT& a = attention(m);
       a.inputs[static_cast<size_t>(a.attributes.AsAttention()->distance_bias)] = -1;
     }},
    {"biases beyond the inputs", [](auto& m) { attention(m).attributes.AsAttention()->distance_bias = 9; }},
    {"biases at a negative position", [](auto& m) { attention(m).attributes.AsAttention()->distance_bias = -2; }},
    {"biases named nowhere", [](auto& m) { attention(m).attributes.AsAttention()->distance_bias = -1; }},
    {"biases where the queries are", [](auto& m) { attention(m).attributes.AsAttention()->distance_bias = 0; }},
    {"biases and slopes in one place",
     [](auto& m) {
       fb::AttentionT& a = *attention(m).attributes.AsAttention();
       a.slopes = a.distance_bias;
     }},
    {"slopes of fewer heads", [](auto& m) { set_extent(slopes(m), 0, 4); }},
    {"slopes as i8", [](auto& m) { slopes(m).type = fb::DType::i8; }},
    {"places of an even number of distances", [](auto& m) { set_extent(place_rows(m), 0, 18); }},
    {"places of no distance", [](auto& m) { set_extent(place_rows(m), 0, 0); }},
    {"places of a matrix of distances", [](auto& m) { place_rows(m).shape.push_back(fb::Dim(-1, 0, 1, 1)); }},
    {"places as i32", [](auto& m) { place_rows(m).type = fb::DType::i32; }},
    {"places that select nothing",
     [](auto& m) {
       fb::OpT& a = attention(m);
       fb::AttentionT& known = *a.attributes.AsAttention();
       a.inputs.erase(a.inputs.begin() + known.place_keys, a.inputs.begin() + known.place_queries + 1);
       known.place_keys = known.place_queries = -1;
       known.segment_keys = static_cast<int8_t>(known.segment_keys - 2);
     }},
    {"places that all heads share but are of each",
     [](auto& m) {
       attention(m).attributes.AsAttention()->shared_places = true;
       set_extent(place_queries(m), 0, 32);
     }},
    {"a filler that the mask does not know", [](auto& m) { attention(m).attributes.AsAttention()->filler = 3; }},
    {"fillers of no id", [](auto& m) { attention(m).attributes.AsAttention()->mask = fb::MaskKind::window_fillers; }},
    {"keys of segments of fewer heads", [](auto& m) { set_extent(segment_keys(m), 0, 4); }},
    {"keys of segments without a last element", [](auto& m) { set_extent(segment_keys(m), 1, 8); }},
    {"keys of segments that are a vector", [](auto& m) { segment_keys(m).shape.pop_back(); }},
    {"keys of segments as i8", [](auto& m) { segment_keys(m).type = fb::DType::i8; }},
    {"keys of segments in tiles", [](auto& m) { segment_keys(m).layout = fb::Layout::tile_n16; }},
    {"keys of segments named nowhere", [](auto& m) { attention(m).attributes.AsAttention()->segment_keys = -1; }},
    {"keys of segments that are activations",
     [](auto& m) {
       fb::OpT& a = attention(m);
       a.inputs[static_cast<size_t>(a.attributes.AsAttention()->segment_keys)] = a.inputs[0];
     }},
    {"keys of fewer places", [](auto& m) { set_extent(place_keys(m), 0, 5 * 16); }},
    {"keys of uneven places", [](auto& m) { set_extent(place_keys(m), 0, 5 * 31); }},
    {"keys of no place", [](auto& m) { set_extent(place_keys(m), 0, 0); }},
    {"keys of other heads", [](auto& m) { set_extent(place_keys(m), 1, 7); }},
    {"keys in rows", [](auto& m) { place_keys(m).layout = fb::Layout::rows; }},
    {"queries of other heads", [](auto& m) { set_extent(place_queries(m), 1, 7); }},
    {"queries of fewer places", [](auto& m) { set_extent(place_queries(m), 0, 5 * 16); }},
    {"queries as i32", [](auto& m) { place_queries(m).type = fb::DType::i32; }},
    {"rotary positions of too few places", [](auto& m) { set_extent(rotary(m), 0, 95); }},
    {"rotary positions of a longer text", [](auto& m) { m.max_sequence = 97; }},
    {"rotary positions of any length", [](auto& m) { m.max_sequence = 0; }},
    {"rotary positions of an odd width", [](auto& m) { set_extent(rotary(m), 1, 5); }},
    {"rotary positions wider than a head",
     [](auto& m) {
       set_extent(rotary(m), 1, 10);
       set_extent(rotary(m), 0, 57);
     }},
    {"rotary positions as i32", [](auto& m) { rotary(m).type = fb::DType::i32; }},
    {"rotary positions that are a vector", [](auto& m) { rotary(m).shape.pop_back(); }},
    {"rotary positions in tiles", [](auto& m) { rotary(m).layout = fb::Layout::tile_n16; }},
    {"rotary positions named nowhere", [](auto& m) { op(m, "layer.1.split").attributes.AsSplitHeads()->rotary = -1; }},
    {"norms of three rows", [](auto& m) { set_extent(norms(m), 0, 3); }},
    {"norms of other columns", [](auto& m) { set_extent(norms(m), 1, 40); }},
    {"norms as i8", [](auto& m) { norms(m).type = fb::DType::i8; }},
    {"norms that are a vector", [](auto& m) { norms(m).shape.pop_back(); }},
    {"norms in tiles", [](auto& m) { norms(m).layout = fb::Layout::tile_n16; }},
    {"norms named nowhere", [](auto& m) { op(m, "layer.1.split").attributes.AsSplitHeads()->norms = -1; }},
    {"norms without an epsilon that makes sense",
     [](auto& m) { op(m, "layer.1.split").attributes.AsSplitHeads()->epsilon = -1; }},
    {"norms of each head by a wider table",
     [](auto& m) { op(m, "layer.1.split").attributes.AsSplitHeads()->each_head = true; }},
    {"norms of no kind", [](auto& m) { op(m, "layer.1.split").attributes.AsSplitHeads()->norm = fb::NormKind::none; }},
    {"norms that are affine",
     [](auto& m) { op(m, "layer.1.split").attributes.AsSplitHeads()->norm = fb::NormKind::affine; }},
    {"norms of a kind beyond all",
     [](auto& m) { op(m, "layer.1.split").attributes.AsSplitHeads()->norm = static_cast<fb::NormKind>(77); }},
    {"sinks of fewer heads", [](auto& m) { set_extent(sinks(m), 0, 4); }},
    {"sinks as i8", [](auto& m) { sinks(m).type = fb::DType::i8; }},
    {"sinks named nowhere", [](auto& m) { attention(m).attributes.AsAttention()->sinks = -1; }},
    {"sinks of no input", [](auto& m) { attention(m).attributes.AsAttention()->sinks = 99; }},
    {"a cap below 0", [](auto& m) { attention(m).attributes.AsAttention()->soft_cap = -1; }},
    {"a cap that is not a number", [](auto& m) { attention(m).attributes.AsAttention()->soft_cap = NAN; }},
    {"a cap without end", [](auto& m) { attention(m).attributes.AsAttention()->soft_cap = INFINITY; }},
    {"rotary positions where the rows are",
     [](auto& m) { op(m, "layer.1.split").attributes.AsSplitHeads()->rotary = 0; }},
};

/// Extends a constant's bytes with zeros if it has too few.
void store_zeros(ModelBuilder& b, fb::TensorT& t, size_t size) {
  const std::vector<uint8_t> zeros(size);
  t.data = std::make_unique<fb::Blob>(b.store(zeros.data(), zeros.size()));
}

TEST(HostilePlaces, NormsAreRowsOfAMatrix) {
  const char* const matrix = "norms of queries and keys are not four rows of an f32 matrix of their width";
  expect_sentences(
      {
          {matrix, [](auto& b) { norms(b.model).shape.push_back(fb::Dim(-1, 0, 1, 1)); }},
          {matrix,
           [](auto& b) {
             norms(b.model).layout = fb::Layout::tile_n16;
             store_zeros(b, norms(b.model), 16 * 48 * sizeof(float));
           }},
          {"the norms' epsilon is not in [0, 1]",
           [](auto& b) { op(b.model, "layer.0.split").attributes.AsSplitHeads()->epsilon = 2; }},
      },
      [] { return build(random_bert(shape_with_places(), 2), WeightType::kF32); });
}

TEST(HostilePlaces, BiasesAreOfSoManyDistances) {
  constexpr int32_t kTooMany = (1 << 22) + 1;
  expect_sentences({{"biases of too many distances",
                     [](auto& b) {
                       set_extent(biases(b.model), 1, kTooMany);
                       store_zeros(b, biases(b.model), size_t{kTooMany} * sizeof(float));
                     },
                     Status::kUnsupported}},
                   [] {
                     BertShape shape;
                     shape.layers = 1;
                     shape.hidden = 8;
                     shape.heads = 1;
                     shape.distances = 5;
                     return build(random_bert(shape, 2), WeightType::kF32);
                   });
}

TEST(HostilePlaces, AreRefusedWithAReason) {
  for (const WeightType type : {WeightType::kI8, WeightType::kF32}) {
    expect_refused(kEdits, [type] { return build(random_bert(shape_with_places(), 2), type); });
  }
}

TEST(HostilePlaces, AreRefusedByTheirSentences) {
  const auto make = [] { return build(random_bert(shape_with_places(), 2), WeightType::kI8); };
  expect_rules({{"scores of places lack their rows, or what these select", Status::kCorrupt,
                 [](auto& m) {
                   fb::OpT& a = attention(m);
                   fb::AttentionT& known = *a.attributes.AsAttention();
                   a.inputs.erase(a.inputs.begin() + known.place_rows);
                   for (int8_t* behind : {&known.place_keys, &known.place_queries, &known.segment_keys, &known.sinks}) {
                     ASSERT_GT(*behind, known.place_rows);
                     --*behind;
                   }
                   known.place_rows = -1;
                 }},
                {"scores of places lack their rows, or what these select", Status::kCorrupt,
                 [](auto& m) {
                   fb::OpT& a = attention(m);
                   fb::AttentionT& known = *a.attributes.AsAttention();
                   ASSERT_EQ(known.place_queries, known.place_keys + 1);
                   a.inputs.erase(a.inputs.begin() + known.place_keys, a.inputs.begin() + known.place_keys + 2);
                   for (int8_t* behind : {&known.segment_keys, &known.sinks}) {
                     ASSERT_GT(*behind, known.place_queries);
                     *behind = static_cast<int8_t>(*behind - 2);
                   }
                   known.place_keys = known.place_queries = -1;
                 }},
                {"attention within segments has keys of segments", Status::kCorrupt,
                 [](auto& m) {
                   fb::AttentionT& known = *attention(m).attributes.AsAttention();
                   known.mask = fb::MaskKind::segments;
                   known.window = 0;
                 }}},
               make);
  const char* const behind = "norms behind a rotation lack one of the two";
  const auto turned = [](bool rotary, bool norms) {
    BertShape shape;
    shape.angles = rotary ? 3 : 0;
    shape.head_norms = norms;
    return build(random_bert(shape, 2), WeightType::kF32);
  };
  const auto put_behind = [](fb::ModelT& m) { op(m, "layer.0.split").attributes.AsSplitHeads()->norms_behind = true; };
  for (const bool rotary : {false, true}) {
    expect_rules({{behind, Status::kCorrupt, put_behind}}, [&] { return turned(rotary, !rotary); });
  }
  expect_rules_of_op("layer.0.attention",
                     {{"sinks are not an f32 vector of a number a head", Status::kCorrupt,
                       [](auto& m) { set_extent(sinks(m), 0, 4); }}},
                     make);
  constexpr auto kTooMany = static_cast<int32_t>(ops::kMaxWidth);
  expect_rules_of_op("layer.0.attention",
                     {{"places of an even number of distances", Status::kCorrupt,
                       [](auto& m) { set_extent(place_rows(m), 0, kTooMany + 1); }},
                      {"scores of no or uneven places", Status::kCorrupt,
                       [](auto& m) {
                         set_extent(place_keys(m), 0, 5 * (kTooMany + 16));
                         set_extent(place_queries(m), 0, 5 * (kTooMany + 16));
                       }}},
                     make);
}

}  // namespace
}  // namespace bantam::testing::hostile_places_test
