// bench --text and --texts: measures the whole way from text to answer.
#include "measure/text_times.h"

#include "cli/answer/engine.h"
#include "cli/bench.h"
#include "cli/frame/build_info.h"
#include "cli/frame/errors.h"
#include "data/text_source.h"
#include "probe/step_bytes.h"
#include "run/runner.h"

namespace bantam::cli {

using convert::spread_of;

namespace {

std::vector<std::string> read_texts(const BenchOptions& options) {
  convert::TextSource source(options.texts, options.texts_file);
  std::vector<std::string> texts;
  std::string text;
  while (source.next(&text)) texts.push_back(text);
  if (texts.empty()) fail(ExitCode::kUsage, "--texts {}: no text in it", options.texts_file);
  return texts;
}

Json record_of(Engine& engine, const BenchOptions& options, const convert::TextTiming& timing) {
  const Json subject = {{"text", timing.text},
                        {"task", task_name(engine.model().task())},
                        {"tokens", timing.tokens},
                        {"truncated", timing.truncated}};
  Json record =
      bench_record(engine.file(), options, subject, engine.threads(), engine.session().isa(), timing.total.size());
  const convert::TimeSpread total = spread_of(timing.total);
  record["p50_us"] = total.p50;
  record["p99_us"] = total.p99;
  record["min_us"] = total.least;
  record["tokenize_us"] = spread_of(timing.tokenize).p50;
  record["forward_us"] = spread_of(timing.forward).p50;
  record["task_us"] = spread_of(timing.task).p50;
  return record;
}

std::string text_cell(const Json& value) {
  const std::string text = value.get<std::string>();
  return printable(text.size() <= 60 ? text : text.substr(0, 57) + "...");
}

/// Returns the columns of times, with `digits` decimals. `people`: headings are shorter than the keys.
std::vector<Column> time_columns(int digits, bool people) {
  std::vector<Column> columns;
  const std::pair<const char*, const char*> kTimes[] = {{"p50_us", "p50"},
                                                        {"p99_us", "p99"},
                                                        {"min_us", "min"},
                                                        {"tokenize_us", "tokenize p50"},
                                                        {"forward_us", "forward p50"},
                                                        {"task_us", "task p50"}};
  for (const auto& [key, heading] : kTimes) columns.push_back({key, people ? heading : key, fixed(digits)});
  return columns;
}

/// Returns the mean of each figure over all records.
Json mean_of(const Json& records) {
  Json mean;
  for (const char* key : {"tokens", "p50_us", "p99_us", "min_us", "tokenize_us", "forward_us", "task_us"}) {
    double sum = 0;
    for (const Json& record : records) sum += record.at(key).get<double>();
    mean[key] = sum / static_cast<double>(records.size());
  }
  mean["tokens"] = fmt::format("{:.1f}", mean["tokens"].get<float>());
  mean["text"] = fmt::format("mean of {} texts", records.size());
  return mean;
}

void print_people(Engine& engine, const Json& records) {
  out().print("{}: from text to answer ({}), {}, {} build, {}; microseconds\n", engine.file().path(),
              task_name(engine.model().task()), isa_name(engine.session().isa()), kBuildType,
              counted(engine.threads(), "thread"));
  constexpr size_t kMostRows = 20;
  Json rows = Json::array();
  for (size_t i = 0; i < records.size() && i < kMostRows; ++i) rows.push_back(records[i]);
  if (records.size() > 1) rows.push_back(mean_of(records));
  std::vector<Column> columns = time_columns(1, true);
  columns.insert(columns.begin(), "tokens");
  columns.push_back({"text", "text", text_cell});
  print_table(rows, columns);
  if (records.size() > kMostRows) out().print("({} more texts: --json shows them)\n", records.size() - kMostRows);
}

void refuse_task(const ModelFile& file, const BenchOptions& options) {
  const TaskKind task = file.model().task();
  const uint32_t parts = traits(task).parts;
  if (!file.model().has_tokenizer()) {
    fail(ExitCode::kInvalid, "{}: --text needs a tokenizer, and the file holds none; use --seq", file.path());
  }
  if ((parts & ~uint32_t{kChoicePart}) == 0) {
    fail(ExitCode::kUnsupported, "{}: --text does not measure the task \"{}\"; use --seq", file.path(),
         task_name(task));
  }
  if (convert::needs_second(parts) && !options.pair) {
    fail(ExitCode::kUsage, "--pair: the task \"{}\" needs a second text", task_name(task));
  }
}

}  // namespace

void bench_texts(const ModelFile& file, const BenchOptions& options) {
  refuse_task(file, options);
  const std::vector<std::string> texts = read_texts(options);
  Engine engine(file, options.time.engine);
  const convert::TextTimings timings = convert::time_texts(engine, options.time, texts, options.pair);
  Json records = Json::array();
  for (const convert::TextTiming& timing : timings.texts) records.push_back(record_of(engine, options, timing));
  const uint64_t weight_bytes = probe::pass_bytes(engine.model());
  if (options.csv) {
    std::vector<Column> columns = time_columns(3, false);
    columns.insert(columns.begin(), {"tokens", "threads", "isa", "build", "repetitions"});
    return print_csv(records, columns);
  }
  if (!options.json && !options.plain) {
    print_people(engine, records);
    if (timings.cost) print_cost(*timings.cost, weight_bytes, texts.size() == 1 ? "the text" : "a text, on average,");
  }
  for (Json& record : records) {
    if (timings.cost) put_cost(*timings.cost, weight_bytes, &record);
    if (options.json) out().line(record);
    if (options.plain) out().print("{:.4f}\n", record["p50_us"].get<double>() * 1e-3);
  }
}

}  // namespace bantam::cli
