#include "converter/import_fixture.h"

#include <atomic>
#include <cstring>
#include <fstream>

namespace bantam::convert::fixture {
namespace fs = std::filesystem;
using nlohmann::json;

TensorData tensor(std::vector<uint64_t> shape) {
  size_t count = 1;
  for (const uint64_t extent : shape) count *= static_cast<size_t>(extent);
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i % 97) / 64.0F - 0.7F;
  TensorData out;
  out.shape = std::move(shape);
  out.bytes.resize(count * sizeof(float));
  std::memcpy(out.bytes.data(), values.data(), out.bytes.size());
  return out;
}

std::string with_header(const std::string& header, const std::string& data) {
  std::string bytes;
  for (uint32_t i = 0; i < 8; ++i) bytes += static_cast<char>(uint64_t{header.size()} >> (8 * i) & 0xFF);
  return bytes + header + data;
}

std::string safetensors_bytes(const TensorMap& tensors, const std::map<std::string, std::string>& metadata) {
  json header = {{"__metadata__", {{"format", "pt"}}}};
  for (const auto& [name, text] : metadata) header["__metadata__"][name] = text;
  std::string data;
  for (const auto& [name, tensor] : tensors) {
    const size_t begin = data.size();
    data.append(tensor.bytes.begin(), tensor.bytes.end());
    header[name] = {{"dtype", tensor.dtype}, {"shape", tensor.shape}, {"data_offsets", {begin, data.size()}}};
  }
  return with_header(header.dump(), data);
}

TensorMap tiny_bert() {
  TensorMap tensors;
  const auto dense = [&](const std::string& name, uint64_t out, uint64_t in) {
    tensors[name + ".weight"] = tensor({out, in});
    tensors[name + ".bias"] = tensor({out});
  };
  const auto norm = [&](const std::string& name) {
    tensors[name + ".LayerNorm.weight"] = tensor({8});
    tensors[name + ".LayerNorm.bias"] = tensor({8});
  };
  tensors["bert.embeddings.word_embeddings.weight"] = tensor({10, 8});
  tensors["bert.embeddings.token_type_embeddings.weight"] = tensor({2, 8});
  tensors["bert.embeddings.position_embeddings.weight"] = tensor({6, 8});
  norm("bert.embeddings");
  for (const char* layer : {"bert.encoder.layer.0.", "bert.encoder.layer.1."}) {
    for (const char* part : {"query", "key", "value"}) dense(layer + ("attention.self." + std::string(part)), 8, 8);
    dense(layer + std::string("attention.output.dense"), 8, 8);
    norm(layer + std::string("attention.output"));
    dense(layer + std::string("intermediate.dense"), 12, 8);
    dense(layer + std::string("output.dense"), 8, 12);
    norm(layer + std::string("output"));
  }
  dense("bert.pooler.dense", 8, 8);
  dense("classifier", 3, 8);
  return tensors;
}

json tiny_config() {
  return {{"architectures", {"BertForSequenceClassification"}},
          {"model_type", "bert"},
          {"hidden_size", 8},
          {"num_hidden_layers", 2},
          {"num_attention_heads", 2},
          {"intermediate_size", 12},
          {"vocab_size", 10},
          {"max_position_embeddings", 6},
          {"type_vocab_size", 2}};
}

void rename(TensorMap& tensors, const std::string& from, const std::string& to) {
  auto node = tensors.extract(from);
  ASSERT_FALSE(node.empty()) << from;
  node.key() = to;
  tensors.insert(std::move(node));
}

TensorMap renamed(const TensorMap& tensors, const std::string& from, const std::string& to) {
  TensorMap out;
  for (const auto& [name, tensor] : tensors) {
    std::string changed = name;
    for (size_t at = changed.find(from); at != std::string::npos; at = changed.find(from, at + to.size())) {
      changed.replace(at, from.size(), to);
    }
    out[changed] = tensor;
  }
  return out;
}

Directory::Directory() {
  static std::atomic<int> count{0};
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  std::string name = std::string(test->test_suite_name()) + "." + test->name() + "." + std::to_string(count++);
  for (char& c : name) c = c == '/' ? '.' : c;
  path_ = fs::path(::testing::TempDir()) / name;
  fs::remove_all(path_);
  fs::create_directories(path_);
}

Directory::~Directory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void Directory::write(const std::string& name, const std::string& bytes) const {
  fs::create_directories((path_ / name).parent_path());
  std::ofstream(path_ / name, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

void Directory::write_model(const json& config, const TensorMap& tensors) const {
  write("config.json", config.dump());
  write("model.safetensors", safetensors_bytes(tensors));
}

std::string problems_of(ExitCode code, const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), static_cast<int>(code)) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no Error was thrown";
  return "";
}

}  // namespace bantam::convert::fixture
