#include "data/texts.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "data/records.h"
#include "format/split_mix.h"

namespace bantam::convert {

namespace {

/// Reads the label of a record, from the intent, "label_name" or "label", and its number if the record has a name too.
void put_label(const Record& record, LabelledText* text) {
  for (const Field field : {Field::kLabel, Field::kLabelName, Field::kIntent}) {
    if (!record.has(field)) continue;
    text->number = text->label;
    try {
      text->label = record.label(field);
    } catch (const BadRecord&) {  // the field has another type, such as a score: no label
    }
  }
}

}  // namespace

std::vector<LabelledText> read_labelled(const char* option, const std::filesystem::path& file) {
  const std::string called = fmt::format("{} {}", option, file.string());
  std::vector<LabelledText> texts;
  try {
    RecordReader reader(file.string(), PlainLine::kText);
    for (Record record; true;) {
      try {
        if (!reader.next(&record)) break;
        LabelledText text{record.first(), record.second().value_or(""), "", ""};
        put_label(record, &text);
        texts.push_back(std::move(text));
      } catch (const BadRecord& bad) {
        throw Error(ExitCode::kInvalid, fmt::format("line {}: {}", reader.line_number(), bad.what));
      }
    }
  } catch (const Error& error) {
    // The reader's error names the file; this adds the option that named it.
    const std::string& problem = error.problems().front();
    const std::string name = file.string();
    const bool named = problem.compare(0, name.size(), name) == 0;
    throw Error(error.code(), named ? fmt::format("{} {}", option, problem) : fmt::format("{}, {}", called, problem));
  }
  if (texts.empty()) throw Error(ExitCode::kInvalid, fmt::format("{}: no text in it", called));
  return texts;
}

std::vector<std::string> read_texts(const char* option, const std::filesystem::path& file) {
  std::vector<std::string> texts;
  for (LabelledText& text : read_labelled(option, file)) texts.push_back(std::move(text.text));
  return texts;
}

std::vector<Sample> random_samples(uint32_t vocabulary, uint32_t max_tokens, uint32_t marks) {
  constexpr uint32_t kSamples = 128;
  std::vector<Sample> samples;
  uint64_t state = kSplitMixStep;
  const auto next = [&state] { return split_mix(state += kSplitMixStep); };
  const uint32_t longest = std::max(1u, std::min(max_tokens, 64u));
  for (uint32_t i = 0; i < kSamples; ++i) {
    Sample sample;
    const uint32_t length = i == 0 ? 1 : i == 1 ? longest : 1 + static_cast<uint32_t>(next() % longest);
    for (uint32_t t = 0; t < length; ++t) sample.ids.push_back(static_cast<int32_t>(next() % vocabulary));
    for (uint32_t t = 0; marks > 1 && t < length; ++t) sample.marks.push_back(static_cast<int32_t>(next() % marks));
    sample.text = fmt::format("random ids {} ({} tokens)", i, length);
    samples.push_back(std::move(sample));
  }
  return samples;
}

}  // namespace bantam::convert
