#include "score/expect.h"

#include <fmt/format.h>

#include "base/json_file.h"
#include "base/status_error.h"
#include "data/text_source.h"

namespace bantam::convert {
namespace {

using json = Json;

/// Flattens nested arrays of numbers. All rows of a level must have the same length.
void flatten(const json& value, size_t depth, Expected::Output* out) {
  if (value.is_number()) {
    out->values.push_back(value.get<float>());
    return;
  }
  if (!value.is_array() || depth > 3) throw std::invalid_argument(out->name + " is not an array of numbers");
  if (out->shape.size() == depth) out->shape.push_back(value.size());
  if (out->shape[depth] != value.size()) throw std::invalid_argument(out->name + " has rows of different lengths");
  for (const json& element : value) flatten(element, depth + 1, out);
}

Expected parse_line(const std::string& line, const std::vector<std::string>& names) {
  json object;
  std::string problem;
  if (!parse_json(line, &object, &problem)) throw std::invalid_argument(problem);
  if (!object.is_object()) throw std::invalid_argument("this is not a JSON object");
  if (!object.contains("ids")) throw std::invalid_argument("\"ids\" is missing");
  Expected expected;
  expected.sample.ids = object.at("ids").get<std::vector<int32_t>>();
  for (const char* key : {"segments", "token_type_ids"}) {
    if (object.contains(key)) expected.sample.segments = object[key].get<std::vector<int32_t>>();
  }
  if (object.contains("decoder_ids")) expected.sample.decoder_ids = object["decoder_ids"].get<std::vector<int32_t>>();
  if (object.contains("marks")) expected.sample.marks = object["marks"].get<std::vector<int32_t>>();
  if (object.contains("neighbours")) {
    expected.sample.neighbours = object["neighbours"].get<std::vector<Neighbours>>();
  }
  expected.sample.text = object.value("text", fmt::format("{} ids", expected.sample.ids.size()));
  if (object.contains("first_piece")) expected.rows = object["first_piece"].get<std::vector<uint32_t>>();
  const bool segments_fit =
      expected.sample.segments.empty() || expected.sample.segments.size() == expected.sample.ids.size();
  const bool marks_fit = expected.sample.marks.empty() || expected.sample.marks.size() == expected.sample.ids.size();
  if (expected.sample.ids.empty() || !segments_fit || !marks_fit)
    throw std::invalid_argument("ids are empty, or segments or marks do not match");
  for (const uint32_t row : expected.rows) {
    if (row >= expected.sample.ids.size()) throw std::invalid_argument("first_piece is beyond the ids");
  }
  for (const std::string& name : names) {
    if (!object.contains(name)) continue;
    Expected::Output output;
    output.name = name;
    flatten(object[name], 0, &output);
    if (output.shape.size() > 1 && output.shape.front() == 1 && output.shape.size() > 2)
      output.shape.erase(output.shape.begin());
    expected.outputs.push_back(std::move(output));
  }
  if (expected.outputs.empty()) throw std::invalid_argument("none of the model's outputs is in it");
  return expected;
}

/// Returns the stored values in the shape of the model's output, and the rows that they refer to.
OutputRows as_rows(const Expected& expected, const Expected::Output& stored, const OutputRows& got,
                   std::vector<uint32_t>* rows) {
  OutputRows reference = got;
  reference.values = stored.values;
  reference.rows = got.width == 0 ? 0 : static_cast<uint32_t>(stored.values.size() / got.width);
  const bool some = got.per_token && reference.rows != got.rows && reference.rows <= expected.rows.size();
  rows->clear();
  for (uint32_t i = 0; i < reference.rows; ++i) rows->push_back(some ? expected.rows[i] : i);
  if (size_t{reference.rows} * got.width != stored.values.size() || (!some && reference.rows != got.rows)) {
    throw Error(ExitCode::kInvalid,
                fmt::format("--expect: {} of \"{}\" has {} values, the model gives {} x {}", stored.name,
                            expected.sample.text, stored.values.size(), got.rows, got.width));
  }
  return reference;
}

}  // namespace

std::vector<Expected> read_expected(const std::filesystem::path& file, const std::vector<std::string>& names) {
  LineReader lines(file.string(), nullptr, nullptr, kMaxJsonBytes);
  std::vector<Expected> result;
  std::string line;
  while (lines.next(&line)) {
    const size_t number = lines.line_number();
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    try {
      result.push_back(parse_line(line, names));
    } catch (const json::exception&) {
      throw Error(ExitCode::kInvalid,
                  fmt::format("--expect {}, line {}: ids, segments, text or first_piece have another "
                              "type than expected: whole numbers in arrays, and a string",
                              file.string(), number));
    } catch (const std::invalid_argument& error) {
      throw Error(ExitCode::kInvalid,
                  fmt::format("--expect {}, line {}: {}; each line is an object with \"ids\" and the "
                              "outputs' values",
                              file.string(), number, error.what()));
    }
  }
  if (result.empty()) throw Error(ExitCode::kInvalid, fmt::format("--expect {}: no lines", file.string()));
  return result;
}

void compare_expected(Runner& runner, const std::vector<Expected>& expected, Comparer& comparer,
                      const std::function<void(size_t, size_t)>& progress) {
  size_t done = 0;
  for (const Expected& line : expected) {
    const std::vector<OutputRows> outputs = runner.run(line.sample);
    for (const Expected::Output& stored : line.outputs) {
      for (const OutputRows& got : outputs) {
        if (got.name != stored.name) continue;
        std::vector<uint32_t> rows;
        const OutputRows reference = as_rows(line, stored, got, &rows);
        comparer.add_rows(line.sample, reference, got, rows);
      }
    }
    comparer.next_text();
    if (progress) progress(++done, expected.size());
  }
}

}  // namespace bantam::convert
