#include "serve/indexes.h"

#include <filesystem>
#include <optional>
#include <utility>

#include "base/printable.h"
#include "base/sha256.h"
#include "base/status_error.h"
#include "search/text_index.h"

namespace bantam::serve {
namespace {

using convert::ExitCode;
using convert::fail;

Worker& model_of(const convert::SearchIndex& index, const std::string& path,
                 const std::vector<std::unique_ptr<Worker>>& models) {
  for (const std::unique_ptr<Worker>& one : models) {
    if (convert::sha256_of_file(one->file().path()) == index.model()) return *one;
  }
  fail(ExitCode::kInvalid, "--index {}: none of the files made it; serve the one that did too, {}", path,
       convert::printable(index.model_name()));
}

class HitsWriter final : public BodyWriter {
 public:
  HitsWriter(const ServedIndex& index, SearchRequest request) : index_(index), request_(std::move(request)) {}

  void put(const convert::Predictor& predictor, const convert::Input& input, const convert::Prediction& prediction,
           std::string* body) override {
    constexpr size_t kMostTexts = size_t{8} << 20;
    const convert::SearchIndex& index = index_.index();
    if (!allowed_) allowed_ = entries_where(index, index_.name(), "\"where\"", request_.where);
    convert::Prediction query = prediction;
    if (!index.of_terms() && query.embedding.size() > index.width()) query.embedding.resize(index.width());
    const convert::Length length =
        index.of_terms() ? convert::Length::kDivided : convert::searched_length(index_.model().file());
    const std::vector<convert::Found> found =
        find_texts(index, index_.name(), query, request_.top, predictor.engine().session().isa(), length, *allowed_);
    if (hits_bytes(index, found) > kMostTexts)
      fail(ExitCode::kInvalid, "\"top\": the texts that are found are larger than the server sends; ask for fewer");
    if (request_.list) *body += body->empty() ? "{\"answers\":[" : ",";
    *body += hits_json(index, index_.name(), input.first, found);
  }
  void finish(std::string* body) override { *body += request_.list ? "]}\n" : "\n"; }

 private:
  const ServedIndex& index_;
  SearchRequest request_;
  std::optional<convert::Allowed> allowed_;
};

}  // namespace

ServedIndex::ServedIndex(const std::string& path, const std::vector<std::unique_ptr<Worker>>& models)
    : name_(std::filesystem::path(path).stem().string()),
      index_(path, convert::Hold::kInMemory),
      model_(model_of(index_, path, models)) {}

std::unique_ptr<BodyWriter> hits_writer(const ServedIndex& index, SearchRequest request) {
  return std::make_unique<HitsWriter>(index, std::move(request));
}

}  // namespace bantam::serve
