#include "pipeline/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "pipeline/produce.h"
#include "score/expect.h"
#include "score/judge.h"
#include "score/scores.h"

namespace bantam::convert {
namespace {

/// The bytes of reference outputs to keep for further files: 64 MiB.
constexpr size_t kMostKept = size_t{64} << 20;

void add_verdicts(const Comparison& comparison, double limit, Report& report) {
  for (Verdict& verdict : judge(comparison, limit)) {
    if (!verdict.passed) report.gate_failures.push_back(verdict.problem);
    report.gate.verdicts.push_back(std::move(verdict));
  }
}

}  // namespace

Gate::Gate(const Graph& graph, const ConvertOptions& options) : graph_(graph), options_(options) {}

Gate::~Gate() = default;

void Gate::prepare() {
  if (reference_) return;
  TypeOptions exact;
  exact.weights = fb::DType::f32;
  reference_bytes_ = build(graph_, exact, DataSection::In::kScratch);
  // An f32 file is compared with itself, bit for bit.
  const bool same = options_.types.weights == fb::DType::f32;
  const uint32_t tokens = session_tokens(graph_.model);
  reference_ = std::make_unique<Runner>(reference_bytes_, tokens, same ? Linears::kNative : Linears::kFastest);
  texts_ = gate_texts(options_, graph_.model, reference_->model());
  if (reference_->model().has_tokenizer()) leave_out_empty_texts();
  if (texts_.texts.empty()) {
    samples_ = make_samples(*reference_, tokens, {});
    texts_.name = std::to_string(samples_.size()) + " " + texts_.name;
  }
  if (reference_->model().chunk_tokens() != 0 && !texts_.texts.empty()) {
    std::vector<std::string> texts;
    for (const LabelledText& text : texts_.texts) texts.push_back(text.text);
    samples_ = reference_->encode_all(texts);
  } else {
    for (const LabelledText& text : texts_.texts) samples_.push_back(reference_->encode(text.text, text.second));
  }
  if (texts_.labelled) labels_ = label_numbers(graph_.model, texts_.texts);
  for (const std::string& text : texts_.odd) {
    samples_.push_back(reference_->encode(text));
    samples_.back().odd = true;
  }
  for (Sample& sample : samples_) reference_->complete(&sample, kCompletionTokens);
}

void Gate::leave_out_empty_texts() {
  auto& texts = texts_.texts;
  const size_t before = texts.size();
  const auto is_empty = [this](const LabelledText& text) { return !reference_->takes(text.text, text.second); };
  texts.erase(std::remove_if(texts.begin(), texts.end(), is_empty), texts.end());
  auto& odd = texts_.odd;
  odd.erase(std::remove_if(odd.begin(), odd.end(), [this](const auto& text) { return !reference_->takes(text); }),
            odd.end());
  if (texts.size() == before) return;
  texts_.notes.push_back(fmt::format("{} of {} texts that judge the file have no word that it knows: they are left out",
                                     before - texts.size(), before));
  if (texts.empty()) texts_.name = "sequences of random ids";
}

const std::vector<OutputRows>& Gate::reference(size_t sample) {
  if (sample < outputs_.size()) return outputs_[sample];
  last_ = reference_->run(samples_[sample]);
  size_t bytes = 0;
  for (const OutputRows& rows : last_) bytes += rows.values.size() * sizeof(float);
  if (sample != outputs_.size() || kept_bytes_ + bytes > kMostKept) return last_;
  kept_bytes_ += bytes;
  outputs_.push_back(last_);
  return outputs_.back();
}

Comparison Gate::compare_with_reference(const FileBytes& file, const char* what) {
  prepare();
  Runner runner(file, session_tokens(graph_.model));
  Comparer comparer(graph_.model, "the f32 build");
  for (size_t i = 0; i < samples_.size(); ++i) {
    const std::vector<OutputRows>& exact = reference(i);
    const std::vector<OutputRows> got = runner.run(samples_[i]);
    comparer.add(samples_[i], exact, got);
    if (i < labels_.size()) {
      const size_t output = graph_.model.task->label_sets.front()->output;
      comparer.add_label(labels_[i], exact[output], got[output]);
    }
    options_.progress(what, static_cast<double>(i + 1) / static_cast<double>(samples_.size()));
  }
  return comparer.result();
}

Comparison Gate::compare_with_expected(const FileBytes& file) {
  std::vector<std::string> names;
  for (const auto& output : graph_.model.outputs) names.push_back(output->name);
  const std::vector<Expected> expected = read_expected(options_.expect, names);
  size_t longest = 1;
  for (const Expected& line : expected) {
    longest = std::max({longest, line.sample.ids.size(), line.sample.decoder_ids.size()});
  }
  Runner runner(file, static_cast<uint32_t>(longest));
  Comparer comparer(graph_.model, options_.expect.filename().string());
  compare_expected(runner, expected, comparer, [&](size_t done, size_t all) {
    options_.progress("comparing with stored outputs", static_cast<double>(done) / static_cast<double>(all));
  });
  return comparer.result();
}

void Gate::judge(const FileBytes& file, const char* what, Report& report) {
  report.gate.limit = options_.max_label_flips;
  if (options_.parity != "none") {
    report.parity = compare_with_reference(file, what);
    add_verdicts(report.parity, options_.max_label_flips, report);
    report.gate.texts = texts_.name;
    report.gate.built_in = texts_.built_in;
    report.gate.labelled = texts_.labelled;
    report.notes.insert(report.notes.end(), texts_.notes.begin(), texts_.notes.end());
  }
  if (options_.expect.empty()) return;
  report.expected = compare_with_expected(file);
  add_verdicts(report.expected, options_.max_label_flips, report);
}

}  // namespace bantam::convert
