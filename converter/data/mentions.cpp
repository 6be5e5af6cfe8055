#include "data/mentions.h"

#include <fmt/format.h>

#include "base/printable.h"
#include "base/status_error.h"
#include "data/records.h"
#include "graph/task_parts.h"

namespace bantam::convert {
namespace {

uint32_t place(const Json& mention, const char* key, size_t size) {
  const auto found = mention.find(key);
  if (found == mention.end() || !found->is_number_unsigned() || found->get<uint64_t>() > size) {
    throw BadRecord{fmt::format("\"entities\": a mention's \"{}\" is not a byte of the text's {}", key, size)};
  }
  return found->get<uint32_t>();
}

}  // namespace

bool takes_entities(const Model& model) { return model.mark_types() > 1 && !has_part(model.task(), kFoundPart); }

std::vector<Mention> read_mentions(const Json& entities, const TextSizes& sizes, bool second) {
  std::vector<Mention> mentions;
  if (entities.is_null()) return mentions;
  if (!entities.is_array()) throw BadRecord{"\"entities\" is not a list"};
  for (const Json& one : entities) {
    if (!one.is_object())
      throw BadRecord{"\"entities\": a mention is not an object with \"start\", \"end\" and \"id\""};
    Mention mention;
    const Json text = one.value("text", Json(second ? 1 : 0));
    const bool of_first = text == 0, of_second = text == 1;
    if (of_first == of_second) throw BadRecord{"\"entities\": a mention's \"text\" is neither 0 nor 1"};
    mention.second = of_second;
    const size_t size = mention.second ? sizes.second : sizes.first;
    mention.begin = place(one, "start", size);
    mention.end = place(one, "end", size);
    if (mention.begin >= mention.end)
      throw BadRecord{"\"entities\": a mention ends where it starts, or in front of it"};
    const auto id = one.find("id");
    if (id != one.end() && id->is_string()) {
      mention.name = id->get<std::string>();
    } else if (id != one.end() && id->is_number_unsigned() && id->get<uint64_t>() <= INT32_MAX) {
      mention.mark = id->get<int32_t>();
    }
    if (mention.name.empty() && mention.mark == 0) {
      throw BadRecord{"\"entities\": a mention's \"id\" is neither a name nor a number above 0"};
    }
    mentions.push_back(std::move(mention));
  }
  return mentions;
}

int32_t EntityMarks::mark_of(const Mention& mention, const std::string& where) {
  const uint32_t types = model_.mark_types();
  if (mention.name.empty()) {
    if (static_cast<uint32_t>(mention.mark) < types) return mention.mark;
    fail(ExitCode::kInvalid, "{}: \"entities\": {}: the file has entities 1 to {}", where, mention.mark, types - 1);
  }
  const bool first = marks_.empty();
  for (uint32_t mark = 1; first && mark < types; ++mark) {
    const Text name = model_.mark_name(mark);
    if (name.size == 0) continue;
    marks_.emplace(std::string_view(name.data, name.size), static_cast<int32_t>(mark));
  }
  const auto found = marks_.find(mention.name);
  if (found != marks_.end()) return found->second;
  fail(ExitCode::kInvalid, "{}: \"entities\": the file has no entity \"{}\"{}", where, printable(mention.name),
       marks_.empty() ? "; it knows them by their numbers, from 1 on" : "; leave it out, or convert with it");
}

void EntityMarks::put(Session& session, const std::vector<Mention>& mentions, size_t before, const std::string& where) {
  for (const Mention& mention : mentions) {
    const uint32_t shift = mention.second ? 0 : static_cast<uint32_t>(before);
    const Offset bytes = {mention.begin + shift, mention.end + shift};
    check(session.mark(session.sequence_count() - 1, mention.second, bytes, mark_of(mention, where)), where);
  }
}

}  // namespace bantam::convert
