// Prints the times of forward passes that `bench` measured: as tables for people, JSON, CSV or plain numbers.
#include <cmath>

#include "cli/bench.h"
#include "cli/frame/build_info.h"
#include "cli/frame/output.h"
#include "probe/step_bytes.h"

namespace bantam::cli {

using convert::TimeSpread;

namespace {

using probe::KindTime;
using probe::of_peak;
using probe::OpTime;

double share_of(const OpTime& op, double total) { return total > 0 ? op.least / total : 0; }

double gmacs_per_second(const OpTime& op) { return op.least > 0 ? static_cast<double>(op.macs) / op.least * 1e-6 : 0; }

Json fraction(double value) { return value > 0 ? Json(value) : Json(nullptr); }

Json op_json(const OpTime& op, const BatchTiming& timing) {
  return {{"kind", op.kind},
          {"type", op.macs == 0 ? Json(nullptr) : Json(op.type())},
          {"ms", op.mean},
          {"min_ms", op.least},
          {"share", share_of(op, probe::total_least(timing.ops))},
          {"macs", op.macs},
          {"gmac_per_s", gmacs_per_second(op)},
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

Json record_of(const ModelFile& file, const BenchOptions& options, const BatchTiming& timing, Isa isa) {
  Json subject = {{"seq", timing.longest()}, {"batch", timing.lengths.size()}};
  if (!options.mix.empty()) subject["lengths"] = timing.lengths;
  subject["tokens"] = timing.tokens;
  Json record = bench_record(file, options, subject, timing.threads, isa, timing.repetitions);
  put_milliseconds(timing.ms, &record);
  record["arena_bytes"] = timing.arena;
  record["macs"] = timing.int8_macs + timing.f32_macs;
  record["open_ms"] = timing.start.open;
  record["create_ms"] = timing.start.create;
  record["memory_added_bytes"] = timing.start.memory ? Json(*timing.start.memory) : Json(nullptr);
  if (timing.cost) put_cost(*timing.cost, probe::pass_bytes(file.model()), &record);
  if (options.time.per_op) put_ops(timing, &record);
  return record;
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

void print_ops(const BatchTiming& timing, const Json& record) {
  out().print("\n{}, by kind of operator{}\n", size_name(timing),
              timing.threads == 1 ? "" : fmt::format("; times are summed over {} threads", timing.threads));
  std::vector<Column> columns = {{"kind"},
                                 {"type"},
                                 {"ops"},
                                 {"min_ms", "min ms", fixed(4)},
                                 {"ms", "mean ms", fixed(4)},
                                 {"share", "share %", fixed(1, 100)},
                                 {"macs", "MMAC", not_zero(fixed(2, 1e-6))},
                                 {"gmac_per_s", "GMAC/s", not_zero(fixed(1))},
                                 {"of_peak", "% of peak", fixed(1, 100)}};
  Json kinds = record["kinds"];
  double mean = 0;
  for (const KindTime& kind : probe::sum_kinds(timing.ops)) mean += kind.sum.mean;
  kinds.push_back({{"kind", "all"},
                   {"type", nullptr},
                   {"ops", timing.ops.size()},
                   {"min_ms", probe::total_least(timing.ops)},
                   {"ms", mean},
                   {"share", 1},
                   {"macs", 0},
                   {"gmac_per_s", 0},
                   {"of_peak", nullptr}});
  print_table(kinds, columns);
  print_limit(timing);
  out().print("\n{}, by operator\n", size_name(timing));
  columns.erase(columns.begin(), columns.begin() + 3);
  columns.insert(columns.begin(), {{"name", "op"}, {"kind"}});
  print_table(record["ops"], columns);
}

void print_people(const ModelFile& file, const BenchOptions& options, const std::vector<BatchTiming>& timings,
                  Json records, Isa isa) {
  out().print("{}: {}, {} build, batch {}, {}\n", file.path(), isa_name(isa), kBuildType, timings[0].lengths.size(),
              counted(options.time.engine.threads, "thread"));
  for (size_t i = 0; i < timings.size(); ++i) {
    records[i]["tokens_per_s"] = timings[i].tokens / timings[i].ms.p50 * 1000;
  }
  print_table(records, {{options.mix.empty() ? "seq" : "tokens", "tokens"},
                        {"p50_ms", "p50 ms", fixed(3)},
                        {"p99_ms", "p99 ms", fixed(3)},
                        {"min_ms", "min ms", fixed(3)},
                        {"tokens_per_s", "tokens/s", fixed(0)},
                        {"arena_bytes", "arena", bytes_form},
                        {"memory_added_bytes", "memory", bytes_form},
                        {"repetitions", "runs"}});
  out().print("opened in {:.2f} ms, session made in {:.2f} ms\n", timings[0].start.open, timings[0].start.create);
  for (size_t i = 0; i < timings.size(); ++i) {
    const BatchTiming& timing = timings[i];
    if (timing.cost)
      print_cost(*timing.cost, probe::pass_bytes(file.model()),
                 fmt::format("a text of {} tokens", timing.tokens / timing.lengths.size()));
    if (options.time.per_op) print_ops(timing, records[i]);
  }
}

}  // namespace

Json bench_record(const ModelFile& file, const BenchOptions& options, const Json& subject, uint32_t threads, Isa isa,
                  size_t repetitions) {
  Json record = json_object("bench");
  record["file"] = file.path();
  record.update(subject);
  record["threads"] = threads;
  record["isa"] = isa_name(isa);
  record["backend"] = options.time.engine.backend;
  record["build"] = kBuildType;
  record["compiler"] = kCompiler;
  record["repetitions"] = repetitions;
  return record;
}

void put_milliseconds(const TimeSpread& ms, Json* record) {
  record->update({{"p50_ms", ms.p50}, {"p99_ms", ms.p99}, {"min_ms", ms.least}, {"mean_ms", ms.mean}});
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
    return;
  }
  Json records = Json::array();
  for (const BatchTiming& timing : timings) records.push_back(record_of(file, options, timing, isa));
  if (options.json) {
    for (const Json& record : records) out().line(record);
  } else if (options.csv) {
    print_csv(records, {"seq",
                        "batch",
                        "threads",
                        "isa",
                        "build",
                        "repetitions",
                        {"p50_ms", "p50_ms", fixed(5)},
                        {"p99_ms", "p99_ms", fixed(5)},
                        {"min_ms", "min_ms", fixed(5)},
                        {"mean_ms", "mean_ms", fixed(5)},
                        "arena_bytes",
                        "tokens"});
  } else {
    print_people(file, options, timings, std::move(records), isa);
  }
}

}  // namespace bantam::cli
