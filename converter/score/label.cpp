#include "score/label.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/resumable_file.h"
#include "base/sha256.h"
#include "base/status_error.h"
#include "data/mentions.h"
#include "data/records.h"
#include "run/answer_json.h"
#include "score/eval_data.h"

namespace bantam::convert {
namespace {

bool ends_with(const std::string& text, std::string_view end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/// Quotes a cell by RFC 4180.
std::string cell(const std::string& text) {
  if (text.find_first_of(",;\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

/// Returns value * parts / whole, rounded down, for value < whole < 2^63. It processes `parts` bit by bit, because
/// 32-bit machines have no 128-bit integers.
uint32_t part_of(uint64_t value, uint32_t parts, uint64_t whole) {
  uint64_t rest = 0;
  uint32_t part = 0;
  const auto add = [&](uint64_t more) {
    rest += more;
    if (rest < whole) return;
    rest -= whole;
    ++part;
  };
  for (uint32_t bit = 32; bit-- != 0;) {
    part *= 2;
    add(rest);
    if ((parts >> bit & 1u) != 0) add(value);
  }
  return part;
}

/// A record as it was read, and its answer or error.
struct Row {
  size_t line = 0;
  std::string text;  // a JSON object or a plain text
  std::vector<std::string> cells;
  Input input;
  std::string error;  // empty: there is an answer
};

class Labeller {
 public:
  Labeller(const ModelFile& file, const LabelOptions& options)
      : options_(options),
        model_(file.model()),
        reader_(options.input, PlainLine::kText),
        engine_(file, options.engine),
        predictor_(engine_, traits(model_.task()).parts, options.predict),
        as_table_(ends_with(options.output, ".csv")),
        output_(options.output, key(file), options.resume) {
    if (as_table_ && !reader_.is_table()) {
      fail(ExitCode::kUsage, "{}: {} is not a table of .csv or .tsv; name the output .jsonl", options.output,
           options.input);
    }
    if (!options.text.empty()) reader_.expect(options.text);
    reader_.advise("; or name the column with the text by --text");
    struct stat status = {};
    if (options.input != "-" && stat(options.input.c_str(), &status) == 0) {
      size_ = static_cast<uint64_t>(status.st_size);
    }
  }

  LabelResult run(const LabelProgress& progress) {
    LabelResult result;
    result.already_complete = output_.is_done();
    if (result.already_complete) return result;
    result.resumed = output_.progress().records;
    uint64_t skip = result.resumed;
    std::vector<Row> rows;
    bool begun = output_.progress().bytes > 0;
    while (next()) {
      if (skip > 0) {
        note(stored());
        if (--skip == 0 && digest() != output_.progress().read) output_.refuse("input");
        continue;
      }
      rows.push_back(read());
      if (rows.size() < kPackedTexts) continue;
      flush(&rows, &begun);
      progress(output_.progress().records, share());
    }
    if (skip > 0) output_.refuse("input");
    flush(&rows, &begun);
    output_.commit();
    result.records = output_.progress().records;
    result.failed = output_.progress().failed;
    return result;
  }

 private:
  /// Returns everything that the bytes of the output depend on, without the input's bytes, which note() compares. What
  /// --on-error says changes no record that was written before.
  ResumableFile::Key key(const ModelFile& file) const {
    const PredictOptions& predict = options_.predict;
    const auto number = [](auto value) { return std::to_string(static_cast<uint64_t>(value)); };
    struct stat status = {};
    const bool known = options_.input != "-" && stat(options_.input.c_str(), &status) == 0;
    return {{"input", number(known ? status.st_size : 0)},
            {"model", sha256_of_file(file.path())},
            {"--shard", fmt::format("{}/{}", options_.shard, options_.shards)},
            {"--text", options_.text},
            {"--pair", options_.pair},
            {"--as", options_.as},
            {"--top", number(predict.top)},
            {"--strict", number(predict.strict)},
            {"--stride", number(predict.stride.value_or(UINT32_MAX))},
            {"--aggregation", number(predict.aggregation)},
            {"--labels", fmt::format("{}", fmt::join(predict.labels, ","))}};
  }

  /// Adds a record to the digest of the input that has been read.
  void note(const Row& row) {
    const auto add = [this](const std::string& text) {
      const uint64_t size = text.size();
      read_.update(&size, sizeof(size));
      read_.update(text.data(), text.size());
    };
    add(row.text);
    for (const std::string& cell : row.cells) add(cell);
  }

  std::string digest() const { return Sha256(read_).finish(); }

  /// Returns the share of the shard that has been read.
  double share() const {
    const double all = reader_.share();
    return options_.shards == 1 ? all : std::clamp(all * options_.shards - (options_.shard - 1), 0.0, 1.0);
  }

  /// Moves to the next record of the shard; returns false after the last one.
  bool next() {
    for (;;) {
      bad_.reset();
      try {
        if (!reader_.advance()) return false;
      } catch (const BadRecord& bad) {
        bad_ = bad;
      }
      if (options_.shards == 1) return true;
      if (reader_.is_compressed()) {
        fail(ExitCode::kUsage, "--shard: {} is compressed, so that its parts begin nowhere; unpack it first",
             options_.input);
      }
      const uint64_t at = std::min(reader_.offset(), size_ - 1);
      const uint32_t shard = part_of(at, options_.shards, size_) + 1;
      if (shard > options_.shard) return false;
      if (shard == options_.shard) return true;
    }
  }

  std::string required(const Record& record, const std::string& name) const {
    std::optional<std::string> text = record.text(name);
    if (!text) {
      throw BadRecord{
          fmt::format("field \"{}\" is missing, which {} names", name, name == options_.text ? "--text" : "--pair")};
    }
    return std::move(*text);
  }

  /// Returns the current record as it is in the file.
  Row stored() const {
    Row row;
    row.line = reader_.line_number();
    row.cells = reader_.cells();
    if (!reader_.is_table()) row.text = reader_.text();
    return row;
  }

  Row read() {
    Row row = stored();
    try {
      if (bad_) throw BadRecord(*bad_);
      const Record record = reader_.record();
      if (const auto at = record.fields().find(options_.as); at != record.fields().end() && !at->is_null()) {
        throw BadRecord{fmt::format("field \"{}\" is there already; name another one by --as", options_.as)};
      }
      row.input.first = options_.text.empty() ? record.first() : required(record, options_.text);
      if (!options_.pair.empty()) {
        row.input.second = required(record, options_.pair);
      } else if (takes_second(predictor_.parts()) && options_.text.empty()) {
        row.input.second = record.second();
      }
      if (needs_second(predictor_.parts()) && !row.input.second) {
        throw BadRecord{"there is no second text in it; name its field by --pair"};
      }
      if (takes_entities(model_)) {
        row.input.mentions = read_mentions(record.raw("entities"),
                                           {row.input.first.size(), row.input.second.value_or("").size()}, false);
      }
    } catch (const BadRecord& bad) {
      row.error = bad.what;
    }
    return row;
  }

  /// Returns the answers of the rows that can be answered; the others get an error.
  std::vector<Prediction> predict(std::vector<Row*> rows) {
    std::vector<Input> inputs;
    inputs.reserve(rows.size());
    for (const Row* row : rows) inputs.push_back(row->input);
    try {
      std::vector<Prediction> found = predictor_.predict(inputs);
      for (size_t i = 0; i < rows.size(); ++i) require_answer(predictor_, inputs[i], found[i]);
      return found;
    } catch (const Error& error) {
      if (error.code() != ExitCode::kInvalid) throw;
      if (rows.size() == 1) {
        rows[0]->error = fmt::format("{}", fmt::join(error.problems(), "; "));
        const std::string path = engine_.file().path() + ": ";
        if (rows[0]->error.compare(0, path.size(), path) == 0) rows[0]->error.erase(0, path.size());
        return {Prediction{}};
      }
    }
    // Tries both halves until the failing row is found; the recursion depth is logarithmic in the size of the window.
    const auto middle = rows.begin() + static_cast<std::ptrdiff_t>(rows.size() / 2);
    std::vector<Prediction> all = predict({rows.begin(), middle});
    for (Prediction& one : predict({middle, rows.end()})) all.push_back(std::move(one));
    return all;
  }

  void flush(std::vector<Row>* rows, bool* begun) {
    std::vector<Row*> good;
    for (Row& row : *rows) {
      if (row.error.empty()) good.push_back(&row);
    }
    const std::vector<Prediction> found = good.empty() ? std::vector<Prediction>{} : predict(good);
    std::string bytes;
    if (!*begun && as_table_ && options_.shard == 1) bytes = header();
    *begun = true;
    uint64_t records = 0, failed = 0;
    size_t answer = 0;
    for (Row& row : *rows) {
      const bool tried = answer < good.size() && good[answer] == &row;
      const Prediction* const prediction = tried ? &found[answer++] : nullptr;
      const bool wrong = !row.error.empty();
      if (wrong && options_.on_error == OnError::kStop) {
        output_.append(bytes, records, failed, digest());
        output_.mark();
        const bool continues = output_.progress().records > 0 && output_.is_resumable();
        fail(ExitCode::kInvalid, "{}, line {}: {}; {}--on-error keep or skip continues after it", reader_.name(),
             row.line, row.error, continues ? "--resume with " : "");
      }
      note(row);
      ++records;
      failed += wrong ? 1 : 0;
      if (wrong && options_.on_error == OnError::kSkip) continue;
      bytes += as_table_ ? table_line(row, prediction) : json_line(row, prediction);
    }
    output_.append(bytes, records, failed, digest());
    rows->clear();
  }

  /// Returns the answer for a record: the fields of --json without the texts, which the record already has.
  OrderedJson said(const Row& row, const Prediction* prediction) const {
    OrderedJson object = OrderedJson::object();
    if (!row.error.empty()) {
      object["line"] = row.line;
      object["error"] = row.error;
      return object;
    }
    put_answer(predictor_, row.input, *prediction, PositionUnit::kBytes, &object);
    for (const char* name : {"text", "pair", "question"}) object.erase(name);
    return object;
  }

  /// Returns the bytes of the record with one more field.
  std::string json_line(const Row& row, const Prediction* prediction) const {
    const std::string field =
        fmt::format("{}: {}", one_line(OrderedJson(options_.as)), one_line(said(row, prediction)));
    if (reader_.is_table() || reader_.has_texts() || row.text.empty() || row.text.front() != '{') {
      OrderedJson object = OrderedJson::object();
      for (size_t i = 0; i < row.cells.size(); ++i) object[reader_.columns()[i]] = row.cells[i];
      if (!reader_.is_table() && row.error.empty()) object["text"] = row.text;
      const std::string before = one_line(object);
      return before.substr(0, before.size() - 1) + (object.empty() ? "" : ", ") + field + "}\n";
    }
    const size_t end = row.text.find_last_of('}');
    Json own;
    std::string problem;
    parse_json(row.text, &own, &problem);  // otherwise it stays null
    const bool whole = own.is_object() && !own.empty() && !own.contains(options_.as);
    return (whole ? row.text.substr(0, end) + ", " : "{") + field + "}\n";
  }

  bool has_columns() const { return (predictor_.parts() & (kLabelsPart | kFollowsPart)) != 0; }
  bool has_more() const { return (predictor_.parts() & ~(kLabelsPart | kFollowsPart)) != 0; }

  std::string header() const {
    std::string line;
    for (const std::string& column : reader_.columns()) line += cell(column) + ",";
    if (has_columns()) line += fmt::format("{0}_label,{0}_score,", cell(options_.as));
    if (has_more()) line += cell(options_.as) + ",";
    return line + cell(options_.as + "_error") + "\n";
  }

  std::string table_line(const Row& row, const Prediction* prediction) const {
    std::string line;
    for (size_t i = 0; i < reader_.columns().size(); ++i)
      line += (i < row.cells.size() ? cell(row.cells[i]) : "") + ",";
    const bool good = row.error.empty();
    if (has_columns() && good) {
      const LabelScore best = best_label(model_, 0, prediction->labels, prediction->holds);
      const bool refused = prediction->holds == 0 && predictor_.scores() == kSoftmax;
      line += fmt::format("{},{},", cell(refused ? kOutOfScope : label_name(model_, best.label)),
                          one_line(OrderedJson(best.score)));
    } else if (has_columns()) {
      line += ",,";
    }
    if (has_more()) line += (good ? cell(one_line(said(row, prediction))) : "") + ",";
    return line + cell(good ? "" : fmt::format("line {}: {}", row.line, row.error)) + "\n";
  }

  const LabelOptions& options_;
  const Model& model_;
  RecordReader reader_;
  Engine engine_;
  Predictor predictor_;
  bool as_table_;
  ResumableFile output_;
  uint64_t size_ = 1;
  std::optional<BadRecord> bad_;
  Sha256 read_;
};

}  // namespace

LabelResult label_records(const ModelFile& file, const LabelOptions& options, const LabelProgress& progress) {
  return Labeller(file, options).run(progress);
}

}  // namespace bantam::convert
