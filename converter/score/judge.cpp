#include "score/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace bantam::convert {
namespace {

std::string percent(double share) { return fmt::format("{:.2f} %", 100 * share); }

Verdict verdict_on(const std::string& output, const char* measure, const TextSums& sums) {
  Verdict verdict;
  verdict.output = output;
  verdict.measure = measure;
  verdict.amount = sums.amount();
  verdict.count = sums.count();
  verdict.rate = sums.rate();
  return verdict;
}

/// Passes unless the rate is above `limit` with confidence; `explain` then returns the problem.
template <typename Explain>
void conclude(double lower_bound, double limit, const Explain& explain, Verdict* verdict) {
  verdict->lower_bound = lower_bound;
  verdict->passed = lower_bound <= limit;
  if (!verdict->passed) verdict->problem = explain();
}

Verdict judge_labels(const ScoreComparison& score, const std::string& against, double limit) {
  Verdict verdict = verdict_on(score.output, "labels lost", score.lost);
  const auto explain = [&] {
    return fmt::format(
        "{}: {} of {} labels are right, {} in {}: {} lost, with {:.0f} % confidence at least {}, allowed {}",
        score.output, score.after, score.lost.texts(), score.before, against, percent(verdict.rate), 100 * kConfidence,
        percent(verdict.lower_bound), percent(limit));
  };
  conclude(difference_lower_bound(score.lost), limit, explain, &verdict);
  return verdict;
}

Verdict judge_flips(const OutputComparison& output, const std::string& against, double limit) {
  Verdict verdict = verdict_on(output.name, "label flips", output.flipped);
  verdict.upper_bound = share_upper_bound(output.flipped);
  const auto explain = [&] {
    const Place& worst = output.worst_flip;
    return fmt::format(
        "{}: {} of {} labels flip from those of {}: {}, with {:.0f} % confidence at least {}, allowed {} ({} differ, "
        "with "
        "those that led by {} or less); worst at \"{}\", row {}: {} became {}, though it led by {:.3f}",
        output.name, output.flips, output.decisions, against, percent(verdict.rate), 100 * kConfidence,
        percent(verdict.lower_bound), percent(limit), output.differing, kFlipMargin, worst.text, worst.row,
        worst.expected, worst.got, worst.amount);
  };
  conclude(share_lower_bound(output.flipped), limit, explain, &verdict);
  return verdict;
}

/// Judges by the divergence from the reference's predictions, by which the cross-entropy of such texts rises.
Verdict judge_perplexity(const OutputComparison& output, const std::string& against, double limit) {
  Verdict verdict = verdict_on(output.name, "perplexity", output.diverged);
  verdict.rate = output.perplexity_rise();
  const auto explain = [&] {
    return fmt::format(
        "{}: the perplexity of texts as {} expects them is {} higher, with {:.0f} % confidence at least {}, allowed "
        "{}; "
        "another token is the likeliest {} of {} times",
        output.name, against, percent(verdict.rate), 100 * kConfidence, percent(verdict.lower_bound), percent(limit),
        output.differing, output.decisions);
  };
  conclude(std::exp(std::max(0.0, mean_lower_bound(output.diverged))) - 1, limit, explain, &verdict);
  return verdict;
}

Verdict judge_distance(const OutputComparison& output, const std::string& against, double limit) {
  Verdict verdict = verdict_on(output.name, "distance", output.distance);
  const auto explain = [&] {
    const Place& worst = output.worst_difference;
    return fmt::format(
        "{}: the mean cosine to {} is {:.4f}, with {:.0f} % confidence at most {:.4f}; at least {:.4f} is asked for; "
        "largest difference {:.4f} at \"{}\", row {}",
        output.name, against, 1 - verdict.rate, 100 * kConfidence, 1 - verdict.lower_bound, 1 - limit, worst.amount,
        worst.text, worst.row);
  };
  conclude(mean_lower_bound(output.distance), limit, explain, &verdict);
  return verdict;
}

}  // namespace

std::vector<Verdict> judge(const Comparison& comparison, double limit) {
  std::vector<Verdict> verdicts;
  for (const OutputComparison& output : comparison.outputs) {
    if (!std::isfinite(output.largest_difference)) {
      Verdict broken = verdict_on(output.name, "distance", output.distance);
      broken.passed = false;
      broken.problem = fmt::format("{}: not a finite number for \"{}\"", output.name, output.worst_difference.text);
      verdicts.push_back(std::move(broken));
    } else if (comparison.score && comparison.score->output == output.name) {
      verdicts.push_back(judge_labels(*comparison.score, comparison.against, limit));
    } else if (output.continues && output.decides) {
      verdicts.push_back(judge_perplexity(output, comparison.against, limit));
    } else if (output.decides) {
      verdicts.push_back(judge_flips(output, comparison.against, limit));
    } else {
      verdicts.push_back(judge_distance(output, comparison.against, limit));
    }
  }
  return verdicts;
}

bool passed(const std::vector<Verdict>& verdicts) {
  return std::all_of(verdicts.begin(), verdicts.end(), [](const Verdict& verdict) { return verdict.passed; });
}

}  // namespace bantam::convert
