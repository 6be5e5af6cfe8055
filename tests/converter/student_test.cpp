// Student layouts: recipes, the single steps, and the resulting directory.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "converter/import_fixture.h"
#include "data/texts.h"
#include "import/hugging_face.h"
#include "pack/build.h"
#include "score/compare.h"
#include "student/factorise.h"
#include "student/importance.h"
#include "student/narrow.h"
#include "student/scripts.h"
#include "student/student.h"
#include "student/tokens.h"

namespace bantam::convert {
namespace {

namespace fs = std::filesystem;
using fixture::problems_of;

const std::string kModels = std::string(BANTAM_SOURCE_DIR) + "/tests/golden/models/";

Recipe recipe_of(const std::string& text) { return parse_recipe(Json::parse(text), "r.json", ""); }

Student student_of(const std::string& model, const std::string& recipe) {
  return make_student(kModels + model, recipe_of(recipe));
}

FileBytes exact(const Graph& graph) {
  TypeOptions options;
  options.weights = fb::DType::f32;
  return build(graph, options);
}

/// Compares the f32 answers of two models to the built-in texts.
Comparison compare(const Graph& reference, const Graph& other) {
  const FileBytes a = exact(reference), b = exact(other);
  Runner expected(a, 32), got(b, 32);
  Comparer comparer(reference.model, "the other");
  for (const std::string& text : calibration_texts()) {
    comparer.add(expected.encode(text), expected.run(expected.encode(text)), got.run(got.encode(text)));
  }
  return comparer.result();
}

float largest_difference(const Comparison& comparison) {
  float largest = 0;
  for (const OutputComparison& output : comparison.outputs) largest = std::max(largest, output.largest_difference);
  return largest;
}

TEST(Recipe, ListsEverythingThatIsWrong) {
  const std::string problems = problems_of(ExitCode::kInvalid, [] {
    recipe_of(R"({"layer": 3, "ffn": "x", "heads": {"keeep": 2}, "hidden": 0, "vocabulary": {"scripts": "latn"}})");
  });
  for (const char* words :
       {"\"layer\" is not known; did you mean \"layers\"?", "\"keeep\" is not known", "\"heads.keep\": is missing",
        "\"ffn\": \"x\"", "\"hidden\": 0", "did you mean \"latin\"?"}) {
    EXPECT_NE(problems.find(words), std::string::npos) << words << "\n" << problems;
  }
}

TEST(Recipe, ReadsEveryForm) {
  const Recipe recipe = recipe_of(R"({"layers": {"keep": 0.5, "by": "last"}, "heads": {"keep": 2, "across": "model"},
      "ffn": 0.25, "vocabulary": {"corpus": ["a.txt", "b.txt"], "size": 100}, "data": "c.txt"})");
  EXPECT_EQ(recipe.layers.keep.of(6), 3U);
  EXPECT_EQ(recipe.layers.by, LayerChoice::kLast);
  EXPECT_TRUE(recipe.heads_across);
  EXPECT_EQ(recipe.ffn.of(2), 1U);  // never zero
  EXPECT_EQ(recipe.vocabulary->corpus.size(), 2U);
  EXPECT_EQ(recipe_of(R"({"layers": [0, 2]})").layers.list, (std::vector<uint32_t>{0, 2}));
}

TEST(Recipe, IsHeldAgainstTheTeacher) {
  const std::string problems = problems_of(ExitCode::kIo, [] {
    student_of("bert-classify", R"({"layers": [0, 7], "heads": 99, "share": 9, "vocabulary": "nothing.txt"})");
  });
  for (const char* words : {"layer 7 is not there", "99 are more", "9 groups", "nothing.txt: no such file"}) {
    EXPECT_NE(problems.find(words), std::string::npos) << words << "\n" << problems;
  }
  EXPECT_NE(problems_of(ExitCode::kUnsupported, [] { student_of("sentence-mean", R"({"hidden": 0.5, "heads": 1})"); })
                .find("sentence-transformers"),
            std::string::npos);
}

TEST(Student, KeepsLayersByPosition) {
  const Student first = student_of("bert-classify", R"({"layers": {"keep": 2, "by": "first"}})");
  const Student listed = student_of("bert-classify", R"({"layers": [0, 1]})");
  EXPECT_EQ(first.draft.config().layers, 2U);
  EXPECT_EQ(largest_difference(compare(import_source(first.draft.source()), import_source(listed.draft.source()))),
            0.0F);
  const Student last = student_of("bert-classify", R"({"layers": {"keep": 2, "by": "last"}})");
  EXPECT_GT(largest_difference(compare(import_source(first.draft.source()), import_source(last.draft.source()))), 0.0F);
  EXPECT_LT(first.report.after.encoder_parameters, first.report.before.encoder_parameters);
}

TEST(Student, DropsTheLayerThatDoesLeast) {
  const Draft teacher(open_model_source(kModels + "bert-classify"));
  Draft idle = teacher;
  // The middle layer adds nothing to the residual stream: only its norms remain.
  for (const Slot slot : {Slot::kAttentionOut, Slot::kDown}) {
    for (float& value : idle.weight(1, slot).values) value = 0;
    for (float& value : idle.bias(1, slot).values) value = 0;
  }
  Probe probe;
  probe.texts = calibration_texts();
  probe.max_tokens = 16;
  probe.progress = [](const char*, double) {};
  EXPECT_EQ(important_layers(idle, 2, probe), (Indices{0, 2}));
}

TEST(Student, RemovesUnitsThatDoNothingWithoutATrace) {
  Draft teacher(open_model_source(kModels + "bert-joint"));
  const uint32_t heads = teacher.config().heads, width = teacher.config().head_width;
  ASSERT_GT(heads, 1U);
  const Graph whole = [&] {
    // Head 0 and every odd feed-forward column of every layer: nothing reads them.
    for (uint32_t layer = 0; layer < teacher.config().layers; ++layer) {
      MemoryTensor& out = teacher.weight(layer, Slot::kAttentionOut);
      MemoryTensor& down = teacher.weight(layer, Slot::kDown);
      for (size_t i = 0; i < out.values.size(); ++i) {
        if (i % out.shape[1] < width) out.values[i] = 0;
      }
      for (size_t i = 0; i < down.values.size(); ++i) {
        if (i % down.shape[1] % 2 == 1) down.values[i] = 0;
      }
    }
    return import_source(teacher.source());
  }();
  Widths widths;
  widths.hidden = teacher.config().hidden;
  widths.heads = heads - 1;
  widths.head_width = width;
  widths.ffn = teacher.config().intermediate / 2;
  Probe probe;
  probe.texts = calibration_texts();
  probe.max_tokens = 16;
  probe.progress = [](const char*, double) {};
  Draft narrowed = teacher;
  narrow(narrowed, widths, measure_importance(teacher, probe));
  EXPECT_FALSE(narrowed.uniform());
  const Graph graph = import_source(narrowed.source());
  EXPECT_LT(largest_difference(compare(whole, graph)), 1e-4F);
  EXPECT_LT(exact(graph).size(), exact(whole).size());
}

TEST(Student, NarrowerHiddenWidthIsUniform) {
  const Student student = student_of("bert-classify", R"({"hidden": 24, "ffn": 0.5})");
  EXPECT_EQ(student.report.after.heads, 3U);
  EXPECT_EQ(student.report.after.head_width, 8U);
  EXPECT_TRUE(student.draft.uniform());
  const Student widths = student_of("bert-classify", R"({"hidden": 20, "heads": 5})");
  EXPECT_EQ(widths.report.after.head_width, 4U);
  EXPECT_NE(
      problems_of(ExitCode::kInvalid, [] { student_of("bert-classify", R"({"hidden": 21})"); }).find("not a multiple"),
      std::string::npos);
}

TEST(Student, LayersMayDifferInWidth) {
  const Student student = student_of("distilbert-tag", R"({"ffn": {"keep": 0.5, "across": "model"}, "heads": 1})");
  const Graph graph = import_source(student.draft.source());
  EXPECT_FALSE(exact(graph).empty());
  fixture::Directory directory;
  EXPECT_NE(problems_of(ExitCode::kUnsupported, [&] { write_student(student, directory.path() / "out"); })
                .find("convert TEACHER --student"),
            std::string::npos);
  EXPECT_FALSE(fs::exists(directory.path() / "out"));
}

TEST(Student, SharedLayersAreStoredOnce) {
  const Student student = student_of("bert-classify", R"({"share": 1})");
  const size_t shared = exact(import_source(student.draft.source())).size();
  const size_t whole = exact(import_hugging_face(kModels + "bert-classify")).size();
  EXPECT_LT(shared, whole);
  // If training has made shared layers different, each keeps its own weights.
  Draft apart = student.draft;
  apart.weight(1, Slot::kDown).values.front() += 1;
  EXPECT_GT(exact(import_source(apart.source())).size(), shared);
}

TEST(Student, FactorsOfFullRankChangeNothing) {
  MemoryTensor table;
  table.shape = {9, 4};
  for (size_t i = 0; i < 36; ++i) table.values.push_back(static_cast<float>((i * 7) % 11) / 4 - 1);
  for (const uint32_t rank : {4U, 2U}) {
    const LowRank factors = factorise(table, std::vector<double>(9, 1), rank);
    double error = 0, energy = 0;
    for (size_t row = 0; row < 9; ++row) {
      for (size_t i = 0; i < 4; ++i) {
        double value = factors.bias.values[i];
        for (size_t r = 0; r < rank; ++r) {
          value += double{factors.rows.values[row * rank + r]} * double{factors.projection.values[i * rank + r]};
        }
        error += std::pow(value - double{table.values[row * 4 + i]}, 2);
        energy += std::pow(double{table.values[row * 4 + i]} - double{factors.bias.values[i]}, 2);
      }
    }
    EXPECT_NEAR(error / energy, factors.lost, 1e-6);
    EXPECT_EQ(factors.lost < 1e-9, rank == 4);
  }
}

TEST(Student, FactorsAreMultipliedForDirectories) {
  const Student student = student_of("bert-classify", R"({"embedding_rank": 8})");
  const Graph factors = import_source(student.draft.source());
  fixture::Directory directory;
  write_student(student, directory.path() / "out");
  EXPECT_LT(largest_difference(compare(factors, import_hugging_face(directory.path() / "out"))), 1e-4F);
  EXPECT_NE(problems_of(ExitCode::kUnsupported, [] { student_of("bert-fill", R"({"embedding_rank": 8})"); })
                .find("output layer over the vocabulary"),
            std::string::npos);
}

TEST(Student, TrimsAVocabulary) {
  fixture::Directory directory;
  std::string corpus;
  for (int i = 0; i < 40; ++i) corpus += "play a song by the band\nthe weather is good\n";
  directory.write("corpus.txt", corpus);
  const std::string recipe = R"({"vocabulary": ")" + (directory.path() / "corpus.txt").string() + R"("})";
  for (const char* model : {"bert-classify", "bert-fill", "distilbert-fill"}) {
    SCOPED_TRACE(model);
    const Student student = student_of(model, recipe);
    const VocabularyReport& report = *student.report.vocabulary;
    EXPECT_LT(report.after, report.before);
    EXPECT_EQ(report.corpus_before.tokens, report.corpus_after.tokens);
    EXPECT_EQ(report.corpus_after.unknown, 0U);
    EXPECT_GT(report.unseen_before.tokens, 0U);
    // Texts of the corpus are answered as before, bit for bit.
    const FileBytes a = exact(import_hugging_face(kModels + model)), b = exact(import_source(student.draft.source()));
    Runner teacher(a, 32), trimmed(b, 32);
    const auto before = teacher.run(teacher.encode("the weather is good"));
    const auto after = trimmed.run(trimmed.encode("the weather is good"));
    if (before.front().width == after.front().width) {
      EXPECT_EQ(before.front().values, after.front().values);
    } else {  // the output layer over the vocabulary has lost the same tokens
      EXPECT_EQ(after.front().width, report.after);
    }
  }
}

TEST(Student, VocabularyHasASmallestSize) {
  fixture::Directory directory;
  directory.write("corpus.txt", "play a song\n");
  const std::string path = (directory.path() / "corpus.txt").string();
  const std::string tight = R"({"vocabulary": {"corpus": ")" + path + R"(", "size": 4}})";
  EXPECT_NE(problems_of(ExitCode::kInvalid, [&] { student_of("bert-classify", tight); }).find("always stay"),
            std::string::npos);
  const Student latin = student_of("bert-classify", R"({"vocabulary": {"scripts": "latin"}})");
  for (const std::string& token : tokens_of(latin.draft.origin().tokenizer)) EXPECT_TRUE(in_scripts(token, {"latin"}));
}

TEST(Student, DirectoriesOfUnevenLayersAreRefusedBeforeAnythingIsMeasured) {
  StudentOptions options;
  options.directory = true;
  options.progress = [](const char* what, double) { ADD_FAILURE() << what; };
  for (const char* recipe :
       {R"({"ffn": {"keep": 0.5, "across": "model"}})", R"({"heads": {"keep": 3, "across": "model"}})",
        R"({"heads": 2})", R"({"hidden": 24, "head_width": 4, "heads": 5})"}) {
    const std::string problem = problems_of(
        ExitCode::kUnsupported, [&] { make_student(kModels + "bert-classify", recipe_of(recipe), options); });
    EXPECT_NE(problem.find("convert TEACHER --student"), std::string::npos) << recipe;
  }
}

TEST(Student, InterruptedWritingLeavesNothing) {
  const Student student = student_of("bert-joint", R"({"layers": 1})");
  fixture::Directory directory;
  int files = 0;
  write_student(student, directory.path() / "whole", [&] { return ++files < 0; });
  ASSERT_GT(files, 4);
  for (int last = 0; last < files; ++last) {
    int asked = 0;
    const std::string said = problems_of(ExitCode::kInterrupted, [&] {
      write_student(student, directory.path() / "out", [&] { return asked++ == last; });
    });
    EXPECT_NE(said.find("nothing was written"), std::string::npos);
  }
  for (const auto& entry : fs::directory_iterator(directory.path())) {
    EXPECT_EQ(entry.path().filename(), "whole");
  }
}

TEST(Student, DirectoryIsWrittenWholeOrNotAtAll) {
  const Student student = student_of("bert-joint", R"({"layers": 1})");
  fixture::Directory directory;
  const fs::path target = directory.path() / "out";
  write_student(student, target);
  EXPECT_EQ(largest_difference(compare(import_source(student.draft.source()), import_hugging_face(target))), 0.0F);
  EXPECT_TRUE(fs::exists(target / "bantam_student.json"));
  EXPECT_NE(problems_of(ExitCode::kUsage, [&] { write_student(student, target); }).find("not an empty directory"),
            std::string::npos);
  for (const auto& entry : fs::directory_iterator(directory.path())) EXPECT_EQ(entry.path(), target);
}

TEST(Scripts, BelongToBlocks) {
  EXPECT_TRUE(in_scripts("##naïve", {"latin"}));
  EXPECT_TRUE(in_scripts("42", {"latin"}));
  EXPECT_FALSE(in_scripts("дом", {"latin"}));
  EXPECT_TRUE(in_scripts("дом", {"latin", "cyrillic"}));
  EXPECT_FALSE(in_scripts("日", {"kana"}));
}

TEST(AcrossLayers, TakesTheBestOfAll) {
  EXPECT_EQ(across_layers({{9, 8, 7, 6}, {1, 1, 1, 1}}, 4, 1), (std::vector<uint32_t>{3, 1}));
  EXPECT_EQ(across_layers({{9, 8, 7, 6}, {1, 1, 1, 1}}, 4, 2), (std::vector<uint32_t>{2, 2}));
  // A layer's last step takes the rest of the layer; every layer keeps at least one step, whatever the total.
  EXPECT_EQ(across_layers({{9, 8, 7, 6, 5}, {1, 1}}, 7, 2), (std::vector<uint32_t>{5, 2}));
  EXPECT_EQ(across_layers({{9, 8, 7, 6, 5}, {1, 1}}, 6, 2), (std::vector<uint32_t>{4, 2}));
}

}  // namespace
}  // namespace bantam::convert
