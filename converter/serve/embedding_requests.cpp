#include "serve/embedding_requests.h"

#include <memory>
#include <utility>
#include <vector>

#include "base/status_error.h"
#include "run/passes.h"
#include "serve/request_fields.h"

namespace bantam::serve {
namespace {

using convert::ExitCode;
using convert::fail;
using convert::Input;
using convert::Json;
using convert::OrderedJson;
using convert::Prediction;
using convert::Predictor;

class EmbeddingsWriter final : public BodyWriter {
 public:
  /// `dimensions`: the number of vector elements to keep; 0: all.
  EmbeddingsWriter(std::string model, bool as_base64, size_t dimensions)
      : model_(std::move(model)), as_base64_(as_base64), dimensions_(dimensions) {}

  void put(const Predictor&, const Input&, const Prediction& prediction, std::string* body) override {
    put(prediction.embedding, prediction.rows, body);
  }
  void put(std::vector<float> vector, size_t tokens, std::string* body) {
    OrderedJson one;
    one["object"] = "embedding";
    one["index"] = count_;
    vector = shortened(std::move(vector), dimensions_);
    if (as_base64_) {
      one["embedding"] = base64(vector);
    } else {
      one["embedding"] = std::move(vector);
    }
    *body += count_++ == 0 ? "{\"object\":\"list\",\"data\":[" : ",";
    *body += convert::one_line(one);
    tokens_ += tokens;
  }
  void finish(std::string* body) override {
    OrderedJson object;
    object["model"] = model_;
    object["usage"] = {{"prompt_tokens", tokens_}, {"total_tokens", tokens_}};
    *body += "]," + convert::one_line(object).substr(1) + "\n";
  }

 private:
  std::string model_;
  bool as_base64_;
  size_t dimensions_;
  size_t count_ = 0, tokens_ = 0;
};

/// Returns the vector of a text that is tokens already.
std::vector<float> embed_tokens(convert::Engine& engine, const std::vector<int32_t>& ids) {
  const std::string& file = engine.file().path();
  const std::vector<int32_t> segments = convert::default_segments(engine.model(), ids);
  Batch batch;
  batch.ids = ids.data();
  batch.segments = segments.empty() ? nullptr : segments.data();
  batch.tokens = static_cast<uint32_t>(ids.size());
  convert::check(engine.session().run(batch), file);
  const float* values = nullptr;
  uint32_t width = 0;
  convert::check(embed(engine.session(), 0, &values, &width), file);
  return {values, values + width};
}

/// Tokens are run as they are given, with the special tokens among them.
void read_token_embeddings(const Json& request, const Worker& model, std::shared_ptr<EmbeddingsWriter> writer,
                           Job* job) {
  const Model& file = model.file().model();
  auto lists = tokens_of(request, "input", file.vocabulary());
  for (const std::vector<int32_t>& ids : lists) {
    if (file.max_sequence() == 0 || ids.size() <= file.max_sequence()) continue;
    fail(ExitCode::kInvalid, "\"input\": {} tokens, but the model takes at most {}; tokens are not cut", ids.size(),
         file.max_sequence());
  }
  job->room = lists.size();
  job->work = [lists = std::move(lists), writer = std::move(writer), most = job->most_reply](convert::Engine& engine) {
    Reply reply;
    for (const std::vector<int32_t>& ids : lists) {
      writer->put(embed_tokens(engine, ids), ids.size(), &reply.body);
      if (reply.body.size() <= most) continue;
      return too_large_reply();
    }
    writer->finish(&reply.body);
    return reply;
  };
}

void read_role(const Json& request, Job* job) {
  if (!has_field(request, "prompt_name")) return;
  const std::string name = string_of(request, "prompt_name");
  if (name != "query" && name != "document")
    fail(ExitCode::kInvalid, "\"prompt_name\": \"{}\": wanted query or document", name);
  job->role = name == "query" ? TextRole::kQuery : TextRole::kDocument;
}

size_t dimensions_of(const Json& request, const Worker& model) {
  return number_of(request, "dimensions", 1, convert::embedding_width(model.file().model())).value_or(0);
}

/// Writes a list of vectors, as text-embeddings-inference does.
class VectorsWriter final : public BodyWriter {
 public:
  explicit VectorsWriter(size_t dimensions) : dimensions_(dimensions) {}
  void put(const Predictor&, const Input&, const Prediction& prediction, std::string* body) override {
    *body += body->empty() ? "[" : ",";
    *body += convert::one_line(OrderedJson(shortened(prediction.embedding, dimensions_)));
  }
  void finish(std::string* body) override { *body += "]\n"; }

 private:
  size_t dimensions_;
};

}  // namespace

void read_embeddings(const std::string& path, Json& request, const Worker& model, Job* job) {
  refuse_unknown(request, path, {"input", "model", "encoding_format", "user", "dimensions", "prompt_name"});
  const std::string format = has_field(request, "encoding_format") ? string_of(request, "encoding_format") : "float";
  if (format != "float" && format != "base64")
    fail(ExitCode::kInvalid, "\"encoding_format\": \"{}\": wanted float or base64", format);
  const size_t dimensions = dimensions_of(request, model);
  read_role(request, job);
  auto writer = std::make_unique<EmbeddingsWriter>(model.name(), format == "base64", dimensions);
  job->parts = model.parts(kVectorPart);
  if (holds_tokens(request, "input")) {
    if (has_field(request, "prompt_name"))
      fail(ExitCode::kInvalid, "\"prompt_name\": goes with texts, not with tokens");
    return read_token_embeddings(request, model, std::move(writer), job);
  }
  job->texts = string_or_strings_of(request, "input");
  job->writer = std::move(writer);
}

void read_inputs(const std::string& path, Json& request, const Worker& model, Job* job) {
  refuse_unknown(request, path,
                 {"inputs", "normalize", "truncate", "truncation_direction", "prompt_name", "dimensions", "model"});
  if (model.parts(kVectorPart) == 0)
    fail(ExitCode::kUnsupported, "\"inputs\": {} has no vector of a text", model.name());
  refuse_flag(request, "normalize", false, "vectors are as the file makes them; leave it out");
  check_truncation(request);
  read_role(request, job);
  job->texts = string_or_strings_of(request, "inputs");
  job->parts = model.parts(kVectorPart);
  job->writer = std::make_unique<VectorsWriter>(dimensions_of(request, model));
}

}  // namespace bantam::serve
