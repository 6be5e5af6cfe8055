// bantam ask: finds the passages of an index that are nearest to a question, and the answers that a reader finds in
// them.
#include <algorithm>
#include <cmath>
#include <memory>

#include "base/text_positions.h"
#include "cli/answer/answers.h"
#include "cli/answer/stream.h"
#include "cli/commands.h"
#include "cli/frame/command.h"
#include "cli/frame/errors.h"
#include "cli/frame/output.h"
#include "search/hits.h"
#include "search/text_index.h"

namespace bantam::cli {

using convert::SearchIndex;
using convert::TextPositions;

namespace {

struct AskArguments {
  RunOptions run;  // model: the model of the index
  std::string index, reader;
  std::vector<std::string> where;
  uint32_t passages = 5;
};

/// The reader's result for one passage.
struct Finding {
  convert::Found passage;
  uint32_t line = 0;
  std::string id;  // empty: the index has none
  std::string text;
  Answer answer;
  float score = 0;
};

/// Removes passages without an answer, sorts the rest by logit, best first, and scores them by one softmax over the
/// spans of all passages. A passage thus scores no higher because it has few other spans (Clark and Gardner 2018,
/// "Simple and Effective Multi-Paragraph Reading Comprehension").
std::vector<Finding> judged(std::vector<Finding> findings) {
  findings.erase(
      std::remove_if(findings.begin(), findings.end(), [](const Finding& f) { return !f.answer.answerable; }),
      findings.end());
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return a.answer.logit > b.answer.logit; });
  double all = 0;
  for (const Finding& f : findings) {
    all += std::exp(double{f.answer.logit} - findings.front().answer.logit) * std::max(1.0, double{f.answer.mass});
  }
  for (Finding& f : findings) {
    f.score = static_cast<float>(std::exp(double{f.answer.logit} - findings.front().answer.logit) / all);
  }
  return findings;
}

void show(const AskArguments& arguments, const std::string& question, const std::vector<Finding>& findings,
          size_t passages, bool truncated, bool several) {
  const uint32_t most = arguments.run.top.value_or(1);
  const size_t shown = most == 0 ? findings.size() : std::min<size_t>(most, findings.size());
  const PositionUnit unit = arguments.run.offsets;
  if (arguments.run.json) {
    Json object = json_object("ask");
    object["question"] = question;
    object["answers"] = Json::array();
    for (size_t i = 0; i < shown; ++i) {
      const Finding& f = findings[i];
      const TextPositions positions(f.text, unit);
      Json one = {{"answer", slice(f.text, f.answer.span)},
                  {"start", positions.at(f.answer.span.begin)},
                  {"end", positions.at(f.answer.span.end)},
                  {"score", f.score},
                  {"line", f.line}};
      if (!f.id.empty()) one["id"] = f.id;
      one["similarity"] = f.passage.score;
      one["text"] = f.text;
      object["answers"].push_back(std::move(one));
    }
    object["passages"] = passages;
    object["truncated"] = truncated;
    out().line(object);
  } else {
    const char* indent = several ? "  " : "";
    if (several) out().print("{}\n", bold(printable(question)));
    if (shown == 0) out().print("{}{}\n", indent, dim(fmt::format("(no answer in the {} nearest texts)", passages)));
    for (size_t i = 0; i < shown; ++i) {
      const Finding& f = findings[i];
      out().print("{}{:7.4f}{}  {}\n", indent, f.score, bar(f.score), bold(printable(slice(f.text, f.answer.span))));
      const std::string place = f.id.empty() ? fmt::format("line {}", f.line) : printable(f.id);
      out().print("{}{}\n", indent, dim(fmt::format("{}: {}", place, printable(f.text))));
    }
    if (truncated) out().print("{}{}\n", indent, dim("(truncated: the ends of some texts were not read)"));
  }
  out().flush();
}

void run_ask(AskArguments& arguments) {
  RunOptions& run = arguments.run;
  require_texts("question", run.file, &run.texts);
  const SearchIndex index(arguments.index);
  if (run.model.empty()) run.model = convert::model_beside(index, arguments.index, "--model");
  convert::require_same_model(index, arguments.index, run.model);
  const convert::Allowed allowed =
      entries_where(index, arguments.index, "--where", convert::parse_conditions(arguments.where));
  const ModelFile file(run.model), reading(arguments.reader);
  if (!has_part(reading.model().task(), kSpanPart)) {
    fail(ExitCode::kUnsupported, "--reader {}: the file is for the task \"{}\"; this needs one that answers questions",
         arguments.reader, task_name(reading.model().task()));
  }
  Engine engine(file, run.engine), reader_engine(reading, run.engine);
  Predictor predictor(engine, convert::searched_parts(file), convert::for_queries(index));
  convert::PredictOptions options;
  options.stride = run.stride;
  Predictor reader(reader_engine, kSpanPart, options);
  const bool several = has_headings(run);
  answer_each(run, [&](const std::string& question) {
    const Prediction query = predictor.predict({{question, std::nullopt}}).at(0);
    bool truncated = query.truncated;
    std::vector<Finding> findings;
    for (const convert::Found& found :
         convert::find_texts(index, arguments.index, query, arguments.passages, engine.session().isa(),
                             convert::searched_length(file), allowed)) {
      std::string text(index.text(found.entry));
      const Prediction read = reader.predict({{question, text}}).at(0);
      truncated = truncated || read.truncated;
      std::string id(index.id(index.place(found.entry)));
      findings.push_back({found, index.number(found.entry), std::move(id), std::move(text), read.answer});
    }
    const size_t passages = findings.size();
    show(arguments, question, judged(std::move(findings)), passages, truncated, several);
  });
}

}  // namespace

void add_ask(Program& program) {
  auto arguments = std::make_shared<AskArguments>();
  arguments->run.command = "ask";
  Command& command = program.add_command("ask", "Answer questions from the texts of an index", kAnswerGroup);
  command.heading("Input");
  command
      .add_option("INDEX", arguments->index, "FILE.index",
                  "Index with the texts that hold the answers, written by bantam index")
      .required();
  command.add_texts("QUESTION", &arguments->run.texts, "Questions; if none or -, read standard input, one per line");
  command.add_option("--file", arguments->run.file, "FILE", "Read questions from this file, one per line");
  command
      .add_option("--reader", arguments->reader, "FILE.bantam",
                  "A .bantam file that finds the answer to a question in a text")
      .required();
  command.add_option("--model", arguments->run.model, "FILE.bantam",
                     "Model that made the index (default: the file that the index names, next to the index)");
  add_where_option(command, &arguments->where);
  command.add_option("--passages", arguments->passages, "N",
                     "Number of nearest texts to read for each question (default 5)", between(1, 10000));
  command.add_option("--stride", arguments->run.stride, "N",
                     "Read long texts in overlapping windows; neighbouring windows share N tokens");
  command.heading("Output");
  command.add_option("--top", arguments->run.top, "N", "Print at most N answers, one per text (default 1; 0: all)");
  command.add_flag("--json", arguments->run.json, "Print one JSON object per question");
  command.add_option("--offsets", arguments->run.offsets, "UNIT",
                     "Unit of positions in a text: bytes (default), chars (code points, as in Python) or utf16 "
                     "(as in JavaScript and Java)",
                     position_units());
  command.heading("Running");
  add_engine_options(command, &arguments->run.engine);
  command.footer(
      "A score is the answer's probability among all spans of the texts that were read and contain an answer.\n\n"
      "Examples:\n"
      "  bantam ask lines.index \"Who wrote it?\" --reader qa.bantam --model minilm.bantam\n"
      "  bantam ask lines.index --file questions.txt --reader qa.bantam --model minilm.bantam --passages 8 --json");
  command.action([arguments] { run_ask(*arguments); });
}

}  // namespace bantam::cli
