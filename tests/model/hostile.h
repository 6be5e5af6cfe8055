// Files that are structurally valid but have invalid content, for the operators with their own tests: a valid model,
// and edits that each violate one rule.
#ifndef BANTAM_TESTS_MODEL_HOSTILE_H_
#define BANTAM_TESTS_MODEL_HOSTILE_H_

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "bantam/model.h"
#include "ops/ops.h"
#include "tests/session/model_builder.h"

namespace bantam::testing {

struct OpEdit {
  const char* name;
  std::function<void(fb::ModelT&)> apply;
  Status status = Status::kCorrupt;
  const char* sentence = nullptr;  // null: any sentence
};

inline Status open(const ModelBuilder& builder, Fault* fault) {
  const FileBytes file(builder.finish());
  Model model;
  return Model::open(file.data(), file.size(), &model, fault);
}

/// Adds an input of ids and a step that embeds them. Returns the f32 rows "x" [tokens, width].
inline int32_t embedded_ids(ModelBuilder& b, uint32_t ids, uint32_t width) {
  b.model.inputs.push_back(std::make_unique<fb::InputT>());
  b.model.inputs[0]->name = "input_ids";
  b.model.inputs[0]->limit = ids;
  const int32_t words = b.table("words", ids, width, std::vector<float>(size_t{ids} * width, 0.5F), WeightType::kF32);
  b.step(0);
  const int32_t x = b.activation("x", 0, width);
  fb::EmbedT one;
  one.tables.push_back(std::make_unique<fb::EmbedTableT>());
  fb::OpT& embed = b.op("embed", attributes(one), {}, {x});
  embed.attributes.AsEmbed()->tables[0]->tensor = name_input(embed, words);
  return x;
}

/// Appends a changed copy of tensor `index` that nothing writes; returns its number.
inline int32_t add_like(fb::ModelT& m, int32_t index, const std::function<void(fb::TensorT&)>& change) {
  m.tensors.push_back(std::make_unique<fb::TensorT>(*m.tensors[static_cast<size_t>(index)]));
  change(*m.tensors.back());
  return static_cast<int32_t>(m.tensors.size() - 1);
}

inline void as_i8(fb::TensorT& t) {
  t.type = fb::DType::i8;
  t.scale_kind = fb::ScaleKind::per_row;
}
inline void as_pages(fb::TensorT& t) {
  t.layout = fb::Layout::key_pages;
  t.heads = 1;
}
/// Turns a tensor into rows of a source's tokens, which are not part of the memory plan.
inline void as_state(fb::TensorT& t) {
  t.role = fb::Role::state;
  t.offset.clear();
}
inline void as_rows_of_sequences(fb::TensorT& t) { t.shape[0] = fb::Dim(1, 1, 0, 1); }
inline void in_tile(fb::TensorT& t) {
  t.region = fb::Region::tile;
  t.shape[0] = fb::Dim(2, 1, 0, 1);
  t.offset.clear();
}

/// Expects that the file from make() opens, and that after `apply` it is refused with this status and sentence (null:
/// any).
template <class Make, class Apply>
void expect_fault(const Make& make, const Apply& apply, Status status, const char* sentence, const char* name) {
  ModelBuilder builder = make();
  Fault fault;
  ASSERT_EQ(open(builder, &fault), Status::kOk) << fault.what << " " << std::string(fault.name, fault.name_size);
  apply(builder);
  EXPECT_EQ(open(builder, &fault), status) << name << ": " << fault.what;
  EXPECT_STRNE(fault.what, "") << name;
  if (sentence != nullptr) {
    EXPECT_STREQ(fault.what, sentence) << name;
  }
}

/// Expects the status of each edit, a reason, and its sentence if it has one.
template <size_t kCount, class Make>
void expect_refused(const OpEdit (&edits)[kCount], const Make& make) {
  for (const OpEdit& edit : edits) {
    const auto apply = [&edit](ModelBuilder& builder) { edit.apply(builder.model); };
    expect_fault(make, apply, edit.status, edit.sentence, edit.name);
  }
}

/// An edit of a builder after which the file violates one rule, and the rule's sentence.
struct FaultEdit {
  const char* sentence;
  std::function<void(ModelBuilder&)> apply;
  Status status = Status::kCorrupt;
};

/// Expects the rule's own sentence after each edit, whichever other rules the file violates.
template <class Make>
void expect_sentences(const std::vector<FaultEdit>& edits, const Make& make) {
  for (const FaultEdit& edit : edits) expect_fault(make, edit.apply, edit.status, edit.sentence, edit.sentence);
}

/// An edit of a model after which the file violates one rule, and the rule's sentence.
struct Rule {
  const char* sentence;
  Status status;
  std::function<void(fb::ModelT&)> apply;
};

/// Expects the rule's sentence after each edit.
template <class Make>
void expect_rules(const std::vector<Rule>& rules, const Make& make) {
  for (const Rule& rule : rules) {
    const auto apply = [&rule](ModelBuilder& builder) { rule.apply(builder.model); };
    expect_fault(make, apply, rule.status, rule.sentence, rule.sentence);
  }
}

/// Returns the verdict of this op's rule alone. It reads no data, so tensors may have sizes that no test could store.
inline Verdict verdict_of_op(const fb::ModelT& model, const std::string& name) {
  flatbuffers::FlatBufferBuilder builder;
  fb::FinishModelBuffer(builder, fb::Model::Pack(builder, &model));
  const fb::Model& m = *fb::GetModel(builder.GetBufferPointer());
  for (const fb::Step* step : *graph(m).steps()) {
    for (uint32_t i = 0; i < step->op_count(); ++i) {
      const fb::Op& op = *graph(m).ops()->Get(step->first_op() + i);
      if (op.name()->str() != name) continue;
      return ops::find_rule(op)->verify({m, op, static_cast<uint32_t>(step->rows()), step->phase()});
    }
  }
  throw std::runtime_error("no op " + name);
}

/// Expects that the op's rule accepts the model from make(), and gives its sentence after each edit.
template <class Make>
void expect_rules_of_op(const std::string& name, const std::vector<Rule>& rules, const Make& make) {
  for (const Rule& rule : rules) {
    ModelBuilder builder = make();
    EXPECT_STREQ(verdict_of_op(builder.model, name).what(), "");
    rule.apply(builder.model);
    const Verdict verdict = verdict_of_op(builder.model, name);
    EXPECT_EQ(verdict.status(), rule.status) << rule.sentence;
    EXPECT_STREQ(verdict.what(), rule.sentence);
  }
}

}  // namespace bantam::testing

#endif  // BANTAM_TESTS_MODEL_HOSTILE_H_
