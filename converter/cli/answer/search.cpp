// bantam index, bantam search: finds the texts whose meaning is nearest to a query.
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <memory>
#include <unordered_set>

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
#include "search/hits.h"
#include "search/text_index.h"

namespace bantam::cli {

using convert::IndexContents;
using convert::IndexedRecord;
using convert::SearchIndex;
using convert::TextSource;

namespace {

struct IndexArguments {
  std::string model, texts, output;
  std::vector<std::string> remove, remove_ids;
  convert::RecordSettings settings;
  std::vector<std::string> keep;
  EngineOptions engine;
  bool add = false;
  bool compact = false;
  uint32_t truncate_dim = 0;
  bool json = false;

  bool removes() const { return !remove.empty() || !remove_ids.empty(); }
  bool changes() const { return add || removes(); }
};

struct SearchArguments {
  RunOptions run;
  std::string index;
  std::vector<std::string> where;
  uint32_t top = 10;
};

/// Marks the records with numbers of lines such as "3" and "7-9".
void mark_lines(const std::string& word, const IndexContents& contents, std::vector<bool>* marked) {
  uint32_t first = 0, last = 0;
  const char* end = word.data() + word.size();
  auto read = std::from_chars(word.data(), end, first);
  last = first;
  if (read.ec == std::errc() && read.ptr != end && *read.ptr == '-') read = std::from_chars(read.ptr + 1, end, last);
  if (read.ec != std::errc() || read.ptr != end || first == 0 || last < first)
    fail(ExitCode::kUsage, "--remove {}: wanted numbers of lines as search shows them, such as 3 or 7-9",
         printable(word));
  const auto before = [](const IndexedRecord& record, uint32_t number) { return record.number < number; };
  const auto begin = contents.records.begin();
  const auto from = std::lower_bound(begin, contents.records.end(), first, before);
  const auto to = std::find_if(from, contents.records.end(), [&](const auto& one) { return one.number > last; });
  if (from == to || last > contents.last_record) {
    fail(ExitCode::kUsage, "--remove {}: the index has {}; its last line is {}", word,
         from == to ? "no such line" : "fewer lines", contents.last_record);
  }
  std::fill(marked->begin() + (from - begin), marked->begin() + (to - begin), true);
}

/// Marks the records with these ids.
void mark_ids(const std::vector<std::string>& ids, const IndexContents& contents, std::vector<bool>* marked) {
  if (ids.empty()) return;
  if (contents.settings.id_field.empty())
    fail(ExitCode::kUsage, "--remove-id {}: the index has no ids; --remove takes numbers of lines",
         printable(ids.front()));
  std::unordered_set<std::string> left(ids.begin(), ids.end());
  const std::unordered_set<std::string> wanted = left;
  for (size_t i = 0; i < contents.records.size(); ++i) {
    if (wanted.count(contents.records[i].id) == 0) continue;
    (*marked)[i] = true;
    left.erase(contents.records[i].id);
  }
  std::vector<std::string> problems;
  for (const std::string& id : ids) {
    if (left.count(id) != 0)
      problems.push_back(fmt::format("--remove-id {}: no record of the index has that id", printable(id)));
  }
  if (!problems.empty()) throw Error(ExitCode::kUsage, problems);
}

/// Appends the records of TEXTS to the index, one batch at a time.
convert::Additions embed_all(const IndexArguments& arguments, const ModelFile& file, IndexContents* contents) {
  if (arguments.texts.empty()) return {};
  convert::RecordSource source(arguments.texts, contents->settings, contents->fields, warn, show_prompt);
  Progress progress;
  const auto next = [&source](convert::SourceRecord* record) { return source.next(record); };
  const auto show = [&](size_t texts) { progress.show("texts", source.share(), fmt::format("{} texts", texts)); };
  return convert::add_records(file, arguments.engine, arguments.truncate_dim, next, show, contents);
}

/// Reads the contents of the existing index without the records to remove.
IndexContents read_old(const IndexArguments& arguments) {
  const SearchIndex old(arguments.output);
  convert::require_same_model(old, arguments.output, arguments.model);
  IndexContents contents = old.contents();
  std::vector<bool> removed(contents.records.size());
  for (const std::string& word : arguments.remove) mark_lines(word, contents, &removed);
  mark_ids(arguments.remove_ids, contents, &removed);
  size_t kept = 0;
  for (size_t i = 0; i < removed.size(); ++i) {
    if (!removed[i]) std::swap(contents.records[kept++], contents.records[i]);
  }
  contents.records.resize(kept);
  return contents;
}

IndexContents begin_new(const IndexArguments& arguments, const ModelFile& file) {
  IndexContents contents;
  contents.model = convert::sha256_of_file(arguments.model);
  contents.model_name = std::filesystem::path(arguments.model).filename().string();
  contents.compact = arguments.compact;
  contents.settings = arguments.settings;
  for (const std::string& name : arguments.keep) {
    if (std::find(contents.fields.begin(), contents.fields.end(), name) == contents.fields.end())
      contents.fields.push_back(name);
  }
  if (arguments.truncate_dim > convert::embedding_width(file.model()))
    fail(ExitCode::kUsage, "--truncate-dim {}: vectors of {} have {} numbers", arguments.truncate_dim, arguments.model,
         convert::embedding_width(file.model()));
  contents.terms = has_part(file.model().task(), kTermsPart);
  if (contents.terms && contents.compact)
    fail(ExitCode::kUsage, "--compact: {} gives weights of terms, which are not rounded", arguments.model);
  if (contents.terms && arguments.truncate_dim != 0)
    fail(ExitCode::kUsage, "--truncate-dim: {} gives weights of terms, of which all count", arguments.model);
  return contents;
}

/// Fails for options that do not go together.
void check_arguments(const IndexArguments& arguments) {
  if (arguments.texts.empty() != (arguments.removes() && !arguments.add)) {
    fail(ExitCode::kUsage, arguments.texts.empty()
                               ? "TEXTS: missing; name a file of texts, one a line, or - for standard input"
                               : "TEXTS: --remove and --remove-id alone take none; with --add texts are appended");
  }
  if (!arguments.changes()) return;
  const convert::RecordSettings& settings = arguments.settings;
  const std::pair<const char*, bool> of_new[] = {{"--truncate-dim", arguments.truncate_dim != 0},
                                                 {"--compact", arguments.compact},
                                                 {"--text", !settings.text_field.empty()},
                                                 {"--id", !settings.id_field.empty()},
                                                 {"--keep", !arguments.keep.empty()},
                                                 {"--keep-all", settings.keeps_all},
                                                 {"--stride", settings.stride.has_value()}};
  for (const auto& [name, given] : of_new) {
    if (given) fail(ExitCode::kUsage, "{}: a new index only; the existing one says how it is made: leave it out", name);
  }
}

/// Fails for a field that no record of a new index has.
void require_kept(const IndexArguments& arguments, const IndexContents& contents) {
  for (size_t f = 0; f < arguments.keep.size() && f < contents.fields.size(); ++f) {
    const auto has = [f](const IndexedRecord& one) { return f < one.values.size() && !one.values[f].empty(); };
    if (std::none_of(contents.records.begin(), contents.records.end(), has))
      fail(ExitCode::kUsage, "--keep {}: no record of {} has that field", printable(contents.fields[f]),
           arguments.texts);
  }
}

void run_index(const IndexArguments& arguments) {
  check_arguments(arguments);
  convert::refuse_input_as_output(arguments.output, {arguments.model, arguments.texts});
  convert::OutputFile output(arguments.output);
  const ModelFile file(arguments.model);
  convert::searched_parts(file);
  IndexContents contents = arguments.changes() ? read_old(arguments) : begin_new(arguments, file);
  if (!contents.terms) contents.length = convert::searched_length(file);
  const convert::Additions done = embed_all(arguments, file, &contents);
  if (contents.width == 0)
    fail(ExitCode::kInvalid, "{}: holds no text, so that there is nothing to index", arguments.texts);
  if (!arguments.changes()) require_kept(arguments, contents);
  if (done.truncated != 0) {
    warn(fmt::format("texts that the model does not read to their ends: {}; --stride N, in a new index, makes chunks",
                     done.truncated));
  }
  const std::vector<uint8_t> bytes = convert::index_bytes(contents);
  output.commit(bytes.data(), bytes.size());
  size_t chunks = 0;
  for (const IndexedRecord& one : contents.records) chunks += one.texts.size();
  Json record = json_object("index");
  record["output"] = arguments.output;
  record["texts"] = contents.records.size();
  record["chunks"] = chunks;
  record["added"] = done.added;
  record["replaced"] = done.replaced;
  record["truncated"] = done.truncated;
  record["width"] = contents.width;
  record["bytes"] = bytes.size();
  const std::string in_chunks = chunks == contents.records.size() ? "" : fmt::format(" in {} chunks", chunks);
  print_result(arguments.json, record,
               fmt::format("{}: {} texts{}, {} of {} {}, {}\n", printable(arguments.output), contents.records.size(),
                           in_chunks, contents.terms ? "terms" : "vectors", contents.width,
                           contents.terms ? "words" : "numbers", readable_bytes(bytes.size())));
}

/// Returns the id, or the number of the line, the text and the fields of a record.
std::string hit_line(const SearchArguments& arguments, const SearchIndex& index, const convert::Found& found) {
  const std::string_view id = index.id(index.place(found.entry));
  const std::string name = index.has_ids() ? printable(id) : std::to_string(index.number(found.entry));
  std::string fields;
  for (const auto& [field, value] : stored_fields(index, arguments.index, found.entry)) {
    fields +=
        fmt::format("{}{}={}", fields.empty() ? "  " : ", ", printable(field), printable(convert::plain_value(value)));
  }
  return fmt::format("{:7.4f}{} {:>7}  {}{}\n", found.score, bar(found.score), name, printable(index.text(found.entry)),
                     fields.empty() ? "" : dim(fields));
}

void show_found(const SearchArguments& arguments, const SearchIndex& index, const std::string& query,
                const std::vector<convert::Found>& found, bool several) {
  std::string text;
  if (arguments.run.json) {
    text = convert::hits_json(index, arguments.index, query, found) + "\n";
  } else {
    if (several) text = bold(printable(query)) + "\n";
    for (const convert::Found& f : found) text += (several ? "  " : "") + hit_line(arguments, index, f);
  }
  out().write(text);
  out().flush();
}

void run_search(SearchArguments& arguments) {
  RunOptions& run = arguments.run;
  require_texts("query", run.file, &run.texts);
  const ModelFile file(run.model);
  const uint32_t parts = convert::searched_parts(file);
  const SearchIndex index(arguments.index);
  convert::require_same_model(index, arguments.index, run.model);
  const uint32_t top = arguments.top == 0 ? index.records() : arguments.top;
  const convert::Allowed allowed =
      entries_where(index, arguments.index, "--where", convert::parse_conditions(arguments.where));
  Engine engine(file, run.engine);
  Predictor predictor(engine, parts, convert::for_queries(index));
  TextSource source(run.texts, run.file, warn, show_prompt);
  const bool several = has_headings(run);
  answer_stream(run, {one_by_one(source), [&](const std::vector<Input>& texts) {
                        const std::vector<Prediction> queries = predictor.predict(texts);
                        for (size_t i = 0; i < texts.size(); ++i) {
                          show_found(
                              arguments, index, texts[i].first,
                              convert::find_texts(index, arguments.index, queries[i], top, engine.session().isa(),
                                                  convert::searched_length(file), allowed),
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
  command.add_option("--text", arguments->settings.text_field, "NAME",
                     "Field or column with the text (default: the usual names)");
  command.add_option("--id", arguments->settings.id_field, "NAME",
                     "Field or column with the id of a record: search shows it, and an added record replaces the one "
                     "with its id");
  command
      .add_option("--keep", arguments->keep, "NAMES",
                  "Fields or columns to store, such as team,url: search shows them and filters by them")
      .separated_by(',')
      .not_with({"--keep-all"});
  command.add_flag("--keep-all", arguments->settings.keeps_all, "Store all fields besides the text and the id");
  command.add_option("--stride", arguments->settings.stride, "N",
                     "Cut texts that are longer than the model reads into chunks; neighbouring chunks share N tokens");
  command.heading("Output");
  command.add_option("-o,--output", arguments->output, "FILE.index", "Index to write").required();
  command.add_flag("--add", arguments->add, "Append the texts to the existing index, by the options that made it");
  command
      .add_option("--remove", arguments->remove, "LINES",
                  "Remove lines from the existing index, by the numbers that search shows; others keep their numbers")
      .separated_by(',');
  command
      .add_option("--remove-id", arguments->remove_ids, "ID",
                  "Remove the record with this id from the existing index; may be given several times")
      .one_at_a_time();
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
  command.usual({"--text", "--id", "--keep", "--keep-all", "--stride", "--output", "--add", "--remove", "--remove-id",
                 "--json", "--threads"});
  command.footer(
      "Examples:\n"
      "  bantam index minilm.bantam lines.txt -o lines.index\n"
      "  bantam index minilm.bantam more.txt -o lines.index --add\n"
      "  bantam index minilm.bantam -o lines.index --remove 2,4-5\n"
      "  bantam index minilm.bantam tickets.csv -o tickets.index --id id --keep team\n"
      "  bantam index minilm.bantam -o tickets.index --remove-id T-17");
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
  add_where_option(command, &arguments->where);
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
      "  bantam search minilm.bantam lines.index --file queries.txt --top 3 --json\n"
      "  bantam search minilm.bantam tickets.index \"invoice\" --where team=billing");
  command.action([arguments] { run_search(*arguments); });
}

}  // namespace

void add_search(Program& program) {
  add_index(program);
  add_find(program);
}

}  // namespace bantam::cli
