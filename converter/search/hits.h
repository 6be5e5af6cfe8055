// Shows the records that a search finds; conditions on their fields.
#ifndef BANTAM_CONVERTER_SEARCH_HITS_H_
#define BANTAM_CONVERTER_SEARCH_HITS_H_

#include <string>
#include <utility>
#include <vector>

#include "base/json_file.h"
#include "search/search.h"

namespace bantam::convert {

/// Holds for records whose field is `value`: a string that equals it, a number or a truth value that it spells, or a
/// list with such an item.
struct Condition {
  std::string field, value;
};

/// Parses words such as "team=billing". Throws Error (kUsage) that names --where.
std::vector<Condition> parse_conditions(const std::vector<std::string>& words);

/// Reads {"team": "billing", "year": 2024}: strings, numbers and truth values. Throws Error (kInvalid) that calls it
/// `where`.
std::vector<Condition> read_conditions(const Json& object, const char* where);

/// Returns for each entry of the index 1 if all conditions hold for its record, otherwise 0; nothing if there are no
/// conditions. Throws Error: kUsage, for a field that the index does not have; kInvalid if a list is not JSON.
/// O(entries + bytes of the fields' different values).
std::vector<uint8_t> entries_where(const SearchIndex& index, const std::string& path, const char* where,
                                   const std::vector<Condition>& conditions);

/// Returns the names and values, JSON texts, of an entry's record. Throws Error (kInvalid) if a value is not JSON.
std::vector<std::pair<std::string, std::string>> stored_fields(const SearchIndex& index, const std::string& path,
                                                               uint32_t entry);

/// Returns the number of bytes of the texts and fields of hits.
size_t hits_bytes(const SearchIndex& index, const std::vector<Found>& found);

/// Returns a JSON text as people read it: a string without its quotes.
std::string plain_value(const std::string& json);

/// Returns the object that `bantam search --json` prints, in one line.
std::string hits_json(const SearchIndex& index, const std::string& path, const std::string& query,
                      const std::vector<Found>& found);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SEARCH_HITS_H_
