#include "cli/convert_report.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "cli/frame/output.h"

namespace bantam::cli {
namespace {

using convert::Comparison;
using convert::OutputComparison;
using convert::Report;

void print_sizes(const Report& report) {
  std::vector<std::vector<std::string>> rows = {{"tensors", "count", "type", "before", "after", "worst error"}};
  uint64_t before = 0;
  uint32_t count = 0;
  for (const convert::TensorClass& row : report.classes) {
    rows.push_back({row.name, fmt::format("{}", row.tensors), row.types, readable_bytes(row.bytes_before),
                    readable_bytes(row.bytes_after),
                    row.worst_error > 0 ? fmt::format("{:.2g}", row.worst_error) : "0"});
    before += row.bytes_before;
    count += row.tensors;
  }
  rows.push_back({"tokenizer", "", "", "", readable_bytes(report.tokenizer_bytes), ""});
  if (report.shortlist_bytes != 0) {
    rows.push_back({"shortlist", "", "", "", readable_bytes(report.shortlist_bytes), ""});
  }
  rows.push_back({"graph, names, labels", "", "", "", readable_bytes(report.graph_bytes), ""});
  rows.push_back(
      {"total", fmt::format("{}", count), "", readable_bytes(before), readable_bytes(report.file_bytes), ""});
  print_table(rows);
}

void print_arena(const Report& report) {
  std::vector<std::vector<std::string>> rows = {{"tokens"}, {"arena"}};
  for (const convert::ArenaSize& size : report.arena) {
    rows[0].push_back(fmt::format("{}", size.tokens));
    rows[1].push_back(readable_bytes(size.bytes));
  }
  out().write("\n");
  print_table(rows);
}

const convert::Verdict* verdict_of(const std::vector<convert::Verdict>& verdicts, const std::string& output) {
  for (const convert::Verdict& verdict : verdicts) {
    if (verdict.output == output) return &verdict;
  }
  return nullptr;
}

/// `verdicts`: the verdicts on the compared outputs.
void print_comparison(const Comparison& comparison, const std::string& texts,
                      const std::vector<convert::Verdict>& verdicts) {
  if (!comparison.done()) return;
  out().print("\n{}\n", bold(fmt::format("Against {}: {}", comparison.against, texts)));
  std::vector<std::vector<std::string>> rows = {
      {"output", "labels", "differ", "flips", "at least", "largest difference", "cosine"}};
  const bool continues = std::any_of(comparison.outputs.begin(), comparison.outputs.end(),
                                     [](const OutputComparison& output) { return output.continues; });
  if (continues) rows[0].emplace_back("perplexity");
  const auto percent = [](double share) { return fmt::format("{:.2f} %", 100 * share); };
  for (const OutputComparison& output : comparison.outputs) {
    const convert::Verdict* verdict = verdict_of(verdicts, output.name);
    rows.push_back({output.name, output.decides ? fmt::format("{}", output.decisions) : "",
                    output.decides ? fmt::format("{}", output.differing) : "",
                    output.decides ? fmt::format("{} ({})", output.flips, percent(output.flip_fraction())) : "",
                    verdict != nullptr && (verdict->measure == "label flips" || verdict->measure == "perplexity")
                        ? percent(verdict->lower_bound)
                        : "",
                    fmt::format("{:.3g}", output.largest_difference), fmt::format("{:.5f}", output.cosine)});
    if (continues) rows.back().push_back(output.continues ? fmt::format("+{}", percent(output.perplexity_rise())) : "");
  }
  print_table(rows);
  if (!comparison.score) return;
  const convert::ScoreComparison& score = *comparison.score;
  const convert::Verdict* verdict = verdict_of(verdicts, score.output);
  out().print("{}: {} of {} labels right, {} in {}; lost {}, at least {}\n", score.output, score.after,
              score.lost.texts(), score.before, comparison.against, percent(score.lost.rate()),
              percent(verdict == nullptr ? 0 : std::max(0.0, verdict->lower_bound)));
}

void print_gate(const Report& report) {
  const auto middle = report.gate.verdicts.begin() + static_cast<std::ptrdiff_t>(report.parity.outputs.size());
  print_comparison(report.parity, report.gate.texts, {report.gate.verdicts.begin(), middle});
  print_comparison(report.expected, fmt::format("{} lines", report.expected.texts),
                   {middle, report.gate.verdicts.end()});
  if (report.gate.taken.empty()) return;
  out().print("\n{}\n", bold("Tried until the gate passed"));
  for (const convert::Attempt& attempt : report.gate.attempts)
    out().print("  {}\n", attempt_line(attempt, report.gate.refused_file_bytes));
}

void print_list(const char* heading, const std::vector<std::string>& lines) {
  if (lines.empty()) return;
  out().print("\n{}\n", bold(heading));
  for (const std::string& line : lines) out().print("  {}\n", printable(line));
}

void print_scores(const convert::ScoreCalibration& scores) {
  out().print("\n{}\n", bold(fmt::format("Scores, calibrated on {} texts", scores.texts + scores.out_of_scope)));
  out().print("temperature {:.3f}: loss {:.4f} -> {:.4f}, calibration error {:.2f} % -> {:.2f} %\n", scores.temperature,
              scores.before.loss, scores.after.loss, 100 * scores.before.error, 100 * scores.after.error);
  out().print("out of scope below {:.3f}: {:.1f} % of right answers, {:.1f} % of wrong ones", scores.reject_below,
              100 * scores.rejected_right, 100 * scores.rejected_wrong);
  if (scores.out_of_scope > 0) {
    out().print(", {:.1f} % of {} texts out of scope", 100 * scores.rejected_out_of_scope, scores.out_of_scope);
  }
  out().write("\n");
}

void print_budget(const convert::BudgetReport& budget, uint64_t file_bytes) {
  std::map<std::string, size_t> counts;
  for (const auto& [name, type] : budget.types) ++counts[type];
  std::string types;
  for (const auto& [type, count] : counts) types += fmt::format("{}{} {}", types.empty() ? "" : ", ", count, type);
  out().print("{}\n", bold(fmt::format("--budget {}: {}", budget.budget, types)));
  out().print("predicted: {}, divergence {:.4f}, linear layers {:.2f} of f32's time; the file has {}\n\n",
              readable_bytes(budget.file_bytes), budget.divergence, budget.latency, readable_bytes(file_bytes));
}

void print_structures(const convert::StructureReport& pruned) {
  const bool heads = pruned.options.pattern == convert::PrunePattern::kHeads;
  size_t all = 0, gone = 0;
  std::vector<std::vector<std::string>> rows = {{"layer", heads ? "heads" : "columns", "stay"}};
  if (heads) rows.front().emplace_back("without");
  for (size_t i = 0; i < pruned.before.size(); ++i) {
    all += pruned.before[i];
    gone += pruned.removed[i].size();
    rows.push_back({fmt::format("{}", i), fmt::format("{}", pruned.before[i]),
                    fmt::format("{}", pruned.before[i] - pruned.removed[i].size())});
    if (heads) rows.back().push_back(fmt::format("{}", fmt::join(pruned.removed[i], " ")));
  }
  out().print("{}\n", bold(fmt::format("Pruned: {} of {} {}", gone, all, heads ? "heads" : "feed-forward columns")));
  const double share = static_cast<double>(pruned.parameters_after) / static_cast<double>(pruned.parameters_before);
  out().print("parameters in layers: {} -> {} ({:.1f} %)\n", pruned.parameters_before, pruned.parameters_after,
              100 * (share - 1));
  print_table(rows);
  out().write("\n");
}

/// Explains the headings of the tables.
void print_words(const Report& report) {
  out().print("\n{}\n", dim("before: in the source. worst error: the largest difference of a stored weight from the "
                            "source's. arena: all the memory\nthat one text of so many tokens needs."));
  if (!report.parity.done() && !report.expected.done()) return;
  out().print("{}\n",
              dim(fmt::format("differ: labels that are not the reference's. flips: those of them whose logit led "
                              "by more than {}\nthere. at least: the share of flips with {:.0f} % confidence, "
                              "allowed {:.2f} %. cosine: 1 is the\nsame direction.",
                              convert::kFlipMargin, 100 * convert::kConfidence, 100 * report.gate.limit)));
  const auto& outputs = report.parity.done() ? report.parity.outputs : report.expected.outputs;
  if (std::none_of(outputs.begin(), outputs.end(), [](const auto& output) { return output.continues; })) return;
  out().print("{}\n",
              dim("perplexity: how much less likely a token is of texts that are as the reference expects them; at "
                  "least and allowed are\nof it."));
}

std::string rate(const convert::Coverage& coverage) { return fmt::format("{:.3f} %", 100 * coverage.unknown_rate()); }

}  // namespace

std::string attempt_line(const convert::Attempt& attempt, uint64_t refused_bytes) {
  if (attempt.file_bytes == 0) return fmt::format("{}: {}", attempt.options, attempt.problem);
  const bool less = attempt.file_bytes < refused_bytes;
  const uint64_t difference = less ? refused_bytes - attempt.file_bytes : attempt.file_bytes - refused_bytes;
  const std::string bytes = difference == 0 ? "the same size" : readable_bytes(difference) + (less ? " less" : " more");
  return fmt::format("{} ({}, {}){}", attempt.options, readable_bytes(attempt.file_bytes), bytes,
                     attempt.passed ? " passes" : ": " + attempt.problem);
}

void print_student(const convert::StudentReport& report) {
  const convert::LayoutSize &a = report.before, &b = report.after;
  const auto millions = [](uint64_t count) { return fmt::format("{:.2f} M", static_cast<double>(count) / 1e6); };
  const auto layers = [](const convert::LayoutSize& size) {
    return size.decoder_layers == 0 ? fmt::format("{}", size.layers)
                                    : fmt::format("{} + {}", size.layers, size.decoder_layers);
  };
  print_table({{"", "teacher", "student"},
               {"layers", layers(a), layers(b)},
               {"heads", fmt::format("{} x {}", a.heads, a.head_width), fmt::format("{} x {}", b.heads, b.head_width)},
               {"feed-forward", fmt::format("{}", a.ffn), fmt::format("{}", b.ffn)},
               {"hidden", fmt::format("{}", a.hidden), fmt::format("{}", b.hidden)},
               {"vocabulary", fmt::format("{}", a.vocabulary), fmt::format("{}", b.vocabulary)},
               {"parameters", millions(a.parameters), millions(b.parameters)},
               {"of them in layers", millions(a.encoder_parameters), millions(b.encoder_parameters)}});
  if (report.vocabulary) {
    const convert::VocabularyReport& done = *report.vocabulary;
    std::vector<std::vector<std::string>> rows = {{"unknown tokens", "teacher", "student", "tokens of texts"}};
    const auto add = [&](const char* name, const convert::Coverage& before, const convert::Coverage& after) {
      const double more =
          before.tokens == 0 ? 0 : static_cast<double>(after.tokens) / static_cast<double>(before.tokens);
      rows.push_back({name, rate(before), rate(after), fmt::format("{:+.2f} %", 100 * (more - 1))});
    };
    if (done.texts > 0) add("the corpus", done.corpus_before, done.corpus_after);
    if (done.unseen_before.tokens > 0) add("unseen tenth", done.unseen_before, done.unseen_after);
    if (rows.size() > 1) {
      out().write("\n");
      print_table(rows);
    }
  }
  print_list("Steps", report.steps);
  print_list("Notes", report.notes);
}

void print_report(const Report& report) {
  out().print("{} -> {}: {}, {}\n\n", report.source, report.output, report.task, readable_bytes(report.file_bytes));
  if (report.student) {
    print_student(*report.student);
    out().write("\n");
  }
  if (report.structures) print_structures(*report.structures);
  if (report.budget) print_budget(*report.budget, report.file_bytes);
  print_sizes(report);
  print_arena(report);
  print_gate(report);
  if (report.scores) print_scores(*report.scores);
  print_list("Notes", report.notes);
  print_list("Smaller", report.smaller);
  print_words(report);
}

}  // namespace bantam::cli
