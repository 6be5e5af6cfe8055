// import_tokenizer: both kinds of files, and everything that untrusted files may contain.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "tests/text/vocabulary.h"

namespace bantam::tests {
namespace {

using nlohmann::json;
using Ids = std::vector<int32_t>;

const std::vector<std::string> kFour = {"a", "b", "##b", "\u00e9"};

bool mentions(const std::vector<std::string>& lines, const std::string& what) {
  return std::any_of(lines.begin(), lines.end(),
                     [&](const auto& line) { return line.find(what) != std::string::npos; });
}

TEST(ImportTokenizer, ADirectoryWithoutOneIsNoProblem) {
  Folder folder;
  const Imported got = import_folder(folder);
  EXPECT_FALSE(got.found);
  EXPECT_TRUE(got.problems.empty());
  EXPECT_TRUE(got.graph.model.tokenizers.empty());
}

TEST(ImportTokenizer, ReadsVocabularyText) {
  Folder folder;
  folder.write("vocab.txt", vocabulary_text(kFour));
  folder.write("tokenizer_config.json",
               R"({"do_lower_case": false, "model_max_length": 64, "truncation_side": "left",
                   "additional_special_tokens": ["<x>"], "tokenizer_class": "BertTokenizer"})");
  folder.write("special_tokens_map.json", R"({"mask_token": {"content": "[MASK]", "lstrip": true}})");
  Imported got = import_folder(folder);
  ASSERT_TRUE(got.found) << (got.problems.empty() ? "" : got.problems.front());
  TokenizerImage image(got.graph);
  ASSERT_EQ(image.verify(), Status::kOk);
  const Tokenizer tokenizer = image.open();
  EXPECT_EQ(encode(tokenizer, "ab A <x>\u00e9[MASK]").ids, (Ids{2, 5, 7, 1, 9, 8, 4, 3}));
  EXPECT_EQ(image.table().max_length(), 64u);
  EXPECT_TRUE(image.table().truncate_left());
  EXPECT_FALSE(image.table().normalizers()->Get(0)->strip_accents());
  EXPECT_TRUE(tokenizer.is_special(9));
}

TEST(ImportTokenizer, ARepeatedWordHasTheNumberOfItsLastLine) {
  Folder folder;
  folder.write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\na\nb\na\nc\n");
  Imported got = import_folder(folder);
  ASSERT_TRUE(got.found) << (got.problems.empty() ? "" : got.problems.front());
  EXPECT_TRUE(mentions(got.graph.notes, "1 of 8 lines repeat a word"));
  TokenizerImage image(got.graph);
  EXPECT_EQ(encode(image.open(), "a b c").ids, (Ids{2, 6, 5, 7, 3}));
}

/// MPNet's file as transformers 5 saves it: with WordPiece, only added tokens have blanks at their ends.
TEST(ImportTokenizer, TrimsBlanksOfAddedTokensBesideWordPiece) {
  json file = tokenizer_json(kFour);
  file["post_processor"]["type"] = "RobertaProcessing";
  for (json& token : file["added_tokens"]) token["lstrip"] = token["content"] == "[MASK]";
  SmallTokenizer small(file);
  ASSERT_TRUE(small.ok());
  const Encoded got = encode(small.open(), "a  [MASK] b");
  EXPECT_EQ(got.ids, (Ids{2, 5, 4, 6, 3}));
  ASSERT_EQ(got.offsets.size(), 5u);
  EXPECT_EQ(got.offsets[2].begin, 3u);
  EXPECT_EQ(got.offsets[2].end, 9u);
}

/// Files in which transformers before 4.34 saved added tokens.
TEST(ImportTokenizer, ReadsAddedTokens) {
  const auto ids_with = [](const std::string& added, const std::string& config, const std::string& special) {
    Folder folder;
    folder.write("vocab.txt", vocabulary_text(kFour));
    folder.write("tokenizer_config.json", config);
    folder.write("special_tokens_map.json", special);
    folder.write("added_tokens.json", added);
    Imported got = import_folder(folder);
    EXPECT_TRUE(got.found) << (got.problems.empty() ? "" : got.problems.front());
    TokenizerImage image(got.graph);
    EXPECT_EQ(image.verify(), Status::kOk);
    return encode(image.open(), "a[E2]b [E1]").ids;
  };
  EXPECT_EQ(ids_with(R"({"[E1]": 10, "[E2]": 9})", "{}", "{}"), (Ids{2, 5, 9, 6, 10, 3}));
  EXPECT_EQ(ids_with(R"({"[E1]": 10, "[E2]": 9})", "{}", R"({"additional_special_tokens": ["[E1]", "[E2]"]})"),
            (Ids{2, 5, 9, 6, 10, 3}));
  // A decoder in tokenizer_config.json overrides the file.
  EXPECT_EQ(ids_with(R"({"[E1]": 10, "[E2]": 9})", R"({"added_tokens_decoder": {"9": {"content": "[E1]"}}})", "{}"),
            (Ids{2, 5, 1, 1, 1, 6, 9, 3}));
}

TEST(ImportTokenizer, AddsTokensThatOnlyTheirNamesSay) {
  for (const bool whole : {false, true}) {
    Folder folder;
    folder.write(whole ? "tokenizer.json" : "vocab.txt", whole ? tokenizer_json(kFour).dump() : vocabulary_text(kFour));
    folder.write("tokenizer_config.json", R"({"pad_token": "<p>", "extra_special_tokens": ["<e>"]})");
    Imported got = import_folder(folder);
    ASSERT_TRUE(got.found) << (got.problems.empty() ? "" : got.problems.front());
    TokenizerImage image(got.graph);
    EXPECT_EQ(encode(image.open(), "a<e>b<p>").ids, (Ids{2, 5, 10, 6, 9, 3}));
    EXPECT_EQ(image.table().pad_id(), 9);
  }
}

TEST(ImportTokenizer, TheDecoderOfAddedTokensCountsBeforeTokenizerJson) {
  json file = tokenizer_json(kFour);
  file["added_tokens"].push_back({{"id", 9}, {"content", "<x>"}, {"lstrip", false}, {"special", false}});
  Folder folder;
  folder.write("tokenizer.json", file.dump());
  folder.write("tokenizer_config.json",
               R"({"added_tokens_decoder": {"9": {"content": "<x>", "lstrip": true, "special": true},
                                            "10": {"content": "<y>"}}})");
  Imported got = import_folder(folder);
  ASSERT_TRUE(got.found) << (got.problems.empty() ? "" : got.problems.front());
  TokenizerImage image(got.graph);
  const Encoded text = encode(image.open(), "a  <x><y>");
  EXPECT_EQ(text.ids, (Ids{2, 5, 9, 10, 3}));
  EXPECT_TRUE(image.open().is_special(9));
}

/// transformers 4.57 and 5.24 build BERT's normalizer from tokenizer_config.json.
TEST(ImportTokenizer, SettingsOfAClassCountBeforeTokenizerJson) {
  const auto lowercase = [](bool file_says, const std::string& config, const std::string& model) {
    json file = tokenizer_json(kFour);
    file["normalizer"]["lowercase"] = file_says;
    Folder folder;
    folder.write("tokenizer.json", file.dump());
    if (!config.empty()) folder.write("tokenizer_config.json", config);
    folder.write("config.json", R"({"model_type": ")" + model + R"("})");
    Imported got = import_folder(folder);
    EXPECT_TRUE(got.found);
    const bool is = got.graph.model.tokenizers.at(0)->normalizers.at(0)->lowercase;
    EXPECT_EQ(mentions(got.graph.notes, "do_lower_case"), is != file_says);
    return is;
  };
  EXPECT_TRUE(lowercase(false, R"({"tokenizer_class": "BertTokenizer"})", "bert"));
  EXPECT_TRUE(lowercase(false, R"({"tokenizer_class": "MPNetTokenizerFast", "do_lower_case": true})", "mpnet"));
  EXPECT_FALSE(lowercase(true, R"({"tokenizer_class": "DistilBertTokenizer", "do_lower_case": false})", "distilbert"));
  EXPECT_TRUE(lowercase(false, "{}", "electra"));
  EXPECT_FALSE(lowercase(false, "", "bert"));  // only tokenizer.json
  EXPECT_FALSE(lowercase(false, R"({"tokenizer_class": "PreTrainedTokenizerFast"})", "bert"));
  EXPECT_FALSE(lowercase(false, R"({"tokenizer_class": "TokenizersBackend", "do_lower_case": true})", "bert"));
}

TEST(ImportTokenizer, ReadsCarriageReturnsAndIgnoresAnAbsurdLength) {
  Folder folder;
  folder.write("vocab.txt", "[PAD]\r\n[UNK]\r\n[CLS]\r\n[SEP]\r\na\r\n");
  folder.write("tokenizer_config.json", R"({"model_max_length": 1000000000000000019884624838656})");
  Imported got = import_folder(folder);
  ASSERT_TRUE(got.found);
  EXPECT_EQ(got.graph.model.tokenizers[0]->max_length, 0u);
  TokenizerImage image(got.graph);
  EXPECT_EQ(encode(image.open(), "a").ids, (Ids{2, 4, 3}));
}

TEST(ImportTokenizer, TokenizersOfOtherKindsAreNamed) {
  Folder folder;
  folder.write("vocab.json", "{}");
  folder.write("tokenizer.tiktoken", "");
  convert::Graph graph;
  std::vector<std::string> problems;
  bool unsupported = false;
  EXPECT_FALSE(convert::import_tokenizer(folder.path(), graph, problems, &unsupported));
  EXPECT_TRUE(unsupported);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].rfind("vocab.json, tokenizer.tiktoken: ", 0), 0u) << problems[0];
  EXPECT_TRUE(mentions(problems, "--ids-only"));
  // A tokenizer that can be executed takes precedence.
  folder.write("vocab.txt", vocabulary_text(kFour));
  EXPECT_TRUE(import_folder(folder).found);
}

TEST(ImportTokenizer, ModelMaxLengthGoesBeforeTruncation) {
  json file = tokenizer_json(kFour);
  file["truncation"] = {{"max_length", 8}, {"strategy", "LongestFirst"}, {"direction", "Right"}, {"stride", 0}};
  const auto length_with = [&file](const std::string& config, bool noted) {
    Folder folder;
    folder.write("tokenizer.json", file.dump());
    folder.write("tokenizer_config.json", config);
    const Imported got = import_folder(folder);
    EXPECT_TRUE(got.found);
    EXPECT_EQ(mentions(got.graph.notes, "tokenizer.json truncates texts at 8 tokens"), noted) << config;
    return got.graph.model.tokenizers.at(0)->max_length;
  };
  EXPECT_EQ(length_with("{}", false), 8u);
  EXPECT_EQ(length_with(R"({"model_max_length": 8})", false), 8u);
  EXPECT_EQ(length_with(R"({"model_max_length": 16})", true), 16u);
  EXPECT_EQ(length_with(R"({"model_max_length": 1000000000000000019884624838656})", true), 0u);
}

TEST(ImportTokenizer, TextsCanBeMadeLowerCaseFirst) {
  json file = tokenizer_json(kFour);
  file["normalizer"]["lowercase"] = false;
  Folder folder;
  folder.write("tokenizer.json", file.dump());
  for (const bool lowercase : {false, true}) {
    convert::Graph graph;
    std::vector<std::string> problems;
    const convert::TokenizerFiles files = convert::read_tokenizer_files(convert::Directory(folder.path()));
    ASSERT_TRUE(convert::import_tokenizer(files, graph, problems, nullptr, lowercase));
    TokenizerImage image(graph);
    EXPECT_EQ(encode(image.open(), "A b").ids, (lowercase ? Ids{2, 5, 6, 3} : Ids{2, 1, 6, 3}));
  }
}

TEST(ImportTokenizer, TokenizerJsonWinsOverVocabularyText) {
  Folder folder;
  folder.write("vocab.txt", "nonsense");
  folder.write("tokenizer.json", tokenizer_json(kFour).dump());
  folder.write("tokenizer_config.json", R"({"do_lower_case": false, "pad_token": "[PAD]"})");
  Imported got = import_folder(folder);
  ASSERT_TRUE(got.found);
  TokenizerImage image(got.graph);
  EXPECT_EQ(encode(image.open(), "A\u00c9").ids, (Ids{2, 1, 3}));
}

TEST(ImportTokenizer, NumbersAddedTokensAsHuggingFaceDoes) {
  json file = tokenizer_json(kFour);
  file["added_tokens"].push_back({{"id", 77}, {"content", "<new>"}, {"special", false}, {"normalized", false}});
  SmallTokenizer small(file);
  ASSERT_TRUE(small.ok());
  EXPECT_EQ(encode(small.open(), "a<new>").ids, (Ids{2, 5, 9, 3}));
  EXPECT_EQ(small.open().id(view("<new>")), 9);
}

struct Case {
  const char* name;
  std::function<void(json&)> apply;
  const char* expected;  // a part of a problem
};

TEST(ImportTokenizer, NamesWhatIsWrong) {
  const Case cases[] = {
      {"model", [](json& f) { f["model"]["type"] = "Klingon"; }, "model.type: \"Klingon\""},
      {"no model", [](json& f) { f.erase("model"); }, "model"},
      {"normaliser", [](json& f) { f["normalizer"]["type"] = "Klingon"; }, "normalizer.type: \"Klingon\""},
      {"flag", [](json& f) { f["normalizer"]["lowercase"] = 3; }, "normalizer.lowercase"},
      {"pre-tokenizer", [](json& f) { f["pre_tokenizer"]["type"] = "Klingon"; }, "pre_tokenizer.type"},
      {"post-processor", [](json& f) { f["post_processor"]["type"] = "Klingon"; }, "post_processor.type"},
      {"id of cls", [](json& f) { f["post_processor"]["cls"][1] = 4000; }, "4000"},
      {"vocabulary", [](json& f) { f["model"]["vocab"] = json::array(); }, "model.vocab"},
      {"empty vocabulary", [](json& f) { f["model"]["vocab"] = json::object(); }, "model.vocab"},
      {"id text", [](json& f) { f["model"]["vocab"]["a"] = "5"; }, "model.vocab[\"a\"]"},
      {"id negative", [](json& f) { f["model"]["vocab"]["a"] = -5; }, "model.vocab[\"a\"]"},
      {"id huge", [](json& f) { f["model"]["vocab"]["a"] = 4194304; }, "4194304"},
      {"id twice", [](json& f) { f["model"]["vocab"]["a"] = 6; }, "id 6"},
      {"token huge", [](json& f) { f["model"]["vocab"][std::string(5000, 'x')] = 9; }, "5000 bytes"},
      {"unknown", [](json& f) { f["model"]["unk_token"] = "<unk>"; }, "<unk>"},
      {"unknown type", [](json& f) { f["model"]["unk_token"] = 1; }, "model.unk_token"},
      {"word length", [](json& f) { f["model"]["max_input_chars_per_word"] = 1000; }, "max_input_chars_per_word"},
      {"added list", [](json& f) { f["added_tokens"] = 5; }, "added_tokens"},
      {"added item", [](json& f) { f["added_tokens"].push_back("x"); }, "added_tokens[5]"},
      {"added blank",
       [](json& f) {
         f["added_tokens"].push_back({{"id", 9}, {"content", "\u0301"}, {"normalized", true}});
       },
       "blank"},
      {"truncation",
       [](json& f) {
         f["truncation"] = {{"strategy", "Middle"}, {"max_length", 5}};
       },
       "truncation"},
      {"template",
       [](json& f) {
         f["post_processor"] = {{"type", "TemplateProcessing"}, {"single", json::array()}, {"pair", json::array()}};
       },
       "post_processor.single"},
      {"template token",
       [](json& f) {
         f["post_processor"] = {{"type", "TemplateProcessing"},
                                {"single", {{{"SpecialToken", {{"id", "[X]"}, {"type_id", 0}}}}}},
                                {"pair", json::array()}};
       },
       "[X]"},
  };
  for (const Case& test : cases) {
    json file = tokenizer_json(kFour);
    test.apply(file);
    Folder folder;
    folder.write("tokenizer.json", file.dump());
    const Imported got = import_folder(folder);
    EXPECT_FALSE(got.found) << test.name;
    EXPECT_TRUE(mentions(got.problems, test.expected))
        << test.name << ": " << (got.problems.empty() ? "" : got.problems[0]);
    EXPECT_TRUE(mentions(got.problems, "tokenizer.json: ")) << test.name;
    EXPECT_TRUE(got.graph.model.tokenizers.empty() && got.graph.blobs.empty());
  }
}

TEST(ImportTokenizer, ListsAllProblemsAtOnce) {
  json file = tokenizer_json(kFour);
  file["normalizer"]["type"] = "Klingon";
  file["pre_tokenizer"]["type"] = "Klingon";
  file["post_processor"]["type"] = "Klingon";
  Folder folder;
  folder.write("tokenizer.json", file.dump());
  EXPECT_EQ(import_folder(folder).problems.size(), 3u);
}

TEST(ImportTokenizer, SurvivesBrokenFiles) {
  const std::string valid = tokenizer_json(kFour).dump();
  std::vector<std::string> files = {"",
                                    "{",
                                    "[]",
                                    "null",
                                    "\xff\xfe",
                                    "{\"model\": \"\\ud800\"}",
                                    std::string(100, '['),
                                    "{\"model\": {\"vocab\": {\"a\": 1, \"a\": 2}}}",
                                    "{\"model\": 1e999}"};
  for (size_t size = 0; size < valid.size(); size += 37) files.push_back(valid.substr(0, size));
  for (const std::string& text : files) {
    Folder folder;
    folder.write("tokenizer.json", text);
    const Imported got = import_folder(folder);
    EXPECT_FALSE(got.found) << text;
    EXPECT_FALSE(got.problems.empty()) << text;
  }
  Folder bad_text;
  bad_text.write("vocab.txt", vocabulary_text({"a\xff", "b"}));
  EXPECT_TRUE(mentions(import_folder(bad_text).problems, "UTF-8"));
  Folder no_specials;
  no_specials.write("vocab.txt", "a\nb\n");
  EXPECT_TRUE(mentions(import_folder(no_specials).problems, "unk_token"));
  Folder no_template;
  no_template.write("vocab.txt", "[UNK]\na\n");
  EXPECT_TRUE(mentions(import_folder(no_template).problems, "cls_token"));
}

TEST(ImportTokenizer, HolesInTheIdsAreNoted) {
  json file = tokenizer_json(kFour);
  file["model"]["vocab"]["z"] = 40;
  SmallTokenizer small(file);
  ASSERT_TRUE(small.ok());
  EXPECT_EQ(small.image().verify(), Status::kOk);
  EXPECT_EQ(encode(small.open(), "z").ids, (Ids{2, 40, 3}));
  EXPECT_EQ(small.open().token(30).size, 0u);
}

}  // namespace
}  // namespace bantam::tests
