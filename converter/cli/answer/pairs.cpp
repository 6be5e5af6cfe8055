// Further uses of files that judge pairs: rank, and classify --labels.
#include "cli/answer/pairs.h"

#include <memory>

#include "cli/answer/stream.h"
#include "cli/commands.h"
#include "cli/frame/appearance.h"
#include "cli/frame/command.h"
#include "cli/frame/errors.h"
#include "cli/frame/output.h"
#include "data/text_source.h"
#include "score/pair_scores.h"

namespace bantam::cli {

using convert::rank_texts;
using convert::ScoredText;
using convert::softmax_at;
using convert::sort_best_first;
using convert::TextSource;

namespace {

constexpr const char* kPlace = "{}";
constexpr const char* kUsualHypothesis = "This example is {}.";

struct RankArguments {
  RunOptions run;  // texts: the query, then candidates
  std::string label;
  std::optional<uint32_t> top;
};

void show_ranked(const RankArguments& arguments, const std::vector<ScoredText>& ranked, const std::string& query,
                 const std::vector<std::string>& candidates, bool truncated) {
  if (arguments.run.json) {
    out().line(convert::ranked_json(query, candidates, ranked, truncated));
  } else {
    for (const ScoredText& one : ranked)
      out().print("{:9.4f} {:7}  {}\n", one.score, one.number + 1, printable(candidates[one.number]));
    if (truncated) out().print("{}\n", dim("(truncated: the ends of some texts were not read)"));
  }
  out().flush();
}

void run_rank(const RankArguments& arguments) {
  if (arguments.run.texts.empty()) fail(ExitCode::kUsage, "QUERY: missing; pass the query, then texts or --file");
  const std::string& query = arguments.run.texts[0];
  std::vector<std::string> given(arguments.run.texts.begin() + 1, arguments.run.texts.end());
  require_texts("text to rank", arguments.run.file, &given);
  const ModelFile file(arguments.run.model);
  convert::require_ranking(file, "--label", arguments.label);
  TextSource source(given, arguments.run.file, warn, show_prompt);
  std::vector<std::string> candidates;
  for (std::string text; source.next(&text);) {
    if (!text.empty()) candidates.push_back(std::move(text));
  }
  bool truncated = false;
  Engine engine(file, arguments.run.engine);
  std::vector<ScoredText> ranked = rank_texts(engine, "--label", arguments.label, query, candidates, &truncated);
  if (arguments.top && ranked.size() > *arguments.top) ranked.resize(*arguments.top);
  show_ranked(arguments, ranked, query, candidates, truncated);
}

}  // namespace

std::string hypothesis_of(const std::string& pattern, const char* usual, const std::string& label) {
  std::string hypothesis = pattern.empty() ? usual : pattern;
  const size_t place = hypothesis.find(kPlace);
  if (place == std::string::npos)
    fail(ExitCode::kUsage, "--hypothesis: wanted {} where the label goes, as in \"This text is about {}.\"", kPlace,
         kPlace);
  return hypothesis.replace(place, std::string_view(kPlace).size(), label);
}

void show_scored_labels(const RunOptions& options, const std::string& text, const std::vector<std::string>& labels,
                        const std::vector<float>& scores, bool truncated, bool several_texts) {
  std::vector<ScoredText> scored;
  for (size_t i = 0; i < scores.size(); ++i) scored.push_back({i, scores[i]});
  sort_best_first(&scored);
  if (options.top.value_or(0) != 0 && scored.size() > *options.top) scored.resize(*options.top);
  if (options.json) {
    Json object = json_object(options.command);
    object["text"] = text;
    object["labels"] = Json::array();
    for (const ScoredText& s : scored) object["labels"].push_back({{"label", labels[s.number]}, {"score", s.score}});
    object["truncated"] = truncated;
    out().line(object);
  } else {
    if (several_texts) out().print("{}\n", bold(printable(text)));
    for (const ScoredText& s : scored)
      out().print("{}{:7.4f}{}  {}\n", several_texts ? "  " : "", s.score, bar(s.score), printable(labels[s.number]));
  }
  out().flush();
}

void run_zero_shot(const RunOptions& options, const ZeroShot& asked) {
  if (options.texts.empty() && options.file.empty())
    fail(ExitCode::kUsage, "no text: pass it as an argument, by --file, or on standard input");
  hypothesis_of(asked.hypothesis, kUsualHypothesis, "");  // Reports a wrong hypothesis before any text is read.
  const ModelFile file(options.model);
  Engine engine(file, options.engine);
  convert::PairJudge judge(engine);
  const uint32_t holds =
      asked.entailment.empty() ? judge.find_beginning("entail") : judge.require("--entailment", asked.entailment);
  if (holds == judge.count() || judge.count() < 2) {
    fail(ExitCode::kUnsupported,
         "{}: --labels needs a model of natural language inference; none of its labels ({}) is called entailment: name "
         "it by "
         "--entailment LABEL",
         options.model, judge.names());
  }
  uint32_t denied = judge.find_beginning("contra");
  if (denied == judge.count() || denied == holds) denied = holds == 0 ? judge.count() - 1 : 0;
  const bool several_texts = has_headings(options);
  answer_each(options, [&](const std::string& text) {
    std::vector<Input> pairs;
    for (const std::string& label : asked.labels) {
      pairs.push_back({text, hypothesis_of(asked.hypothesis, kUsualHypothesis, label)});
    }
    bool truncated = false;
    const std::vector<std::vector<float>> logits = judge.logits(pairs, &truncated);
    std::vector<float> entailed;
    entailed.reserve(logits.size());
    for (const std::vector<float>& of_label : logits) entailed.push_back(of_label[holds]);
    std::vector<float> scores;
    for (size_t i = 0; i < logits.size(); ++i) {
      // As in transformers, a single label is judged against its contradiction, because no other label shares the
      // probability.
      scores.push_back(asked.several || asked.labels.size() == 1 ? softmax_at({logits[i][holds], logits[i][denied]}, 0)
                                                                 : softmax_at(entailed, static_cast<uint32_t>(i)));
    }
    show_scored_labels(options, text, asked.labels, scores, truncated, several_texts);
  });
}

void add_rank(Program& program) {
  auto arguments = std::make_shared<RankArguments>();
  arguments->run.command = "rank";
  arguments->run.engine.batch = convert::kPacked;
  Command& command = program.add_command("rank", "Rank texts by how well they answer a query", kAnswerGroup);
  command.heading("Input");
  command
      .add_option("FILE", arguments->run.model, "FILE.bantam",
                  "A .bantam file that scores pairs (cross-encoder), or gives one vector per token (ColBERT) "
                  "or term weights (SPLADE)")
      .required();
  command.add_texts("TEXT", &arguments->run.texts,
                    "The query, then the texts to rank; if none or -, read standard input");
  command.add_option("--file", arguments->run.file, "FILE", "Read the texts from this file, one per line");
  command.heading("Output");
  command.add_option("--label", arguments->label, "LABEL",
                     "Label whose probability ranks the texts, for models with several labels; a single label ranks by "
                     "its sigmoid");
  command.add_option("--top", arguments->top, "N", "Print at most N texts (default: all)", between(1, 1000000));
  command.add_flag("--json", arguments->run.json, "Print one JSON object");
  command.heading("Running");
  command.add_option("--batch", arguments->run.engine.batch, "N",
                     "Texts per forward pass (default: as many as fill the threads' tiles)", between(1, 4096));
  add_engine_options(command, &arguments->run.engine);
  command.footer(
      "Examples:\n"
      "  bantam rank reranker.bantam \"a small cat\" \"a kitten\" \"a car\"\n"
      "  bantam rank nli.bantam \"a small cat\" --file lines.txt --label LABEL_0 --top 3 --json");
  command.action([arguments] { run_rank(*arguments); });
}

}  // namespace bantam::cli
