#include "onnx/parameter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "graph/rows.h"

namespace bantam::convert::onnx {
namespace {

/// Scale and zero point of the element at row r and column c of the matrix in its final orientation.
struct Scales {
  explicit Scales(const Parameter& p) : parameter(p), by_row((p.axis == 0) != p.turned) {}
  double at(const HostTensor& from, size_t r, size_t c) const {
    if (from.size() == 1) return from.at(0);
    const size_t i = by_row ? r : c;
    if (i >= from.size()) {
      throw Error(ExitCode::kInvalid, fmt::format("tensor \"{}\": its scales do not fit", parameter.name));
    }
    return from.at(i);
  }
  const Parameter& parameter;
  bool by_row;
};

fb::DType type_of(const Parameter& parameter) {
  if (parameter.blocked != nullptr) return parameter.blocked->bits == 8 ? fb::DType::i8 : fb::DType::i4;
  if (parameter.tensor == nullptr) return fb::DType::f32;
  switch (parameter.tensor->type) {
    case Type::f16:
      return fb::DType::f16;
    case Type::i8:
    case Type::u8:
      return fb::DType::i8;
    default:
      return fb::DType::f32;
  }
}

Values described(const Parameter& parameter) {
  Values out;
  if (!parameter.name.empty()) out.source.push_back(parameter.name);
  out.source_type = type_of(parameter);
  if (parameter.tensor != nullptr) out.source_bytes = parameter.tensor->bytes.size();
  if (parameter.blocked != nullptr) out.source_bytes = parameter.blocked->bytes.size();
  return out;
}

void check(float value, const Parameter& parameter, const std::string& file) {
  if (std::isfinite(value)) return;
  throw Error(ExitCode::kInvalid, fmt::format("{}: tensor \"{}\" holds a value that is not finite; export the model "
                                              "again",
                                              file, parameter.name));
}

/// Rows [skip, skip + keep) of a float matrix that stays in the file.
class FileRows : public RowSource {
 public:
  FileRows(const Parameter& parameter, size_t skip, size_t keep, std::shared_ptr<const Model> model)
      : model_(std::move(model)),
        tensor_(*parameter.tensor),
        turned_(parameter.turned),
        width_(static_cast<size_t>(parameter.dims()[1])),
        all_(static_cast<size_t>(parameter.dims()[0])),
        skip_(skip),
        keep_(keep) {}
  size_t rows() const override { return keep_; }
  size_t columns() const override { return width_; }

  void read(size_t first, size_t count, float* out) const override {
    const size_t begin = skip_ + first;
    if (!turned_) {
      read_floats(tensor_, begin * width_, count * width_, out);
      return let_go(begin * width_, count * width_);
    }
    std::vector<float> part(count);
    size_t held = 0;
    for (size_t c = 0; c < width_; ++c) {
      read_floats(tensor_, c * all_ + begin, count, part.data());
      for (size_t r = 0; r < count; ++r) out[r * width_ + c] = part[r];
      if ((c + 1 - held) * all_ < kHeldElements && c + 1 != width_) continue;
      let_go(held * all_, (c + 1 - held) * all_);
      held = c + 1;
    }
  }

 private:
  static constexpr size_t kHeldElements = size_t{1} << 20;
  void let_go(size_t first, size_t count) const {
    const size_t each = bytes_of(tensor_.type);
    model_->let_go(tensor_.bytes.substr(first * each, count * each));
  }

  const std::shared_ptr<const Model> model_;
  const Tensor& tensor_;  // in model_
  const bool turned_;
  const size_t width_, all_, skip_, keep_;
};

/// Smaller matrices are kept in memory.
constexpr size_t kFewElements = size_t{1} << 12;

}  // namespace

double BlockedIntegers::value(int64_t row, int64_t column) const {
  const auto at = static_cast<uint64_t>(row * stride + column) * bits;
  const auto byte = static_cast<unsigned char>(bytes[static_cast<size_t>(at / 8)]);
  int value = byte >> (at % 8) & ((1 << bits) - 1);
  if (is_signed && value >> (bits - 1) != 0) value -= 1 << bits;
  const auto of = static_cast<size_t>(row / row_block * scale_columns + column / column_block);
  return (value - (zeros.size() == 1 ? zeros[0] : zeros.at(of))) * scales->at(of);
}

std::vector<int64_t> Parameter::dims() const {
  std::vector<int64_t> out = tensor != nullptr   ? tensor->dims
                             : folded != nullptr ? folded->dims
                                                 : std::vector<int64_t>{};
  if (blocked != nullptr) out = {blocked->rows, blocked->columns};
  if (!shape.empty()) out = shape;
  if (turned && out.size() == 2) std::swap(out[0], out[1]);
  return out;
}

bool Parameter::is_integer() const {
  return tensor != nullptr ? !is_float(tensor->type) : folded != nullptr && folded->whole;
}

double Parameter::stored(uint64_t i) const {
  if (blocked != nullptr) {
    const auto columns = static_cast<uint64_t>(blocked->columns);
    return blocked->value(static_cast<int64_t>(i / columns), static_cast<int64_t>(i % columns));
  }
  return tensor != nullptr ? element(*tensor, i) : folded->at(static_cast<size_t>(i));
}

Parameter matrix_parameter(std::string name, int64_t rows, int64_t columns, std::vector<double> values) {
  Parameter out;
  out.name = std::move(name);
  out.folded = std::make_shared<const HostTensor>(host_floats({rows, columns}, std::move(values)));
  return out;
}

std::shared_ptr<const HostTensor> host_of(const Parameter& parameter) {
  const bool plain = !parameter.turned && parameter.scale == nullptr && parameter.shape.empty();
  if (parameter.folded != nullptr && plain) return parameter.folded;
  std::optional<HostTensor> loaded;
  if (parameter.tensor != nullptr) {
    loaded = load(*parameter.tensor);
  } else if (parameter.folded != nullptr) {
    loaded = *parameter.folded;
  }
  if (parameter.blocked != nullptr) {
    const uint64_t elements =
        static_cast<uint64_t>(parameter.blocked->rows) * static_cast<uint64_t>(parameter.blocked->columns);
    if (elements > kMostHostElements) return nullptr;
    loaded = host_floats({parameter.blocked->rows, parameter.blocked->columns}, {});
    for (uint64_t i = 0; i < elements; ++i) loaded->floats.push_back(parameter.stored(i));
  }
  if (!loaded) return nullptr;
  if (!parameter.shape.empty()) loaded->dims = parameter.shape;
  if (parameter.scale != nullptr) {
    size_t inner = 1;
    const auto axis = static_cast<size_t>(parameter.axis);
    for (size_t i = axis + 1; i < loaded->dims.size(); ++i) inner *= static_cast<size_t>(loaded->dims[i]);
    const HostTensor& scale = *parameter.scale;
    const auto part = [&](const HostTensor& from, size_t i) {
      if (from.size() == 1) return from.at(0);
      const size_t at = inner == 0 ? 0 : i / inner % static_cast<size_t>(loaded->dims[axis]);
      return at < from.size() ? from.at(at) : 0;
    };
    std::vector<double> values;
    for (size_t i = 0; i < loaded->size(); ++i) {
      const double zero = parameter.zero == nullptr ? 0 : part(*parameter.zero, i);
      values.push_back((loaded->at(i) - zero) * part(scale, i));
    }
    loaded = host_floats(loaded->dims, std::move(values));
  }
  if (parameter.turned) {
    Node node;
    node.op = "Transpose";
    return std::make_shared<const HostTensor>(run_node(node, {&*loaded}, kNewestOpset).front());
  }
  return std::make_shared<const HostTensor>(*std::move(loaded));
}

MatrixValues matrix_of(const Parameter& parameter, uint32_t skip, uint32_t keep,
                       const std::shared_ptr<const Model>& model) {
  const std::string file = model->path.string();
  MatrixValues out;
  out.values = described(parameter);
  const std::vector<int64_t> shape = parameter.dims();
  const auto rows = static_cast<size_t>(shape[0]), columns = static_cast<size_t>(shape[1]);
  const bool in_file = parameter.tensor != nullptr && is_float(parameter.tensor->type) && parameter.scale == nullptr;
  if (in_file && size_t{keep} * columns >= kFewElements) {
    Constant read;
    read.later = out.values.later = std::make_shared<const FileRows>(parameter, skip, keep, model);
    all_values(read, [&](float value) {
      check(value, parameter, file);
      return true;
    });
    return out;
  }
  const Scales scales(parameter);
  std::vector<float>& values = out.values.values;
  values.reserve(size_t{keep} * columns);
  bool kept = parameter.scale != nullptr && (scales.by_row || parameter.scale->size() == 1);
  if (kept && parameter.tensor != nullptr && parameter.tensor->type == Type::u8) kept = parameter.zero != nullptr;
  auto rounded = std::make_shared<Rounded>();
  for (size_t r = skip; r < size_t{skip} + keep; ++r) {
    const double scale = kept ? scales.at(*parameter.scale, r, 0) : 0;
    if (kept) rounded->scales.push_back(static_cast<float>(scale));
    for (size_t c = 0; c < columns; ++c) {
      const size_t at = parameter.turned ? c * rows + r : r * columns + c;
      double value = parameter.stored(at);
      if (parameter.scale != nullptr) {
        if (parameter.zero != nullptr) value -= scales.at(*parameter.zero, r, c);
        kept = kept && std::fabs(value) <= 127;
        if (kept) rounded->integers.push_back(static_cast<int8_t>(value));
        value *= scales.at(*parameter.scale, r, c);
      }
      values.push_back(static_cast<float>(value));
      check(values.back(), parameter, file);
    }
  }
  if (kept) out.rounded = std::move(rounded);
  return out;
}

Values above_each_other(std::vector<Values> parts) {
  Values all = std::move(parts.front());
  if (parts.size() == 1) return all;
  std::vector<Constant> stacked(1);
  const auto move_to = [](Values& from, Constant& to) {
    to.values = std::move(from.values);
    to.later = std::move(from.later);
  };
  move_to(all, stacked.front());
  bool later = stacked.front().later != nullptr;
  for (size_t i = 1; i < parts.size(); ++i) {
    all.source.insert(all.source.end(), parts[i].source.begin(), parts[i].source.end());
    all.source_bytes += parts[i].source_bytes;
    move_to(parts[i], stacked.emplace_back());
    later = later || stacked.back().later != nullptr;
  }
  if (later) {
    all.later = stack_rows(std::move(stacked));
    return all;
  }
  all.values.clear();
  for (const Constant& part : stacked) all.values.insert(all.values.end(), part.values.begin(), part.values.end());
  return all;
}

Values vector_of(const Parameter& parameter, const std::string& file) {
  Values out = described(parameter);
  const std::shared_ptr<const HostTensor> host = host_of(parameter);
  if (host == nullptr) {
    throw Error(ExitCode::kUnsupported,
                fmt::format("{}: tensor \"{}\" is too large for a vector", file, parameter.name));
  }
  for (size_t i = 0; i < host->size(); ++i) {
    out.values.push_back(static_cast<float>(host->at(i)));
    check(out.values.back(), parameter, file);
  }
  return out;
}

}  // namespace bantam::convert::onnx
