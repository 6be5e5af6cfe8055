// bantam-train: `bantam distill` with libtorch; converter/train does the work.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "cli/distill.h"
#include "cli/frame/output.h"
#include "cli/frame/program.h"
#include "cli/frame/progress.h"

namespace bantam::cli {
namespace {

std::string rounded_time(double seconds) {
  const auto whole = static_cast<uint64_t>(std::llround(std::max(0.0, seconds)));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{}:{:02} min", whole / 60, whole % 60);
  return fmt::format("{}:{:02} h", whole / 3600, whole / 60 % 60);
}

void show(const train::DistillOptions& options, const train::Distilled& result, bool json) {
  const train::Outcome& outcome = result.outcome;
  if (json) {
    Json object = json_object("distill");
    object["output"] = options.output;
    object["complete"] = outcome.complete;
    object["examples"] = result.examples;
    object["validation_examples"] = result.validation_examples;
    object["epochs"] = outcome.epochs;
    object["steps"] = outcome.steps;
    object["resumed_from"] = outcome.resumed_from;
    object["best_epoch"] = outcome.best_epoch;
    object["seconds"] = static_cast<float>(outcome.seconds);
    Json scores = Json::object();
    for (const auto& [name, value] : outcome.best.all) scores[name] = static_cast<float>(value);
    object["validation"] = scores;
    Json losses = Json::array();
    for (const train::CurvePoint& point : outcome.curve) {
      losses.push_back(static_cast<float>(point.losses.front().second));
    }
    object["losses"] = losses;
    if (!outcome.curve.empty()) object["sparsity"] = static_cast<float>(outcome.curve.back().sparsity);
    out().line(object);
    return;
  }
  if (!outcome.complete) {
    out().print("stopped after step {}; the same command without --stop-after goes on from there\n", outcome.steps);
    return;
  }
  if (outcome.resumed_from > 0) out().print("went on from step {}\n", outcome.resumed_from);
  out().print("{} epochs, {} steps, {} examples, {}\n", outcome.epochs, outcome.steps, result.examples,
              rounded_time(outcome.seconds));
  for (const auto& [name, value] : outcome.best.all) out().print("{}: {:.4f}\n", name, value);
  if (!outcome.best.all.empty()) out().print("weights of epoch {}, the best on validation\n", outcome.best_epoch);
  out().print("{}: transformers loads it, and so does: bantam convert {} -o FILE.bantam\n", options.output,
              options.output);
}

void run_distill(const train::DistillOptions& options, bool json) {
  Progress bar;
  train::Watcher watcher;
  watcher.warn = [&bar](const std::string& line) {
    bar.clear();
    warn(line);
  };
  watcher.making_student = [&bar](const char* what, double done) { bar.show(what, done); };
  watcher.progress = [&bar](const train::Progress& p) {
    std::string what = fmt::format("{} {}/{}", p.what, p.done, p.of);
    if (p.loss != 0) what += fmt::format(", loss {:.4f}, {} left", p.loss, rounded_time(p.seconds_left));
    bar.show(what, static_cast<double>(p.done) / static_cast<double>(std::max<uint64_t>(1, p.of)));
  };
  watcher.on_epoch = [&bar](const train::CurvePoint& point) {
    bar.clear();
    std::string line = fmt::format("epoch {}", point.epoch);
    for (const auto& [name, value] : point.losses) line += fmt::format("  {} {:.4f}", name, value);
    for (const auto& [name, value] : point.scores) line += fmt::format("  {} {:.4f}", name, value);
    if (point.sparsity > 0) line += fmt::format("  zeros {:.1f} %", 100 * point.sparsity);
    std::fprintf(stderr, "%s\n", line.c_str());
  };
  const train::Distilled result = train::distill(options, watcher);
  bar.clear();
  show(options, result, json);
}

}  // namespace
}  // namespace bantam::cli

int main(int argc, char** argv) {
  return bantam::cli::run_program(
      argc, argv, [](bantam::cli::Program& program) { bantam::cli::add_distill(program, bantam::cli::run_distill); });
}
