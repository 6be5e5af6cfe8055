// The bytes of a file: layout of constants, tied tensors, determinism, and the runtime's verifier as the last step.
#include "pack/build.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "bantam/model.h"
#include "base/float_bits.h"
#include "converter/pack_graphs.h"
#include "format/header.h"
#include "graph/access.h"

namespace bantam::convert {
namespace {

TypeOptions weights(fb::DType type) {
  TypeOptions options;
  options.weights = type;
  return options;
}

/// The constant `name` as stored in the file.
class Stored {
 public:
  Stored(const Built& built, const std::string& name) {
    FileHeader header;
    EXPECT_EQ(read_header(built.bytes.data(), built.bytes.size(), &header, nullptr), Status::kOk);
    data_ = built.bytes.data() + header.data_offset;
    for (size_t i = 0; i < built.graph.model.tensors.size(); ++i) {
      if (built.graph.model.tensors[i]->name != name) continue;
      tensor = built.graph.model.tensors[i].get();
      source = built.graph.constants[i].get();
    }
    EXPECT_NE(tensor, nullptr) << name;
  }

  template <typename T>
  T at(const std::unique_ptr<fb::Blob>& blob, size_t index) const {
    EXPECT_LE((index + 1) * sizeof(T), blob->size());
    T value;
    std::memcpy(&value, data_ + blob->offset() + index * sizeof(T), sizeof value);
    return value;
  }

  const fb::TensorT* tensor = nullptr;
  const Constant* source = nullptr;

 private:
  const uint8_t* data_ = nullptr;
};

TEST(Layout, Int8TilesHoldTheWeightsTheirScalesAndSums) {
  const Built built = build_model(fixture::bert_graph({}), weights(fb::DType::i8));
  const Stored stored(built, "layer.0.ffn1.weight");  // 72 x 40
  ASSERT_EQ(stored.tensor->layout, fb::Layout::tile_k4n16);
  EXPECT_EQ(stored.tensor->data->size(), 80u * 40u);
  EXPECT_EQ(stored.tensor->scales->size(), 80u * 4u);
  EXPECT_EQ(stored.tensor->sums->size(), 80u * 4u);
  float worst = 0;
  for (size_t n = 0; n < 80; ++n) {
    const auto scale = stored.at<float>(stored.tensor->scales, n);
    int32_t sum = 0;
    for (size_t k = 0; k < 40; ++k) {
      const auto q = stored.at<int8_t>(stored.tensor->data, ((n / 16 * 10 + k / 4) * 16 + n % 16) * 4 + k % 4);
      sum += q;
      if (n >= 72) {
        EXPECT_EQ(q, 0);
        continue;
      }
      const float error = std::fabs(static_cast<float>(q) * scale - stored.source->values[n * 40 + k]);
      EXPECT_LE(error, 0.501f * scale);
      worst = std::max(worst, error);
    }
    EXPECT_EQ(stored.at<int32_t>(stored.tensor->sums, n), sum);
    if (n >= 72) {
      EXPECT_EQ(scale, 0.0f);
    }
  }
  EXPECT_FLOAT_EQ(stored.tensor->error, worst);
}

TEST(Layout, Int8TablesAreTightRows) {
  const Built built = build_model(fixture::bert_graph({}), weights(fb::DType::i8));
  const Stored stored(built, "words");
  ASSERT_EQ(stored.tensor->layout, fb::Layout::rows);
  EXPECT_EQ(stored.tensor->scale_kind, fb::ScaleKind::per_row);
  EXPECT_EQ(stored.tensor->data->size(), 211u * 40u);
  EXPECT_EQ(stored.tensor->scales->size(), 211u * 4u);
  for (size_t i = 0; i < 211 * 40; ++i) {
    const auto scale = stored.at<float>(stored.tensor->scales, i / 40);
    EXPECT_NEAR(stored.at<int8_t>(stored.tensor->data, i) * scale, stored.source->values[i], 0.501 * scale);
  }
}

TEST(Layout, FloatTilesAndVectors) {
  for (const fb::DType type : {fb::DType::f32, fb::DType::f16}) {
    const Built built = build_model(fixture::bert_graph({}), weights(type));
    const Stored stored(built, "layer.1.ffn2.weight");  // 40 x 72
    ASSERT_EQ(stored.tensor->layout, fb::Layout::tile_n16);
    for (size_t n = 0; n < 48; ++n) {
      for (size_t k = 0; k < 72; ++k) {
        const size_t place = (n / 16 * 72 + k) * 16 + n % 16;
        const float value = type == fb::DType::f32 ? stored.at<float>(stored.tensor->data, place)
                                                   : float_from_f16(stored.at<uint16_t>(stored.tensor->data, place));
        const float wanted = n < 40 ? stored.source->values[n * 72 + k] : 0.0f;
        EXPECT_NEAR(value, wanted, type == fb::DType::f32 ? 0 : std::fabs(wanted) / 2048);
      }
    }
    const Stored bias(built, "layer.1.ffn2.bias");
    EXPECT_EQ(bias.tensor->data->size(), 48u * 4u);
    for (size_t i = 0; i < 48; ++i) {
      EXPECT_EQ(bias.at<float>(bias.tensor->data, i), i < 40 ? bias.source->values[i] : 0.0f);
    }
  }
}

TEST(Layout, ATiedTableIsStoredOnceInTiles) {
  fixture::Shape shape;
  shape.tied_output = true;
  const Built tied = build_model(fixture::bert_graph(shape), weights(fb::DType::i8));
  const Built untied = build_model(fixture::bert_graph({}), weights(fb::DType::i8));
  const Stored stored(tied, "words");
  EXPECT_EQ(stored.tensor->layout, fb::Layout::tile_k4n16);
  // 211 rows become 224; a bias, sums, an op and names are also added.
  EXPECT_LT(tied.bytes.size(), untied.bytes.size() + 224u * 16u + 4096u);
}

TEST(Layout, ConstantsSharedByTwoTensorsAreMerged) {
  Graph graph = fixture::bert_graph({});
  // Layers 0 and 1 share one matrix under two names.
  int32_t first = -1;
  for (size_t i = 0; i < graph.constants.size(); ++i) {
    if (graph.model.tensors[i]->name == "layer.0.ffn1.weight") first = static_cast<int32_t>(i);
    if (graph.model.tensors[i]->name == "layer.1.ffn1.weight")
      graph.constants[i] = graph.constants[static_cast<size_t>(first)];
  }
  const Built built = build_model(graph, weights(fb::DType::i8));
  const Stored stored(built, "layer.0.ffn1.weight");
  EXPECT_EQ(stored.tensor->source, (std::vector<std::string>{"layer.0.ffn1.weight", "layer.1.ffn1.weight"}));
  EXPECT_LT(built.bytes.size(), build(fixture::bert_graph({}), weights(fb::DType::i8)).size() - 72u * 40u);
}

TEST(Build, EveryBlobIsAlignedAndInsideAndTheChecksumsHold) {
  const Built built = build_model(fixture::bert_graph({}), weights(fb::DType::i8));
  FileHeader header;
  ASSERT_EQ(read_header(built.bytes.data(), built.bytes.size(), &header, nullptr), Status::kOk);
  EXPECT_EQ(header.file_size, built.bytes.size());
  EXPECT_EQ(header.graph_crc, graph_checksum(header, built.bytes.data()));
  EXPECT_EQ(header.data_crc, data_checksum(header, built.bytes.data()));
  for (const auto& tensor : built.graph.model.tensors) {
    for (const auto* blob : {&tensor->data, &tensor->scales, &tensor->sums}) {
      if (!*blob) continue;
      EXPECT_EQ((*blob)->offset() % 64, 0u);
      EXPECT_LE((*blob)->offset() + (*blob)->size(), header.data_size);
    }
  }
}

TEST(Build, SameGraphSameBytesAndTheGraphIsLeftAlone) {
  const Graph graph = fixture::bert_graph({});
  const FileBytes first = build(graph, weights(fb::DType::i8));
  const FileBytes f32 = build(graph, weights(fb::DType::f32));
  EXPECT_EQ(first, build(graph, weights(fb::DType::i8)));
  EXPECT_EQ(first, build(fixture::bert_graph({}), weights(fb::DType::i8)));
  EXPECT_NE(first, f32);
  EXPECT_GT(f32.size(), first.size());
}

TEST(Build, OddShapesPassTheVerifier) {
  for (const uint32_t hidden : {8u, 40u, 48u}) {
    for (const uint32_t heads : {1u, 2u, 4u}) {
      fixture::Shape shape;
      shape.hidden = hidden;
      shape.heads = heads;
      shape.inner = hidden + 4;
      shape.layers = 1 + heads / 2;
      for (const fb::DType type : {fb::DType::f32, fb::DType::f16, fb::DType::i8}) {
        const FileBytes bytes = build(fixture::bert_graph(shape), weights(type));
        Model model;
        EXPECT_EQ(Model::open(bytes.data(), bytes.size(), &model), Status::kOk);
      }
    }
  }
}

TEST(Build, MixedTypesPassTheVerifier) {
  TypeOptions mixed;
  mixed.keep = {parse_keep("layer.0.qkv=f32"), parse_keep("layer.1.ffn1=f16"), parse_keep("words=f16")};
  const FileBytes bytes = build(fixture::bert_graph({}), mixed);
  Model model;
  EXPECT_EQ(Model::open(bytes.data(), bytes.size(), &model), Status::kOk);
}

}  // namespace
}  // namespace bantam::convert
