#include "source/model_card.h"

#include <vector>

#include "base/error.h"

namespace bantam::convert {
namespace {

constexpr size_t kMaxField = 400;
constexpr uint64_t kMaxCardBytes = 16U << 20;

std::string_view trim(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string_view unquote(std::string_view text) {
  text = trim(text);
  const bool quoted = text.size() >= 2 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front();
  return quoted ? text.substr(1, text.size() - 2) : text;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  }
  return lines;
}

void append(std::string& list, std::string_view item) {
  if (item.empty() || list.size() + item.size() > kMaxField) return;
  if (!list.empty()) list += ", ";
  list += item;
}

/// Appends `[a, b]` or `a`.
void append_value(std::string& list, std::string_view value) {
  if (value.size() < 2 || value.front() != '[' || value.back() != ']') return append(list, unquote(value));
  value = value.substr(1, value.size() - 2);
  while (!value.empty()) {
    const size_t end = value.find(',');
    append(list, unquote(value.substr(0, end)));
    value = end == std::string_view::npos ? std::string_view{} : value.substr(end + 1);
  }
}

/// Reads the top-level keys between the two "---" lines. Returns the number of lines consumed.
size_t read_front_matter(const std::vector<std::string_view>& lines, std::map<std::string, std::string>& out) {
  if (lines.empty() || trim(lines.front()) != "---") return 0;
  std::map<std::string, std::string> found;
  std::string key;
  for (size_t i = 1; i < lines.size(); ++i) {
    const std::string_view line = lines[i], content = trim(line);
    if (content == "---") {
      out = std::move(found);
      return i + 1;
    }
    if (content.empty() || content.front() == '#') continue;
    if (content.substr(0, 2) == "- ") {
      // An item that is itself a mapping belongs to a structure that is not kept.
      if (!key.empty() && content.find(": ") == std::string_view::npos) append(found[key], unquote(content.substr(2)));
    } else if (line.front() != ' ' && line.front() != '\t') {
      const size_t colon = line.find(':');
      key = std::string(trim(line.substr(0, colon)));
      if (colon != std::string_view::npos) append_value(found[key], trim(line.substr(colon + 1)));
    }
  }
  return 0;  // never closed: not front matter
}

bool is_prose(std::string_view line) {
  return !line.empty() && std::string_view("#<![|->`*=").find(line.front()) == std::string_view::npos;
}

/// Truncates to at most `limit` bytes at a character boundary.
std::string shorten(std::string text, size_t limit) {
  if (text.size() <= limit) return text;
  while (limit > 0 && (static_cast<unsigned char>(text[limit]) & 0xC0U) == 0x80U) --limit;
  text.resize(limit);
  return text;
}

}  // namespace

ModelCard parse_model_card(std::string_view text) {
  ModelCard card;
  const std::vector<std::string_view> lines = lines_of(text);
  std::map<std::string, std::string> matter;
  size_t i = read_front_matter(lines, matter);
  card.name = matter["model_name"];
  card.licence = matter["license"];
  for (const char* key : {"language", "datasets", "base_model"}) {
    if (!matter[key].empty()) card.fields[key] = matter[key];
  }
  bool fenced = false;
  for (; i < lines.size(); ++i) {
    const std::string_view line = trim(lines[i]);
    if (line.substr(0, 3) == "```") fenced = !fenced;
    if (fenced) continue;
    if (card.name.empty() && line.substr(0, 2) == "# ")
      card.name = shorten(std::string(trim(line.substr(2))), kMaxField);
    if (is_prose(line)) {
      if (!card.description.empty()) card.description += ' ';
      card.description += line;
    } else if (!card.description.empty()) {
      break;
    }
  }
  card.description = shorten(std::move(card.description), kMaxDescription);
  return card;
}

ModelCard read_model_card(const Directory& files, const std::string& folder) {
  const std::string name = name_in(folder, kCardFile);
  if (!files.has_file(name)) return {};
  try {
    return parse_model_card(files.text(name, kMaxCardBytes));
  } catch (const Error&) {
    return {};  // the card is optional: a model converts without it
  }
}

}  // namespace bantam::convert
