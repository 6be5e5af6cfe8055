#include "format/rewrite.h"

#include <fmt/format.h>

#include "base/error.h"
#include "format/data_section.h"
#include "format/view.h"
#include "import/tokenizer/tokenizer_tables.h"
#include "text/word_table.h"

namespace bantam::convert {
namespace {

/// Every blob field of the model, present or not.
template <typename Visit>
void for_each_blob(fb::ModelT& model, const Visit& visit) {
  for (auto& t : model.tensors) {
    for (auto* blob : {&t->data, &t->scales, &t->sums}) visit(blob->get());
  }
  for (auto& t : model.tokenizers) {
    for (auto* blob : {&t->token_text, &t->token_begin, &t->trie, &t->trie_aux, &t->merges, &t->scores, &t->charsmap}) {
      visit(blob->get());
    }
  }
}

std::vector<uint8_t> char_map_of(FileEditor& editor, const fb::TokenizerT& tokenizer) {
  const std::vector<uint8_t>& begins = editor.bytes(tokenizer.token_begin.get());
  const bool empty = tokenizer.token_text == nullptr || tokenizer.token_text->size() == 0;
  const std::vector<uint8_t>& joined = empty ? begins : editor.bytes(tokenizer.token_text.get());
  std::vector<std::string> tokens;
  for (uint32_t id = 0; id < tokenizer.vocab_size; ++id) {
    const uint32_t begin = text::load_u32(begins.data() + id * sizeof(uint32_t));
    const uint32_t end = text::load_u32(begins.data() + (id + 1) * sizeof(uint32_t));
    tokens.emplace_back(joined.data() + begin, joined.data() + end);
  }
  bool all = false;
  for (const auto& added : tokenizer.added_tokens) all = all || added->normalized;
  return build_char_map({false, false, tokenizer.lowercase, tokenizer.strip_accents}, all ? nullptr : &tokens);
}

}  // namespace

FileEditor::FileEditor(const uint8_t* bytes, size_t size) : file_(bytes, bytes + size) {
  Fault fault;
  const Status status = Model::open(file_.data(), file_.size(), &original_, &fault);
  if (status != Status::kOk) {
    throw Error(ExitCode::kInvalid, fmt::format("{}: {} ({})", status_message(status), fault.what,
                                                std::string(fault.name, fault.name_size)));
  }
  root(original_).UnPackTo(&model_);
  for_each_blob(model_, [&](fb::Blob* blob) {
    if (blob == nullptr || blob->size() == 0) return;
    const uint8_t* begin = original_.data() + blob->offset();
    contents_.try_emplace(Place(blob->offset(), blob->size()), begin, begin + blob->size());
  });
}

std::vector<uint8_t>& FileEditor::bytes(const fb::Blob* blob) {
  const auto found = blob == nullptr ? contents_.end() : contents_.find(Place(blob->offset(), blob->size()));
  if (found == contents_.end()) throw Error(ExitCode::kInternal, "the file holds no such blob");
  return found->second;
}

std::unique_ptr<fb::Blob> FileEditor::add(std::vector<uint8_t> content) {
  const Place place(UINT64_MAX, contents_.size() + 1);
  contents_.emplace(place, std::move(content));
  return std::make_unique<fb::Blob>(place.first, place.second, 0, 0);
}

FileBytes FileEditor::assemble() {
  DataSection data;
  std::map<Place, fb::Blob> moved;
  for (const auto& [place, content] : contents_) moved.emplace(place, data.add(content.data(), content.size()));
  for_each_blob(model_, [&](fb::Blob* blob) {
    if (blob == nullptr || blob->size() == 0) return;
    const auto found = moved.find(Place(blob->offset(), blob->size()));
    if (found == moved.end()) throw Error(ExitCode::kInternal, "an edit made a blob that the file does not hold");
    *blob = found->second;
  });
  return assemble_file(model_, data.bytes());
}

FileBytes rewrite_file(const uint8_t* bytes, size_t size, const std::function<void(FileEditor&)>& edit) {
  FileEditor editor(bytes, size);
  edit(editor);
  FileBytes result = editor.assemble();
  check_file(result);
  return result;
}

FileBytes with_small_tokenizers(const uint8_t* bytes, size_t size) {
  return rewrite_file(bytes, size, [](FileEditor& editor) {
    for (const auto& tokenizer : editor.model().tokenizers) {
      editor.bytes(tokenizer->trie_aux.get()).resize(sizeof(text::LexiconRoots));
      if (tokenizer->charsmap == nullptr || tokenizer->charsmap->size() == 0) {
        tokenizer->charsmap = editor.add(char_map_of(editor, *tokenizer));
      }
    }
  });
}

}  // namespace bantam::convert
