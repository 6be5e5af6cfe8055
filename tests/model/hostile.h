// Files whose structure is sound and whose meaning is not, for the operators that have a test of their own: a sound model, and edits of
// which each breaks one rule.
#ifndef BANTAM_TESTS_MODEL_HOSTILE_H_
#define BANTAM_TESTS_MODEL_HOSTILE_H_

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "bantam/model.h"
#include "tests/session/model_builder.h"

namespace bantam::testing {

struct OpEdit {
  const char* name;
  std::function<void(fb::ModelT&)> apply;
  Status status = Status::kCorrupt;
};

inline Status open(const ModelBuilder& builder, Fault* fault) {
  const FileBytes file(builder.finish());
  Model model;
  return Model::open(file.data(), file.size(), &model, fault);
}

/// Expects that the file that make() builds opens, and that it is refused with the edit's status and a reason after
/// each edit.
template <size_t kCount, class Make>
void expect_refused(const OpEdit (&edits)[kCount], const Make& make) {
  for (const OpEdit& edit : edits) {
    ModelBuilder builder = make();
    Fault fault;
    ASSERT_EQ(open(builder, &fault), Status::kOk) << fault.what << " " << std::string(fault.name, fault.name_size);
    edit.apply(builder.model);
    EXPECT_EQ(open(builder, &fault), edit.status) << edit.name << ": " << fault.what;
    EXPECT_STRNE(fault.what, "") << edit.name;
  }
}

/// An edit after which a file breaks one rule, and the rule's sentence.
struct FaultEdit {
  const char* sentence;
  std::function<void(ModelBuilder&)> apply;
  Status status = Status::kCorrupt;
};

/// Expects that the file that make() builds opens, and that it is refused with the rule's own sentence after each edit, whatever
/// other rules would say of it.
template <class Make>
void expect_sentences(const std::vector<FaultEdit>& edits, const Make& make) {
  for (const FaultEdit& edit : edits) {
    ModelBuilder builder = make();
    Fault fault;
    ASSERT_EQ(open(builder, &fault), Status::kOk) << fault.what << " " << std::string(fault.name, fault.name_size);
    edit.apply(builder);
    EXPECT_EQ(open(builder, &fault), edit.status) << edit.sentence;
    EXPECT_STREQ(fault.what, edit.sentence);
  }
}

}  // namespace bantam::testing

#endif  // BANTAM_TESTS_MODEL_HOSTILE_H_
