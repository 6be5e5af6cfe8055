#include "tests/session/model_builder.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "format/header.h"
#include "kernels/kernels.h"
#include "ops/ops.h"

namespace bantam::testing {
namespace {

uint32_t pad(uint32_t n, uint32_t multiple) { return (n + multiple - 1) / multiple * multiple; }

fb::Dim fixed(uint32_t n) { return fb::Dim(-1, 0, static_cast<int32_t>(n), 1); }

/// Quantizes with the scale max |x| / 127 that the file format requires; 1 for a row of zeros.
float quantize(const float* values, uint32_t n, int8_t* out) {
  float largest = 0;
  for (uint32_t i = 0; i < n; ++i) largest = std::max(largest, std::fabs(values[i]));
  const float scale = largest == 0 ? 1.0f : largest / 127.0f;
  for (uint32_t i = 0; i < n; ++i)
    out[i] = static_cast<int8_t>(std::lrint(std::clamp(values[i] / scale, -127.0f, 127.0f)));
  return scale;
}

}  // namespace

FileBytes::FileBytes(const std::vector<uint8_t>& bytes, size_t alignment, size_t skew)
    : storage_(std::make_shared<std::vector<uint8_t>>(bytes.size() + alignment + skew)), size_(bytes.size()) {
  const auto address = reinterpret_cast<uintptr_t>(storage_->data());
  data_ = storage_->data() + (alignment - address % alignment) % alignment + skew;
  std::copy(bytes.begin(), bytes.end(), data_);
}

uint16_t to_half(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  const uint32_t sign = bits >> 16 & 0x8000u;
  const float magnitude = std::fabs(value);
  if (magnitude < 6.103515625e-5f)
    return static_cast<uint16_t>(sign | static_cast<uint32_t>(std::lrint(magnitude * 16777216.0f)));
  const uint32_t rounded = (bits & 0x7FFFFFFFu) + 0xFFFu + (bits >> 13 & 1u);
  return static_cast<uint16_t>(sign | ((rounded >> 13) - (112u << 10)));
}

ModelBuilder::ModelBuilder() {
  model.tool = "bantam tests";
  model.name = "random";
  for (const fb::SymbolRole role : fb::EnumValuesSymbolRole()) {
    auto symbol = std::make_unique<fb::SymbolT>();
    symbol->name = fb::EnumNameSymbolRole(role);
    symbol->role = role;
    symbol->multiple = 16;
    model.symbols.push_back(std::move(symbol));
  }
  model.subgraphs.push_back(std::make_unique<fb::SubgraphT>());
  model.shared_bytes.assign(4, 0);
  model.tile_bytes.assign(4, 0);
}

fb::Blob ModelBuilder::store(const void* bytes, size_t size) {
  const size_t offset = data.size();
  data.resize(offset + (size + 63) / 64 * 64);
  std::memcpy(data.data() + offset, bytes, size);
  return fb::Blob(offset, size, 0, 0);
}

int32_t ModelBuilder::vector(const std::string& name, const std::vector<float>& values) {
  auto t = std::make_unique<fb::TensorT>();
  t->name = name;
  t->shape = {fixed(static_cast<uint32_t>(values.size()))};
  std::vector<float> padded(pad(static_cast<uint32_t>(values.size()), 16));
  std::copy(values.begin(), values.end(), padded.begin());
  t->data = std::make_unique<fb::Blob>(store(padded.data(), padded.size() * 4));
  model.tensors.push_back(std::move(t));
  return static_cast<int32_t>(model.tensors.size()) - 1;
}

int32_t ModelBuilder::numbers(const std::string& name, const std::vector<int32_t>& values) {
  auto t = std::make_unique<fb::TensorT>();
  t->name = name;
  t->type = fb::DType::i32;
  t->shape = {fixed(static_cast<uint32_t>(values.size()))};
  std::vector<int32_t> padded(pad(static_cast<uint32_t>(values.size()), 16));
  std::copy(values.begin(), values.end(), padded.begin());
  t->data = std::make_unique<fb::Blob>(store(padded.data(), padded.size() * 4));
  model.tensors.push_back(std::move(t));
  return static_cast<int32_t>(model.tensors.size()) - 1;
}

int32_t ModelBuilder::weights(const std::string& name, uint32_t n, uint32_t k, const std::vector<float>& values,
                              WeightType type) {
  auto t = std::make_unique<fb::TensorT>();
  t->name = name;
  t->shape = {fixed(n), fixed(k)};
  const uint32_t padded_n = pad(n, 16);
  if (type == WeightType::kI8) {
    const uint32_t padded_k = pad(k, 4);
    std::vector<int8_t> tiles(size_t{padded_n} * padded_k), row(k);
    std::vector<float> scales(padded_n);
    std::vector<int32_t> sums(padded_n);
    for (uint32_t i = 0; i < n; ++i) {
      scales[i] = quantize(&values[size_t{i} * k], k, row.data());
      for (uint32_t j = 0; j < k; ++j) {
        tiles[(size_t{i / 16} * (padded_k / 4) + j / 4) * 64 + i % 16 * 4 + j % 4] = row[j];
        sums[i] += row[j];
      }
    }
    t->type = fb::DType::i8;
    t->layout = fb::Layout::tile_k4n16;
    t->scale_kind = fb::ScaleKind::per_output;
    t->data = std::make_unique<fb::Blob>(store(tiles.data(), tiles.size()));
    t->scales = std::make_unique<fb::Blob>(store(scales.data(), scales.size() * 4));
    t->sums = std::make_unique<fb::Blob>(store(sums.data(), sums.size() * 4));
  } else {
    std::vector<float> tiles(size_t{padded_n} * k);
    for (uint32_t i = 0; i < n; ++i) {
      for (uint32_t j = 0; j < k; ++j) tiles[(size_t{i / 16} * k + j) * 16 + i % 16] = values[size_t{i} * k + j];
    }
    t->layout = fb::Layout::tile_n16;
    if (type == WeightType::kF16) {
      std::vector<uint16_t> halves(tiles.size());
      std::transform(tiles.begin(), tiles.end(), halves.begin(), to_half);
      t->type = fb::DType::f16;
      t->data = std::make_unique<fb::Blob>(store(halves.data(), halves.size() * 2));
    } else {
      t->data = std::make_unique<fb::Blob>(store(tiles.data(), tiles.size() * 4));
    }
  }
  model.tensors.push_back(std::move(t));
  return static_cast<int32_t>(model.tensors.size()) - 1;
}

int32_t ModelBuilder::table(const std::string& name, uint32_t rows, uint32_t width, const std::vector<float>& values,
                            WeightType type) {
  auto t = std::make_unique<fb::TensorT>();
  t->name = name;
  t->shape = {fixed(rows), fixed(width)};
  if (type == WeightType::kI8) {
    std::vector<int8_t> q(values.size());
    std::vector<float> scales(rows);
    for (uint32_t r = 0; r < rows; ++r) scales[r] = quantize(&values[size_t{r} * width], width, &q[size_t{r} * width]);
    t->type = fb::DType::i8;
    t->scale_kind = fb::ScaleKind::per_row;
    t->data = std::make_unique<fb::Blob>(store(q.data(), q.size()));
    t->scales = std::make_unique<fb::Blob>(store(scales.data(), scales.size() * 4));
  } else if (type == WeightType::kF16) {
    std::vector<uint16_t> halves(values.size());
    std::transform(values.begin(), values.end(), halves.begin(), to_half);
    t->type = fb::DType::f16;
    t->data = std::make_unique<fb::Blob>(store(halves.data(), halves.size() * 2));
  } else {
    t->data = std::make_unique<fb::Blob>(store(values.data(), values.size() * 4));
  }
  model.tensors.push_back(std::move(t));
  return static_cast<int32_t>(model.tensors.size()) - 1;
}

int32_t ModelBuilder::activation(const std::string& name, int32_t symbol, uint32_t width, fb::DType type,
                                 fb::Layout layout, uint32_t heads) {
  auto t = std::make_unique<fb::TensorT>();
  t->name = name;
  t->type = type;
  t->layout = layout;
  t->role = fb::Role::activation;
  t->region = symbol == 2 ? fb::Region::tile : fb::Region::shared;
  t->shape = {fb::Dim(symbol, 1, 0, 1), fixed(width)};
  t->heads = heads;
  const bool q8 = type == fb::DType::i8;
  uint32_t row = kernels::pad16(width) * (q8 ? 1 : 4) + (q8 ? 4 : 0);
  if (layout == fb::Layout::rows && q8) t->scale_kind = fb::ScaleKind::per_row;
  if (layout != fb::Layout::rows) {
    if (q8) t->scale_kind = fb::ScaleKind::per_row_head;
    if (layout == fb::Layout::head_rows) row = kernels::pad16(width) + heads * 4;
    if (layout == fb::Layout::key_pages)
      row = static_cast<uint32_t>(heads * kernels::key_page_bytes(width / heads, q8) / 16);
    if (layout == fb::Layout::value_pages)
      row = static_cast<uint32_t>(heads * kernels::value_page_bytes(width / heads, q8) / 16);
  }
  std::vector<uint32_t>& region = symbol == 2 ? model.tile_bytes : model.shared_bytes;
  t->offset = region;
  region[static_cast<size_t>(symbol) + 1] += row;
  model.tensors.push_back(std::move(t));
  return static_cast<int32_t>(model.tensors.size()) - 1;
}

int8_t name_input(fb::OpT& op, int32_t tensor) {
  const uint32_t row = ops::find_row(op.attributes.type, op.numerics);
  const size_t own = row == linked::kOps ? 0 : ops::kFacts[row].inputs;
  if (op.inputs.size() < own) op.inputs.resize(own, -1);
  op.inputs.push_back(tensor);
  return static_cast<int8_t>(op.inputs.size() - 1);
}

int32_t ModelBuilder::output(const std::string& name, int32_t symbol, uint32_t width) {
  const int32_t index = activation(name, symbol, width);
  model.tensors.back()->role = fb::Role::output;
  auto out = std::make_unique<fb::OutputT>();
  out->name = name;
  out->tensor = index;
  model.outputs.push_back(std::move(out));
  return index;
}

fb::OpT& ModelBuilder::op(const std::string& name, fb::OpAttributesUnion attributes, std::vector<int32_t> inputs,
                          std::vector<int32_t> outputs) {
  auto o = std::make_unique<fb::OpT>();
  o->name = name;
  o->attributes = std::move(attributes);
  o->inputs = std::move(inputs);
  o->outputs = std::move(outputs);
  model.subgraphs[0]->ops.push_back(std::move(o));
  model.subgraphs[0]->steps.back()->op_count += 1;
  return *model.subgraphs[0]->ops.back();
}

void ModelBuilder::step(int32_t symbol) {
  auto s = std::make_unique<fb::StepT>();
  s->first_op = static_cast<uint32_t>(model.subgraphs[0]->ops.size());
  s->rows = symbol;
  model.subgraphs[0]->steps.push_back(std::move(s));
}

std::vector<uint8_t> assemble(const fb::ModelT& model, const std::vector<uint8_t>& data) {
  flatbuffers::FlatBufferBuilder builder;
  fb::FinishModelBuffer(builder, fb::Model::Pack(builder, &model));
  FileHeader header;
  header.graph_offset = kHeaderBytes;
  header.graph_size = builder.GetSize();
  header.data_offset = (header.graph_offset + header.graph_size + 63) / 64 * 64;
  header.data_size = data.size();
  header.file_size = header.data_offset + header.data_size;
  std::vector<uint8_t> file(static_cast<size_t>(header.file_size));
  std::copy_n(builder.GetBufferPointer(), builder.GetSize(), file.data() + header.graph_offset);
  std::copy(data.begin(), data.end(), file.data() + header.data_offset);
  seal(header, file.data());
  return file;
}

std::vector<uint8_t> with_unknown_kind(std::vector<uint8_t> file, const std::string& name) {
  const fb::Model& model = *fb::GetModel(file.data() + kHeaderBytes);
  for (const fb::Op* op : *model.subgraphs()->Get(0)->ops()) {
    if (op->name() == nullptr || op->name()->str() != name) continue;
    const auto* table = reinterpret_cast<const flatbuffers::Table*>(op);
    file[static_cast<size_t>(table->GetAddressOf(fb::Op::VT_ATTRIBUTES_TYPE) - file.data())] =
        static_cast<uint8_t>(fb::OpAttributes::MAX) + 1;
    return file;
  }
  throw std::runtime_error("no op " + name);
}

std::vector<uint8_t> ModelBuilder::finish() const { return assemble(model, data); }

}  // namespace bantam::testing
