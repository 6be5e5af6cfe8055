// Which format a path has, and the options of formats.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/json_file.h"
#include "converter/import_fixture.h"
#include "import/hugging_face.h"
#include "source/model_source.h"

namespace bantam::convert::fixture {
namespace {

namespace fs = std::filesystem;

const fs::path kTests = fs::path(BANTAM_SOURCE_DIR) / "tests/golden";

std::string refused(const fs::path& named, const SourceOptions& options) {
  return problems_of(ExitCode::kUsage, [&] { open_model_source(named, options); });
}

TEST(Formats, RefuseOptionsOfOthers) {
  struct Case {
    const char* source;
    const char* what;
    bool shortlist, entities, tower;
  };
  const Case cases[] = {{"onnx/bert-classify-dynamo23.onnx", "an ONNX file", true, true, true},
                        {"tflite/average-f16.tflite", "a TensorFlow Lite file", true, true, true},
                        {"gguf/gpt2-text.gguf", "a GGUF file", true, true, true},
                        {"models/marian-ssru", "a model of Marian's own", false, true, true},
                        {"models/knowledge-ernie-classify", "an ERNIE with entities", true, false, true},
                        {"word_vectors/fasttext-each", "word vectors", true, true, true},
                        {"models/static-mapped", "static embeddings", true, true, true},
                        {"models/gliner-bert", "a GLiNER directory", true, true, true},
                        {"models/bert-classify", "a transformers directory", true, true, false}};
  const SourceOptions none;
  for (const Case& each : cases) {
    SourceOptions shortlist, entities, tower;
    shortlist.shortlist = entities.entities = "list.bin";
    tower.tower = "text";
    const auto check = [&](bool refuses, const SourceOptions& options, const char* option) {
      if (!refuses) return;
      const std::string said = refused(kTests / each.source, options);
      EXPECT_NE(said.find(option), std::string::npos) << said;
      EXPECT_NE(said.find(std::string(each.source) + " is " + each.what + "; leave it out"), std::string::npos) << said;
    };
    check(each.shortlist, shortlist, "--shortlist: is for Marian's own models");
    check(each.entities, entities, "--entities: is for models with a table of entities");
    check(each.tower, tower, "--tower: is for directories of two towers");
    EXPECT_NO_THROW(open_model_source(kTests / each.source, none)) << each.source;
  }
  SourceOptions tower;
  tower.tower = "text";
  EXPECT_NE(refused(kTests / "models/bert-classify", tower).find("holds one model; leave it out"), std::string::npos);
}

TEST(Formats, OpeningReadsAllDocuments) {
  const ModelSource source = open_model_source(kTests / "models/sentence-cls-dense");
  EXPECT_EQ(source.inside, "0_Transformer");
  ASSERT_EQ(source.modules.list.size(), 4U);
  EXPECT_EQ(source.modules.list[2].type, "Dense");
  EXPECT_EQ(source.modules.list[2].folder, "2_Dense");
  const auto documents = source.files->documents();
  for (const char* name : {"modules.json", "0_Transformer/config.json", "0_Transformer/sentence_bert_config.json",
                           "0_Transformer/tokenizer_config.json", "1_Pooling/config.json", "2_Dense/config.json"}) {
    EXPECT_EQ(documents.count(name), 1U) << name;
  }
}

/// A conversion sees the directory as it was when it was opened; a file that has disappeared since causes an error when
/// it is needed.
TEST(Formats, ADirectoryThatChangesWhileItIsRead) {
  Directory folder;
  fs::copy(kTests / "models/sentence-cls-dense", folder.path(), fs::copy_options::recursive);
  const ModelSource source = open_model_source(folder.path());
  const Graph before = import_source(source);
  folder.write("1_Pooling/config.json", "{");
  fs::remove(folder.path() / "modules.json");
  const Graph after = import_source(source);
  ASSERT_EQ(after.model.properties.size(), before.model.properties.size());
  for (size_t i = 0; i < after.model.properties.size(); ++i) {
    EXPECT_EQ(after.model.properties[i]->value, before.model.properties[i]->value);
  }
  fs::remove(folder.path() / "2_Dense/model.safetensors");
  const std::string said = problems_of(ExitCode::kIo, [&] { import_source(source); });
  EXPECT_NE(said.find("2_Dense/model.safetensors: no such file"), std::string::npos) << said;
}

/// A broken document is an error only for readers that need it.
TEST(Formats, BrokenSettingsOfOtherPartsAreNotRead) {
  Directory folder;
  fs::copy(kTests / "models/bert-classify", folder.path(), fs::copy_options::recursive);
  for (const char* name :
       {"preprocessor_config.json", "artifact.metadata", "config_setfit.json", "config_sentence_transformers.json"}) {
    folder.write(name, "{");
  }
  EXPECT_NO_THROW(import_source(open_model_source(folder.path())));
  folder.write("generation_config.json", "{");
  const std::string said = problems_of(ExitCode::kInvalid, [&] { open_model_source(folder.path()); });
  EXPECT_NE(said.find("generation_config.json: is not valid JSON"), std::string::npos) << said;
}

TEST(Formats, PipesAreNoSources) {
  Directory folder;
  for (const char* name : {"m.onnx", "m.tflite", "m.gguf", "m.vec", "m.bin"}) {
    const fs::path pipe = folder.path() / name;
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    problems_of(ExitCode::kIo, [&] { open_model_source(pipe); });  // does not wait for a writer
  }
  EXPECT_NE(
      problems_of(ExitCode::kIo, [&] { open_model_source(folder.path() / "m.gguf/x"); }).find("no such directory"),
      std::string::npos);
}

}  // namespace
}  // namespace bantam::convert::fixture
