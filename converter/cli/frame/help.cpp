#include "cli/frame/help.h"

#include <algorithm>

namespace bantam::cli {
namespace {

constexpr size_t kLeastWidth = 60;
constexpr size_t kWidestLabel = 24;

/// Returns the width on a terminal, counted in code points.
size_t columns(const std::string& text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0u) != 0x80u; }));
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  for (size_t begin = text.find_first_not_of(" \n"); begin != std::string::npos;) {
    const size_t end = std::min(text.find_first_of(" \n", begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(" \n", end);
  }
  return words;
}

/// Splits a command line at spaces outside of quotes.
std::vector<std::string> arguments_of(const std::string& line) {
  std::vector<std::string> parts(1);
  char quote = 0;
  for (const char c : line) {
    if (c == ' ' && quote == 0) {
      parts.emplace_back();
      continue;
    }
    if (c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    }
    parts.back() += c;
  }
  return parts;
}

/// Two columns: labels, and their descriptions beside them. A label that is too wide has a line of its own.
class Columns {
 public:
  explicit Columns(size_t width) : width_(width) {}

  void add(std::string label, std::string what) { rows_.push_back({std::move(label), std::move(what)}); }

  std::string text(size_t label_width) const {
    std::string result;
    for (const Row& row : rows_) {
      std::string line = "  " + row.label;
      size_t at = columns(line);
      if (row.what.empty()) {
        result += line + "\n";
        continue;
      }
      if (at > label_width + 2) {
        line += "\n";
        at = 0;
      }
      line += std::string(label_width + 4 - at, ' ');
      result += line + wrap(row.what, width_, label_width + 4, label_width + 4) + "\n";
    }
    return result;
  }

  /// Returns the width of the widest label that is not wider than `limit`.
  size_t widest(size_t limit) const {
    size_t widest = 0;
    for (const Row& row : rows_) {
      if (columns(row.label) <= limit) widest = std::max(widest, columns(row.label));
    }
    return widest;
  }

 private:
  struct Row {
    std::string label;
    std::string what;
  };
  size_t width_;
  std::vector<Row> rows_;
};

/// Rows under headings. The headings keep the order of their first use, and all share one label width.
class Groups {
 public:
  explicit Groups(size_t width) : width_(width) {}

  void add(const std::string& heading, std::string label, std::string what) {
    auto found = std::find_if(groups_.begin(), groups_.end(), [&](const auto& g) { return g.first == heading; });
    if (found == groups_.end()) found = groups_.insert(groups_.end(), {heading, Columns(width_)});
    found->second.add(std::move(label), std::move(what));
  }

  std::string text() const {
    size_t widest = 0;
    for (const auto& group : groups_) widest = std::max(widest, group.second.widest(kWidestLabel));
    std::string result;
    for (const auto& [heading, rows] : groups_) result += "\n" + heading + "\n" + rows.text(widest);
    return result;
  }

 private:
  size_t width_;
  std::vector<std::pair<std::string, Columns>> groups_;
};

/// Formats a list in a note: each line begins with two spaces, and two or more spaces separate a label from its
/// meaning.
std::string list_text(const std::string& list, size_t width) {
  Columns rows(width);
  for (size_t begin = 0; begin < list.size();) {
    const size_t end = std::min(list.find('\n', begin), list.size());
    const std::string line = list.substr(begin, end - begin);
    const size_t label = std::min(line.find_first_not_of(' '), line.size());
    const size_t gap = std::min(line.find("  ", label), line.size());
    rows.add(line.substr(label, gap - label), line.substr(gap));
    begin = end + 1;
  }
  return rows.text(rows.widest(width / 2));
}

std::string notes_text(const std::vector<std::string>& notes, size_t width) {
  std::string result;
  for (const std::string& note : notes) {
    const size_t list = note.find("\n  ");
    result += "\n" + wrap(note.substr(0, list), width, 0) + "\n";
    if (list != std::string::npos) result += list_text(note.substr(list + 1), width);
  }
  return result;
}

std::string examples_text(const std::vector<std::string>& examples, size_t width) {
  if (examples.empty()) return "";
  std::string result = "\nExamples:\n";
  for (const std::string& line : examples) result += wrap_command(line, width, 2) + "\n";
  return result;
}

std::string required_text(const OptionText& option) {
  return option.required && !option.positional ? option.what + " (required)" : option.what;
}

}  // namespace

std::string wrap(const std::string& text, size_t width, size_t indent, size_t started) {
  const std::string margin(indent, ' ');
  std::string result = started == 0 ? margin : "";
  size_t at = std::max(started, indent);
  bool first = true;
  for (const std::string& word : words_of(text)) {
    const size_t needed = columns(word);
    if (!first && at + 1 + needed > width) {
      result += "\n" + margin;
      at = indent;
    } else if (!first) {
      result += " ";
      ++at;
    }
    result += word;
    at += needed;
    first = false;
  }
  return result;
}

std::string wrap_command(const std::string& line, size_t width, size_t indent) {
  std::string result(indent, ' ');
  size_t at = indent;
  bool first = true;
  for (const std::string& part : arguments_of(line)) {
    const size_t needed = columns(part);
    if (!first && at + 1 + needed + 2 > width && line[0] != '#') {
      result += " \\\n" + std::string(indent + 4, ' ');
      at = indent + 4;
    } else if (!first) {
      result += " ";
      ++at;
    }
    result += part;
    at += needed;
    first = false;
  }
  return result;
}

std::string spelling_of(const OptionText& option) {
  std::string text;
  for (const std::string& name : option.names) text += (text.empty() ? "" : ", ") + name;
  return option.positional || option.value.empty() ? text : text + " " + option.value;
}

std::string usage_of(const Manual& manual, const CommandText& command) {
  std::string text = manual.called(command);
  for (const OptionText& option : command.options) {
    if (!option.positional) continue;
    const std::string name = option.names[0] + (option.repeats ? "..." : "");
    text += option.required ? " " + name : " [" + name + "]";
  }
  for (const OptionText& option : command.options) {
    if (!option.positional && option.required) text += " " + option.names[0] + " " + option.value;
  }
  return text + " [OPTIONS]";
}

std::string command_help(const Manual& manual, const CommandText& command, size_t width, bool all) {
  width = std::max(width, kLeastWidth);
  all = all || !command.has_short_help();
  std::string text = wrap(command.summary + ".", width, 0) + "\n\n" +
                     wrap_command("Usage: " + usage_of(manual, command), width, 0) + "\n";
  Groups groups(width);
  size_t left_out = 0;
  for (const OptionText& option : command.options) {
    if (!all && !option.positional && !option.required && !option.usual) {
      ++left_out;
      continue;
    }
    const std::string heading = all ? option.group : "Options";
    groups.add(option.positional ? "Arguments" : heading, spelling_of(option), required_text(option));
  }
  text += groups.text();
  if (left_out != 0) {
    text += "\n" +
            wrap("There are " + std::to_string(left_out) + " more options: " + manual.called(command) + " --help-all",
                 width, 0) +
            "\n";
  }
  return text + (all ? notes_text(command.notes, width) : "") + examples_text(command.examples, width);
}

std::string overview(const Manual& manual, size_t width) {
  width = std::max(width, kLeastWidth);
  std::string text = wrap(manual.overall.summary, width, 0) + "\n\nUsage: " + manual.program + " COMMAND [OPTIONS]\n";
  Groups groups(width);
  for (const CommandText& command : manual.commands) groups.add(command.group, command.name, command.summary);
  for (const OptionText& option : manual.overall.options) groups.add("Options", spelling_of(option), option.what);
  return text + groups.text() + notes_text(manual.overall.notes, width) + examples_text(manual.overall.examples, width);
}

}  // namespace bantam::cli
