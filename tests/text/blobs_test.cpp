// Every table of every kind of tokenizer model: a named table must have data inside the file, and is checked wherever
// it is read.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/text/bpe_vocabulary.h"

namespace bantam::tests {
namespace {

using Name = fb::BlobName;

/// The tables of one tokenizer for each model kind.
struct OfModel {
  std::string name;
  convert::Graph graph;
  std::unique_ptr<TokenizerImage> image;

  fb::TokenizerT& description() { return *graph.model.tokenizers.at(0); }
  /// Sets the range of the table `name` to `place`; null: it has no data.
  void put(Name blob_name, const fb::Blob* place) {
    auto& blobs = description().blobs;
    const auto at = std::find_if(blobs.begin(), blobs.end(), [&](const auto& blob) { return blob->name >= blob_name; });
    const bool had = at != blobs.end() && (*at)->name == blob_name;
    const auto there = had ? at : blobs.insert(at, std::make_unique<fb::TokenizerBlobT>());
    (*there)->name = blob_name;
    (*there)->data = place == nullptr ? nullptr : std::make_unique<fb::Blob>(*place);
    image->repack(description());
  }
};

OfModel of_files(std::string name, const convert::TokenizerFiles& files) {
  OfModel out{std::move(name), {}, nullptr};
  std::vector<std::string> problems;
  EXPECT_TRUE(convert::import_tokenizer(files, out.graph, problems)) << out.name;
  out.image = std::make_unique<TokenizerImage>(out.graph);
  return out;
}

OfModel of_json(std::string name, const nlohmann::json& json) {
  Folder folder;
  folder.write("tokenizer.json", json.dump());
  OfModel out{std::move(name), {}, nullptr};
  std::vector<std::string> problems;
  EXPECT_TRUE(convert::import_tokenizer(folder.path(), out.graph, problems)) << out.name;
  out.image = std::make_unique<TokenizerImage>(out.graph);
  return out;
}

constexpr size_t kModels = 5;

OfModel of_model(size_t number) {
  using Json = nlohmann::json;
  if (number == 0) return of_json("wordpiece", tokenizer_json({"a", "the", "##b"}));
  if (number == 1) return of_json("bpe", bpe_json({{"a", "b"}, {" ", "ab"}}));
  if (number == 2) return of_json("bpe of code points", pieces_json({"a", "b", "ab"}, llama_decoder(1)));
  if (number == 3) {
    const Json vocabulary = Json::array({Json::array({"<unk>", 0.0}), Json::array({"a", -1.0})});
    Json unigram;
    unigram["model"] = {{"type", "Unigram"}, {"unk_id", 0}, {"vocab", vocabulary}};
    unigram["pre_tokenizer"] = {{"type", "Metaspace"}, {"replacement", "\u2581"}, {"prepend_scheme", "always"}};
    return of_json("unigram", unigram);
  }
  auto words = std::make_shared<convert::WordList>();
  words->name = "x";
  words->hashed = true;
  words->words = {"the", "a"};
  words->model.buckets = 97;
  words->model.min_gram = words->model.max_gram = 3;
  convert::TokenizerFiles files;
  files.words = std::move(words);
  return of_files("hashed", files);
}

TEST(VerifyBlobs, OneThatIsNamedHasDataInsideTheFile) {
  for (size_t model = 0; model < kModels; ++model) {
    for (auto name = Name::MIN; name <= Name::MAX; name = static_cast<Name>(static_cast<uint8_t>(name) + 1)) {
      const fb::Blob far(uint64_t{1} << 40, 64, 0, 0), odd(1, 64, 0, 0), elsewhere(0, 64, 1, 0);
      for (const fb::Blob* place : {static_cast<const fb::Blob*>(nullptr), &far, &odd, &elsewhere}) {
        OfModel one = of_model(model);
        ASSERT_EQ(one.image->verify(), Status::kOk) << one.name;
        one.put(name, place);
        EXPECT_EQ(one.image->verify(), Status::kCorrupt)
            << one.name << ": " << fb::EnumNameBlobName(name) << (place == nullptr ? " without data" : " elsewhere");
      }
    }
  }
}

TEST(VerifyBlobs, OneThatIsReadIsJudgedWhateverTheModel) {
  const fb::Blob cut(0, 4, 0, 0);
  for (size_t model = 0; model < kModels; ++model) {
    for (const Name name : {Name::words, Name::split, Name::byte_tokens, Name::decoder, Name::word_split}) {
      OfModel one = of_model(model);
      one.put(name, &cut);
      EXPECT_NE(one.image->verify(), Status::kOk) << one.name << ": " << fb::EnumNameBlobName(name);
    }
  }
}

}  // namespace
}  // namespace bantam::tests
