#include "train/text_examples.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/fail.h"
#include "data/text_source.h"
#include "run/generate.h"
#include "run/prompts.h"
#include "train/labelled_examples.h"

namespace bantam::train {
namespace {

/// A text and, for encoder-decoders, its target text.
struct WordsLine {
  std::string place, text, target;
};

/// Tokens from a model's tokenizers. `cut`: the numbers of tokens of the source and of the text that did not fit.
struct WordsEncoded {
  Encoded side;
  std::vector<int32_t> next;
  uint32_t source_cut = 0, cut = 0;
};

/// A model that generates, packed in memory for its tokenizers.
class WordsModel {
 public:
  /// `most`: the number of tokens at which texts are truncated; 0: they must fit.
  WordsModel(const convert::Graph& graph, const std::string& directory, uint32_t most)
      : packed_(graph, directory, 0), most_(most), directory_(directory) {
    decoding_ = convert::resolve_decoding(model(), {});
    decoding_.cut = true;
    // A source's text may or may not begin with its language.
    const LanguagePlace place = language_place(model());
    if (place == LanguagePlace::kFirst || place == LanguagePlace::kStart) {
      convert::fail(
          convert::ExitCode::kUnsupported,
          "{}: translates into several languages, of which lines of data name none; train models of two languages",
          directory);
    }
    if (is_pair() && decoding_.said.start_id < 0) {
      convert::fail(convert::ExitCode::kInvalid,
                    "{}: config.json has no decoder_start_token_id, with which texts begin", directory);
    }
  }

  const Model& model() const { return packed_.model(); }
  const std::string& directory() const { return directory_; }
  bool is_pair() const { return model().source_vocabulary() != 0; }
  uint32_t source_places() const { return limit(model().max_source()); }
  uint32_t places() const { return limit(model().max_sequence()); }

  WordsEncoded encode(const WordsLine& line) const {
    WordsEncoded out;
    std::vector<int32_t> all = convert::text_ids(model(), 0, is_pair() ? line.target : line.text, 0).ids;
    if (is_pair()) {
      convert::SourceIds source = convert::source_ids(model(), decoding_, line.text, source_places());
      out.side.source = std::move(source.ids);
      out.source_cut = source.cut;
      const int32_t first = decoding_.said.beams.first_id;
      if (first >= 0 && (all.empty() || all.front() != first)) all.insert(all.begin(), first);
    }
    const auto& ends = decoding_.ends;
    if (!ends.empty() && (all.empty() || !decoding_.ends_text(all.back()))) all.push_back(ends.front());
    // Each token is predicted from the preceding ones; nothing predicts the first token of a decoder's text.
    if (is_pair()) all.insert(all.begin(), decoding_.said.start_id);
    const size_t rows = all.empty() ? 0 : all.size() - 1;
    const size_t kept = std::min<size_t>(rows, places());
    out.cut = static_cast<uint32_t>(rows - kept);
    const auto end = all.begin() + static_cast<std::ptrdiff_t>(kept);
    out.side.ids.assign(all.begin(), end);
    if (kept > 0) out.next.assign(all.begin() + 1, end + 1);
    return out;
  }

 private:
  uint32_t limit(uint32_t positions) const { return most_ == 0 ? positions : std::min(most_, positions); }

  PackedModel packed_;
  uint32_t most_;
  std::string directory_;
  convert::Decoding decoding_;
};

constexpr const char* kPairFields = "it learns from lines with a text and what becomes of it, src and tgt";

/// A convert::Problems entry that many lines share: the first place, and the number of lines.
struct WordsProblem {
  std::string first;
  size_t lines = 0;
  void note(const std::string& place) {
    if (lines++ == 0) first = place;
  }
};

class WordsReader {
 public:
  WordsReader(const convert::Graph& student, const convert::Graph* teacher, const DistillOptions& options,
              const convert::Warn& warn)
      : options_(options), warn_(warn), student_(student, options.student, options.max_tokens) {
    if (teacher != nullptr) teacher_ = std::make_unique<WordsModel>(*teacher, options.teacher, options.max_tokens);
  }

  std::vector<Example> read(const std::string& path, size_t limit) const {
    std::vector<Example> out;
    WordsProblem long_source, long_text, other_tokens;
    for (const WordsLine& line : student_.is_pair() ? pairs(path, limit) : texts(path, limit)) {
      WordsEncoded mine = student_.encode(line);
      if (mine.next.empty()) continue;  // a single token, which nothing predicts
      if (options_.max_tokens == 0 && mine.source_cut > 0) long_source.note(line.place);
      if (options_.max_tokens == 0 && mine.cut > 0) long_text.note(line.place);
      if (teacher_ && differs(mine, line)) other_tokens.note(line.place);
      Example example;
      example.student = std::move(mine.side);
      example.next = std::move(mine.next);
      out.push_back(std::move(example));
    }
    convert::Problems problems;
    const auto too_long = [&](const WordsProblem& found, const char* what, uint32_t places) {
      if (found.lines == 0) return;
      problems.add(
          convert::ExitCode::kInvalid,
          fmt::format("{}: {} {} (the first: {}) have more tokens than the {} positions of {}; leave them out, or "
                      "give --max-tokens {} to cut them",
                      path, found.lines, what, found.first, places, options_.student, places));
    };
    too_long(long_source, "sources", student_.source_places());
    too_long(long_text, student_.is_pair() ? "targets" : "texts", student_.places());
    if (other_tokens.lines > 0) {
      problems.add(
          convert::ExitCode::kInvalid,
          fmt::format("{}: of {} lines (the first: {}) {} makes other tokens than {}: their scores of next tokens can "
                      "be compared only where both have one vocabulary and one tokenizer",
                      path, other_tokens.lines, other_tokens.first, options_.teacher, options_.student));
    }
    if (problems.empty() && out.empty()) {
      convert::fail(convert::ExitCode::kInvalid, "{}: has no text of two tokens or more", path);
    }
    problems.raise();
    return out;
  }

 private:
  bool differs(const WordsEncoded& mine, const WordsLine& line) const {
    const WordsEncoded theirs = teacher_->encode(line);
    return theirs.side.ids != mine.side.ids || theirs.side.source != mine.side.source || theirs.next != mine.next;
  }

  /// Returns the result of `read`; adds the fields that lines must have to its problems.
  template <typename Read>
  convert::Dataset with_fields(const Read& read) const {
    try {
      return read();
    } catch (const convert::Error& error) {
      if (error.code() != convert::ExitCode::kInvalid) throw;
      std::vector<std::string> problems = error.problems();
      problems.push_back(fmt::format("{} is an encoder-decoder: {}", options_.student, kPairFields));
      throw convert::Error(convert::ExitCode::kInvalid, problems);
    }
  }

  std::vector<WordsLine> pairs(const std::string& path, size_t limit) const {
    const convert::Dataset data =
        with_fields([&] { return convert::read_dataset(path, student_.model(), limit, options_.skip_bad); });
    if (data.layout != convert::Layout::kTexts) {
      convert::fail(convert::ExitCode::kInvalid, "{}: holds {}, but {} is an encoder-decoder: {}", path,
                    convert::layout_name(data.layout), options_.student, kPairFields);
    }
    std::vector<WordsLine> lines;
    for (const convert::Example& example : data.examples) {
      lines.push_back({fmt::format("line {}", example.line), example.input.first, example.answers.front()});
    }
    return lines;
  }

  std::vector<WordsLine> texts(const std::string& path, size_t limit) const {
    convert::TextSource source({}, path, warn_);
    std::vector<WordsLine> lines;
    std::string text;
    for (bool more = true; more && (limit == 0 || lines.size() < limit);) {
      try {
        more = source.next(&text);
      } catch (const convert::Error& error) {
        if (!options_.skip_bad || error.code() != convert::ExitCode::kInvalid) throw;
        continue;
      }
      if (more && !text.empty()) lines.push_back({source.place(), text, ""});
    }
    return lines;
  }

  const DistillOptions& options_;
  const convert::Warn& warn_;
  WordsModel student_;
  std::unique_ptr<WordsModel> teacher_;
};

}  // namespace

void read_next_words(const convert::Graph& student, const convert::Graph* teacher, const DistillOptions& options,
                     const convert::Warn& warn, Job* job) {
  if (options.augment > 0 || !options.texts.empty()) {
    convert::fail(convert::ExitCode::kUnsupported,
                  "--augment and --texts are for models that label texts or words; {} generates texts",
                  options.student);
  }
  const WordsReader reader(student, teacher, options, warn);
  job->examples = reader.read(options.data, options.limit);
  if (!options.validation.empty()) job->validation = reader.read(options.validation, 0);
}

}  // namespace bantam::train
