#include "pipeline/gate_texts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/sha256.h"
#include "calibrate/sensitivity.h"
#include "data/choose_texts.h"
#include "pipeline/produce.h"
#include "run/images.h"
#include "score/scores.h"

namespace bantam::convert {
namespace {

/// The number of texts to take from files given for another purpose: enough to distinguish rates of 2 % and 4 %.
constexpr size_t kBorrowedTexts = 512;
/// The number of texts to take from --gate-data.
constexpr size_t kGateTexts = 2048;

std::string counted(const std::string& file, size_t taken, size_t all) {
  if (taken == all) return fmt::format("{} texts of {}", all, file);
  return fmt::format("{} of the {} texts of {}", taken, all, file);
}

GateTexts of_file(const char* option, const std::filesystem::path& file, size_t most) {
  GateTexts result;
  std::vector<LabelledText> all = read_labelled(option, file);
  const size_t count = all.size();
  result.texts = spread(std::move(all), most);
  result.name = counted(fmt::format("{} ({})", file.filename().string(), option), result.texts.size(), count);
  return result;
}

/// Takes texts between those used for calibration, if there are any.
GateTexts of_calibration(const std::filesystem::path& file) {
  const std::vector<LabelledText> all = read_labelled("--calibrate", file);
  const size_t step = (all.size() + kCalibrationTexts - 1) / kCalibrationTexts;
  std::vector<LabelledText> between;
  for (size_t i = step / 2; i < all.size(); i += step) between.push_back(all[i]);
  GateTexts result;
  result.texts = spread(std::move(between), kBorrowedTexts);
  result.name = counted(fmt::format("{} (--calibrate)", file.filename().string()), result.texts.size(), all.size());
  return result;
}

GateTexts of_built_in(const ChosenTexts& chosen, std::optional<TextKind> domain) {
  GateTexts result;
  result.built_in = true;
  for (const std::string& text : chosen.texts) result.texts.push_back({text, "", "", ""});
  result.odd = chosen.odd;
  std::vector<std::string> about = chosen.languages;
  const bool english = std::find(about.begin(), about.end(), "en") != about.end();
  if (english && domain) about.emplace_back(*domain == TextKind::kCommand ? "commands" : "opinions");
  if (chosen.lower_case) about.emplace_back("lower case");
  result.name = fmt::format("{} built-in texts ({})", chosen.texts.size(), fmt::join(about, ", "));
  if (!chosen.fit) {
    result.notes.push_back(
        "the vocabulary is of none of the built-in texts' languages, so that they judge the file badly: "
        "give texts like those that the model will see by --gate-data FILE");
  }
  return result;
}

/// Takes the data on which `file` was measured, if they have not changed; otherwise adds a note.
std::optional<GateTexts> of_sensitivity(const std::filesystem::path& file, std::vector<std::string>& notes) {
  const Sensitivity measured = read_sensitivity(file);
  if (measured.data.empty()) return std::nullopt;
  std::filesystem::path data = measured.data;
  if (data.is_relative()) data = file.parent_path() / data;
  std::error_code ignored;
  if (std::filesystem::is_regular_file(data, ignored) && sha256_of_file(data) == measured.data_sha256)
    return of_file("--sensitivity", data, kBorrowedTexts);
  notes.push_back(
      fmt::format("{}, on which {} was measured, is not there any more or has changed: it does not judge the "
                  "file; --gate-data FILE names other texts",
                  data.string(), file.filename().string()));
  return std::nullopt;
}

GateTexts of_labels(const ConvertOptions& options, const fb::ModelT& model) {
  GateTexts result = of_file("--gate-data", options.gate_data, kGateTexts);
  const bool some =
      std::any_of(result.texts.begin(), result.texts.end(), [](const auto& t) { return !t.label.empty(); });
  if (!some) return result;
  const std::vector<int64_t> labels = label_numbers(model, result.texts);
  result.labelled = std::any_of(labels.begin(), labels.end(), [](int64_t label) { return label >= 0; });
  if (!result.labelled) {
    result.notes.push_back(
        fmt::format("--gate-data {}: the model does not give one label to a text, so that label flips and "
                    "cosines judge it, not the data's labels",
                    options.gate_data.filename().string()));
  }
  return result;
}

}  // namespace

GateTexts gate_texts(const ConvertOptions& options, const fb::ModelT& model, const Model& file) {
  const bool parity_file = !options.parity.empty() && options.parity != "all";
  if (!file.has_tokenizer()) {
    const std::string given = parity_file                 ? "--parity " + options.parity
                              : options.gate_data.empty() ? ""
                                                          : "--gate-data " + options.gate_data.string();
    if (!given.empty()) {
      throw Error(ExitCode::kUsage, given +
                                        ": the model has no tokenizer, so it takes no texts; leave the option out to "
                                        "compare on what is made up");
    }
    GateTexts none;
    none.name = takes_images(file) ? "made-up images" : "sequences of random ids";
    return none;
  }
  if (options.parity == "all") {
    GateTexts every = of_built_in(all_texts(), std::nullopt);
    every.name = fmt::format("all {} built-in texts", every.texts.size());
    return every;
  }
  if (parity_file) return of_file("--parity", options.parity, SIZE_MAX);
  if (!options.gate_data.empty()) return of_labels(options, model);
  if (!options.calibrate_scores.empty()) return of_file("--calibrate-scores", options.calibrate_scores, kBorrowedTexts);
  if (!options.calibrate.empty()) return of_calibration(options.calibrate);
  std::vector<std::string> notes;
  if (!options.sensitivity.empty()) {
    if (auto measured_on = of_sensitivity(options.sensitivity, notes)) return *measured_on;
  }
  const std::optional<TextKind> domain = domain_of(model);
  GateTexts built_in = of_built_in(choose_texts(tokenize_as(file), domain), domain);
  built_in.notes.insert(built_in.notes.end(), notes.begin(), notes.end());
  return built_in;
}

}  // namespace bantam::convert
