// Writes, maps and checks files of schemas/index.fbs.
#include "search/index_file.h"

#include <flatbuffers/flatbuffers.h>
#include <index_generated.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "base/fail.h"
#include "search/index_records.h"

namespace bantam::convert {
namespace {

constexpr size_t kLane = 16;  // outputs of a tile
constexpr size_t kQuad = 4;   // consecutive elements of a vector in a tile
constexpr uint32_t kWidest = 16384;
constexpr size_t kAlignment = 64;

size_t padded(size_t n, size_t multiple) { return (n + multiple - 1) / multiple * multiple; }

/// Returns the byte offset of element `column` of vector `row` in tiles of vectors with `width` elements.
size_t tile_byte(size_t row, size_t column, size_t width) {
  const size_t quads = padded(width, kQuad) / kQuad;
  return ((row / kLane * quads + column / kQuad) * kLane + row % kLane) * kQuad + column % kQuad;
}

struct TermVectors {
  flatbuffers::Offset<flatbuffers::Vector<uint32_t>> starts, texts;
  flatbuffers::Offset<flatbuffers::Vector<float>> weights;
};

using Texts = std::vector<const IndexedText*>;

/// Returns the texts of all records.
Texts texts_of(const IndexContents& contents) {
  Texts texts;
  for (const IndexedRecord& record : contents.records) {
    for (const IndexedText& text : record.texts) texts.push_back(&text);
  }
  return texts;
}

/// Transposes terms by text into texts by term.
TermVectors put_terms(flatbuffers::FlatBufferBuilder& builder, const Texts& entries, uint32_t width) {
  std::vector<uint32_t> starts(size_t{width} + 1);
  for (const IndexedText* const entry : entries) {
    for (const bantam::Candidate& term : entry->terms) ++starts.at(static_cast<size_t>(term.id) + 1);
  }
  for (size_t i = 1; i < starts.size(); ++i) starts[i] += starts[i - 1];
  std::vector<uint32_t> next = starts, texts(starts.back());
  std::vector<float> weights(starts.back());
  for (size_t i = 0; i < entries.size(); ++i) {
    for (const bantam::Candidate& term : entries[i]->terms) {
      const uint32_t place = next[static_cast<size_t>(term.id)]++;
      texts[place] = static_cast<uint32_t>(i);
      weights[place] = term.score;
    }
  }
  return {builder.CreateVector(starts), builder.CreateVector(texts), builder.CreateVector(weights)};
}

}  // namespace

IndexedText round_vector(std::string text, const std::vector<float>& vector, bool compact, Length how) {
  double squares = 0;
  for (const float v : vector) squares += double{v} * double{v};
  if (!std::isfinite(squares)) fail(ExitCode::kInvalid, "text \"{}\": its vector is not finite", text);
  const double length = squares > 0 && how == Length::kDivided ? std::sqrt(squares) : 1;
  double most = 0;
  for (const float v : vector) most = std::max(most, std::fabs(double{v}) / length);
  IndexedText entry;
  entry.text = std::move(text);
  entry.scale = static_cast<float>(most / 127);
  const double scale = entry.scale > 0 ? double{entry.scale} : 1;
  const auto rounded = [](double v) {
    return static_cast<int8_t>(std::min(127.0, std::max(-127.0, std::nearbyint(v))));
  };
  for (const float v : vector) {
    const double exact = double{v} / length / scale;
    entry.coarse.push_back(rounded(exact));
    if (!compact) entry.fine.push_back(rounded((exact - entry.coarse.back()) * 256));
  }
  return entry;
}

IndexedRecord& IndexContents::append() {
  if (last_record == std::numeric_limits<uint32_t>::max())
    fail(ExitCode::kUnsupported, "an index numbers its records up to {}, which are given: make it again", last_record);
  IndexedRecord& record = records.emplace_back();
  record.number = ++last_record;
  return record;
}

std::vector<uint8_t> index_bytes(const IndexContents& contents) {
  const Texts entries = texts_of(contents);
  const size_t count = entries.size();
  const size_t quads = contents.terms ? 0 : padded(contents.width, kQuad);
  const bool compact = contents.compact || contents.terms;
  size_t letters = 0, terms = contents.terms ? contents.width : 0;
  for (const IndexedText* const entry : entries) {
    letters += entry->text.size();
    terms += 2 * entry->terms.size();
  }
  const size_t size = padded(count, kLane) * (quads * (compact ? 1 : 2) + sizeof(float)) + (count + terms) * 4 +
                      letters + most_record_bytes(contents);
  if (size > FLATBUFFERS_MAX_BUFFER_SIZE - 4096) {
    fail(ExitCode::kUnsupported, "an index of {} texts would take {} bytes, more than 2 GB: split it in several files",
         count, size);
  }
  flatbuffers::FlatBufferBuilder builder(size + 4096);
  // ForceVectorAlignment asserts that an alignment is at most 32.
  builder.PreAlign(padded(count, kLane) * quads, kAlignment);
  uint8_t* tiles = nullptr;
  const auto coarse = builder.CreateUninitializedVector(padded(count, kLane) * quads, 1, &tiles);
  std::memset(tiles, 0, padded(count, kLane) * quads);
  for (size_t i = 0; i < count; ++i) {
    const IndexedText& entry = *entries[i];
    for (size_t c = 0; c < entry.coarse.size(); ++c)
      tiles[tile_byte(i, c, contents.width)] = static_cast<uint8_t>(entry.coarse[c]);
  }
  flatbuffers::Offset<flatbuffers::Vector<int8_t>> fine;
  if (!compact) {
    uint8_t* rows = nullptr;
    fine = builder.CreateUninitializedVector(count * quads, 1, &rows);
    std::memset(rows, 0, count * quads);
    for (size_t i = 0; i < count; ++i) std::memcpy(rows + i * quads, entries[i]->fine.data(), entries[i]->fine.size());
  }
  std::vector<float> scales(contents.terms ? 0 : padded(count, kLane));
  std::vector<uint32_t> starts = {0};
  std::vector<uint8_t> texts;
  texts.reserve(letters);
  starts.reserve(count + 1);
  for (size_t i = 0; i < count; ++i) {
    const IndexedText& entry = *entries[i];
    if (!contents.terms) scales[i] = entry.scale;
    texts.insert(texts.end(), entry.text.begin(), entry.text.end());
    starts.push_back(static_cast<uint32_t>(texts.size()));
  }
  const auto scale_vector = builder.CreateVector(scales);
  const auto text_vector = builder.CreateVector(texts);
  const auto start_vector = builder.CreateVector(starts);
  const TermVectors term_vectors = contents.terms ? put_terms(builder, entries, contents.width) : TermVectors{};
  const RecordVectors records = put_records(builder, contents);
  const auto model = builder.CreateString(contents.model);
  const auto name = builder.CreateString(contents.model_name);
  fb::SearchIndexBuilder index(builder);
  index.add_model(model);
  index.add_model_name(name);
  index.add_width(contents.width);
  index.add_count(static_cast<uint32_t>(count));
  index.add_coarse(flatbuffers::Offset<flatbuffers::Vector<int8_t>>(coarse));
  index.add_scales(scale_vector);
  index.add_fine(fine);
  index.add_texts(text_vector);
  index.add_starts(start_vector);
  index.add_term_starts(term_vectors.starts);
  index.add_term_texts(term_vectors.texts);
  index.add_term_weights(term_vectors.weights);
  index.add_records(records.numbers);
  index.add_last_record(records.last);
  index.add_ids(records.ids);
  index.add_fields(records.fields);
  index.add_text_field(records.text_field);
  index.add_id_field(records.id_field);
  index.add_keeps_all(contents.settings.keeps_all);
  if (contents.settings.stride) index.add_stride(*contents.settings.stride);
  builder.Finish(index.Finish(), fb::SearchIndexIdentifier());
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

SearchIndex::SearchIndex(const std::string& path, Hold hold) {
  const char* reason = "";
  const char* const name = path.c_str();
  if ((hold == Hold::kMapped ? file_.open(name, &reason) : file_.read(name, &reason)) != Status::kOk)
    fail(ExitCode::kIo, "{}: {}; make an index with bantam index", path, reason);
  open(file_.data(), file_.size(), path);
}

SearchIndex::SearchIndex(const uint8_t* data, size_t size, const std::string& name) { open(data, size, name); }

void SearchIndex::open(const uint8_t* data, size_t size, const std::string& name) {
  flatbuffers::Verifier verifier(data, size);
  if (size < 16 || size > FLATBUFFERS_MAX_BUFFER_SIZE || !fb::SearchIndexBufferHasIdentifier(data) ||
      !fb::VerifySearchIndexBuffer(verifier)) {
    refuse_index(name, "its structure");
  }
  index_ = fb::GetSearchIndex(data);
  width_ = index_->width();
  count_ = index_->count();
  if (index_->starts()->size() != size_t{count_} + 1) refuse_index(name, "starts");
  uint32_t last = 0;
  for (uint32_t i = 0; i <= count_; ++i) {
    const uint32_t start = index_->starts()->Get(i);
    if (start < last || (i == 0 && start != 0)) refuse_index(name, "starts");
    last = start;
  }
  if (last != index_->texts()->size()) refuse_index(name, "starts");
  check_records(name);
  if (of_terms()) {
    check_postings(name);
  } else {
    check_vectors(name);
  }
}

void SearchIndex::check_vectors(const std::string& name) {
  if (width_ == 0 || width_ > kWidest) refuse_index(name, "width");
  const size_t rows = padded(count_, kLane);
  const size_t columns = padded(width_, kQuad);
  if (index_->coarse()->size() != rows * columns) refuse_index(name, "coarse");
  if (rows != 0 && reinterpret_cast<uintptr_t>(index_->coarse()->data()) % kAlignment != 0)
    refuse_index(name, "alignment of coarse");
  if (index_->scales()->size() != rows) refuse_index(name, "scales");
  if (index_->fine() != nullptr && index_->fine()->size() != size_t{count_} * columns) refuse_index(name, "fine");
  for (size_t i = 0; i < rows; ++i) {
    const float scale = scales()[i];
    if (!(scale >= 0) || scale > 1) refuse_index(name, "scales");
  }
  sum_tiles(name);
}

void SearchIndex::check_postings(const std::string& name) const {
  const auto* const starts = index_->term_starts();
  const auto* const texts = index_->term_texts();
  const auto* const weights = index_->term_weights();
  if (index_->coarse()->size() != 0 || index_->scales()->size() != 0 || index_->fine() != nullptr)
    refuse_index(name, "vectors and terms");
  if (width_ == 0 || starts->size() != size_t{width_} + 1 || starts->Get(0) != 0) refuse_index(name, "term_starts");
  if (texts == nullptr || weights == nullptr || texts->size() != weights->size() ||
      starts->Get(width_) != texts->size()) {
    refuse_index(name, "term_texts");
  }
  for (uint32_t term = 0; term < width_; ++term) {
    const uint32_t begin = starts->Get(term), end = starts->Get(term + 1);
    if (begin > end || end > texts->size()) refuse_index(name, "term_starts");
    for (uint32_t i = begin; i < end; ++i) {
      if (texts->Get(i) >= count_ || (i > begin && texts->Get(i) <= texts->Get(i - 1)))
        refuse_index(name, "term_texts");
      if (!(weights->Get(i) > 0) || !std::isfinite(weights->Get(i))) refuse_index(name, "term_weights");
    }
  }
}

void SearchIndex::sum_tiles(const std::string& name) {
  const size_t quads = padded(width_, kQuad) / kQuad;
  const size_t rows = padded(count_, kLane);
  sums_.assign(rows, 0);
  const int8_t* at = tiles();
  int8_t least = 0;
  for (size_t panel = 0; panel < rows; panel += kLane) {
    int32_t* sums = sums_.data() + panel;
    for (size_t quad = 0; quad < quads; ++quad) {
      for (size_t lane = 0; lane < kLane; ++lane, at += kQuad) {
        sums[lane] += at[0] + at[1] + at[2] + at[3];
        least = std::min({least, at[0], at[1], at[2], at[3]});
      }
    }
  }
  if (least == std::numeric_limits<int8_t>::min()) refuse_index(name, "coarse");
}

std::string SearchIndex::model() const { return index_->model()->str(); }
std::string SearchIndex::model_name() const { return index_->model_name()->str(); }
bool SearchIndex::compact() const { return index_->fine() == nullptr && !of_terms(); }
bool SearchIndex::of_terms() const { return index_->term_starts() != nullptr; }
const int8_t* SearchIndex::tiles() const { return index_->coarse()->data(); }
const float* SearchIndex::scales() const { return index_->scales()->data(); }

std::string_view SearchIndex::text(uint32_t i) const {
  const uint32_t begin = index_->starts()->Get(i);
  return {reinterpret_cast<const char*>(index_->texts()->data()) + begin, index_->starts()->Get(i + 1) - begin};
}

void SearchIndex::read(uint32_t i, float* out) const {
  const size_t columns = padded(width_, kQuad);
  const int8_t* fine = compact() ? nullptr : index_->fine()->data() + size_t{i} * columns;
  const int8_t* coarse = tiles() + tile_byte(i, 0, width_);
  for (uint32_t c = 0; c < width_; ++c) {
    const size_t byte = c / kQuad * kLane * kQuad + c % kQuad;
    out[c] = static_cast<float>(coarse[byte]);
    if (fine != nullptr) out[c] += static_cast<float>(fine[c]) / 256;
  }
}

SearchIndex::Postings SearchIndex::postings(uint32_t term) const {
  const uint32_t begin = index_->term_starts()->Get(term), end = index_->term_starts()->Get(term + 1);
  return {index_->term_texts()->data() + begin, index_->term_weights()->data() + begin, end - begin};
}

IndexedText SearchIndex::entry(uint32_t i) const {
  IndexedText found;
  found.text = std::string(text(i));
  if (of_terms()) return found;
  found.scale = scales()[i];
  const size_t columns = padded(width_, kQuad);
  for (uint32_t c = 0; c < width_; ++c) {
    found.coarse.push_back(tiles()[tile_byte(i, c, width_)]);
    if (!compact())
      found.fine.push_back(index_->fine()->Get(static_cast<flatbuffers::uoffset_t>(size_t{i} * columns + c)));
  }
  return found;
}

IndexContents SearchIndex::contents() const {
  IndexContents all;
  all.model = model();
  all.model_name = model_name();
  all.width = width_;
  all.compact = compact();
  all.terms = of_terms();
  all.settings = settings();
  all.last_record = index_->records() == nullptr ? count_ : index_->last_record();
  for (uint32_t f = 0; f < field_count(); ++f) all.fields.emplace_back(field(f));
  all.records.resize(records_);
  std::vector<IndexedText*> texts(count_);
  for (uint32_t i = 0; i < count_;) {
    const uint32_t at = place(i);
    IndexedRecord& record = all.records[at];
    record.number = number(i);
    record.id = std::string(id(at));
    record.values.resize(all.fields.size());
    for (uint32_t f = 0; f < field_count(); ++f) {
      const uint32_t stored = value_of(f, at);
      if (stored != 0) record.values[f] = std::string(value(f, stored));
    }
    const uint32_t begin = i;
    for (; i < count_ && place(i) == at; ++i) record.texts.push_back(entry(i));
    for (uint32_t k = begin; k < i; ++k) texts[k] = &record.texts[k - begin];
  }
  for (uint32_t term = 0; of_terms() && term < width_; ++term) {
    const Postings found = postings(term);
    for (uint32_t i = 0; i < found.count; ++i)
      texts[found.texts[i]]->terms.push_back({static_cast<int32_t>(term), found.weights[i]});
  }
  return all;
}

}  // namespace bantam::convert
