// Entities that a text mentions, read from its line, for models with a table of entities.
#ifndef BANTAM_CONVERTER_DATA_MENTIONS_H_
#define BANTAM_CONVERTER_DATA_MENTIONS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "bantam/session.h"
#include "base/json_file.h"

namespace bantam::convert {

/// Bytes [begin, end) of a text name an entity, by its name or (`name` empty) by its mark.
struct Mention {
  uint32_t begin = 0, end = 0;
  std::string name;
  int32_t mark = 0;
  bool second = false;  // of a pair's texts
};

/// Returns true if the model takes entities of texts.
bool takes_entities(const Model& model);

/// Bytes of a text, or of the two of a pair.
struct TextSizes {
  size_t first = 0, second = 0;
};

/// Reads a line's "entities": [{"start": 0, "end": 5, "id": "Q42"}], null if it has none. They belong to the text that
/// `second` names unless they have "text": 0 or 1 themselves. Throws BadRecord.
std::vector<Mention> read_mentions(const Json& entities, const TextSizes& sizes, bool second);

/// Puts the marks of mentions into a session.
class EntityMarks {
 public:
  /// `model` outlives the object.
  explicit EntityMarks(const Model& model) : model_(model) {}

  /// Puts the marks into the sequence added last, whose first text has `before` bytes in front of the text that the
  /// mentions belong to. Throws Error if the file has no such entity; `where` begins the message.
  void put(Session& session, const std::vector<Mention>& mentions, size_t before, const std::string& where);

 private:
  int32_t mark_of(const Mention& mention, const std::string& where);

  const Model& model_;
  std::unordered_map<std::string_view, int32_t> marks_;  // by name; filled when the first is asked for
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_DATA_MENTIONS_H_
