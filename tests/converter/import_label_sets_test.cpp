// config.json's label_sets and label_parents: their results, and invalid ones.
#include <gtest/gtest.h>

#include "import/hugging_face.h"
#include "tests/converter/import_fixture.h"

namespace bantam::convert::fixture {
namespace {

using nlohmann::json;

Graph import(const json& config, const TensorMap& tensors) {
  const Directory directory;
  directory.write_model(config, tensors);
  ImportOptions options;
  options.ids_only = true;
  return import_hugging_face(directory.path(), options);
}

std::string problems(const json& config, ExitCode code, const TensorMap& tensors = tiny_bert()) {
  return problems_of(code, [&] { import(config, tensors); });
}

json two_sets() {
  json config = tiny_config();
  config["label_sets"] = {{{"name", "topic"}, {"labels", {"a", "b"}}}, {{"name", "mood"}, {"labels", {"sad"}}}};
  return config;
}

TEST(LabelSets, AreCutOutOfTheClassifiersRows) {
  const Graph graph = import(two_sets(), tiny_bert());
  const auto& sets = graph.model.task->label_sets;
  ASSERT_EQ(sets.size(), 2u);
  EXPECT_EQ(sets[0]->name, "topic");
  EXPECT_EQ(sets[0]->labels, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(sets[1]->name, "mood");
  ASSERT_EQ(graph.model.outputs.size(), 2u);
  EXPECT_EQ(graph.model.outputs[sets[0]->output]->name, "logits");
  EXPECT_EQ(graph.model.outputs[sets[1]->output]->name, "mood_logits");
  const auto& last = *graph.model.subgraphs[0]->ops.back()->attributes.AsSlice();
  EXPECT_EQ(last.begin, 2u);
  EXPECT_EQ(last.width, 1u);
}

TEST(LabelSets, HaveLayersOfTheirOwn) {
  json config = tiny_config();
  config["label_sets"] = {{{"name", "mood"}, {"labels", {"sad", "gay"}}, {"tensor", "mood_classifier"}}};
  TensorMap tensors = tiny_bert();
  tensors["mood_classifier.weight"] = tensor({2, 8});
  tensors["mood_classifier.bias"] = tensor({2});
  const Graph graph = import(config, tensors);
  const auto& sets = graph.model.task->label_sets;
  ASSERT_EQ(sets.size(), 2u);
  EXPECT_EQ(sets[0]->name, "");
  EXPECT_EQ(sets[0]->labels.size(), 3u);
  EXPECT_EQ(sets[1]->labels, (std::vector<std::string>{"sad", "gay"}));
  EXPECT_NE(problems(config, ExitCode::kInvalid).find("mood_classifier.weight"), std::string::npos);
}

TEST(LabelSets, NameWhatIsWrong) {
  json config = two_sets();
  config["label_sets"][1]["name"] = "topic";
  EXPECT_NE(problems(config, ExitCode::kInvalid).find("config.json: label_sets[1]: name: \"topic\" is there twice"),
            std::string::npos);
  config["label_sets"][1].erase("name");
  EXPECT_NE(problems(config, ExitCode::kInvalid).find("label_sets[1]: name: is missing"), std::string::npos);
  config = two_sets();
  config["label_sets"][1].erase("labels");
  EXPECT_NE(problems(config, ExitCode::kInvalid).find("label_sets[1]: labels"), std::string::npos);
  config = two_sets();
  config["label_sets"][1]["labels"] = {"sad", "gay"};  // 4 labels, 3 rows
  EXPECT_NE(problems(config, ExitCode::kInvalid).find("classifier.weight"), std::string::npos);
  for (const json& wrong : {json("topic"), json::array(), json::array({1})}) {
    config["label_sets"] = wrong;
    EXPECT_NE(problems(config, ExitCode::kInvalid).find("config.json: label_sets: is not a list"), std::string::npos);
  }
}

TEST(LabelParents, AreNumbersOfLabels) {
  json config = tiny_config();
  config["id2label"] = {{"0", "football"}, {"1", "sports"}, {"2", "chess"}};
  config["label_parents"] = {{"football", "sports"}, {"chess", "sports"}};
  EXPECT_EQ(import(config, tiny_bert()).model.task->label_sets[0]->parents, (std::vector<int32_t>{1, -1, 1}));
  config["label_parents"]["sports"] = "chess";
  EXPECT_NE(problems(config, ExitCode::kInvalid).find("label_parents: \"football\" stands above itself"),
            std::string::npos);
  config["label_parents"] = {{"golf", "sports"}};
  EXPECT_NE(problems(config, ExitCode::kInvalid).find("golf: it is not a label"), std::string::npos);
  config["label_parents"] = {{"chess", "golf"}};
  EXPECT_NE(problems(config, ExitCode::kInvalid).find("chess: \"golf\" is not a label"), std::string::npos);
  config["label_parents"] = {"chess"};
  EXPECT_NE(problems(config, ExitCode::kInvalid).find("is not an object"), std::string::npos);
}

TEST(RejectBelow, IsTheLimitOfTheFirstSet) {
  json config = two_sets();
  config["reject_below"] = 0.25;
  const Graph graph = import(config, tiny_bert());
  EXPECT_EQ(graph.model.task->label_sets[0]->reject_below, 0.25f);
  EXPECT_EQ(graph.model.task->label_sets[1]->reject_below, 0.0f);
  for (const json& wrong : {json(1), json(-0.1), json("0.5")}) {
    config["reject_below"] = wrong;
    EXPECT_NE(problems(config, ExitCode::kInvalid).find("config.json: reject_below: "), std::string::npos);
  }
  config["problem_type"] = "multi_label_classification";  // without such a limit
  EXPECT_EQ(import(config, tiny_bert()).model.task->label_sets[0]->reject_below, 0.0f);
}

}  // namespace
}  // namespace bantam::convert::fixture
