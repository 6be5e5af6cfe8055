#include "cli/frame/man_page.h"

#include <algorithm>

#include "cli/frame/help.h"

namespace bantam::cli {
namespace {

/// Escapes text for roff: backslashes and hyphens print as they are, and no line begins with a request.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else {
      if ((c == '.' || c == '\'') && (result.empty() || result.back() == '\n')) result += "\\&";
      result += c;
    }
  }
  return result;
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

std::string title(const std::string& page, const std::string& version) {
  return ".TH " + escaped(upper(page)) + " 1 \"\" \"bantam " + version + "\" \"User Commands\"\n";
}

std::string names(const std::string& page, const std::string& summary) {
  return ".SH NAME\n" + escaped(page) + " \\- " + escaped(summary) + "\n";
}

std::string synopsis(const std::string& usage) { return ".SH SYNOPSIS\n.B " + escaped(usage) + "\n"; }

std::string item(const std::string& label, const std::string& what) {
  return ".TP\n.B " + escaped(label) + "\n" + escaped(what) + "\n";
}

/// Formats items under sub-headings, in the order of each heading's first item.
template <typename Items, typename Heading, typename Text>
std::string grouped(const Items& items, Heading heading, Text text) {
  std::vector<std::pair<std::string, std::string>> groups;
  for (const auto& one : items) {
    const std::string name = heading(one);
    auto found = std::find_if(groups.begin(), groups.end(), [&](const auto& group) { return group.first == name; });
    if (found == groups.end()) found = groups.insert(groups.end(), {name, ""});
    found->second += text(one);
  }
  std::string result;
  for (const auto& [name, part] : groups) result += ".SS " + escaped(name) + "\n" + part;
  return result;
}

std::string notes(const std::vector<std::string>& paragraphs) {
  std::string result;
  for (const std::string& paragraph : paragraphs) {
    const size_t list = paragraph.find("\n  ");
    if (!result.empty()) result += ".PP\n";  // the first item follows a heading
    result += escaped(paragraph.substr(0, list)) + "\n";
    if (list != std::string::npos) result += ".PP\n.nf\n" + escaped(paragraph.substr(list + 1)) + "\n.fi\n";
  }
  return result;
}

std::string examples(const std::vector<std::string>& lines) {
  if (lines.empty()) return "";
  std::string result = ".SH EXAMPLES\n.nf\n";
  for (const std::string& line : lines) result += escaped(line) + "\n";
  return result + ".fi\n";
}

std::string option_items(const CommandText& command) {
  return grouped(
      command.options, [](const OptionText& option) { return option.positional ? "Arguments" : option.group; },
      [](const OptionText& option) { return item(spelling_of(option), option.what + "."); });
}

}  // namespace

std::string man_page(const Manual& manual, const std::string& version) {
  const std::string& summary = manual.overall.summary;
  return title(manual.program, version) + names(manual.program, "converts transformers to small files and runs them") +
         synopsis(manual.program + " COMMAND [OPTIONS]") + ".SH DESCRIPTION\n" + escaped(summary) + "\n.SH COMMANDS\n" +
         grouped(
             manual.commands, [](const CommandText& command) { return command.group; },
             [&](const CommandText& command) {
               return item(manual.program + "-" + command.name + "(1)", command.summary + ".");
             }) +
         ".SH OPTIONS\n" + option_items(manual.overall) + ".SH NOTES\n" + notes(manual.overall.notes) +
         examples(manual.overall.examples);
}

std::string man_page(const Manual& manual, const CommandText& command, const std::string& version) {
  const std::string page = manual.program + "-" + command.name;
  return title(page, version) + names(page, command.summary) + synopsis(usage_of(manual, command)) + ".SH OPTIONS\n" +
         option_items(command) + (command.notes.empty() ? "" : ".SH NOTES\n" + notes(command.notes)) +
         examples(command.examples) + ".SH SEE ALSO\n.BR " + manual.program + " (1)\n";
}

}  // namespace bantam::cli
