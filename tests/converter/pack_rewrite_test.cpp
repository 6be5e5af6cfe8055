// Finished files are taken apart, changed and assembled again.
#include "format/rewrite.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "bantam/model.h"
#include "bantam/tokenizer.h"
#include "converter/import_fixture.h"
#include "converter/pack_graphs.h"
#include "format/header.h"
#include "format/view.h"
#include "pack/build.h"
#include "tests/text/vocabulary.h"
#include "text/lexicon.h"

namespace bantam::convert {
namespace {

using fixture::problems_of;

/// A small int8 classifier with a tied output and a tokenizer.
FileBytes small_file() {
  tests::Folder folder;
  folder.write("tokenizer.json", tests::tokenizer_json({"play", "##ing", "some", "jazz", "caf", "##e", "!"}).dump());
  Graph graph = fixture::bert_graph({2, 40, 5, 72, 211, 3, true});
  std::vector<std::string> problems;
  EXPECT_TRUE(import_tokenizer(folder.path(), graph, problems));
  TypeOptions options;
  options.weights = fb::DType::i8;
  return build(graph, options);
}

FileBytes rewrite(const FileBytes& file, const std::function<void(FileEditor&)>& edit) {
  return rewrite_file(file.data(), file.size(), edit);
}

struct OpenedPack {
  Model model;
  FileHeader header;
  Tokenizer tokenizer;
  explicit OpenedPack(const FileBytes& file) {
    EXPECT_EQ(Model::open(file.data(), file.size(), &model), Status::kOk);
    EXPECT_EQ(read_header(file.data(), file.size(), &header, nullptr), Status::kOk);
    EXPECT_EQ(header.graph_crc, graph_checksum(header, file.data()));
    EXPECT_EQ(header.data_crc, data_checksum(header, file.data()));
    EXPECT_EQ(Tokenizer::open(model, 0, &tokenizer), Status::kOk);
  }
  const fb::Tensor& tensor(const std::string& name) const {
    for (const fb::Tensor* t : *root(model).tensors()) {
      if (t->name()->str() == name) return *t;
    }
    throw std::runtime_error("no tensor " + name);
  }
};

TEST(Rewrite, WithoutAnEditEveryByteStays) {
  const FileBytes file = small_file();
  EXPECT_EQ(rewrite(file, [](FileEditor&) {}), file);
}

TEST(Rewrite, ChangesTablesAndBlobsAndMovesWhatFollows) {
  const FileBytes file = small_file();
  const char* name = "layer.0.ffn1.weight";
  std::vector<uint8_t> reversed;
  const FileBytes changed = rewrite(file, [&](FileEditor& editor) {
    editor.model().name = "another name";
    for (const auto& t : editor.model().tensors) {
      if (t->name != name) continue;
      std::vector<uint8_t>& bytes = editor.bytes(t->data.get());
      std::reverse(bytes.begin(), bytes.end());
      reversed = bytes;
    }
    // Longer than before, so the following data must move.
    std::vector<uint8_t>& bytes = editor.bytes(tests::blob_of(*editor.model().tokenizers[0], fb::BlobName::trie).get());
    bytes.resize(bytes.size() + 1024, 255);
  });
  ASSERT_FALSE(reversed.empty());
  const OpenedPack before(file);
  const OpenedPack after(changed);
  EXPECT_EQ(after.header.data_size, before.header.data_size + 1024);
  EXPECT_EQ(std::string(after.model.name().data, after.model.name().size), "another name");
  const fb::Blob* blob = after.tensor(name).data();
  EXPECT_EQ(
      std::vector<uint8_t>(after.model.data() + blob->offset(), after.model.data() + blob->offset() + blob->size()),
      reversed);
  const std::string text = "Playing jazz, caf\u00e9!";
  EXPECT_EQ(tests::encode(after.tokenizer, text).ids, tests::encode(before.tokenizer, text).ids);
}

TEST(Rewrite, TensorsThatShareABlobStillDo) {
  // Two tensors share the same bytes.
  const FileBytes shared = rewrite(small_file(), [](FileEditor& editor) {
    auto& tensors = editor.model().tensors;
    fb::TensorT* first = nullptr;
    for (const auto& t : tensors) {
      if (t->name == "layer.0.ffn1.bias") first = t.get();
      if (t->name == "layer.1.ffn1.bias") *t->data = *first->data;
    }
  });
  const FileBytes again = rewrite(shared, [](FileEditor& editor) {
    for (const auto& t : editor.model().tensors) {
      if (t->name == "layer.1.ffn1.bias") editor.bytes(t->data.get()).assign(editor.bytes(t->data.get()).size(), 0);
    }
  });
  const OpenedPack opened(again);
  EXPECT_EQ(opened.tensor("layer.0.ffn1.bias").data()->offset(), opened.tensor("layer.1.ffn1.bias").data()->offset());
  EXPECT_EQ(opened.model.data()[opened.tensor("layer.0.ffn1.bias").data()->offset()], 0);
}

TEST(Rewrite, AddsBlobs) {
  const FileBytes file = rewrite(small_file(), [](FileEditor& editor) {
    for (const uint8_t number : {uint8_t{100}, uint8_t{101}}) {  // names that this version does not know
      auto blob = std::make_unique<fb::TokenizerBlobT>();
      blob->name = static_cast<fb::BlobName>(number);
      blob->data = editor.add({number, 2, 3});
      editor.model().tokenizers[0]->blobs.push_back(std::move(blob));
    }
    editor.bytes(editor.model().tokenizers[0]->blobs.back()->data.get()).push_back(6);
  });
  const OpenedPack opened(file);
  const fb::Tokenizer& tokenizer = *root(opened.model).tokenizers()->Get(0);
  const auto content = [&](const fb::Blob* blob) {
    return std::vector<uint8_t>(opened.model.data() + blob->offset(),
                                opened.model.data() + blob->offset() + blob->size());
  };
  const uint32_t count = tokenizer.blobs()->size();
  EXPECT_EQ(content(tokenizer.blobs()->Get(count - 2)->data()), (std::vector<uint8_t>{100, 2, 3}));
  EXPECT_EQ(content(tokenizer.blobs()->Get(count - 1)->data()), (std::vector<uint8_t>{101, 2, 3, 6}));
}

TEST(Rewrite, WordTablesGoAndTokensStay) {
  const FileBytes file = small_file();
  const FileBytes cut = with_small_tokenizers(file.data(), file.size());
  const OpenedPack before(file);
  const OpenedPack after(cut);
  const auto words = [](const OpenedPack& opened) {
    return text::find_blob(*root(opened.model).tokenizers()->Get(0), fb::BlobName::words);
  };
  ASSERT_NE(words(before), nullptr);
  EXPECT_EQ(words(after), nullptr);
  EXPECT_LE(after.header.data_size, before.header.data_size - words(before)->size() + kFileAlignment);
  const std::string text = "Playing some JAZZ, caf\u00e9! playing [MASK] nothing";
  const tests::Encoded one = tests::encode(before.tokenizer, text);
  const tests::Encoded other = tests::encode(after.tokenizer, text);
  EXPECT_GT(one.ids.size(), 10u);
  EXPECT_EQ(one.ids, other.ids);
  EXPECT_EQ(one.segments, other.segments);
  EXPECT_EQ(with_small_tokenizers(cut.data(), cut.size()), cut);
}

TEST(Rewrite, RefusesWhatDoesNotOpen) {
  FileBytes file = small_file();
  problems_of(ExitCode::kInternal, [&] {
    rewrite(file, [](FileEditor& editor) {
      editor.bytes(tests::blob_of(*editor.model().tokenizers[0], fb::BlobName::token_begin).get()).pop_back();
    });
  });
  problems_of(ExitCode::kInternal, [&] {
    rewrite(file, [](FileEditor& editor) {
      editor.model().tensors[0]->sums = std::make_unique<fb::Blob>(0, 3, 0, 0);  // not a blob of the file
    });
  });
  problems_of(ExitCode::kInternal,
              [&] { rewrite(file, [](FileEditor& editor) { static_cast<void>(editor.bytes(nullptr)); }); });
  file.resize(file.size() - 1);
  problems_of(ExitCode::kInvalid, [&] { rewrite(file, [](FileEditor&) {}); });
}

}  // namespace
}  // namespace bantam::convert
