// Requests of a client: HTTP heads and bodies in pieces of any size, and the JSON of requests to models. The first byte
// selects the size of the pieces; requests follow one another. The result of a request must not depend on the pieces.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/sha256.h"
#include "import/hugging_face.h"
#include "pack/build.h"
#include "serve/access.h"
#include "serve/request.h"
#include "serve/routes.h"
#include "tests/fuzz/limits.h"
#include "tests/fuzz/refusals.h"

namespace {

namespace fs = std::filesystem;
namespace convert = bantam::convert;
namespace serve = bantam::serve;

constexpr size_t kMostHead = 16384, kMostBody = size_t{1} << 20;

/// Models for every kind of endpoint, with their queues, and an index.
class Service {
 public:
  Service() {
    std::vector<std::unique_ptr<serve::Worker>> models;
    std::vector<std::unique_ptr<serve::ServedIndex>> indexes;
    std::list<bantam::fuzz::InputFile> files;  // which an index is compared with
    for (const char* golden :
         {"bert-joint", "bert-answer", "bert-fill", "sentence-mean", "colbert", "gpt2-text", "bart-text"}) {
      const fs::path path = fs::path(BANTAM_SOURCE_DIR) / "tests/golden/models" / golden;
      const bool chats = std::string(golden) == "gpt2-text";
      const convert::FileBytes bytes = chats ? with_chat(path) : convert_directory(path);
      const bantam::fuzz::InputFile& file = files.emplace_back(std::string("-") + golden + ".bantam");
      file.write(bytes.data(), bytes.size());
      models.push_back(std::make_unique<serve::Worker>(file.path().string(), serve::WorkerOptions(), &metrics_));
      if (std::string(golden) == "sentence-mean") indexes.push_back(index_of(file.path().string(), models));
    }
    routes_ = std::make_unique<serve::Routes>(std::move(models), std::move(indexes), &metrics_);
  }

  void ask(serve::RequestReader& reader) {
    serve::Reply reply;
    serve::Target target;
    const serve::RequestHead& head = reader.head();
    if (access_.refuse(head) || !routes_->find(head.path, head.method, &target, &reply)) return;
    if (!serve::Routes::takes_texts(target)) {
      routes_->get(target);
      return;
    }
    bantam::fuzz::may_refuse([&] {
      serve::Job job;
      const serve::Worker* const model = routes_->read(target, std::move(reader.body()), &job, &reply);
      if (job.completion != nullptr && job.completion->choices() > serve::kMostChoices) std::abort();
      if (model == nullptr ? reply.code < 400 : job.queued() == 0 || job.queued() > model->queue()) std::abort();
    });
  }

 private:
  static convert::FileBytes convert_directory(const fs::path& path) {
    return convert::build(convert::import_hugging_face(path, {}), {});
  }

  /// The same decoder with a chat template.
  static convert::FileBytes with_chat(const fs::path& path) {
    const fs::path copy = fs::temp_directory_path() / ("bantam-serve-fuzz-" + std::to_string(getpid()));
    fs::copy(path, copy, fs::copy_options::recursive | fs::copy_options::overwrite_existing);
    fs::copy_file(fs::path(BANTAM_SOURCE_DIR) / "tests/golden/chat/zephyr.jinja", copy / "chat_template.jinja",
                  fs::copy_options::overwrite_existing);
    std::ofstream(copy / "tokenizer_config.json")
        << R"({"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "", "eos_token": "<|endoftext|>"})";
    convert::FileBytes bytes = convert_directory(copy);
    fs::remove_all(copy);
    return bytes;
  }

  /// An index of one text with a field, made by a model file.
  static std::unique_ptr<serve::ServedIndex> index_of(const std::string& model,
                                                      const std::vector<std::unique_ptr<serve::Worker>>& models) {
    convert::IndexContents contents;
    contents.model = convert::sha256_of_file(model);
    contents.width = convert::embedding_width(models.back()->file().model());
    contents.fields = {"team"};
    contents.append(convert::round_vector("text", std::vector<float>(contents.width, 1.0F), false));
    contents.records.back().values = {"\"red\""};
    const std::vector<uint8_t> bytes = convert::index_bytes(contents);
    const bantam::fuzz::InputFile file("-texts.index");
    file.write(bytes.data(), bytes.size());
    return std::make_unique<serve::ServedIndex>(file.path().string(), models);
  }

  serve::Metrics metrics_;
  serve::Access access_{{{"key"}, {"https://a.example"}, {"box"}}, true};
  std::unique_ptr<serve::Routes> routes_;
};

/// Returns the requests, read in pieces of `piece` bytes, as text for comparison. `service`: null, or the receiver of
/// the requests.
std::string read_requests(const std::string& bytes, size_t piece, Service* service) {
  using State = serve::RequestReader::State;
  serve::RequestReader reader(kMostHead, kMostBody);
  std::string said, pending;
  for (size_t at = 0; at < bytes.size() || !pending.empty();) {
    if (pending.empty()) {
      pending = bytes.substr(at, piece);
      at += pending.size();
    }
    pending.erase(0, reader.take(pending));
    if (reader.state() == State::kAtBody) {
      if (reader.head().path.find_first_of(std::string("\0\r\n", 3)) != std::string::npos) std::abort();
      reader.read_body();
    }
    if (reader.state() == State::kRefused) return said + std::to_string(reader.code());
    if (reader.state() != State::kDone) continue;
    const serve::RequestHead& head = reader.head();
    said += head.method + " " + head.path + " " + head.host + "\n" + reader.body() + "\n";
    if (service != nullptr) service->ask(reader);
    reader.next();
  }
  return said;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static Service service;
  if (size == 0) return 0;
  const bantam::fuzz::Limits limits(size);
  const std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const size_t piece = size_t{data[0]} + 1;
  if (read_requests(bytes, bytes.size() + 1, &service) != read_requests(bytes, piece, nullptr)) std::abort();
  return 0;
}
