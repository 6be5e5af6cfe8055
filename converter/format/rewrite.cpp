#include "format/rewrite.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "format/data_section.h"
#include "format/view.h"

namespace bantam::convert {
namespace {

/// Visits every blob field of the model, present or not.
template <typename Visit>
void for_each_blob(fb::ModelT& model, const Visit& visit) {
  for (auto& t : model.tensors) {
    for (auto* blob : {&t->data, &t->scales, &t->sums}) visit(blob->get());
  }
  for (auto& t : model.tokenizers) {
    for (auto& blob : t->blobs) visit(blob->data.get());
  }
  if (model.task != nullptr && model.task->shortlist != nullptr) visit(model.task->shortlist->lists.get());
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
  std::set<Place> named;  // an edit may have removed a blob
  for_each_blob(model_, [&](fb::Blob* blob) {
    if (blob != nullptr) named.emplace(blob->offset(), blob->size());
  });
  DataSection data;
  std::map<Place, fb::Blob> moved;
  for (const auto& [place, content] : contents_) {
    if (named.count(place) != 0) moved.emplace(place, data.add(content.data(), content.size()));
  }
  for_each_blob(model_, [&](fb::Blob* blob) {
    if (blob == nullptr || blob->size() == 0) return;
    const auto found = moved.find(Place(blob->offset(), blob->size()));
    if (found == moved.end()) throw Error(ExitCode::kInternal, "an edit made a blob that the file does not hold");
    *blob = found->second;
  });
  return assemble_file(model_, std::move(data));
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
      auto& blobs = tokenizer->blobs;
      const auto is_words = [](const auto& blob) { return blob->name == fb::BlobName::words; };
      blobs.erase(std::remove_if(blobs.begin(), blobs.end(), is_words), blobs.end());
    }
  });
}

}  // namespace bantam::convert
