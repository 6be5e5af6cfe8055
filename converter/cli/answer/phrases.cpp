// bantam keywords, bantam topics: finds what texts are about.
#include <algorithm>
#include <memory>
#include <numeric>

#include "cli/answer/stream.h"
#include "cli/commands.h"
#include "cli/frame/appearance.h"
#include "cli/frame/command.h"
#include "cli/frame/errors.h"
#include "cli/frame/output.h"
#include "cli/frame/progress.h"
#include "data/text_source.h"
#include "search/phrases.h"
#include "search/text_index.h"
#include "search/topics.h"

namespace bantam::cli {

using convert::StopWords;
using convert::TextSource;

namespace {

struct WordOptions {
  uint32_t most = 1;  // the largest number of words in a phrase
  std::string stop_words = "english";
};

struct KeywordArguments {
  RunOptions run;
  WordOptions words;
  uint32_t top = 5;
  float diversity = 0;
  bool whole = false;
};

struct TopicArguments {
  std::string model, texts;
  EngineOptions engine;
  WordOptions words;
  uint32_t topics = 0;
  uint32_t top = 8;
  uint32_t examples = 1;
  bool json = false;
};

void add_word_options(Command& command, WordOptions* words) {
  command.add_option("--words", words->most, "N", fmt::format("Maximum words per phrase (default {})", words->most),
                     between(1, 5));
  command.add_option(
      "--stop-words", words->stop_words, "WORDS|FILE",
      "Words to leave out of phrases: \"english\" (default), \"none\", or a file with one word per line");
}

StopWords read_stop_words(const std::string& option) {
  if (option == "english") return convert::english_stop_words();
  StopWords words;
  if (option == "none") return words;
  convert::LineReader lines(option, warn);
  std::string line;
  while (lines.next(&line)) {
    for (std::string& word : convert::words_of(line)) words.insert(std::move(word));
  }
  return words;
}

// --------------------------------------------------------------------------------------- keywords

void show_keywords(const KeywordArguments& arguments, const std::string& text, convert::Embedder& embedder,
                   const StopWords& stop, bool several) {
  const std::vector<std::string> phrases = convert::phrases_of(text, 1, arguments.words.most, stop);
  std::vector<float> of_text, of_phrases;
  const bool truncated = embedder.embed({text}, &of_text) != 0;
  embedder.embed(phrases, &of_phrases);
  const auto chosen = convert::choose_phrases(of_text, of_phrases, arguments.top, arguments.diversity);
  if (arguments.run.json) {
    Json object = json_object("keywords");
    object["text"] = text;
    object["keywords"] = Json::array();
    for (const convert::ScoredPhrase& one : chosen) {
      object["keywords"].push_back({{"phrase", phrases[one.phrase]}, {"score", one.score}});
    }
    object["truncated"] = truncated;
    out().line(object);
  } else {
    if (several) out().print("{}\n", bold(printable(text)));
    for (const convert::ScoredPhrase& one : chosen) {
      out().print("{}{:7.4f}{}  {}\n", several ? "  " : "", one.score, bar(one.score), printable(phrases[one.phrase]));
    }
    if (truncated) out().print("{}\n", dim("(truncated: the end of the text was not read)"));
  }
  out().flush();
}

/// Joins all lines of all texts into one text.
std::string join_texts(TextSource& source) {
  std::string whole, line;
  while (source.next(&line)) whole += (whole.empty() ? "" : "\n") + line;
  return whole;
}

void run_keywords(KeywordArguments& arguments) {
  RunOptions& run = arguments.run;
  require_texts("text", run.file, &run.texts);
  const StopWords stop = read_stop_words(arguments.words.stop_words);
  const ModelFile file(run.model);
  convert::Embedder embedder(file, run.engine);
  if (arguments.whole) {
    TextSource source(run.texts, run.file, warn, show_prompt);
    return show_keywords(arguments, join_texts(source), embedder, stop, false);
  }
  const bool several = has_headings(run);
  answer_each(run, [&](const std::string& text) { show_keywords(arguments, text, embedder, stop, several); });
}

void add_keywords(Program& program) {
  auto arguments = std::make_shared<KeywordArguments>();
  arguments->run.command = "keywords";
  Command& command = program.add_command("keywords", "Find the keywords of texts", kAnswerGroup);
  command.heading("Input");
  command.add_option("FILE", arguments->run.model, "FILE.bantam", "A .bantam file that gives text vectors").required();
  command.add_texts("TEXT", &arguments->run.texts, "Texts; if none or -, read standard input, one per line");
  command.add_option("--file", arguments->run.file, "FILE", "Read texts from this file, one per line");
  command.add_flag("--whole", arguments->whole, "Treat all lines as one text");
  command.heading("Choice");
  add_word_options(command, &arguments->words);
  command.add_option("--diversity", arguments->diversity, "SHARE",
                     "How much each phrase must differ from those already chosen, 0 to 1 (default 0)",
                     between(0.0F, 1.0F));
  command.heading("Output");
  command.add_option("--top", arguments->top, "N", "Print at most N phrases per text (default 5)", between(1, 1000000));
  command.add_flag("--json", arguments->run.json, "Print one JSON object per text");
  command.heading("Running");
  arguments->run.engine.batch = 16;
  command.add_option("--batch", arguments->run.engine.batch, "N", "Phrases per forward pass (default 16)",
                     between(1, 4096));
  add_engine_options(command, &arguments->run.engine);
  command.footer(
      "A score is the cosine between the vectors of the phrase and of the text.\n\n"
      "Examples:\n"
      "  bantam keywords minilm.bantam \"The moon pulls the water of the sea\" --words 2\n"
      "  bantam keywords minilm.bantam --file paragraphs.txt --whole --top 8 --diversity 0.4 --json");
  command.action([arguments] { run_keywords(*arguments); });
}

// ----------------------------------------------------------------------------------------- topics

/// Returns the members of each group, nearest to its center first; the groups are sorted by size.
std::vector<std::vector<size_t>> members_of(const convert::Groups& groups) {
  std::vector<std::vector<size_t>> members(groups.count);
  for (size_t i = 0; i < groups.of.size(); ++i) members[groups.of[i]].push_back(i);
  for (auto& group : members) {
    std::stable_sort(group.begin(), group.end(),
                     [&](size_t a, size_t b) { return groups.nearness[a] > groups.nearness[b]; });
  }
  return members;
}

std::vector<uint32_t> by_size(const std::vector<std::vector<size_t>>& members) {
  std::vector<uint32_t> order(members.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return members[a].size() > members[b].size(); });
  return order;
}

void show_topics(const TopicArguments& arguments, const std::vector<std::string>& texts, const convert::Groups& groups,
                 const std::vector<std::vector<convert::ScoredWord>>& words, size_t cut) {
  const auto members = members_of(groups);
  const std::vector<uint32_t> order = by_size(members);
  Json object = json_object("topics");
  object["texts"] = texts.size();
  object["truncated"] = cut;
  object["topics"] = Json::array();
  Json of = Json::array();
  std::vector<size_t> number(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    const uint32_t group = order[i];
    number[group] = i + 1;
    Json topic = {{"topic", i + 1}, {"size", members[group].size()}, {"words", Json::array()}};
    std::string line;
    for (const convert::ScoredWord& word : words[group]) {
      topic["words"].push_back({{"phrase", word.word}, {"score", word.score}});
      line += (line.empty() ? "" : ", ") + printable(word.word);
    }
    topic["examples"] = Json::array();
    const size_t shown = std::min<size_t>(arguments.examples, members[group].size());
    for (size_t k = 0; k < shown; ++k) topic["examples"].push_back(texts[members[group][k]]);
    if (!arguments.json) {
      out().print("{:3} {:6} {}  {}\n", i + 1, members[group].size(), members[group].size() == 1 ? "text " : "texts",
                  bold(line));
      for (size_t k = 0; k < shown; ++k) out().print("{:18}{}\n", "", printable(texts[members[group][k]]));
    }
    object["topics"].push_back(std::move(topic));
  }
  for (const uint32_t group : groups.of) of.push_back(number[group]);
  object["of"] = std::move(of);
  if (arguments.json) out().line(object);
  out().flush();
}

void run_topics(const TopicArguments& arguments) {
  const StopWords stop = read_stop_words(arguments.words.stop_words);
  const ModelFile file(arguments.model);
  convert::Embedder embedder(file, arguments.engine);
  TextSource source({}, arguments.texts, warn, show_prompt);
  std::vector<std::string> texts;
  std::string text;
  while (source.next(&text)) {
    if (!text.empty()) texts.push_back(text);
  }
  if (texts.empty()) fail(ExitCode::kInvalid, "{}: holds no text, so that there are no topics", arguments.texts);
  Progress progress;
  convert::UnitVectors vectors;
  const size_t cut =
      embedder.embed(texts, &vectors.values, [&](size_t done) { progress.count("texts", done, texts.size()); });
  vectors.width = vectors.values.size() / texts.size();
  if (cut != 0) warn(fmt::format("{} texts are longer than the model reads; their ends were not", cut));
  const convert::Groups groups =
      convert::group_vectors(vectors, arguments.topics, [&] { progress.show("grouping", 0); });
  show_topics(arguments, texts, groups,
              convert::words_of_groups(texts, groups, arguments.top, arguments.words.most, stop), cut);
}

void add_topics(Program& program) {
  auto arguments = std::make_shared<TopicArguments>();
  Command& command =
      program.add_command("topics", "Group texts by meaning and list the words of each group", kAnswerGroup);
  command.heading("Input");
  command.add_option("FILE", arguments->model, "FILE.bantam", "A .bantam file that gives text vectors").required();
  command
      .add_option(
          "TEXTS", arguments->texts, "TEXTS",
          "Texts: a file with one text per line, or JSON lines, .csv or .tsv with one text per record; gzip too "
          "(-: standard input)")
      .required();
  command.heading("Choice");
  command.add_option("--topics", arguments->topics, "N",
                     "Number of groups (default: the number from 2 to 30 that separates the texts most clearly)",
                     between(1, 10000));
  add_word_options(command, &arguments->words);
  command.heading("Output");
  command.add_option("--top", arguments->top, "N", "Print at most N words per topic (default 8)", between(1, 1000));
  command.add_option("--examples", arguments->examples, "N",
                     "Number of most typical texts to print per topic (default 1)", between(0, 1000000));
  command.add_flag("--json", arguments->json, "Print one JSON object");
  command.heading("Running");
  arguments->engine.batch = 16;
  command.add_option("--batch", arguments->engine.batch, "N", "Texts per forward pass (default 16)", between(1, 4096));
  add_engine_options(command, &arguments->engine);
  command.footer(
      "k-means over vector directions finds the groups. Class-based tf-idf ranks words by how much "
      "more often a group uses them than the other groups. The same texts give the same topics.\n\n"
      "Examples:\n"
      "  bantam topics minilm.bantam lines.txt\n"
      "  bantam topics minilm.bantam lines.txt --topics 6 --words 2 --examples 3 --json");
  command.action([arguments] { run_topics(*arguments); });
}

}  // namespace

void add_phrases(Program& program) {
  add_keywords(program);
  add_topics(program);
}

}  // namespace bantam::cli
