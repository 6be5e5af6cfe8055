// bantam index, bantam search: finds the texts whose meaning is nearest to a query.
#include <charconv>
#include <filesystem>
#include <memory>
#include <set>

#include "base/output_file.h"
#include "base/sha256.h"
#include "cli/answer/stream.h"
#include "cli/commands.h"
#include "cli/frame/appearance.h"
#include "cli/frame/command.h"
#include "cli/frame/errors.h"
#include "cli/frame/output.h"
#include "cli/frame/progress.h"
#include "data/text_source.h"
#include "search/text_index.h"

namespace bantam::cli {

using convert::IndexContents;
using convert::SearchIndex;
using convert::TextSource;

namespace {

struct IndexArguments {
  std::string model, texts, output;
  std::vector<std::string> remove;
  EngineOptions engine;
  bool add = false;
  bool compact = false;
  uint32_t truncate_dim = 0;
  bool json = false;
};

struct SearchArguments {
  RunOptions run;
  std::string index;
  uint32_t top = 10;
};

/// Parses line numbers, counted from 1, such as "3" and "7-9".
std::set<uint32_t> parse_lines(const std::vector<std::string>& words, uint32_t count) {
  std::set<uint32_t> lines;
  for (const std::string& word : words) {
    uint32_t first = 0, last = 0;
    const char* end = word.data() + word.size();
    auto read = std::from_chars(word.data(), end, first);
    last = first;
    if (read.ec == std::errc() && read.ptr != end && *read.ptr == '-') read = std::from_chars(read.ptr + 1, end, last);
    if (read.ec != std::errc() || read.ptr != end || first == 0 || last < first)
      fail(ExitCode::kUsage, "--remove {}: wanted numbers of lines as search shows them, such as 3 or 7-9", word);
    if (last > count) fail(ExitCode::kUsage, "--remove {}: the index has {} lines", word, count);
    for (uint32_t line = first; line <= last; ++line) lines.insert(line);
  }
  return lines;
}

/// Appends the texts of TEXTS to the index, one batch at a time. Returns the number of truncated texts.
size_t embed_all(const IndexArguments& arguments, const ModelFile& file, IndexContents* contents) {
  TextSource source({}, arguments.texts, warn, show_prompt);
  Progress progress;
  const auto next = [&source](std::string* text) { return source.next(text); };
  const auto show = [&](size_t texts) { progress.show("texts", source.share(), fmt::format("{} texts", texts)); };
  return convert::add_texts(file, arguments.engine, arguments.truncate_dim, next, show, contents);
}

/// Reads the contents of the existing index without the lines to remove.
IndexContents read_old(const IndexArguments& arguments) {
  const SearchIndex old(arguments.output);
  convert::require_same_model(old, arguments.output, arguments.model);
  const std::set<uint32_t> removed = parse_lines(arguments.remove, old.count());
  IndexContents contents = old.contents();
  size_t kept = 0;
  for (uint32_t i = 0; i < old.count(); ++i) {
    if (removed.count(i + 1) == 0) std::swap(contents.entries[kept++], contents.entries[i]);
  }
  contents.entries.resize(kept);
  return contents;
}

void run_index(const IndexArguments& arguments) {
  const bool changes = arguments.add || !arguments.remove.empty();
  if (arguments.texts.empty() != (!arguments.remove.empty() && !arguments.add)) {
    fail(ExitCode::kUsage, arguments.texts.empty()
                               ? "TEXTS: missing; name a file of texts, one a line, or - for standard input"
                               : "TEXTS: --remove alone takes none; with --add texts are appended");
  }
  if (changes && arguments.truncate_dim != 0)
    fail(ExitCode::kUsage, "--truncate-dim: a new index only; the old one says how many numbers its vectors have");
  if (changes && arguments.compact) fail(ExitCode::kUsage, "--compact: a new index only; the old one says what it is");
  convert::refuse_input_as_output(arguments.output, {arguments.model, arguments.texts});
  convert::OutputFile output(arguments.output);
  const ModelFile file(arguments.model);
  convert::searched_parts(file);
  IndexContents contents;
  if (changes) {
    contents = read_old(arguments);
  } else {
    contents.model = convert::sha256_of_file(arguments.model);
    contents.model_name = std::filesystem::path(arguments.model).filename().string();
    contents.compact = arguments.compact;
    if (arguments.truncate_dim > convert::embedding_width(file.model()))
      fail(ExitCode::kUsage, "--truncate-dim {}: vectors of {} have {} numbers", arguments.truncate_dim,
           arguments.model, convert::embedding_width(file.model()));
    contents.terms = has_part(file.model().task(), kTermsPart);
    if (contents.terms && contents.compact)
      fail(ExitCode::kUsage, "--compact: {} gives weights of terms, which are not rounded", arguments.model);
    if (contents.terms && arguments.truncate_dim != 0)
      fail(ExitCode::kUsage, "--truncate-dim: {} gives weights of terms, of which all count", arguments.model);
  }
  if (!contents.terms) contents.length = convert::searched_length(file);
  const size_t old = contents.entries.size();
  const size_t cut = arguments.texts.empty() ? 0 : embed_all(arguments, file, &contents);
  if (contents.width == 0)
    fail(ExitCode::kInvalid, "{}: holds no text, so that there is nothing to index", arguments.texts);
  if (cut != 0) warn(fmt::format("{} texts are longer than the model reads; their ends were not", cut));
  const std::vector<uint8_t> bytes = convert::index_bytes(contents);
  output.commit(bytes.data(), bytes.size());
  Json record = json_object("index");
  record["output"] = arguments.output;
  record["texts"] = contents.entries.size();
  record["added"] = contents.entries.size() - old;
  record["truncated"] = cut;
  record["width"] = contents.width;
  record["bytes"] = bytes.size();
  print_result(arguments.json, record,
               fmt::format("{}: {} texts, {} of {} {}, {}\n", printable(arguments.output), contents.entries.size(),
                           contents.terms ? "terms" : "vectors", contents.width, contents.terms ? "words" : "numbers",
                           readable_bytes(bytes.size())));
}

void show_found(const SearchArguments& arguments, const SearchIndex& index, const std::string& query,
                const std::vector<convert::Found>& found, bool several) {
  if (arguments.run.json) {
    Json object = json_object("search");
    object["text"] = query;
    object["found"] = Json::array();
    for (const convert::Found& f : found) {
      object["found"].push_back({{"line", f.entry + 1}, {"score", f.score}, {"text", index.text(f.entry)}});
    }
    out().line(object);
  } else {
    if (several) out().print("{}\n", bold(printable(query)));
    for (const convert::Found& f : found)
      out().print("{}{:7.4f}{} {:7}  {}\n", several ? "  " : "", f.score, bar(f.score), f.entry + 1,
                  printable(std::string(index.text(f.entry))));
  }
  out().flush();
}

void run_search(SearchArguments& arguments) {
  RunOptions& run = arguments.run;
  require_texts("query", run.file, &run.texts);
  const ModelFile file(run.model);
  const uint32_t parts = convert::searched_parts(file);
  const SearchIndex index(arguments.index);
  convert::require_same_model(index, arguments.index, run.model);
  const uint32_t top = arguments.top == 0 ? index.count() : arguments.top;
  Engine engine(file, run.engine);
  Predictor predictor(engine, parts, convert::for_queries(index));
  TextSource source(run.texts, run.file, warn, show_prompt);
  const bool several = has_headings(run);
  answer_stream(run, {one_by_one(source), [&](const std::vector<Input>& texts) {
                        const std::vector<Prediction> queries = predictor.predict(texts);
                        for (size_t i = 0; i < texts.size(); ++i) {
                          show_found(arguments, index, texts[i].first,
                                     convert::find_texts(index, arguments.index, queries[i], top,
                                                         engine.session().isa(), convert::searched_length(file)),
                                     several);
                        }
                      }});
}

void add_index(Program& program) {
  auto arguments = std::make_shared<IndexArguments>();
  arguments->engine.batch = convert::kPacked;
  Command& command = program.add_command("index", "Build an index of texts for search", kMakeGroup);
  command.heading("Input");
  command.add_option("FILE", arguments->model, "FILE.bantam", "A .bantam file that gives text vectors or term weights")
      .required();
  command.add_option("TEXTS", arguments->texts, "TEXTS",
                     "Texts: a file with one text per line, or JSON lines, .csv or .tsv with one text per record; gzip "
                     "too (-: standard input)");
  command.heading("Output");
  command.add_option("-o,--output", arguments->output, "FILE.index", "Index to write").required();
  command.add_flag("--add", arguments->add, "Append the texts to the existing index");
  command
      .add_option("--remove", arguments->remove, "LINES",
                  "Remove lines from the existing index, by the numbers that search shows; later lines move up")
      .separated_by(',');
  command.add_flag("--compact", arguments->compact,
                   "Store one byte per number instead of two, for half the file size; near ties may change order");
  command.add_option("--truncate-dim", arguments->truncate_dim, "N",
                     "Keep only the first N numbers of each vector (Matryoshka models); a new index only",
                     between(1, 1 << 16));
  command.add_flag("--json", arguments->json, "Print one JSON object");
  command.heading("Running");
  command.add_option("--batch", arguments->engine.batch, "N",
                     "Texts per forward pass (default: as many as fill the threads' tiles)", between(1, 4096));
  add_engine_options(command, &arguments->engine);
  command.footer(
      "Examples:\n"
      "  bantam index minilm.bantam lines.txt -o lines.index\n"
      "  bantam index minilm.bantam more.txt -o lines.index --add\n"
      "  bantam index minilm.bantam -o lines.index --remove 2,4-5");
  command.action([arguments] { run_index(*arguments); });
}

void add_find(Program& program) {
  auto arguments = std::make_shared<SearchArguments>();
  arguments->run.command = "search";
  Command& command =
      program.add_command("search", "Find the texts of an index that are nearest to a query", kAnswerGroup);
  command.heading("Input");
  command.add_option("FILE", arguments->run.model, "FILE.bantam", "The .bantam file that made the index").required();
  command.add_option("INDEX", arguments->index, "FILE.index", "Index written by bantam index").required();
  command.add_texts("QUERY", &arguments->run.texts, "Queries; if none or -, read standard input, one per line");
  command.add_option("--file", arguments->run.file, "FILE", "Read queries from this file, one per line");
  command.heading("Output");
  command.add_option("--top", arguments->top, "N", "Print at most N texts per query (default 10; 0: all)",
                     between(0, 1000000));
  command.add_flag("--json", arguments->run.json, "Print one JSON object per query");
  command.heading("Running");
  command.add_option("--batch", arguments->run.engine.batch, "N", "Queries per forward pass (default 1)",
                     between(1, 4096));
  add_engine_options(command, &arguments->run.engine);
  command.footer(
      "A score is a cosine (1: the same direction), or a product of vectors if the model says so "
      "(similarity_fn_name); with terms (SPLADE), it is a sum of products of weights. Each query "
      "begins with the file's prompt for queries. The search is exact: it compares every vector, "
      "or every text that has one of the query's terms.\n\n"
      "Examples:\n"
      "  bantam search minilm.bantam lines.index \"a small cat\"\n"
      "  bantam search minilm.bantam lines.index --file queries.txt --top 3 --json");
  command.action([arguments] { run_search(*arguments); });
}

}  // namespace

void add_search(Program& program) {
  add_index(program);
  add_find(program);
}

}  // namespace bantam::cli
