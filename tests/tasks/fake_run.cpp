#include "tests/tasks/fake_run.h"

#include <cstring>
#include <type_traits>

#include "session/state.h"
#include "text/tables.h"

namespace bantam::tests {
namespace {

/// Model's members in order, because a model can otherwise only be made by Model::open from a whole file.
struct ModelImage {
  const uint8_t* bytes;
  uint64_t size;
  const void* root;
  const uint8_t* data;
};
static_assert(sizeof(ModelImage) == sizeof(Model) && std::is_trivially_copyable_v<Model>);

Model model_of(const fb::Model* root) {
  const ModelImage image = {nullptr, 0, root, nullptr};
  Model model;
  std::memcpy(static_cast<void*>(&model), &image, sizeof image);
  return model;
}

std::unique_ptr<fb::TensorT> output_tensor(const FakeOutput& output, uint32_t offset) {
  auto tensor = std::make_unique<fb::TensorT>();
  tensor->name = fb::EnumNameOutputRole(output.role);
  tensor->role = fb::Role::output;
  tensor->shape = {fb::Dim(output.per_token ? 0 : 1, 1, 0, 1), fb::Dim(-1, 0, static_cast<int32_t>(output.width), 1)};
  tensor->offset = {offset};
  return tensor;
}

}  // namespace

struct FakeRun::Built {
  flatbuffers::FlatBufferBuilder builder;
  Model model;
  std::vector<float> shared;
  std::vector<int32_t> ids;
  std::vector<int32_t> segments;
  std::vector<uint32_t> offsets;
  std::vector<EncodeResult> results;
  std::vector<Offset> bytes;
  std::vector<uint8_t> origins;
  std::unique_ptr<SessionState> state;
};

FakeRun::FakeRun() : task_(std::make_unique<fb::TaskT>()) {}
FakeRun::~FakeRun() = default;

fb::LabelSetT& FakeRun::add_labels(uint32_t output, const std::vector<std::string>& labels, fb::TagScheme scheme) {
  task_->label_sets.push_back(std::make_unique<fb::LabelSetT>());
  fb::LabelSetT& set = *task_->label_sets.back();
  set.output = output;
  set.labels = labels;
  set.scheme = scheme;
  return set;
}

void FakeRun::add_sequence(const std::vector<FakeToken>& tokens) { sequences_.push_back(tokens); }

void FakeRun::add_words(const std::string& text) {
  std::vector<FakeToken> tokens = {{{0, 0}, 255}};
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    tokens.push_back({{static_cast<uint32_t>(begin), static_cast<uint32_t>(end)}, 0});
    begin = end + 1;
  }
  tokens.push_back({{0, 0}, 255});
  add_sequence(tokens);
}

const Model& FakeRun::model() {
  static_cast<void>(session());
  return built_->model;
}

const Session& FakeRun::session(bool has_run) {
  built_ = std::make_unique<Built>();
  Built& b = *built_;
  fb::ModelT model;
  model.task = std::make_unique<fb::TaskT>(*task_);
  for (const FakeOutput& output : outputs_) {
    model.tensors.push_back(output_tensor(output, static_cast<uint32_t>(b.shared.size() * sizeof(float))));
    auto described = std::make_unique<fb::OutputT>();
    described->name = fb::EnumNameOutputRole(output.role);
    described->role = output.role;
    described->tensor = static_cast<int32_t>(model.tensors.size()) - 1;
    model.outputs.push_back(std::move(described));
    const uint32_t stride = kernels::pad16(output.width);
    for (size_t row = 0; row * output.width < output.values.size(); ++row) {
      const float* values = output.values.data() + row * output.width;
      b.shared.insert(b.shared.end(), values, values + output.width);
      b.shared.resize(b.shared.size() + stride - output.width, 1e30f);  // padding must not matter
    }
  }
  auto tokenizer = std::make_unique<fb::TokenizerT>();
  tokenizer->mask_id = mask_id_;
  tokenizer->model = std::make_unique<fb::TokenModelT>();
  model.tokenizers.push_back(std::move(tokenizer));
  b.builder.Finish(fb::Model::Pack(b.builder, &model));
  const fb::Model* root = fb::GetModel(b.builder.GetBufferPointer());
  b.model = model_of(root);

  b.offsets = {0};
  for (const std::vector<FakeToken>& sequence : sequences_) {
    EncodeResult result;
    for (const FakeToken& token : sequence) {
      b.ids.push_back(token.id);
      b.segments.push_back(0);
      b.bytes.push_back(token.bytes);
      b.origins.push_back(token.sequence);
      if (token.sequence < 2) ++result.content[token.sequence];
    }
    result.count = static_cast<uint32_t>(sequence.size());
    b.results.push_back(result);
    b.offsets.push_back(static_cast<uint32_t>(b.ids.size()));
  }
  b.state = std::make_unique<SessionState>(b.model, Limits(), *kernels::table(Isa::kAuto));
  SessionState& s = *b.state;
  s.tokenizer = text::open_tables(*root->tokenizers()->Get(0), nullptr);
  s.has_tokenizer = true;
  s.shared = reinterpret_cast<uint8_t*>(b.shared.data());
  s.ids = b.ids.data();
  s.segments = b.segments.data();
  s.offsets = b.offsets.data();
  s.results = b.results.data();
  s.text_offsets = b.bytes.data();
  s.text_sequences = b.origins.data();
  s.tokens = static_cast<uint32_t>(b.ids.size());
  s.sequences = static_cast<uint32_t>(sequences_.size());
  s.filled = Filled::kText;
  s.has_run = has_run;
  return s;
}

std::vector<std::string> label_names(size_t count) {
  std::vector<std::string> list;
  for (size_t i = 0; i < count; ++i) list.push_back("label" + std::to_string(i));
  return list;
}

}  // namespace bantam::tests
