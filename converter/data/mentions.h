// Reads the entities that a text mentions from the text's line, for models with a table of entities.
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

/// Bytes [begin, end) of a text mention an entity, which is given by its name or, if `name` is empty, by its mark.
struct Mention {
  uint32_t begin = 0, end = 0;
  std::string name;
  int32_t mark = 0;
  bool second = false;  // it is in the second text of a pair
};

/// Returns true if the model reads entities of texts.
bool takes_entities(const Model& model);

/// The sizes in bytes of a text, or of the two texts of a pair.
struct TextSizes {
  size_t first = 0, second = 0;
};

/// Reads the "entities" of a line: [{"start": 0, "end": 5, "id": "Q42"}], or null. They refer to the text that `second`
/// selects, unless they have their own "text": 0 or 1. Throws BadRecord.
std::vector<Mention> read_mentions(const Json& entities, const TextSizes& sizes, bool second);

/// Writes the marks of mentions to a session.
class EntityMarks {
 public:
  /// `model` must outlive the object.
  explicit EntityMarks(const Model& model) : model_(model) {}

  /// Sets the marks of the sequence that was added last. Its first text has `before` bytes in front of the text that
  /// the mentions refer to. Throws Error if the file has no such entity; `where` begins the message.
  void put(Session& session, const std::vector<Mention>& mentions, size_t before, const std::string& where);

 private:
  int32_t mark_of(const Mention& mention, const std::string& where);

  const Model& model_;
  std::unordered_map<std::string_view, int32_t> marks_;  // by name; filled on first use
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_DATA_MENTIONS_H_
