// hostile_test.cpp for term weights, which a linear layer computes from a sequence's scores.
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>

#include "tests/model/hostile.h"
#include "tests/session/bert.h"

namespace bantam::testing::hostile_terms_test {
namespace {

fb::OpT& op(fb::ModelT& m, const std::string& name) {
  for (const auto& o : m.subgraphs[0]->ops) {
    if (o->name == name) return *o;
  }
  throw std::runtime_error("no op " + name);
}
fb::LinearT& terms(fb::ModelT& m) { return *op(m, "pool").attributes.AsLinear(); }
fb::TensorT& tensor_of(fb::ModelT& m, int32_t index) { return *m.tensors[static_cast<size_t>(index)]; }

/// Turns the pooler into the vocabulary layer of a sparse embedding, which reads the rows of all tokens, not only the
/// first.
ModelBuilder with_terms() {
  ModelBuilder builder = build(random_bert({}, 2), WeightType::kF32);
  fb::OpT& layer = op(builder.model, "pool");
  layer.inputs[0] = op(builder.model, "first").inputs[0];
  layer.epilogue.reset();
  terms(builder.model).saturations = 1;
  return builder;
}

/// Makes the layer read a changed copy of its input.
std::function<void(fb::ModelT&)> reads(const std::function<void(fb::TensorT&)>& change) {
  return [change](fb::ModelT& m) { op(m, "pool").inputs[0] = add_like(m, op(m, "pool").inputs[0], change); };
}

const char* const kNoRows = "weights of terms are made of shared f32 or i8 rows of tokens";

const OpEdit kEdits[] = {
    {"three logarithms", [](auto& m) { terms(m).saturations = 3; }},
    {"sums of scores", [](auto& m) { terms(m).saturations = 0, terms(m).sum_terms = true; }},
    {"global tokens", [](auto& m) { terms(m).only_globals = true; }},
    {"terms of each token", [](auto& m) { op(m, "tag").attributes.AsLinear()->saturations = 1; }},
    {"rows of sequences", [](auto& m) { op(m, "pool").inputs[0] = op(m, "first").outputs[0]; }},
    {"a constant", [](auto& m) { op(m, "pool").inputs[0] = op(m, "pool").inputs[1]; }},
    {"rows of a tile", [](auto& m) { tensor_of(m, op(m, "pool").inputs[0]).region = fb::Region::tile; }},
    {"shared rows of sequences", reads(as_rows_of_sequences), Status::kCorrupt, kNoRows},
    {"rows in pages", reads(as_pages), Status::kCorrupt, kNoRows},
    {"rows of a source", reads(as_state), Status::kCorrupt, kNoRows},
    {"a copy of the weights as i8",
     [](auto& m) { op(m, "pool").outputs.push_back(add_like(m, op(m, "pool").outputs[0], as_i8)); }, Status::kCorrupt,
     "weights of terms have no epilogue, and are f32 rows"},
    {"rows of another width", [](auto& m) { op(m, "pool").inputs[1] = op(m, "layer.0.down").inputs[1]; }},
    {"an activation",
     [](auto& m) {
       op(m, "pool").epilogue = std::make_unique<fb::EpilogueT>();
       op(m, "pool").epilogue->activation = fb::ActivationKind::tanh;
     }},
    {"integers",
     [](auto& m) {
       op(m, "pool").numerics = fb::Numerics::static_int;
       op(m, "pool").integer = std::make_unique<fb::IntegerT>();
     }},
};

TEST(HostileTerms, AreRefusedWithAReason) { expect_refused(kEdits, with_terms); }

/// The layer with int8 weights, which reads the encoder's rows as i8.
ModelBuilder with_integer_terms() {
  ModelBuilder builder = with_terms();
  const auto rows = static_cast<uint32_t>(tensor_of(builder.model, op(builder.model, "pool").inputs[0]).shape[1].b());
  fb::OpT& writer = op(builder.model, "layer.1.down");
  writer.outputs.resize(2, -1);
  writer.outputs[1] = builder.activation("rows.i8", 0, rows, fb::DType::i8);
  fb::OpT& layer = op(builder.model, "pool");
  layer.inputs[0] = writer.outputs[1];
  layer.inputs[1] = builder.weights("terms.i8", rows, rows, std::vector<float>(rows * rows), WeightType::kI8);
  return builder;
}

const OpEdit kIntegerEdits[] = {
    {"rows without scales", reads([](auto& t) { t.scale_kind = fb::ScaleKind::fixed; }), Status::kCorrupt, kNoRows},
    {"rows as f32", [](auto& m) { op(m, "pool").inputs[0] = op(m, "first").inputs[0]; }, Status::kCorrupt, kNoRows},
};

TEST(HostileTerms, OfIntegersAreRefusedWithAReason) { expect_refused(kIntegerEdits, with_integer_terms); }

}  // namespace
}  // namespace bantam::testing::hostile_terms_test
