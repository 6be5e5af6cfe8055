// How `bench` shows forward passes: tables for people, JSON, CSV, plain numbers.
#include <cmath>

#include "cli/bench.h"
#include "cli/frame/build_info.h"
#include "cli/frame/output.h"
#include "probe/step_bytes.h"

namespace bantam::cli {
namespace {

using probe::KindTime;
using probe::of_peak;
using probe::OpTime;
using Rows = std::vector<std::vector<std::string>>;

double share_of(const OpTime& op, double total) { return total > 0 ? op.least / total : 0; }

double gmacs_per_second(const OpTime& op) { return op.least > 0 ? static_cast<double>(op.macs) / op.least * 1e-6 : 0; }

Json fraction(double value) { return value > 0 ? Json(static_cast<float>(value)) : Json(nullptr); }

Json op_json(const OpTime& op, const BatchTiming& timing) {
  return {{"kind", op.kind},
          {"type", op.macs == 0 ? Json(nullptr) : Json(op.type())},
          {"ms", static_cast<float>(op.mean)},
          {"min_ms", static_cast<float>(op.least)},
          {"share", static_cast<float>(share_of(op, probe::total_least(timing.ops)))},
          {"macs", op.macs},
          {"gmac_per_s", static_cast<float>(gmacs_per_second(op))},
          {"of_peak", fraction(of_peak(op, timing.peaks))}};
}

void put_ops(const BatchTiming& timing, Json* object) {
  (*object)["peak_gmac_per_s"] = {{"int8", fraction(timing.peaks.int8 * 1e-9)},
                                  {"f32", fraction(timing.peaks.f32 * 1e-9)},
                                  {"threads", timing.threads}};
  (*object)["limit_ms"] = fraction(timing.limit());
  (*object)["of_limit"] = fraction(timing.limit() / timing.ms.least);
  (*object)["kinds"] = Json::array();
  for (const KindTime& kind : probe::sum_kinds(timing.ops)) {
    Json entry = op_json(kind.sum, timing);
    entry["ops"] = kind.count;
    (*object)["kinds"].push_back(std::move(entry));
  }
  (*object)["ops"] = Json::array();
  for (const OpTime& op : timing.ops) {
    Json entry = {{"name", op.name}};
    entry.update(op_json(op, timing));
    (*object)["ops"].push_back(std::move(entry));
  }
}

void print_json(const ModelFile& file, const BenchOptions& options, const BatchTiming& timing, Isa isa) {
  Json object = json_object("bench");
  object["file"] = file.path();
  object["seq"] = timing.longest();
  object["batch"] = timing.lengths.size();
  if (!options.mix.empty()) object["lengths"] = timing.lengths;
  object["tokens"] = timing.tokens;
  put_setting(options, timing.threads, isa, timing.repetitions, &object);
  put_milliseconds(timing.ms, &object);
  object["arena_bytes"] = timing.arena;
  object["macs"] = timing.int8_macs + timing.f32_macs;
  object["open_ms"] = static_cast<float>(timing.start.open);
  object["create_ms"] = static_cast<float>(timing.start.create);
  object["memory_added_bytes"] = timing.start.memory ? Json(*timing.start.memory) : Json(nullptr);
  if (timing.cost) put_cost(*timing.cost, probe::pass_bytes(file.model()), &object);
  if (options.per_op) put_ops(timing, &object);
  out().line(object);
}

/// The columns from "min ms" on.
std::vector<std::string> op_columns(const OpTime& op, const BatchTiming& timing) {
  const double peak = of_peak(op, timing.peaks);
  return {fmt::format("{:.4f}", op.least),
          fmt::format("{:.4f}", op.mean),
          fmt::format("{:.1f}", share_of(op, probe::total_least(timing.ops)) * 100),
          op.macs == 0 ? "" : fmt::format("{:.2f}", static_cast<double>(op.macs) * 1e-6),
          op.macs == 0 ? "" : fmt::format("{:.1f}", gmacs_per_second(op)),
          peak > 0 ? fmt::format("{:.1f}", peak * 100) : ""};
}

void append(const std::vector<std::string>& columns, Rows* rows) {
  rows->back().insert(rows->back().end(), columns.begin(), columns.end());
}

std::string size_name(const BatchTiming& timing) {
  return timing.lengths.size() == 1 ? fmt::format("{} tokens", timing.tokens)
                                    : fmt::format("{} tokens in {} sequences", timing.tokens, timing.lengths.size());
}

void print_limit(const BatchTiming& timing) {
  const auto macs = static_cast<double>(timing.int8_macs + timing.f32_macs);
  const std::string cores = timing.threads == 1 ? "one core" : fmt::format("{} cores", timing.threads);
  if (timing.limit() == 0) {
    out().print("total: {:.1f} million MACs; no peak is known for this instruction set\n", macs * 1e-6);
    return;
  }
  std::string peak;
  if (timing.int8_macs != 0) peak = fmt::format("int8 {:.1f} GMAC/s", timing.peaks.int8 * 1e-9);
  if (timing.f32_macs != 0) {
    peak += fmt::format("{}f32 {:.1f} GMAC/s", peak.empty() ? "" : ", ", timing.peaks.f32 * 1e-9);
  }
  out().print("total: {:.1f} million MACs at the peak of {} ({}{}) take {:.3f} ms: the dot-product limit\n",
              macs * 1e-6, cores, peak, timing.threads == 1 ? "" : " each", timing.limit());
  out().print("       best run {:.3f} ms: {:.1f} % of the limit's speed; median {:.3f} ms: {:.1f} %\n", timing.ms.least,
              timing.limit() / timing.ms.least * 100, timing.ms.p50, timing.limit() / timing.ms.p50 * 100);
}

void print_ops(const BatchTiming& timing) {
  out().print("\n{}, by kind of operator{}\n", size_name(timing),
              timing.threads == 1 ? "" : fmt::format("; times are summed over {} threads", timing.threads));
  const std::vector<std::string> columns = {"min ms", "mean ms", "share %", "MMAC", "GMAC/s", "% of peak"};
  Rows rows = {{"kind", "type", "ops"}};
  append(columns, &rows);
  OpTime all;
  for (const KindTime& kind : probe::sum_kinds(timing.ops)) {
    rows.push_back({kind.sum.kind, kind.sum.type(), fmt::format("{}", kind.count)});
    append(op_columns(kind.sum, timing), &rows);
    all.mean += kind.sum.mean;
  }
  rows.push_back({"all", "", fmt::format("{}", timing.ops.size()),
                  fmt::format("{:.4f}", probe::total_least(timing.ops)), fmt::format("{:.4f}", all.mean), "100.0", "",
                  "", ""});
  print_table(rows);
  print_limit(timing);

  rows = {{"op", "kind"}};
  append(columns, &rows);
  for (const OpTime& op : timing.ops) {
    rows.push_back({printable(op.name), op.kind});
    append(op_columns(op, timing), &rows);
  }
  out().print("\n{}, by operator\n", size_name(timing));
  print_table(rows);
}

void print_csv(const BenchOptions& options, const std::vector<BatchTiming>& timings, Isa isa) {
  out().write("seq,batch,threads,isa,build,repetitions,p50_ms,p99_ms,min_ms,mean_ms,arena_bytes,tokens\n");
  for (const BatchTiming& t : timings) {
    out().print("{},{},{},{},{},{},{:.5f},{:.5f},{:.5f},{:.5f},{},{}\n", t.longest(), t.lengths.size(),
                options.engine.threads, isa_name(isa), kBuildType, t.repetitions, t.ms.p50, t.ms.p99, t.ms.least,
                t.ms.mean, t.arena, t.tokens);
  }
}

void print_people(const ModelFile& file, const BenchOptions& options, const std::vector<BatchTiming>& timings,
                  Isa isa) {
  out().print("{}: {}, {} build, batch {}, {} thread{}\n", file.path(), isa_name(isa), kBuildType,
              timings[0].lengths.size(), options.engine.threads, options.engine.threads == 1 ? "" : "s");
  Rows rows = {{"tokens", "p50 ms", "p99 ms", "min ms", "tokens/s", "arena", "memory", "runs"}};
  for (const BatchTiming& t : timings) {
    rows.push_back({fmt::format("{}", options.mix.empty() ? t.longest() : t.tokens), fmt::format("{:.3f}", t.ms.p50),
                    fmt::format("{:.3f}", t.ms.p99), fmt::format("{:.3f}", t.ms.least),
                    fmt::format("{:.0f}", t.tokens / t.ms.p50 * 1000), readable_bytes(t.arena),
                    t.start.memory ? readable_bytes(*t.start.memory) : "", fmt::format("{}", t.repetitions)});
  }
  print_table(rows);
  out().print("opened in {:.2f} ms, session made in {:.2f} ms\n", timings[0].start.open, timings[0].start.create);
  for (const BatchTiming& timing : timings) {
    if (timing.cost)
      print_cost(*timing.cost, probe::pass_bytes(file.model()),
                 fmt::format("a text of {} tokens", timing.tokens / timing.lengths.size()));
    if (options.per_op) print_ops(timing);
  }
}

}  // namespace

void put_setting(const BenchOptions& options, uint32_t threads, Isa isa, size_t repetitions, Json* object) {
  (*object)["threads"] = threads;
  (*object)["isa"] = isa_name(isa);
  (*object)["backend"] = options.engine.backend;
  (*object)["build"] = kBuildType;
  (*object)["compiler"] = kCompiler;
  (*object)["repetitions"] = repetitions;
}

void put_milliseconds(const Spread& ms, Json* object) {
  (*object)["p50_ms"] = static_cast<float>(ms.p50);
  (*object)["p99_ms"] = static_cast<float>(ms.p99);
  (*object)["min_ms"] = static_cast<float>(ms.least);
  (*object)["mean_ms"] = static_cast<float>(ms.mean);
}

void put_cost(const probe::Cost& cost, uint64_t weight_bytes, Json* object) {
  const auto known = [](const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); };
  (*object)["cost"] = {{"cpu_ms", static_cast<float>(cost.cpu_seconds * 1e3)},
                       {"per_core_hour", std::round(cost.per_core_hour())},
                       {"cycles", known(cost.cycles)},
                       {"joules", known(cost.joules)},
                       {"weight_bytes", weight_bytes}};
}

void print_cost(const probe::Cost& cost, uint64_t weight_bytes, const std::string& of) {
  std::string parts = fmt::format("{:.4f} ms of a core", cost.cpu_seconds * 1e3);
  if (cost.cycles) parts += fmt::format(", {:.3f} million cycles", *cost.cycles * 1e-6);
  if (cost.joules) parts += fmt::format(", {:.3f} mJ of the whole processor", *cost.joules * 1e3);
  out().print("{} costs {}; {} of weights; {:.0f} texts an hour of a core\n", of, parts, readable_bytes(weight_bytes),
              cost.per_core_hour());
  if (!cost.joules) out().print("(energy: this system has no counter that this user may read)\n");
}

void print_batches(const ModelFile& file, const BenchOptions& options, const std::vector<BatchTiming>& timings,
                   Isa isa) {
  if (options.plain) {
    for (const BatchTiming& timing : timings) out().print("{:.4f}\n", timing.ms.p50);
  } else if (options.json) {
    for (const BatchTiming& timing : timings) print_json(file, options, timing, isa);
  } else if (options.csv) {
    print_csv(options, timings, isa);
  } else {
    print_people(file, options, timings, isa);
  }
}

}  // namespace bantam::cli
