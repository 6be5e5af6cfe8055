#include "source/setfit.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <utility>

#include "base/strings.h"
#include "source/fields.h"
#include "source/labels.h"
#include "source/safetensors.h"

namespace bantam::convert {
namespace fs = std::filesystem;
namespace {

constexpr const char* kPickledHead = "model_head.pkl";
constexpr const char* kWeights = "model_head.safetensors";
constexpr const char* kClasses = "classes";  // key of the metadata
constexpr size_t kNamesOfClasses = 1024;     // first bytes of a pickle, which name the class of its object
constexpr const char* kVectorsAlone = "convert with --task embed for the vectors alone";
// safetensors 0.8 writes an array in memory order, and scikit-learn's matrices may be column-major.
constexpr const char* kSaveWeights =
    "if you trust the pickle, save the weights and classes of its logistic regression: python -c \"import joblib, "
    "json, "
    "numpy as n, safetensors.numpy as s; h = joblib.load('model_head.pkl'); s.save_file({'coef': "
    "n.ascontiguousarray(h.coef_), 'intercept': n.ascontiguousarray(h.intercept_)}, 'model_head.safetensors', "
    "metadata={'classes': json.dumps(h.classes_.tolist())})\"";
// The head divides its scores by a temperature; without a bias, a zero vector gives zero scores.
constexpr const char* kSaveLayer =
    "if you trust the pickle, save the weights of its layer, where SetFit is installed: python -c \"import joblib, "
    "json, "
    "torch, safetensors.torch as s; h = joblib.load('model_head.pkl'); assert not h.multitarget; t = h.temperature + "
    "h.eps; l = h.linear; s.save_file({'coef': l.weight.data / t, 'intercept': l(torch.zeros(l.in_features)).data / "
    "t}, "
    "'model_head.safetensors', metadata={'classes': json.dumps(list(range(l.out_features)))})\"";

/// Returns advice for a pickled head, based on the class named at its start, without executing anything.
std::string next_step(const fs::path& pickle) {
  std::string begin(kNamesOfClasses, '\0');
  std::ifstream stream(pickle, std::ios::binary);
  stream.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  begin.resize(static_cast<size_t>(stream.gcount()));
  for (const char* several : {"OneVsRestClassifier", "MultiOutputClassifier", "ClassifierChain"}) {
    if (includes(begin, several)) {
      return fmt::format("it is a {}, a classifier for each label, which is not supported; {}", several, kVectorsAlone);
    }
  }
  return fmt::format("{}; or {}", includes(begin, "SetFitHead") ? kSaveLayer : kSaveWeights, kVectorsAlone);
}

class HeadReader {
 public:
  HeadReader(fs::path file, Problems& problems) : file_(std::move(file)), weights_(file_), problems_(problems) {}

  SetFitHead read(uint32_t width) {
    SetFitHead head;
    const auto found = weights_.tensors().find("coef");
    if (found == weights_.tensors().end() || found->second.shape.size() != 2 || found->second.shape[1] != width ||
        found->second.shape[0] == 0 || found->second.shape[0] > kMostLabels) {
      problem(fmt::format("tensor \"coef\" is missing, or is not a matrix of a row of {} columns a label", width));
      return head;
    }
    head.rows = static_cast<uint32_t>(found->second.shape[0]);
    head.weight = take("coef", uint64_t{head.rows} * width);
    head.bias = take("intercept", head.rows);
    return head;
  }

  /// scikit-learn's `classes_`, one per score: strings, or label numbers. Empty after a problem.
  std::vector<Json> classes(size_t count) {
    const auto found = weights_.metadata().find(kClasses);
    if (found == weights_.metadata().end()) {
      problem(fmt::format("its metadata has no \"classes\", so that nothing says which row scores which label; {}",
                          kSaveWeights));
      return {};
    }
    const Json json = parse_json(found->second, file_.string() + ": metadata \"classes\"");
    const auto names_label = [](const Json& value) { return value.is_string() || value.is_number_unsigned(); };
    if (json.is_array() && json.size() == count && std::all_of(json.begin(), json.end(), names_label)) {
      return {json.begin(), json.end()};
    }
    problem(fmt::format("\"classes\" of its metadata does not list {} texts or numbers of labels, one for each score",
                        count));
    return {};
  }

 private:
  static constexpr uint64_t kMostLabels = uint64_t{1} << 20;

  void problem(const std::string& what) {
    problems_.add(ExitCode::kInvalid, fmt::format("{}: {}", file_.string(), what));
  }

  /// Reads F64 values, in which scikit-learn computes.
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

/// Names scores by their classes as SetFit does: a string is the label's name, a number an index into the labels of
/// `settings`. A number without a name is a problem if there are labels.
std::vector<std::string> names_of_classes(const std::vector<Json>& classes, const Fields& settings) {
  std::vector<std::string> labels, names;
  if (settings.has("labels")) names = read_label_list(settings, "labels");
  for (const Json& value : classes) {
    if (value.is_string()) {
      labels.push_back(value.get<std::string>());
      continue;
    }
    const auto place = value.get<uint64_t>();
    if (place >= names.size() && !names.empty()) {
      settings.problem(ExitCode::kInvalid, "labels",
                       fmt::format("names {} labels, but the head has a class {}", names.size(), place));
    }
    labels.push_back(place < names.size() ? names[static_cast<size_t>(place)] : fmt::format("LABEL_{}", place));
  }
  return labels;
}

/// Reads config_setfit.json: whether to normalize vectors, and the labels in training order, which is not the order of
/// the scores.
void read_settings(const ModelSource& source, const std::vector<Json>& classes, SetFitHead& head, Problems& problems) {
  const Fields fields = fields_around(source, kSetFitSettings, problems);
  head.normalize = fields.flag("normalize_embeddings", false);
  head.labels = names_of_classes(classes, fields);
}

}  // namespace

bool is_setfit(const ModelSource& source) {
  const auto has = [&source](const char* name) { return source.files->has(source.name_around(name)); };
  return has(kPickledHead) || has(kWeights);
}

SetFitHead read_setfit(const ModelSource& source, uint32_t width, Problems& problems) {
  const auto path = [&source](const char* name) { return source.files->path(source.name_around(name)); };
  if (!source.files->has(source.name_around(kWeights))) {
    problems.add(ExitCode::kUnsupported, fmt::format("{}: a pickle, which is never executed; {}",
                                                     path(kPickledHead).string(), next_step(path(kPickledHead))));
    return {};
  }
  HeadReader reader(path(kWeights), problems);
  SetFitHead head = reader.read(width);
  if (head.rows == 0) return head;
  const size_t scores = head.rows == 1 ? 2 : head.rows;
  read_settings(source, reader.classes(scores), head, problems);
  head.labels.resize(scores);  // may differ after a problem with the classes
  return head;
}

}  // namespace bantam::convert
