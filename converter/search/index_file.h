// A search index in one file (schemas/index.fbs), read in place: records, their texts, and vectors or term weights of
// these.
#ifndef BANTAM_CONVERTER_SEARCH_INDEX_FILE_H_
#define BANTAM_CONVERTER_SEARCH_INDEX_FILE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bantam/host.h"
#include "bantam/tasks.h"
#include "run/engine.h"

namespace bantam::fb {
struct IndexField;
struct SearchIndex;
}  // namespace bantam::fb

namespace bantam::convert {

/// A text and its rounded vector, scale * (coarse + fine / 256), or its terms.
struct IndexedText {
  std::string text;
  float scale = 0;
  std::vector<int8_t> coarse;
  std::vector<int8_t> fine;              // empty in a compact index
  std::vector<bantam::Candidate> terms;  // in an index of terms, in ascending order of ids
};

/// A record: one text, or the chunks of one.
struct IndexedRecord {
  uint32_t number = 0;              // from 1 on; never given twice
  std::string id;                   // empty: none
  std::vector<std::string> values;  // of IndexContents::fields, as JSON texts; empty or beyond the end: none
  std::vector<IndexedText> texts;   // at least one
};

/// How records are made of data; later additions to the index are made in the same way.
struct RecordSettings {
  std::string text_field;          // empty: the usual names
  std::string id_field;            // empty: records have no ids
  bool keeps_all = false;          // all other fields are stored
  std::optional<uint32_t> stride;  // tokens that chunks of a long text share; none: long texts are cut
};

/// kDivided: vectors are divided by their length, so that products are cosines. kKept: they are not.
enum class Length : uint8_t { kDivided, kKept };

/// The contents of an index file.
struct IndexContents {
  std::string model;       // SHA-256 of the model's file
  std::string model_name;  // for messages
  uint32_t width = 0;
  bool compact = false;
  std::vector<IndexedRecord> records;  // in ascending order of numbers
  bool terms = false;                  // term weights instead of vectors; width is the vocabulary's size
  Length length = Length::kDivided;
  std::vector<std::string> fields = {};  // names of stored fields, all different
  RecordSettings settings = {};
  uint32_t last_record = 0;  // the greatest number that was ever given

  /// Appends a record with the next number. Throws Error if there is none.
  IndexedRecord& append();
  /// Appends a record of one text.
  void append(IndexedText text) { append().texts.push_back(std::move(text)); }
};

/// Rounds a vector. A vector of zeros stays zero. Throws Error if an element is not finite.
IndexedText round_vector(std::string text, const std::vector<float>& vector, bool compact,
                         Length length = Length::kDivided);

/// Returns the file's bytes; the same contents give the same bytes. Throws Error (kUnsupported) if they would exceed 2
/// GB.
std::vector<uint8_t> index_bytes(const IndexContents& contents);

/// A mapped index. Every field is checked when it is opened, so readers never access memory outside its arrays.
class SearchIndex {
 public:
  /// Throws Error with the file's name, the cause and the next step. Reads the whole file once, to compute the sums of
  /// the vectors and to check that all bytes are valid.
  explicit SearchIndex(const std::string& path, Hold hold = Hold::kMapped);
  /// Opens bytes that must outlive the index and be aligned to 64; `name` is for messages.
  SearchIndex(const uint8_t* data, size_t size, const std::string& name);
  SearchIndex(const SearchIndex&) = delete;
  SearchIndex& operator=(const SearchIndex&) = delete;

  uint32_t width() const { return width_; }
  /// Returns the number of texts, below also called entries.
  uint32_t count() const { return count_; }
  std::string model() const;
  std::string model_name() const;
  bool compact() const;
  /// Returns true if the index has term weights instead of vectors; then it has no tiles, scales, sums or read().
  bool of_terms() const;
  /// Returns the text of entry `i` < count(); valid as long as the index.
  std::string_view text(uint32_t i) const;

  /// Returns the number of records.
  uint32_t records() const { return records_; }
  /// Returns true if a record has several entries.
  bool has_chunks() const { return records_ != count_; }
  /// Returns the place of entry `i`'s record among all records, in [0, records()); entries ascend.
  uint32_t place(uint32_t i) const { return places_.empty() ? i : places_[i]; }
  /// Returns the number of entry `i`'s record, which stays the same when the index changes.
  uint32_t number(uint32_t i) const;
  bool has_ids() const;
  /// Returns the id of the record at `place`; empty if records have none.
  std::string_view id(uint32_t place) const;
  uint32_t field_count() const;
  std::string_view field(uint32_t f) const;
  /// The different values of field `f`, JSON texts that are not checked; numbers from 1 to value_count(f).
  uint32_t value_count(uint32_t f) const;
  std::string_view value(uint32_t f, uint32_t number) const;
  /// Returns the number of the value of field `f` in the record at `place`; 0: it has none.
  uint32_t value_of(uint32_t f, uint32_t place) const;
  RecordSettings settings() const;

  /// Tiles [padded(count, 16) / 16][padded(width, 4) / 4][16][4], 64-byte aligned; one scale and one sum per output.
  const int8_t* tiles() const;
  const float* scales() const;
  const int32_t* sums() const { return sums_.data(); }

  /// Writes vector `i`, both bytes, as floats without the scale to out[width].
  void read(uint32_t i, float* out) const;
  /// The texts that contain a term, and its weight in each. Requires of_terms() and term < width().
  struct Postings {
    const uint32_t* texts = nullptr;
    const float* weights = nullptr;
    uint32_t count = 0;
  };
  Postings postings(uint32_t term) const;
  IndexContents contents() const;

 private:
  IndexedText entry(uint32_t i) const;
  const fb::IndexField& field_at(uint32_t f) const;
  void check_records(const std::string& name);
  void check_fields(const std::string& name) const;
  void check_vectors(const std::string& name);
  void check_postings(const std::string& name) const;
  void open(const uint8_t* data, size_t size, const std::string& name);
  void sum_tiles(const std::string& name);

  host::MappedFile file_;
  const fb::SearchIndex* index_ = nullptr;
  uint32_t width_ = 0;
  uint32_t count_ = 0;
  uint32_t records_ = 0;
  std::vector<uint32_t> places_;  // empty: each entry is a record
  std::vector<int32_t> sums_;
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SEARCH_INDEX_FILE_H_
