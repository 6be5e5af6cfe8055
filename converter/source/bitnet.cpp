#include "source/bitnet.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/size.h"
#include "base/strings.h"
#include "graph/rows.h"
#include "source/fields.h"
#include "source/quantization.h"

namespace bantam::convert {
namespace {

constexpr const char* kWeightEnd = ".weight";
constexpr const char* kScaleEnd = ".weight_scale";
/// Rows of outputs in one row of packed bytes.
constexpr size_t kRowsOfBytes = 4;

/// A packed matrix [rows, columns]: bits 2 q and 2 q + 1 of the bytes [rows / 4, columns] are rows q * rows / 4 and on,
/// each weight plus 1.
class PackedRows : public RowSource {
 public:
  PackedRows(std::shared_ptr<const WeightFile> file, std::string name, float scale)
      : file_(std::move(file)), name_(std::move(name)), scale_(scale) {
    const StoredTensor& stored = file_->tensors().at(name_);
    rows_ = in_memory(stored.shape[0]);
    columns_ = in_memory(stored.shape[1]);
    if (!file_->reads_parts()) held_ = file_->read_bytes(name_);
  }
  size_t rows() const override { return rows_ * kRowsOfBytes; }
  size_t columns() const override { return columns_; }
  void read(size_t first, size_t count, float* out) const override {
    while (count != 0) {
      const size_t row = first % rows_, some = std::min(count, rows_ - row);
      const std::string part =
          held_.empty() ? file_->read_part(name_, uint64_t{row} * columns_, some * columns_) : std::string();
      const char* bytes = held_.empty() ? part.data() : held_.data() + row * columns_;
      for (size_t i = 0; i < some * columns_; ++i) {
        const unsigned code = static_cast<unsigned char>(bytes[i]) >> (2 * (first / rows_)) & 3U;
        if (code == 3) {
          throw Error(ExitCode::kInvalid,
                      fmt::format("{}: tensor \"{}\": byte {} has two bits that are none of -1, 0 and 1; is the file "
                                  "damaged?",
                                  file_->path().string(), name_, row * columns_ + i));
        }
        *out++ = static_cast<float>(static_cast<int>(code) - 1) * scale_;
      }
      first += some;
      count -= some;
    }
  }

 private:
  std::shared_ptr<const WeightFile> file_;
  std::string name_, held_;
  float scale_;
  size_t rows_ = 0, columns_ = 0;
};

/// The rows of a matrix in floats, each value changed by `f`.
template <class F>
class ChangedRows : public RowSource {
 public:
  ChangedRows(Constant matrix, size_t rows, size_t columns, F f)
      : matrix_(std::move(matrix)), rows_(rows), columns_(columns), f_(std::move(f)) {}
  size_t rows() const override { return rows_; }
  size_t columns() const override { return columns_; }
  void read(size_t first, size_t count, float* out) const override {
    if (matrix_.later != nullptr) {
      matrix_.later->read(first, count, out);
    } else {
      std::copy_n(matrix_.values.begin() + static_cast<std::ptrdiff_t>(first * columns_), count * columns_, out);
    }
    std::transform(out, out + count * columns_, out, f_);
  }

 private:
  Constant matrix_;
  size_t rows_, columns_;
  F f_;
};

/// The settings under quantization_config.
struct Bitnet {
  bool packs;                     // "bitlinear": all weights are packed, and sums are divided by their scale
  bool online;                    // "autobitlinear" with the weights of training
  std::vector<std::string> kept;  // modules whose weights are as they are
};

Bitnet read_settings(const Fields& config) {
  const Fields settings = config.inside(kQuantizationSettings);
  Bitnet out;
  const std::string layers = settings.text("linear_class", "bitlinear");
  const std::string mode = settings.text("quantization_mode", "offline");
  if (layers != "bitlinear" && layers != "autobitlinear") {
    settings.problem(ExitCode::kUnsupported, "linear_class",
                     fmt::format("\"{}\" is not supported; \"bitlinear\" and \"autobitlinear\" are", layers));
  }
  if (mode != "offline" && mode != "online") {
    settings.problem(ExitCode::kUnsupported, "quantization_mode",
                     fmt::format("\"{}\" is not supported; \"offline\" and \"online\" are", mode));
  }
  if (settings.flag("use_rms_norm", false)) {
    settings.problem(ExitCode::kUnsupported, "use_rms_norm", "norms of each layer's own are not supported");
  }
  out.packs = layers == "bitlinear";
  out.online = !out.packs && mode == "online";
  out.kept = {"lm_head"};
  if (settings.has("modules_to_not_convert")) {
    const Json& list = settings.raw("modules_to_not_convert");
    if (!list.is_array() || !std::all_of(list.begin(), list.end(), [](const Json& item) { return item.is_string(); })) {
      settings.problem(ExitCode::kInvalid, "modules_to_not_convert", "is not a list of names of modules");
    } else {
      out.kept = list.get<std::vector<std::string>>();
    }
  }
  return out;
}

/// Returns true if an entry is the module's name, its end, or a module that contains it.
bool names_module(const std::vector<std::string>& entries, const std::string& module) {
  return std::any_of(entries.begin(), entries.end(), [&](const std::string& entry) {
    return ends_with(module, entry) ||
           (starts_with(module, entry) && (ends_with(entry, ".") || module[entry.size()] == '.'));
  });
}

class Settler {
 public:
  Settler(const Bitnet& settings, Checkpoint* checkpoint, Problems* problems)
      : settings_(settings), checkpoint_(*checkpoint), problems_(*problems) {}

  void run() {
    std::vector<std::string> modules, scales;
    for (const auto& [name, entry] : checkpoint_.tensors()) {
      if (ends_with(name, kScaleEnd)) scales.push_back(name);
      if (ends_with(name, kWeightEnd) && entry.stored->shape.size() == 2)
        modules.push_back(name.substr(0, name.size() - std::string(kWeightEnd).size()));
    }
    for (const std::string& module : modules) settle(module);
    for (const std::string& scale : scales) checkpoint_.leave_out(scale);
    if (changed_ == 0) {
      problems_.add(ExitCode::kInvalid,
                    fmt::format("{}: BitNet's, but no tensor is packed or has a weight_scale; is config.json that of "
                                "these weights?",
                                kQuantizationSettings));
    }
  }

 private:
  void settle(const std::string& module) {
    const std::string name = module + kWeightEnd;
    const Checkpoint::Entry entry = checkpoint_.tensors().at(name);
    const bool has_scale = checkpoint_.tensors().count(module + kScaleEnd) != 0;
    if (entry.stored->dtype == "U8") {
      const float scale = has_scale ? scale_of(module) : 1;
      if (settings_.online) return refuse(name, " is packed, but quantization_mode is \"online\"");
      if (multiply_overflows(*entry.stored)) return refuse(name, " is too large");
      put(name,
          std::make_shared<PackedRows>(checkpoint_.files()[entry.file], name, settings_.packs ? 1 / scale : scale));
    } else if (settings_.online) {
      if (name.find("embed") == std::string::npos && !names_module(settings_.kept, module)) put(name, trained(name));
    } else if (has_scale) {
      if (settings_.packs) return refuse(name, " is not packed, as linear_class \"bitlinear\" has it");
      const float scale = scale_of(module);
      put(name, changed(name, [scale](float value) { return value * scale; }));
    }
  }

  static bool multiply_overflows(const StoredTensor& stored) {
    uint64_t rows = 0, elements = 0;
    return !multiply(stored.shape[0], kRowsOfBytes, &rows) || !multiply(rows, stored.shape[1], &elements) ||
           stored.elements == 0;
  }

  void refuse(const std::string& name, const char* why) {
    problems_.add(ExitCode::kInvalid, {"", "tensor", name, why, "; is config.json that of these weights?"});
  }

  float scale_of(const std::string& module) {
    const std::vector<float> stored = checkpoint_.read(module + kScaleEnd);
    if (stored.size() == 1 && std::isfinite(stored.front()) && stored.front() > 0) return stored.front();
    problems_.add(ExitCode::kInvalid,
                  {"", "tensor", module + kScaleEnd, " is not one positive number", "; is the file damaged?"});
    return 1;
  }

  Constant matrix(const std::string& name) const {
    Constant out;
    out.later = checkpoint_.rows(name, in_memory(checkpoint_.tensors().at(name).stored->shape[1]));
    if (out.later == nullptr) out.values = checkpoint_.read(name);
    return out;
  }

  template <class F>
  std::shared_ptr<const RowSource> changed(const std::string& name, F f) const {
    const std::vector<uint64_t>& shape = checkpoint_.tensors().at(name).stored->shape;
    return std::make_shared<ChangedRows<F>>(matrix(name), in_memory(shape[0]), in_memory(shape[1]), std::move(f));
  }

  /// WeightQuant: the nearest of -1, 0 and 1 times the mean magnitude, ties to even.
  std::shared_ptr<const RowSource> trained(const std::string& name) const {
    double sum = 0;
    uint64_t count = 0;
    all_values(matrix(name), [&](float value) {
      sum += std::fabs(value);
      ++count;
      return true;
    });
    const float scale = 1 / std::max(static_cast<float>(sum / static_cast<double>(count)), 1e-5F);
    return changed(name, [scale](float value) {
      const float scaled = value * scale;
      return static_cast<float>((scaled > 0.5F ? 1 : 0) - (scaled < -0.5F ? 1 : 0)) / scale;
    });
  }

  void put(const std::string& name, std::shared_ptr<const RowSource> rows) {
    const Checkpoint::Entry entry = checkpoint_.tensors().at(name);
    StoredTensor described;
    described.dtype = kTernaryTensor;
    described.shape = {rows->rows(), rows->columns()};
    described.elements = described.shape[0] * described.shape[1];
    described.size = entry.stored->size;
    checkpoint_.put(name, std::move(rows), std::move(described), entry.file);
    ++changed_;
  }

  const Bitnet& settings_;
  Checkpoint& checkpoint_;
  Problems& problems_;
  size_t changed_ = 0;
};

}  // namespace

bool is_bitnet(const Json& config) { return quantization_method(config) == "bitnet"; }

void settle_bitnet(Json* config, const std::string& config_name, Checkpoint* checkpoint) {
  Problems problems;
  const Bitnet settings = read_settings(Fields(*config, config_name, problems));
  problems.raise();
  Settler(settings, checkpoint, &problems).run();
  problems.raise();
  config->erase(kQuantizationSettings);
}

}  // namespace bantam::convert
