#include "source/setfit.h"

#include <fmt/format.h>

#include <utility>

#include "source/fields.h"
#include "source/labels.h"
#include "source/safetensors.h"

namespace bantam::convert {
namespace fs = std::filesystem;
namespace {

constexpr const char* kPickledHead = "model_head.pkl";
constexpr const char* kWeights = "model_head.safetensors";
constexpr const char* kSaveWeights =
    "if you trust the file, save the weights of its logistic regression beside it: python -c \"import joblib, "
    "safetensors.numpy as s; h = joblib.load('model_head.pkl'); s.save_file({'coef': h.coef_, 'intercept': "
    "h.intercept_}, "
    "'model_head.safetensors')\"; or convert with --task embed for the vectors alone";

class HeadReader {
 public:
  HeadReader(fs::path file, Problems& problems) : file_(std::move(file)), weights_(file_), problems_(problems) {}

  SetFitHead read(uint32_t width) {
    SetFitHead head;
    const auto found = weights_.tensors().find("coef");
    if (found == weights_.tensors().end() || found->second.shape.size() != 2 || found->second.shape[1] != width ||
        found->second.shape[0] == 0 || found->second.shape[0] > kMostLabels) {
      problem(fmt::format("tensor \"coef\" is missing, or is no matrix of a row of {} columns a label", width));
      return head;
    }
    head.rows = static_cast<uint32_t>(found->second.shape[0]);
    head.weight = take("coef", uint64_t{head.rows} * width);
    head.bias = take("intercept", head.rows);
    return head;
  }

 private:
  static constexpr uint64_t kMostLabels = uint64_t{1} << 20;

  void problem(const std::string& what) {
    problems_.add(ExitCode::kInvalid, fmt::format("{}: {}", file_.string(), what));
  }

  /// scikit-learn computes in F64.
  Values take(const std::string& name, uint64_t count) {
    Values out;
    const auto found = weights_.tensors().find(name);
    if (found == weights_.tensors().end() || found->second.elements != count) {
      problem(fmt::format("tensor \"{}\" is missing, or does not hold {} numbers", name, count));
      return out;
    }
    out.values = read_floats(weights_, name);
    out.source = {std::string(kWeights) + "/" + name};
    out.source_bytes = found->second.size;
    return out;
  }

  fs::path file_;
  Safetensors weights_;
  Problems& problems_;
};

/// The labels that config_setfit.json lists, or their numbers.
void read_settings(const ModelSource& source, SetFitHead& head, Problems& problems) {
  const size_t count = head.rows == 1 ? 2 : head.rows;
  const std::string file = source.name_around(kSetFitSettings);
  const Fields fields(source.files->object_or_empty(file), source.files->path(file).string(), problems);
  head.normalize = fields.flag("normalize_embeddings", false);
  if (fields.has("labels")) {
    head.labels = read_label_list(fields, "labels");
    if (head.labels.size() != count) {
      fields.problem(ExitCode::kInvalid, "labels",
                     fmt::format("names {} labels, but the head has scores of {}", head.labels.size(), count));
    }
    return;
  }
  for (size_t i = 0; i < count; ++i) head.labels.push_back(fmt::format("LABEL_{}", i));
}

}  // namespace

bool is_setfit(const ModelSource& source) {
  const auto has = [&source](const char* name) { return source.files->has(source.name_around(name)); };
  return has(kPickledHead) || has(kWeights);
}

SetFitHead read_setfit(const ModelSource& source, uint32_t width, Problems& problems) {
  const auto path = [&source](const char* name) { return source.files->path(source.name_around(name)); };
  if (!source.files->has(source.name_around(kWeights))) {
    problems.add(ExitCode::kUnsupported,
                 fmt::format("{}: a pickle, which is never executed; {}", path(kPickledHead).string(), kSaveWeights));
    return {};
  }
  SetFitHead head = HeadReader(path(kWeights), problems).read(width);
  if (head.rows != 0) read_settings(source, head, problems);
  return head;
}

}  // namespace bantam::convert
