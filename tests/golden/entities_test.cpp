// ERNIE with entities, beyond its golden models: the same bits everywhere, texts that mention entities, published
// tables of entities, and invalid ones.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bantam/bantam.h"
#include "base/error.h"
#include "golden/expected.h"
#include "golden/same_bits.h"
#include "import/hugging_face.h"
#include "run/runner.h"
#include "source/knowledge_ernie.h"

namespace bantam::golden::entities_test {
namespace {

namespace fs = std::filesystem;
using convert::Error;
using convert::ExitCode;

constexpr const char* kTyping = "knowledge-ernie-typing";  // its entities are in files
constexpr uint32_t kVocabulary = 61;

convert::FileBytes file_of(const convert::ModelSource& source, fb::DType weights, bool ids_only = true) {
  convert::ImportOptions options;
  options.ids_only = ids_only;
  convert::TypeOptions types;
  types.weights = weights;
  types.small_matrix = 0;
  return convert::build(convert::import_source(source, options), types);
}

std::string read(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}
void write(const fs::path& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

/// A copy of the model whose entities are in files.
class Copy {
 public:
  explicit Copy(const std::string& name = kTyping) : path_(fs::path(::testing::TempDir()) / "entities-copy") {
    fs::remove_all(path_);
    fs::copy(model_directory(name), path_, fs::copy_options::recursive);
  }
  ~Copy() { fs::remove_all(path_); }
  const fs::path& path() const { return path_; }
  fs::path vectors() const { return path_ / "kg_embed" / "entity2vec.vec"; }
  fs::path numbers() const { return path_ / "kg_embed" / "entity2id.txt"; }
  fs::path list(const std::string& names) const {
    write(path_ / "list.txt", names);
    return path_ / "list.txt";
  }
  /// Adds a tokenizer of letters; "a" to "z" are ids 5 to 30.
  void add_tokenizer() const {
    std::string words = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
    for (char c = 'a'; c <= 'z'; ++c) words += std::string(1, c) + "\n";
    for (char c = 'a'; c <= 'z'; ++c) words += "##" + std::string(1, c) + "\n";
    write(path_ / "vocab.txt", words + ".\n,\n#\n");
  }

 private:
  fs::path path_;
};

/// Expects an error whose message contains all of `says`.
void expect_error(ExitCode code, const std::vector<std::string>& says, const std::function<void()>& act) {
  try {
    act();
    ADD_FAILURE() << "was not refused: " << says.front();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    for (const std::string& word : says)
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
  }
}

TEST(Entities, SameBitsEverywhereAndInAnyCompany) {
  for (const char* name : {"knowledge-ernie-classify", "knowledge-ernie-encoder"}) {
    const convert::ModelSource source = convert::open_model_source(model_directory(name));
    testing::Ids all = testing::random_ids({1, 7, 24, 3, 17, 20}, kVocabulary, 1, 3);
    for (size_t i = 0; i < all.ids.size(); ++i) all.marks.push_back(i % 3 == 1 ? static_cast<int32_t>(1 + i % 9) : 0);
    for (const fb::DType weights : {fb::DType::f32, fb::DType::i8}) expect_same_bits(file_of(source, weights), all);
  }
}

/// Entities change answers, but only those of their own text.
TEST(Entities, CountForTheirTextOnly) {
  const convert::FileBytes file =
      file_of(convert::open_model_source(model_directory("knowledge-ernie-classify")), fb::DType::f32);
  convert::Runner runner(file, 24);
  convert::Sample sample;
  sample.ids = {5, 6, 7, 8};
  const auto logits = [&] { return runner.run(sample).front().values; };
  const auto none = logits();
  sample.marks = {0, 0, 0, 0};
  EXPECT_EQ(logits(), none);
  sample.marks = {0, 2, 0, 0};
  const auto second = logits();
  EXPECT_NE(second, none);
  sample.marks = {0, 3, 0, 0};
  EXPECT_NE(logits(), second);
}

/// A list selects entities, in its order, whose answers do not change.
TEST(Entities, AreThoseOfTheList) {
  const Copy copy;
  const auto answer = [&](const convert::ModelSource& source, const std::vector<int32_t>& marks) {
    const convert::FileBytes file = file_of(source, fb::DType::f32);
    convert::Runner runner(file, 24);
    convert::Sample sample;
    sample.ids = {5, 6, 7, 8};
    sample.marks = marks;
    return runner.run(sample).front().values;
  };
  const convert::ModelSource all = convert::open_model_source(copy.path());
  const convert::ModelSource two = convert::open_model_source(copy.path(), {copy.list("Q42\r\n\nQ7\n"), {}});
  EXPECT_EQ(all.config.at(convert::kEntityNames).size(), 9U);
  EXPECT_EQ(two.config.at(convert::kEntityNames), (convert::Json{"Q42", "Q7"}));
  EXPECT_EQ(answer(two, {0, 1, 0, 2}), answer(all, {0, 7, 0, 2}));
  // The same holds if the entities are a tensor in the weights.
  const Copy stored("knowledge-ernie-classify");
  const convert::ModelSource whole = convert::open_model_source(stored.path());
  const convert::ModelSource one = convert::open_model_source(stored.path(), {stored.list("Q56"), {}});
  EXPECT_EQ(answer(one, {0, 1, 1, 0}), answer(whole, {0, 9, 9, 0}));
}

/// Settings may be in config.json under another family's name.
TEST(Entities, AreToldByTheirLayers) {
  const Copy copy;
  const auto type_of = [](const fs::path& directory) {
    return convert::open_model_source(directory).config["model_type"].get<std::string>();
  };
  std::string settings = read(copy.path() / "ernie_config.json");
  fs::remove(copy.path() / "ernie_config.json");
  expect_error(ExitCode::kIo, {"config.json"}, [&] { type_of(copy.path()); });
  write(copy.path() / "config.json", settings.insert(1, "\"model_type\": \"bert\","));
  EXPECT_EQ(type_of(copy.path()), "knowledge_ernie");
  EXPECT_EQ(convert::import_hugging_face(copy.path()).model.inputs.back()->names.size(), 9U);
  EXPECT_EQ(type_of(model_directory("ernie-classify")), "ernie");
  EXPECT_EQ(type_of(model_directory("modernbert-tag")), "modernbert");
}

TEST(Entities, TablesThatDoNotFitAreRefused) {
  using Change = std::function<void(const Copy&)>;
  struct Wrong {
    std::vector<std::string> says;
    Change change;
  };
  const auto edit = [](const fs::path& path, const std::string& from, const std::string& to) {
    std::string text = read(path);
    const size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos);
    write(path, text.replace(at, from.size(), to));
  };
  const Wrong wrongs[] = {
      {{"holds no entity2vec.vec", "kg_embed"}, [](const Copy& c) { fs::remove(c.vectors()); }},
      {{"holds no entity2id.txt", "kg_embed"}, [](const Copy& c) { fs::remove_all(c.path() / "kg_embed"); }},
      {{"entity2vec.vec", "line 1", "too many numbers", "100"},
       [](const Copy& c) { write(c.vectors(), "1\t" + read(c.vectors())); }},
      {{"entity2vec.vec", "line 9", "complete"},
       [](const Copy& c) { fs::resize_file(c.vectors(), fs::file_size(c.vectors()) - 40); }},
      {{"entity2vec.vec", "holds 4 vectors", "up to 8"},
       [](const Copy& c) {
         std::string text = read(c.vectors());
         size_t end = 0;
         for (int i = 0; i < 4; ++i) end = text.find('\n', end) + 1;
         write(c.vectors(), text.substr(0, end));
       }},
      {{"entity2vec.vec", "line 1", "not a number"},
       [](const Copy& c) { write(c.vectors(), "nan\n" + read(c.vectors())); }},
      {{"entity2vec.vec", "line 1", "not a number"},
       [](const Copy& c) { write(c.vectors(), "1 2x 3\n" + read(c.vectors())); }},
      {{"entity2vec.vec", "too short for 9 vectors of 100"}, [](const Copy& c) { write(c.vectors(), "1\n"); }},
      {{"entity2id.txt", "line 1"}, [](const Copy& c) { write(c.numbers(), ""); }},
      {{"entity2id.txt", "line 1"}, [](const Copy& c) { write(c.numbers(), "many\nQ1\t0\n"); }},
      {{"entity2id.txt", "holds 1 entities", "says 2"}, [](const Copy& c) { write(c.numbers(), "2\nQ1\t0\n\n\n"); }},
      {{"entity2id.txt", "line 1", "complete"}, [](const Copy& c) { write(c.numbers(), "16777216\nQ1\t0\n"); }},
      {{"entity2id.txt", "line 2", "below 1"}, [](const Copy& c) { write(c.numbers(), "1\nQ1\t1\n"); }},
      {{"entity2id.txt", "line 3", "number 0"}, [](const Copy& c) { write(c.numbers(), "2\nQ1\t0\nQ2\t0\n"); }},
      {{"entity2id.txt", "line 2"}, [](const Copy& c) { write(c.numbers(), "1\nQ1\t-1\n"); }},
      {{"entity2id.txt", "line 2"}, [](const Copy& c) { write(c.numbers(), "1\nQ1\t99999999999999999999\n"); }},
      {{"entity2id.txt", "line 2"}, [](const Copy& c) { write(c.numbers(), "1\nQ1 0\n"); }},
      {{"entity_size", "\"wide\""},
       [&](const Copy& c) { edit(c.path() / "ernie_config.json", "{", "{\"entity_size\": \"wide\","); }},
      {{"entity_heads", "3 heads"},
       [&](const Copy& c) { edit(c.path() / "ernie_config.json", "{", "{\"entity_heads\": 3,"); }},
      {{"layer_types", "layer 2"}, [&](const Copy& c) { edit(c.path() / "ernie_config.json", "norm", "new"); }},
      {{"layer_types", "at most 2"},
       [&](const Copy& c) {
         edit(c.path() / "ernie_config.json", "\"num_hidden_layers\": 3", "\"num_hidden_layers\": 2");
       }},
  };
  for (const Wrong& wrong : wrongs) {
    const Copy copy;
    wrong.change(copy);
    expect_error(ExitCode::kInvalid, wrong.says, [&] { convert::import_hugging_face(copy.path()); });
  }
  // A table in the weights with a width that differs from the layers' input, or with names that do not match its rows.
  const Copy stored("knowledge-ernie-classify");
  edit(stored.path() / "config.json", "\"entity_size\": 10", "\"entity_size\": 12");
  expect_error(ExitCode::kInvalid, {"entity_embeddings"}, [&] { convert::import_hugging_face(stored.path()); });
  edit(stored.path() / "config.json", "\"Q56\"", "\"Q56\", \"Q57\"");
  expect_error(ExitCode::kInvalid, {"config.json", "entity_names", "9 names"},
               [&] { convert::import_hugging_face(stored.path()); });
}

TEST(Entities, ListsOfOthersAreRefused) {
  const Copy copy;
  const auto with = [&](const std::string& names) {
    return [&copy, names] { convert::open_model_source(copy.path(), {copy.list(names), {}}); };
  };
  expect_error(ExitCode::kInvalid, {"list.txt", "line 2", "\"Q5\""}, with("Q7\nQ5\n"));
  expect_error(ExitCode::kInvalid, {"list.txt", "line 2", "above"}, with("Q7\nQ7\n"));
  expect_error(ExitCode::kInvalid, {"list.txt", "no entity"}, with("\n"));
  expect_error(ExitCode::kIo, {"none.txt"}, [&] {
    convert::open_model_source(copy.path(), {copy.path() / "none.txt", {}});
  });
  expect_error(ExitCode::kUsage, {"--entities"}, [&] {
    convert::open_model_source(model_directory("bert-classify"), {copy.list("Q7"), {}});
  });
  // Without names, entities cannot be selected.
  const Copy numbered("knowledge-ernie-fill");
  expect_error(ExitCode::kInvalid, {"entity_names"}, [&] {
    convert::open_model_source(numbered.path(), {numbered.list("Q7"), {}});
  });
}

/// A session over the model with the tokenizer of letters.
class Mentions : public ::testing::Test {
 protected:
  void SetUp() override {
    copy_.add_tokenizer();
    bytes_ = file_of(convert::open_model_source(copy_.path()), fb::DType::f32, false);
    ASSERT_EQ(Model::open(bytes_.data(), bytes_.size(), &model_), Status::kOk);
    options_.max_tokens = 64;
    options_.max_sequences = 4;
    open();
  }
  void open() {
    arena_ = std::make_unique<testing::Arena>(arena_bytes(model_, options_));
    ASSERT_EQ(Session::create(model_, options_, arena_->data(), arena_->size(), &session_), Status::kOk);
  }
  std::vector<int32_t> marks(uint32_t sequence) {
    const EncodedSequence s = session_->sequence(sequence);
    return {s.marks, s.marks + s.row_count};
  }

  Copy copy_;
  convert::FileBytes bytes_;
  Model model_;
  SessionOptions options_;
  std::unique_ptr<testing::Arena> arena_;
  Session* session_ = nullptr;
};

TEST_F(Mentions, MarkTheirFirstToken) {
  const std::string first = "ab cd", second = "ef cd";
  ASSERT_EQ(session_->add({first.data(), first.size()}, {}, {}), Status::kOk);
  ASSERT_EQ(session_->add({first.data(), first.size()}, {second.data(), second.size()}, {}), Status::kOk);
  bool found = false;
  ASSERT_EQ(session_->mark(0, false, {3, 5}, 4, &found), Status::kOk);
  EXPECT_TRUE(found);
  ASSERT_EQ(session_->mark(1, true, {2, 5}, 9, nullptr), Status::kOk);
  ASSERT_EQ(session_->mark(1, false, {1, 2}, 2, nullptr), Status::kOk);
  EXPECT_EQ(marks(0), (std::vector<int32_t>{0, 0, 0, 4, 0, 0}));
  EXPECT_EQ(marks(1), (std::vector<int32_t>{0, 0, 2, 0, 0, 0, 0, 0, 9, 0, 0}));
  ASSERT_EQ(session_->run(), Status::kOk);
  // Blanks and truncated text have no tokens.
  session_->clear();
  EncodeOptions cut;
  cut.max_tokens = 4;
  ASSERT_EQ(session_->add({first.data(), first.size()}, {}, cut), Status::kOk);
  ASSERT_EQ(session_->mark(0, false, {3, 5}, 4, &found), Status::kOk);
  EXPECT_FALSE(found);
  EXPECT_EQ(marks(0), (std::vector<int32_t>{0, 0, 0, 0}));
}

TEST_F(Mentions, AreRefusedWhereTheyDoNotFit) {
  EXPECT_EQ(session_->mark(0, false, {0, 1}, 1), Status::kNotRun);
  ASSERT_EQ(session_->add({"ab", 2}, {}, {}), Status::kOk);
  EXPECT_EQ(session_->mark(1, false, {0, 1}, 1), Status::kNotRun);
  EXPECT_EQ(session_->mark(0, false, {0, 1}, 10), Status::kIndexOutOfRange);
  EXPECT_EQ(session_->mark(0, false, {0, 1}, -1), Status::kIndexOutOfRange);
  EXPECT_EQ(session_->mark(0, false, {1, 1}, 1), Status::kInvalidArgument);
  EXPECT_EQ(session_->mark(0, false, {0, 1}, 9), Status::kOk);
  const int32_t ids[] = {5, 6};
  Batch batch;
  batch.ids = ids;
  batch.tokens = 2;
  ASSERT_EQ(session_->run(batch), Status::kOk);
  EXPECT_EQ(session_->mark(0, false, {0, 1}, 1), Status::kNotRun);
  options_.text_offsets = false;
  open();
  ASSERT_EQ(session_->add({"ab", 2}, {}, {}), Status::kOk);
  EXPECT_EQ(session_->mark(0, false, {0, 1}, 1), Status::kUnavailable);
}

TEST_F(Mentions, InC) {
  ASSERT_EQ(session_->add({"ab cd", 5}, {}, {}), Status::kOk);
  ASSERT_EQ(session_->mark(0, false, {3, 5}, 7), Status::kOk);
  ASSERT_EQ(session_->run(), Status::kOk);
  OutputView expected;
  ASSERT_EQ(session_->output(0, 0, &expected), Status::kOk);
  bantam_model model;
  ASSERT_EQ(bantam_model_open(bytes_.data(), bytes_.size(), &model, nullptr), BANTAM_OK);
  const bantam_text name = bantam_model_mark_name(&model, 7);
  EXPECT_EQ(std::string(name.data, name.size), "Q42");
  bantam_session_options options;
  bantam_session_options_init(&options);
  testing::Arena arena(bantam_arena_bytes(&model, &options));
  bantam_session* session = nullptr;
  ASSERT_EQ(bantam_session_create(&model, &options, arena.data(), arena.size(), &session, nullptr), BANTAM_OK);
  int found = 0;
  EXPECT_EQ(bantam_session_mark(session, 0, 0, {3, 5}, 7, &found), BANTAM_NOT_RUN);
  EXPECT_EQ(bantam_session_mark(nullptr, 0, 0, {3, 5}, 7, nullptr), BANTAM_INVALID_ARGUMENT);
  ASSERT_EQ(bantam_session_add(session, {"ab cd", 5}, {nullptr, 0}, nullptr), BANTAM_OK);
  ASSERT_EQ(bantam_session_mark(session, 0, 0, {3, 5}, 7, &found), BANTAM_OK);
  EXPECT_EQ(found, 1);
  ASSERT_EQ(bantam_session_run(session), BANTAM_OK);
  bantam_output output;
  ASSERT_EQ(bantam_session_output(session, 0, 0, &output), BANTAM_OK);
  ASSERT_EQ(output.width, expected.width);
  EXPECT_EQ(std::memcmp(output.data, expected.data, output.width * sizeof(float)), 0);
}

TEST(Entities, AreNoMarksOfOtherModels) {
  const convert::FileBytes bytes =
      file_of(convert::open_model_source(model_directory("bert-classify")), fb::DType::f32, false);
  Model model;
  ASSERT_EQ(Model::open(bytes.data(), bytes.size(), &model), Status::kOk);
  testing::Arena arena(arena_bytes(model, {}));
  Session* session = nullptr;
  ASSERT_EQ(Session::create(model, {}, arena.data(), arena.size(), &session), Status::kOk);
  ASSERT_EQ(session->add({"a", 1}, {}, {}), Status::kOk);
  EXPECT_EQ(session->mark(0, false, {0, 1}, 0), Status::kNoSuchTask);
  EXPECT_EQ(model.mark_name(1).size, 0U);
}

}  // namespace
}  // namespace bantam::golden::entities_test
