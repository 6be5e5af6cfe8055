#include "search/text_index.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <unordered_set>

#include "base/fail.h"
#include "base/is_there.h"
#include "base/printable.h"
#include "base/sha256.h"
#include "base/status_error.h"
#include "run/prompts.h"
#include "run/term_weights.h"
#include "run/text_stream.h"
#include "score/similarity.h"
#include "search/chunker.h"
#include "search/phrases.h"

namespace bantam::convert {
namespace {

/// Converts a text and its prediction to an entry of the index.
IndexedText indexed(std::string text, Prediction* found, const IndexContents& contents) {
  if (!contents.terms) return round_vector(std::move(text), found->embedding, contents.compact, contents.length);
  IndexedText entry;
  entry.text = std::move(text);
  entry.terms = by_id(std::move(found->terms));
  return entry;
}

/// Stores the fields of a record; new names are appended to the names of the index.
void put_fields(const SourceRecord& record, IndexContents* contents, std::vector<std::string>* values) {
  for (const auto& [name, value] : record.fields) {
    const auto at = std::find(contents->fields.begin(), contents->fields.end(), name);
    const auto f = static_cast<size_t>(at - contents->fields.begin());
    if (at == contents->fields.end()) contents->fields.push_back(name);
    if (values->size() <= f) values->resize(f + 1);
    (*values)[f] = value;
  }
}

/// Removes records that were there before and have the id of a later one. Returns their number.
size_t remove_replaced(size_t old, IndexContents* contents) {
  if (contents->settings.id_field.empty()) return 0;
  std::unordered_set<std::string> ids;
  std::vector<IndexedRecord>& records = contents->records;
  for (size_t i = old; i < records.size(); ++i) ids.insert(records[i].id);
  const auto end = records.begin() + static_cast<std::ptrdiff_t>(old);
  const auto kept =
      std::remove_if(records.begin(), end, [&](const IndexedRecord& one) { return ids.count(one.id) != 0; });
  const auto replaced = static_cast<size_t>(end - kept);
  records.erase(kept, end);
  return replaced;
}

/// The index and the model that made it.
class Library {
 public:
  Library(const std::string& path, const std::string& embedder, const ModelFile& file, uint32_t count,
          const EngineOptions& options)
      : path_(path),
        index_(path),
        embedder_((require_same_model(index_, path, embedder), embedder)),
        model_(file.model()),
        count_(count),
        engine_(embedder_, own(options)),
        predictor_(engine_, searched_parts(embedder_), for_queries(index_)) {
    check(Tokenizer::open(model_, 0, &tokenizer_), file.path());
  }

  Neighbours find(const std::vector<int32_t>& ids) {
    const std::string text = text_of(ids);
    Neighbours texts;
    if (text.find_first_not_of(" \t\r\n") == std::string::npos) return texts;
    const Prediction query = predictor_.predict({{text, std::nullopt}}).at(0);
    for (const Found& found :
         find_texts(index_, path_, query, count_, engine_.session().isa(), searched_length(embedder_))) {
      std::vector<int32_t> tokens = tokens_from(found.entry);
      if (!tokens.empty()) texts.push_back(std::move(tokens));
    }
    return texts;
  }

 private:
  static EngineOptions own(const EngineOptions& options) {
    EngineOptions out;
    out.threads = options.threads;
    out.isa = options.isa;
    return out;
  }

  std::string text_of(const std::vector<int32_t>& ids) const {
    const std::vector<std::string> no_stop;
    const TakeText silent;
    TextStream stream(tokenizer_, {}, no_stop, silent);
    for (const int32_t id : ids) stream.add(id);
    return stream.finish();
  }

  /// Returns the tokens of a line and of the following lines, at most as many as the model reads.
  std::vector<int32_t> tokens_from(uint32_t entry) const {
    const uint32_t most = most_neighbour_tokens(model_);
    std::string text(index_.text(entry));
    for (;;) {
      std::vector<int32_t> ids = text_ids(model_, 0, text, 0, false).ids;
      if (ids.size() < most && ++entry < index_.count()) {
        text.append(" ").append(index_.text(entry));
        continue;
      }
      if (ids.size() > most) ids.resize(most);
      return ids;
    }
  }

  std::string path_;
  SearchIndex index_;
  ModelFile embedder_;
  const Model& model_;
  uint32_t count_;
  Engine engine_;
  Predictor predictor_;
  Tokenizer tokenizer_;
};

/// Appends the vector scaled to unit length; a vector of zeros stays unchanged.
void append_unit(const std::vector<float>& vector, std::vector<float>* to) {
  const float length = std::sqrt(dot(vector.data(), vector.data(), vector.size()));
  for (const float value : vector) to->push_back(length > 0 ? value / length : 0.0F);
}

}  // namespace

uint32_t require_vectors(const ModelFile& file) {
  const uint32_t parts = traits(file.model().task()).parts & kVectorPart;
  if (parts != 0) return parts;
  fail(ExitCode::kUnsupported,
       "{}: the file is for the task \"{}\", this needs vectors of texts; convert it with --task embed", file.path(),
       task_name(file.model().task()));
}

Length searched_length(const ModelFile& file) {
  switch (similarity_of(file.model())) {
    case Similarity::kCosine:
      return Length::kDivided;
    case Similarity::kDot:
      return Length::kKept;
    default:
      fail(ExitCode::kUnsupported,
           "{}: its vectors are compared by distances (similarity_fn_name), and an index ranks by cosines or products; "
           "bantam similar compares two texts",
           file.path());
  }
}

uint32_t searched_parts(const ModelFile& file) {
  return has_part(file.model().task(), kTermsPart) ? kTermsPart : require_vectors(file);
}

void require_same_model(const SearchIndex& index, const std::string& path, const std::string& model) {
  if (index.model() == sha256_of_file(model)) return;
  fail(ExitCode::kInvalid, "{}: was made with another model, {}; use that file, or make the index again with {}", path,
       printable(index.model_name()), model);
}

std::string model_beside(const SearchIndex& index, const std::string& path, const char* option) {
  const std::string name = std::filesystem::path(index.model_name()).filename().string();
  for (const std::filesystem::path& place :
       {std::filesystem::path(path).parent_path() / name, std::filesystem::path(name)}) {
    if (!name.empty() && is_there(place)) return place.string();
  }
  fail(ExitCode::kIo, "{}: missing, and the model that {} was made with, {}, is not beside it; name its file", option,
       path, printable(index.model_name()));
}

PredictOptions for_queries(const SearchIndex& index) {
  PredictOptions options;
  options.role = TextRole::kQuery;
  if (!index.of_terms()) options.width = index.width();
  return options;
}

std::vector<Found> find_texts(const SearchIndex& index, const std::string& path, const Prediction& query, uint32_t top,
                              Isa isa, Length length, const Allowed& allowed) {
  if (index.of_terms()) return find_by_terms(index, by_id(query.terms), top, allowed);
  const std::vector<float>& vector = query.embedding;
  if (vector.size() != index.width())
    fail(ExitCode::kInvalid, "{}: vectors of {} numbers, the model's have {}; make it again", path, index.width(),
         vector.size());
  return find_nearest(index, vector, top, isa, length, allowed);
}

Additions add_records(const ModelFile& file, const EngineOptions& engine_options, uint32_t width,
                      const std::function<bool(SourceRecord*)>& next, const std::function<void(size_t)>& progress,
                      IndexContents* contents) {
  Engine engine(file, engine_options);
  PredictOptions options;
  options.role = TextRole::kDocument;
  options.width = contents->width != 0 ? contents->width : width;
  Predictor predictor(engine, searched_parts(file), options);
  std::optional<Chunker> chunker;
  if (contents->settings.stride) chunker.emplace(file, options.role, *contents->settings.stride);
  const size_t old = contents->records.size();
  Additions done;
  std::vector<Input> batch;
  std::vector<size_t> of;  // the record of each text
  const auto finish = [&] {
    std::vector<Prediction> found = predictor.predict(batch);
    contents->width = contents->terms ? convert::embedding_width(file.model()) : predictor.width();
    for (size_t i = 0; i < batch.size(); ++i) {
      contents->records[of[i]].texts.push_back(indexed(std::move(batch[i].first), &found[i], *contents));
      done.truncated += found[i].truncated ? 1U : 0U;
    }
    batch.clear();
    of.clear();
    progress(done.added);
  };
  SourceRecord record;
  while (next(&record)) {
    IndexedRecord& made = contents->append();
    made.id = std::move(record.id);
    put_fields(record, contents, &made.values);
    ++done.added;
    for (std::string& text : chunker ? chunker->cut(record.text) : std::vector<std::string>{record.text}) {
      batch.push_back({std::move(text), std::nullopt});
      of.push_back(contents->records.size() - 1);
      if (batch.size() == engine.batch()) finish();
    }
  }
  if (!batch.empty()) finish();
  done.replaced = remove_replaced(old, contents);
  return done;
}

Retrieve retrieve_from(const std::string& index, const std::string& embedder, const ModelFile& file, uint32_t count,
                       const EngineOptions& options) {
  const auto library = std::make_shared<Library>(index, embedder, file, count, options);
  return [library](uint32_t, const std::vector<int32_t>& ids) { return library->find(ids); };
}

Embedder::Embedder(const ModelFile& file, const EngineOptions& options)
    : engine_(file, options), predictor_(engine_, require_vectors(file), {}) {}

size_t Embedder::embed(const std::vector<std::string>& texts, std::vector<float>* vectors,
                       const std::function<void(size_t)>& progress) {
  size_t cut = 0;
  for (size_t begin = 0; begin < texts.size(); begin += engine_.batch()) {
    std::vector<Input> batch;
    for (size_t i = begin; i < std::min<size_t>(texts.size(), begin + engine_.batch()); ++i) {
      batch.push_back({texts[i], std::nullopt});
    }
    for (const Prediction& one : predictor_.predict(batch)) {
      append_unit(one.embedding, vectors);
      cut += one.truncated ? 1U : 0U;
    }
    if (progress) progress(begin + batch.size());
  }
  return cut;
}

}  // namespace bantam::convert
