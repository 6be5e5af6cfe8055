// Entities that a text mentions, as its line says, for models with a table of entities.
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

/// Does the model take entities of texts?
bool takes_entities(const Model& model);

/// Bytes of a text, or of the two of a pair.
struct TextSizes {
  size_t first = 0, second = 0;
};

/// A line's "entities": [{"start": 0, "end": 5, "id": "Q42"}], null where it has none. They are of the text that `second` says unless
/// they have "text": 0 or 1 themselves. Throws BadRecord.
std::vector<Mention> read_mentions(const Json& entities, const TextSizes& sizes, bool second);

/// Puts the marks of mentions into a session.
class EntityMarks {
 public:
  /// `model` outlives the object.
  explicit EntityMarks(const Model& model) : model_(model) {}

  /// Of the sequence added last, whose first text has `before` bytes in front of the one that mentions are of. Throws Error where the
  /// file has no such entity; `where` begins the message.
  void put(Session& session, const std::vector<Mention>& mentions, size_t before, const std::string& where);

 private:
  int32_t mark_of(const Mention& mention, const std::string& where);

  const Model& model_;
  std::unordered_map<std::string_view, int32_t> marks_;  // by name; filled when the first is asked for
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_DATA_MENTIONS_H_
