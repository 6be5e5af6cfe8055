#include "onnx/tflite/file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.h"
#include "base/printable.h"
#include "source/weight_file.h"

namespace bantam::convert::tflite {
namespace {

constexpr uint32_t kDeepestTables = 16, kMostTables = 1U << 20;
constexpr size_t kMostFlatTensors = 1U << 17, kMostShapeExtents = 8;

onnx::Type type_of(fl::TensorType type) {
  switch (type) {
    case fl::TensorType::FLOAT32:
      return onnx::Type::f32;
    case fl::TensorType::FLOAT16:
      return onnx::Type::f16;
    case fl::TensorType::FLOAT64:
      return onnx::Type::f64;
    case fl::TensorType::BFLOAT16:
      return onnx::Type::bf16;
    case fl::TensorType::INT8:
    case fl::TensorType::INT4:
      return onnx::Type::i8;
    case fl::TensorType::UINT8:
      return onnx::Type::u8;
    case fl::TensorType::INT16:
      return onnx::Type::i16;
    case fl::TensorType::UINT16:
      return onnx::Type::u16;
    case fl::TensorType::INT32:
      return onnx::Type::i32;
    case fl::TensorType::UINT32:
      return onnx::Type::u32;
    case fl::TensorType::INT64:
      return onnx::Type::i64;
    case fl::TensorType::UINT64:
      return onnx::Type::u64;
    case fl::TensorType::BOOL:
      return onnx::Type::boolean;
    case fl::TensorType::STRING:
      return onnx::Type::text;
  }
  return onnx::Type::undefined;
}

class FileReader {
 public:
  FileReader(std::string_view bytes, std::string path, std::shared_ptr<MemoryBudget> budget) : bytes_(bytes) {
    file_.path = std::move(path);
    file_.budget = std::move(budget);
  }

  File read() {
    const auto* data = reinterpret_cast<const uint8_t*>(bytes_.data());
    if (bytes_.size() < 8 || !fl::ModelBufferHasIdentifier(data)) {
      fail("is not a TensorFlow Lite file, or cut off: it does not have \"TFL3\" at its 5th byte");
    }
    flatbuffers::Verifier verifier(data, bytes_.size(), kDeepestTables, kMostTables);
    if (!fl::VerifyModelBuffer(verifier)) fail("is damaged, or cut off: its FlatBuffer does not verify; copy it again");
    model_ = fl::GetModel(data);
    if (model_->version() != 3) unsupported(fmt::format("schema version {} is not read, 3 is", model_->version()));
    if (model_->description() != nullptr) file_.description = printable(model_->description()->str());
    const auto* graphs = model_->subgraphs();
    if (graphs == nullptr || graphs->size() == 0) fail("holds no subgraph");
    subgraph(*graphs->Get(0));
    signature();
    metadata();
    loops();
    return std::move(file_);
  }

 private:
  void subgraph(const fl::SubGraph& graph) {
    graph_ = &graph;
    tensors();
    operations();
    file_.inputs = indices(graph_->inputs(), "the inputs", false);
    file_.outputs = indices(graph_->outputs(), "the outputs", false);
    for (const int32_t input : file_.inputs) at(input).constant = false;
    file_.input_names.resize(file_.inputs.size());
    file_.output_names.resize(file_.outputs.size());
  }

  /// Reads the conditions and bodies of loops.
  void loops() {
    for (const Operation& op : file_.operations) {
      const auto* given = op.options->builtin_options_as_WhileOptions();
      if (op.code != fl::BuiltinOperator::WHILE || given == nullptr) continue;
      for (const int32_t index : {given->cond_subgraph_index(), given->body_subgraph_index()}) {
        if (index < 0 || static_cast<uint32_t>(index) >= model_->subgraphs()->size())
          fail(fmt::format("{}: subgraph {} does not exist", op.called, index));
        if (file_.subgraphs.count(index) != 0) continue;
        FileReader inner(bytes_, file_.path, file_.budget);
        inner.model_ = model_;
        inner.subgraph(*model_->subgraphs()->Get(static_cast<uint32_t>(index)));
        file_.subgraphs[index] = std::make_shared<const File>(std::move(inner.file_));
      }
    }
  }

  [[noreturn]] void fail(const std::string& why) const {
    throw Error(ExitCode::kInvalid, fmt::format("{}: {}", file_.path, why));
  }
  [[noreturn]] void unsupported(const std::string& why) const {
    throw Error(ExitCode::kUnsupported, fmt::format("{}: {}", file_.path, why));
  }
  /// Several tables, strings and vectors of a FlatBuffer may share the same bytes.
  void take(uint64_t bytes) const { file_.budget->take(bytes, "the tensors and operators that share its bytes"); }
  Tensor& at(int32_t tensor) { return file_.tensors[static_cast<size_t>(tensor)]; }

  /// The bytes of a buffer; empty if it has none.
  std::string_view buffer(uint32_t index, const std::string& of) const {
    const auto* buffers = model_->buffers();
    if (buffers == nullptr || index >= buffers->size())
      fail(fmt::format("{}: its buffer {} does not exist", of, index));
    const fl::Buffer* found = buffers->Get(index);
    if (found->data() != nullptr && found->data()->size() != 0) {
      return {reinterpret_cast<const char*>(found->data()->data()), found->data()->size()};
    }
    // Offsets 0 and 1 mean that the file holds no bytes for the buffer.
    if (found->offset() <= 1) return {};
    if (found->offset() > bytes_.size() || found->size() > bytes_.size() - found->offset()) {
      fail(fmt::format("{}: its buffer {} lies outside of the file; copy it again", of, index));
    }
    return bytes_.substr(static_cast<size_t>(found->offset()), static_cast<size_t>(found->size()));
  }

  std::string unique(const std::string& name, size_t index) {
    std::string made = name.empty() ? fmt::format("tensor {}", index) : printable(name);
    while (!names_.insert(made).second) made += fmt::format(" #{}", index);
    return made;
  }

  void tensors() {
    const auto* tensors = graph_->tensors();
    if (tensors == nullptr || tensors->size() == 0) fail("holds no tensors");
    if (tensors->size() > kMostFlatTensors) unsupported(fmt::format("has more than {} tensors", kMostFlatTensors));
    for (uint32_t i = 0; i < tensors->size(); ++i) {
      const fl::Tensor* from = tensors->Get(i);
      constexpr uint64_t kOfTensor = 1024;  // including the structures built for it later
      Tensor out;
      take(kOfTensor + sizeof(Tensor) + (from->name() == nullptr ? 0 : 6 * uint64_t{from->name()->size()}));
      out.name = unique(from->name() == nullptr ? "" : from->name()->str(), i);
      const std::string called = fmt::format("tensor \"{}\"", out.name);
      out.type = type_of(from->type());
      out.variable = from->is_variable();
      dims(*from, called, out);
      out.bytes = buffer(from->buffer(), called);
      out.constant = !out.bytes.empty() || out.elements == 0;
      if (out.constant && !buffers_.insert(from->buffer()).second) take(out.bytes.size());
      if (from->type() == fl::TensorType::INT4 && out.constant) unpack(called, out);
      if (from->sparsity() != nullptr) out.unread = "its numbers are stored without zeros";
      const uint32_t width = onnx::bytes_of(out.type);
      if (width == 0 && out.unread.empty()) {
        out.unread = fmt::format("its type ({}) is not read", static_cast<int>(from->type()));
      }
      uint64_t size = 0;
      if (out.constant && out.unread.empty() && (!multiply(out.elements, width, &size) || size != out.bytes.size())) {
        fail(fmt::format("{}: {} elements of {} do not make its {} bytes; the file is corrupt: copy it again", called,
                         out.elements, onnx::name_of(out.type), out.bytes.size()));
      }
      quantization(*from, called, out);
      file_.tensors.push_back(std::move(out));
    }
  }

  /// Unpacks int4: two numbers per byte, the first in the lower half.
  void unpack(const std::string& called, Tensor& out) const {
    if (out.elements / 2 + out.elements % 2 != out.bytes.size()) {
      fail(fmt::format("{}: {} elements of int4 do not make its {} bytes; the file is corrupt: copy it again", called,
                       out.elements, out.bytes.size()));
    }
    file_.budget->add_source(out.bytes.size() * 7);  // as f32
    take(out.elements);
    std::string numbers;
    const auto count = static_cast<size_t>(out.elements);
    numbers.reserve(count);
    for (size_t i = 0; i < count; ++i) {
      const int half = static_cast<uint8_t>(out.bytes[i / 2]) >> (i % 2 * 4) & 15;
      numbers.push_back(static_cast<char>(half < 8 ? half : half - 16));
    }
    out.owned = std::make_shared<const std::string>(std::move(numbers));
    out.bytes = *out.owned;
  }

  void dims(const fl::Tensor& from, const std::string& called, Tensor& out) const {
    const auto* shape = from.shape();
    const auto* ports = from.shape_signature();
    const size_t rank = shape == nullptr ? 0 : shape->size();
    if (rank > kMostShapeExtents) unsupported(fmt::format("{}: has more than {} extents", called, kMostShapeExtents));
    if (ports != nullptr && ports->size() != 0 && ports->size() != rank) {
      fail(fmt::format("{}: its shape has {} extents, its signature {}", called, rank, ports->size()));
    }
    for (uint32_t i = 0; i < rank; ++i) {
      const int32_t extent = shape->Get(i);
      if (extent < 0 || !multiply(out.elements, static_cast<uint64_t>(extent), &out.elements)) {
        fail(fmt::format("{}: its shape overflows", called));
      }
      out.dims.push_back(extent);
      const bool open = ports != nullptr && ports->size() != 0 && ports->Get(i) < 0;
      out.ports.push_back(open ? -1 : extent);
    }
  }

  void quantization(const fl::Tensor& from, const std::string& called, Tensor& out) const {
    const fl::QuantizationParameters* given = from.quantization();
    if (given == nullptr || given->scale() == nullptr || given->scale()->size() == 0) return;
    if (given->details_type() != 0) out.unread = "its quantisation is a custom one";
    const auto count = given->scale()->size();
    const bool zeros = given->zero_point() != nullptr && given->zero_point()->size() != 0;
    out.axis = given->quantized_dimension();
    if (count != 1) {
      const bool there = out.axis >= 0 && out.axis < static_cast<int64_t>(out.dims.size());
      if (!there || out.dims[static_cast<size_t>(out.axis)] != static_cast<int64_t>(count)) {
        fail(fmt::format("{}: has {} scales, which is none of 1 and its extent of dimension {}", called, count,
                         out.axis));
      }
    }
    if (zeros && given->zero_point()->size() != count && given->zero_point()->size() != 1) {
      fail(fmt::format("{}: has {} scales and {} zero points", called, count, given->zero_point()->size()));
    }
    take(uint64_t{count} * 2 * (sizeof(float) + sizeof(int64_t)));
    for (uint32_t i = 0; i < count; ++i) {
      const float scale = given->scale()->Get(i);
      const int64_t zero = !zeros ? 0 : given->zero_point()->Get(given->zero_point()->size() == 1 ? 0 : i);
      if (!std::isfinite(scale) || scale < 0) fail(fmt::format("{}: a scale is not a positive number", called));
      if (std::abs(static_cast<double>(zero)) > 65535) fail(fmt::format("{}: a zero point is out of range", called));
      out.scales.push_back(scale);
      out.zeros.push_back(zero);
    }
  }

  std::vector<int32_t> indices(const flatbuffers::Vector<int32_t>* from, const std::string& of, bool optional) const {
    std::vector<int32_t> out;
    if (from == nullptr) return out;
    take(2 * sizeof(int32_t) * uint64_t{from->size()});
    for (const int32_t index : *from) {
      const bool fits = index >= 0 && static_cast<size_t>(index) < file_.tensors.size();
      if (!fits && !(optional && index == -1)) fail(fmt::format("{}: tensor {} does not exist", of, index));
      out.push_back(index);
    }
    return out;
  }

  void operations() {
    const auto* operators = graph_->operators();
    const auto* codes = model_->operator_codes();
    if (operators == nullptr) return;
    if (operators->size() > kMostFlatTensors) unsupported(fmt::format("has more than {} operators", kMostFlatTensors));
    for (uint32_t i = 0; i < operators->size(); ++i) {
      const fl::Operator* from = operators->Get(i);
      constexpr uint64_t kOfOperation = 2048;  // including the nodes that it becomes
      Operation out;
      take(kOfOperation + sizeof(Operation));
      out.options = from;
      if (codes == nullptr || from->opcode_index() >= codes->size()) {
        fail(fmt::format("operator {}: its code {} does not exist", i, from->opcode_index()));
      }
      const fl::OperatorCode* code = codes->Get(from->opcode_index());
      const int32_t number =
          std::max(static_cast<int32_t>(code->deprecated_builtin_code()), static_cast<int32_t>(code->builtin_code()));
      out.code = static_cast<fl::BuiltinOperator>(number);
      out.called = fl::EnumNameBuiltinOperator(out.code);
      if (out.called.empty()) out.called = fmt::format("operator code {}", number);
      if (out.code == fl::BuiltinOperator::CUSTOM && code->custom_code() != nullptr) {
        take(4 * uint64_t{code->custom_code()->size()});
        out.called = printable(code->custom_code()->str());
      }
      const std::string of = fmt::format("{}, operator {}", out.called, i);
      out.inputs = indices(from->inputs(), of, true);
      out.outputs = indices(from->outputs(), of, true);
      for (const int32_t output : out.outputs) {
        if (output >= 0 && at(output).constant)
          fail(fmt::format("{}: writes the constant \"{}\"", of, at(output).name));
      }
      file_.operations.push_back(std::move(out));
    }
  }

  void signature() {
    const auto* signatures = model_->signature_defs();
    if (signatures == nullptr) return;
    const auto name = [&](const flatbuffers::Vector<flatbuffers::Offset<fl::TensorMap>>* maps,
                          const std::vector<int32_t>& tensors, std::vector<std::string>& names) {
      if (maps == nullptr) return;
      for (const fl::TensorMap* map : *maps) {
        for (size_t i = 0; i < tensors.size(); ++i) {
          const bool this_one = static_cast<uint32_t>(tensors[i]) == map->tensor_index();
          if (this_one && map->name() != nullptr) names[i] = printable(map->name()->str());
        }
      }
    };
    for (const fl::SignatureDef* signature : *signatures) {
      if (signature->subgraph_index() != 0) continue;
      name(signature->inputs(), file_.inputs, file_.input_names);
      name(signature->outputs(), file_.outputs, file_.output_names);
      return;
    }
  }

  void metadata() {
    if (model_->metadata() == nullptr) return;
    for (const fl::Metadata* entry : *model_->metadata()) {
      if (entry->name() == nullptr || entry->name()->str() != "TFLITE_METADATA") continue;
      file_.metadata = buffer(entry->buffer(), "the metadata");
    }
  }

  std::string_view bytes_;
  const fl::Model* model_ = nullptr;
  const fl::SubGraph* graph_ = nullptr;
  File file_;
  std::set<std::string> names_;
  std::set<uint32_t> buffers_;  // of tensors
};

}  // namespace

File read_file(std::string_view bytes, const std::string& path) {
  return FileReader(bytes, path, std::make_shared<MemoryBudget>(path, bytes.size())).read();
}

}  // namespace bantam::convert::tflite
