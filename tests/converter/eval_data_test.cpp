// Untrusted labeled data.
#include "score/eval_data.h"

#include <gtest/gtest.h>

#include <string>

#include "converter/import_fixture.h"
#include "converter/pack_graphs.h"
#include "graph/access.h"
#include "pack/build.h"

namespace bantam::convert {
namespace {

/// Takes minutes if time is quadratic in the number of keys: security trial, finding 13.
TEST(EvalData, ManyKeysInALine) {
  const FileBytes bytes = build(clone(fixture::bert_graph({})), {});
  Model model;
  ASSERT_EQ(Model::open(bytes.data(), bytes.size(), &model), Status::kOk);
  std::string line = "{\"text\": \"hello\", \"label\": \"x\"";
  for (int i = 0; i < 300000; ++i) line += ",\"" + std::to_string(i) + "\":0";
  const fixture::Directory directory;
  directory.write("data.jsonl", line + "}\n{\"text\": \"you\", \"label\": \"y\"}\n");
  const Dataset data = read_dataset((directory.path() / "data.jsonl").string(), model, 0, false);
  ASSERT_EQ(data.examples.size(), 2U);
  EXPECT_EQ(data.examples[0].input.first, "hello");
  EXPECT_EQ(data.examples[1].line, 2U);
}

}  // namespace
}  // namespace bantam::convert
