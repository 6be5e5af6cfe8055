// Spans found for labels that come with the text, as in the library gliner: tokens, marks, and the selection among
// overlapping spans; the same bits for every instruction set, tile and batch.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bantam/bantam.h"
#include "bantam/tasks.h"
#include "base/error.h"
#include "base/text_positions.h"
#include "golden/expected.h"
#include "import/hugging_face.h"
#include "pack/build.h"
#include "run/runner.h"
#include "tests/every_isa.h"
#include "tests/session/exercise.h"
#include "tests/session/run_helpers.h"

namespace bantam::golden::find_test {
namespace {

using Json = nlohmann::json;

const char* const kModels[] = {"gliner-find", "gliner-bert"};
constexpr uint32_t kMostTokens = 600;

std::vector<Json> cases_of(const std::string& name) {
  std::ifstream stream(model_directory(name) / "expected.jsonl");
  std::vector<Json> cases;
  for (std::string line; std::getline(stream, line);) cases.push_back(Json::parse(line));
  return cases;
}

/// A file with a session that holds all texts of a model's cases.
class Finder {
 public:
  Finder(const std::string& name, fb::DType weights, SessionOptions options = {}) {
    convert::TypeOptions types;
    types.weights = weights;
    types.small_matrix = 0;
    bytes_ = convert::build(convert::import_hugging_face(model_directory(name)), types);
    EXPECT_EQ(Model::open(bytes_.data(), bytes_.size(), &model_), Status::kOk);
    options.max_tokens = kMostTokens;
    options.max_sequences = 16;
    arena_ = std::make_unique<testing::Arena>(arena_bytes(model_, options));
    EXPECT_EQ(Session::create(model_, options, arena_->data(), arena_->size(), &session_), Status::kOk);
  }

  Session& session() { return *session_; }
  const convert::FileBytes& bytes() const { return bytes_; }

  void run(const std::vector<Json>& cases) {
    session_->clear();
    for (const Json& one : cases) {
      EXPECT_EQ(convert::add_labelled(*session_, one.at("text"), one.at("labels")), Status::kOk);
    }
    EXPECT_EQ(session_->run(), Status::kOk);
  }

  std::vector<Entity> found(uint32_t sequence, const FindOptions& options) {
    std::vector<Entity> spans(256);
    uint32_t count = 0;
    EXPECT_EQ(find(*session_, sequence, options, spans.data(), static_cast<uint32_t>(spans.size()), &count),
              Status::kOk);
    spans.resize(count);
    return spans;
  }

  std::vector<float> scores(uint32_t sequence) {
    OutputView view;
    EXPECT_EQ(session_->output(0, sequence, &view), Status::kOk);
    std::vector<float> values;
    for (uint32_t r = 0; r < view.rows; ++r) {
      values.insert(values.end(), view.data + r * view.stride, view.data + r * view.stride + view.width);
    }
    return values;
  }

 private:
  convert::FileBytes bytes_;
  Model model_;
  std::unique_ptr<testing::Arena> arena_;
  Session* session_ = nullptr;
};

TEST(Find, TokensAndMarksAreTheLibrarys) {
  for (const char* name : kModels) {
    Finder finder(name, fb::DType::f32);
    const std::vector<Json> cases = cases_of(name);
    finder.run(cases);
    for (uint32_t i = 0; i < cases.size(); ++i) {
      const EncodedSequence sequence = finder.session().sequence(i);
      EXPECT_EQ(std::vector<int32_t>(sequence.ids, sequence.ids + sequence.row_count), cases[i].at("ids")) << name << i;
      EXPECT_EQ(std::vector<int32_t>(sequence.marks, sequence.marks + sequence.row_count), cases[i].at("marks"))
          << name << i;
    }
  }
}

TEST(Find, SpansAreTheLibrarys) {
  const std::pair<const char*, FindOptions> kinds[] = {
      {"flat", {}}, {"nested", {0.3F, true, false}}, {"several", {0.4F, false, true}}};
  for (const char* name : kModels) {
    Finder finder(name, fb::DType::f32);
    const std::vector<Json> cases = cases_of(name);
    finder.run(cases);
    size_t all = 0;
    for (uint32_t i = 0; i < cases.size(); ++i) {
      const auto text = cases[i].at("text").get<std::string>();
      const convert::TextPositions positions(text, convert::PositionUnit::kCharacters);
      for (const auto& [kind, options] : kinds) {
        SCOPED_TRACE(std::string(name) + ", " + kind + ": " + text);
        const Json& expected = cases[i].at("found").at(kind);
        const std::vector<Entity> spans = finder.found(i, options);
        ASSERT_EQ(spans.size(), expected.size());
        for (size_t k = 0; k < spans.size(); ++k) {
          EXPECT_EQ(positions.at(spans[k].span.begin), expected[k].at(0));
          EXPECT_EQ(positions.at(spans[k].span.end), expected[k].at(1));
          EXPECT_EQ(cases[i].at("labels").at(spans[k].label), expected[k].at(2));
          EXPECT_NEAR(double{spans[k].score}, expected[k].at(3).get<double>(), 2e-5);
        }
        all += spans.size();
      }
    }
    EXPECT_GT(all, 50U);
  }
}

TEST(Find, SameBitsEverywhereAndInAnyCompany) {
  for (const char* name : kModels) {
    const std::vector<Json> cases = cases_of(name);
    for (const fb::DType type : {fb::DType::f32, fb::DType::i8}) {
      SCOPED_TRACE(std::string(name) + ", " + fb::EnumNameDType(type));
      SessionOptions options;
      options.isa = Isa::kReference;
      std::vector<std::vector<float>> expected;
      Finder alone(name, type, options);
      for (const Json& one : cases) {
        alone.run({one});
        expected.push_back(alone.scores(0));
      }
      const auto check = [&](const SessionOptions& with, const char* what) {
        Finder finder(name, type, with);
        finder.run(cases);
        for (uint32_t i = 0; i < cases.size(); ++i) {
          const std::vector<float> now = finder.scores(i);
          ASSERT_EQ(now.size(), expected[i].size()) << what;
          EXPECT_EQ(std::memcmp(now.data(), expected[i].data(), now.size() * sizeof(float)), 0) << what << " " << i;
        }
      };
      for (const Isa isa : testing::every_isa()) {
        if (!isa_available(isa)) continue;
        options.isa = isa;
        check(options, isa_name(isa));
      }
      options.isa = Isa::kAuto;
      options.tile_rows = 4;
      options.block_rows = 1;
      check(options, "small tiles");
      options.tile_rows = 8;
      options.block_rows = 3;
      const testing::Threads threads(3);
      options.workers = 3;
      options.parallel = threads.get();
      check(options, "threads");
    }
  }
}

TEST(Find, SaysWhatDoesNotFit) {
  Finder finder("gliner-find", fb::DType::i8);
  Session& session = finder.session();
  const std::vector<std::string> many(101, "a");
  EXPECT_EQ(convert::add_labelled(session, "tea", many), Status::kIndexOutOfRange);
  EXPECT_EQ(convert::add_labelled(session, "tea", {std::string(3000, 'z')}), Status::kTooManyTokens);
  EXPECT_EQ(session.add_labelled({"tea", 3}, nullptr, 1), Status::kInvalidArgument);
  EXPECT_EQ(session.sequence_count(), 0U);
  // No words, no labels, and more words than the model allows.
  for (const char* text : {"", " \t", "tea"}) EXPECT_EQ(convert::add_labelled(session, text, {"a"}), Status::kOk);
  EXPECT_EQ(convert::add_labelled(session, "tea", {}), Status::kOk);
  EXPECT_EQ(convert::add_labelled(session, "a b c d e f g h i j k l m n o", {"a"}), Status::kOk);
  EXPECT_TRUE(session.sequence(4).result.truncated);
  ASSERT_EQ(session.run(), Status::kOk);
  uint32_t count = 9;
  Entity span;
  for (const uint32_t sequence : {0U, 1U, 3U}) {
    EXPECT_EQ(find(session, sequence, {}, &span, 1, &count), Status::kOk);
    EXPECT_EQ(count, 0U);
  }
  const FindOptions all{1e-30F, true, true};
  EXPECT_EQ(find(session, 4, all, &span, 1, &count), Status::kBufferTooSmall);
  EXPECT_EQ(count, 1U);
  EXPECT_EQ(find(session, 4, {1.0F, true, true}, &span, 1, &count), Status::kOk);
  EXPECT_EQ(count, 0U);
  EXPECT_EQ(find(session, 4, {1.5F, false, false}, &span, 1, &count), Status::kInvalidArgument);
  EXPECT_EQ(find(session, 5, {}, &span, 1, &count), Status::kIndexOutOfRange);
}

convert::RawBlob& word_table(convert::Graph& graph) {
  for (const auto& blob : graph.model.tokenizers[0]->blobs) {
    if (blob->name != fb::BlobName::word_split) continue;
    for (convert::RawBlob& raw : graph.blobs) {
      if (raw.target == blob->data.get()) return raw;
    }
  }
  throw std::logic_error("no table of words");
}

/// Returns the message of the verifier, which checks every file that is built; empty if there is none.
std::string refusal(const convert::Graph& graph) {
  try {
    convert::build(graph);
  } catch (const convert::Error& error) {
    EXPECT_NE(std::string(error.what()).find("verifier"), std::string::npos) << error.what();
    return error.what();
  }
  return "";
}

TEST(Find, FilesThatDoNotSayWhatWordsAreAreRefused) {
  using Edit = std::function<void(convert::Graph&)>;
  const std::pair<const char*, Edit> edits[] = {
      {"cut", [](convert::Graph& g) { word_table(g).bytes.resize(word_table(g).bytes.size() - 4); }},
      {"no header", [](convert::Graph& g) { word_table(g).bytes.resize(4); }},
      {"another name",
       [](convert::Graph& g) {
         for (const auto& blob : g.model.tokenizers[0]->blobs) {
           if (blob->name == fb::BlobName::word_split) blob->name = fb::BlobName::scores;
         }
       }},
      {"zeros", [](convert::Graph& g) { std::fill(word_table(g).bytes.begin(), word_table(g).bytes.end(), 0); }},
      {"ones", [](convert::Graph& g) { std::fill(word_table(g).bytes.begin(), word_table(g).bytes.end(), 255); }}};
  for (const auto& [name, edit] : edits) {
    convert::Graph graph = convert::import_hugging_face(model_directory("gliner-bert"));
    edit(graph);
    EXPECT_NE(refusal(graph), "") << name;
  }
}

TEST(Find, TextsWithLabelsAreNotFilledUp) {
  convert::Graph graph = convert::import_hugging_face(model_directory("gliner-bert"));
  fb::TokenizerT& tokenizer = *graph.model.tokenizers.front();
  tokenizer.pad_id = 0;
  tokenizer.single.emplace_back(-1, 2, 0);
  EXPECT_NE(refusal(graph).find("filled up"), std::string::npos) << refusal(graph);
}

TEST(Find, TextsOfSourcesAreNotSearched) {
  convert::Graph graph = convert::import_hugging_face(model_directory("bart-generate"));
  fb::TaskT& task = *graph.model.task;
  task.kind = fb::TaskKind::find;
  task.generations.clear();
  task.finding = std::make_unique<fb::FindingT>();
  EXPECT_NE(refusal(graph).find("not found in the texts of sources"), std::string::npos) << refusal(graph);
}

TEST(Find, ScoresOfSpansAreNoTask) {
  for (const bool other : {false, true}) {
    convert::Graph graph = convert::import_hugging_face(model_directory("gliner-bert"));
    graph.model.task.reset();
    if (other) {
      graph.model.task = std::make_unique<fb::TaskT>();
      graph.model.task->kind = fb::TaskKind::none;
    }
    const convert::FileBytes bytes = convert::build(graph);
    Model model;
    ASSERT_EQ(Model::open(bytes.data(), bytes.size(), &model), Status::kOk);
    testing::Arena arena(arena_bytes(model, {}));
    Session* session = nullptr;
    ASSERT_EQ(Session::create(model, {}, arena.data(), arena.size(), &session), Status::kOk);
    ASSERT_EQ(session->add({"who wrote it", 12}, {}, {}), Status::kOk);
    ASSERT_EQ(session->run(), Status::kOk);
    Entity span;
    uint32_t count = 0;
    EXPECT_EQ(find(*session, 0, {}, &span, 1, &count), Status::kNoSuchTask);
  }
}

TEST(Find, DamagedTablesOfWordsAreRefusedOrCutTextsSomehow) {
  convert::Graph graph = convert::import_hugging_face(model_directory("gliner-bert"));
  std::vector<uint8_t>& table = word_table(graph).bytes;
  const std::vector<uint8_t> sound = table;
  std::mt19937 dice(11);
  uint32_t opened = 0;
  constexpr uint32_t kRounds = 100;
  for (uint32_t round = 0; round < kRounds; ++round) {
    table = sound;
    for (uint32_t i = 0; i <= round % 3; ++i) table[dice() % table.size()] = static_cast<uint8_t>(dice());
    if (!refusal(graph).empty()) continue;
    const convert::FileBytes bytes = convert::build(graph);
    std::vector<uint8_t> arena;
    EXPECT_EQ(testing::exercise(bytes.data(), bytes.size(), &arena), Status::kOk);
    ++opened;
  }
  EXPECT_GT(opened, 0U);
  EXPECT_LT(opened, kRounds);
}

TEST(Find, EverySpanOfALongTextIsFoundInTime) {
  Finder finder("gliner-bert", fb::DType::i8);
  std::string text;
  for (int i = 0; i < 200; ++i) text += "tea ";
  const std::vector<std::string> labels(8, "a");
  ASSERT_EQ(convert::add_labelled(finder.session(), text, labels), Status::kOk);
  ASSERT_EQ(finder.session().run(), Status::kOk);
  std::vector<Entity> spans(1 << 14);
  uint32_t count = 0;
  for (const bool nested : {false, true}) {
    const FindOptions all{1e-30F, nested, true};
    ASSERT_EQ(find(finder.session(), 0, all, spans.data(), 1 << 14, &count), Status::kOk);
    EXPECT_GE(count, 40U);
    for (uint32_t i = 1; i < count; ++i) {
      const Offset before = spans[i - 1].span, span = spans[i].span;
      EXPECT_LE(before.begin, span.begin);
      const bool same = before.begin == span.begin && before.end == span.end;
      EXPECT_TRUE(nested || same || before.end <= span.begin);
    }
  }
}

TEST(Find, TakesMarkedIds) {
  Finder finder("gliner-bert", fb::DType::f32);
  Session& session = finder.session();
  const Json one = cases_of("gliner-bert").at(0);
  const auto ids = one.at("ids").get<std::vector<int32_t>>();
  auto marks = one.at("marks").get<std::vector<int32_t>>();
  finder.run({one});
  const std::vector<float> expected = finder.scores(0);
  Batch batch;
  batch.ids = ids.data();
  batch.marks = marks.data();
  batch.tokens = static_cast<uint32_t>(ids.size());
  ASSERT_EQ(session.run(batch), Status::kOk);
  EXPECT_EQ(finder.scores(0), expected);
  Entity span;
  uint32_t count = 0;
  EXPECT_EQ(find(session, 0, {}, &span, 1, &count), Status::kNotRun);
  batch.marks = nullptr;
  ASSERT_EQ(session.run(batch), Status::kOk);
  for (const float score : finder.scores(0)) EXPECT_EQ(score, 0.0F);
  batch.marks = marks.data();
  for (const int32_t bad : {-1, 3}) {
    marks[2] = bad;
    EXPECT_EQ(session.run(batch), Status::kIndexOutOfRange);
  }
}

TEST(Find, InC) {
  Finder finder("gliner-bert", fb::DType::f32);
  const Json one = cases_of("gliner-bert").at(0);
  finder.run({one});
  const std::vector<Entity> expected = finder.found(0, {0.3F, true, false});
  bantam_model model;
  ASSERT_EQ(bantam_model_open(finder.bytes().data(), finder.bytes().size(), &model, nullptr), BANTAM_OK);
  EXPECT_EQ(bantam_model_mark_types(&model), 3U);
  bantam_session_options options;
  bantam_session_options_init(&options);
  options.max_tokens = kMostTokens;
  testing::Arena arena(bantam_arena_bytes(&model, &options));
  bantam_session* session = nullptr;
  ASSERT_EQ(bantam_session_create(&model, &options, arena.data(), arena.size(), &session, nullptr), BANTAM_OK);
  const auto text = one.at("text").get<std::string>();
  const auto labels = one.at("labels").get<std::vector<std::string>>();
  std::vector<bantam_text> named;
  for (const std::string& label : labels) named.push_back({label.data(), label.size()});
  const auto label_count = static_cast<uint32_t>(named.size());
  ASSERT_EQ(bantam_session_add_labelled(session, {text.data(), text.size()}, named.data(), label_count, nullptr),
            BANTAM_OK);
  ASSERT_EQ(bantam_session_run(session), BANTAM_OK);
  bantam_find_options how;
  bantam_find_options_init(&how);
  how.threshold = 0.3F;
  how.nested = 1;
  std::vector<bantam_entity> spans(256);
  uint32_t count = 0;
  ASSERT_EQ(bantam_find(session, 0, &how, spans.data(), 256, &count), BANTAM_OK);
  ASSERT_EQ(count, expected.size());
  for (uint32_t i = 0; i < count; ++i) {
    EXPECT_EQ(spans[i].label, expected[i].label);
    EXPECT_EQ(spans[i].span.end, expected[i].span.end);
    EXPECT_EQ(spans[i].score, expected[i].score);
  }
  // Its ids and marks form a batch.
  const bantam_sequence sequence = bantam_session_sequence(session, 0);
  const std::vector<int32_t> ids(sequence.ids, sequence.ids + sequence.row_count);
  const int32_t* const given = bantam_session_marks(session, 0);
  const std::vector<int32_t> marks(given, given + ids.size());
  ASSERT_EQ(bantam_session_run_marked_ids(session, ids.data(), nullptr, marks.data(), nullptr, 1,
                                          static_cast<uint32_t>(ids.size())),
            BANTAM_OK);
  bantam_output output;
  ASSERT_EQ(bantam_session_output(session, 0, 0, &output), BANTAM_OK);
  EXPECT_EQ(std::memcmp(output.data, finder.scores(0).data(), output.width * sizeof(float)), 0);
}

}  // namespace
}  // namespace bantam::golden::find_test
