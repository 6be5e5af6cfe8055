#include "describe/file_section.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/readable.h"
#include "describe/treemap_svg.h"
#include "pages/html.h"

namespace bantam::convert {
namespace {

constexpr size_t kShownLabels = 12;

std::string percent(double share, int digits = 1) { return fmt::format("{:.{}f}", share * 100, digits); }

/// Groups the digits of a number: "1,590,750".
std::string grouped(uint64_t number) {
  std::string digits = fmt::format("{}", number);
  for (size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

void fact(const char* name, const std::string& value, std::string* html) {
  if (!value.empty()) *html += fmt::format("<dt>{}</dt><dd>{}</dd>\n", name, html_escaped(value));
}

std::string facts(const ReportData& data, const FileReport& file) {
  std::string html = "<dl class=\"facts\">\n";
  fact("Name", file.name, &html);
  fact("Task", file.task + (file.architecture.empty() ? "" : ", " + file.architecture), &html);
  fact("Size",
       fmt::format("{} bytes ({}), {} parameters", grouped(file.bytes), readable_bytes(file.bytes),
                   grouped(file.parameters)),
       &html);
  fact("Text",
       fmt::format("{} ids, {}", file.vocabulary,
                   file.max_tokens == 0 ? "any length" : fmt::format("at most {} tokens", file.max_tokens)),
       &html);
  std::string scores;
  for (const auto& [name, value] : file.metrics)
    scores += fmt::format("{}{} {}", scores.empty() ? "" : ", ", metric_words(name), percent(value, 2));
  fact("Scores, %", scores, &html);
  if (file.timing) {
    fact("Latency",
         fmt::format("{:.3f} ms at {} tokens, measured here ({})", file.timing->median_ms, file.timing->tokens,
                     data.machine),
         &html);
  }
  for (const std::vector<std::string>& set : file.labels) {
    std::string labels;
    for (size_t i = 0; i < std::min(set.size(), kShownLabels); ++i) labels += (i > 0 ? ", " : "") + set[i];
    if (set.size() > kShownLabels) labels += fmt::format(" and {} more", set.size() - kShownLabels);
    fact("Labels", labels, &html);
  }
  fact("Licence", file.licence, &html);
  fact("Written by", file.tool, &html);
  if (file.truncated > 0)
    fact("Cut off", fmt::format("{} examples were longer than the model takes", file.truncated), &html);
  if (file.unknown_labels > 0)
    fact("Unknown",
         fmt::format("{} examples have a label that the model does not know; they count as wrong", file.unknown_labels),
         &html);
  return html + "</dl>\n";
}

std::string sizes(const FileReport& file) {
  std::array<uint64_t, kPurposes> bytes{};
  std::vector<std::vector<HtmlCell>> rows;
  for (const Component& component : file.components) {
    bytes[static_cast<size_t>(component.purpose)] += component.bytes;
    rows.push_back({text_cell(component.group), text_cell(component.name), text_cell(purpose_name(component.purpose)),
                    number_cell(static_cast<double>(component.bytes), grouped(component.bytes)),
                    number_cell(static_cast<double>(component.bytes),
                                percent(static_cast<double>(component.bytes) / static_cast<double>(file.bytes), 2))});
  }
  std::string legend;
  for (size_t i = 0; i < kPurposes; ++i) {
    if (bytes[i] == 0) continue;
    legend += fmt::format("<li>{}{} {} ({} %)</li>", html_swatch(purpose_class(static_cast<Purpose>(i))),
                          purpose_name(static_cast<Purpose>(i)), readable_bytes(bytes[i]),
                          percent(static_cast<double>(bytes[i]) / static_cast<double>(file.bytes)));
  }
  return "<h3>Where the bytes are</h3>\n" +
         html_figure([&](double width) { return treemap_svg(file.components, width, width < 500 ? 460 : 480); },
                     "<ul class=\"legend\">" + legend + "</ul>") +
         fmt::format(
             "<p class=\"soft\">Areas are bytes; the boxes add up to the file's {}. Matrices count with their scales, "
             "sums and the zeros that fill their tiles. Padding: unused bytes between blobs, which begin at "
             "multiples of 64.</p>\n<details><summary>All {} components</summary>\n",
             grouped(file.bytes), file.components.size()) +
         html_table("Components", {"Group", "Component", "Kind", "Bytes", "%"}, rows) + "</details>\n";
}

std::string error_note(const ReportData& data, const FileReport& file) {
  const bool zeros = std::any_of(file.matrices.begin(), file.matrices.end(),
                                 [](const MatrixReport& m) { return m.linear && m.zero_blocks > 0.1; });
  std::string html;
  if (data.source.empty()) {
    html = "<p class=\"soft\">Largest error: of one value, as the conversion measured it against what it read.</p>\n";
  } else {
    html = fmt::format(
        "<p class=\"soft\">Error: \xE2\x80\x96stored \xE2\x88\x92 source\xE2\x80\x96 / "
        "\xE2\x80\x96source\xE2\x80\x96 of the weights of {}, in %; the part of it where 0 is stored is "
        "named apart (squares add up). It is a distance of weights, not a loss of accuracy.</p>\n",
        html_escaped(data.source));
    if (!file.made_from_source) {
      html +=
          "<p class=\"note\">The file does not say which weights it was made of: whether errors are the conversion's "
          "alone is not known.</p>\n";
    } else if (!*file.made_from_source) {
      html +=
          "<p class=\"note\">This file was not made of these weights (their digests differ): differences are "
          "training's, "
          "pruning's or a student's as well as rounding's, and no measure of this conversion.</p>\n";
    }
  }
  if (zeros) {
    html +=
        "<p class=\"soft\">Zeros count what is stored as 0, whether pruning or rounding made it so. Blocks: one output "
        "by "
        "four inputs, all 0; sparse layers neither store nor compute them.</p>\n";
  }
  return html;
}

HtmlCell error_cell(const MatrixReport& matrix) {
  if (!matrix.error)
    return {fmt::format("<span class=\"soft\">not comparable: {}</span>", html_escaped(matrix.incomparable)), -1,
            false};
  const MatrixError& error = *matrix.error;
  std::string shown = percent(error.relative, 2);
  if (error.zeros > 0.05 * error.relative && error.zeros > 0.001)
    shown += fmt::format(" (zeros {})", percent(error.zeros, 2));
  return number_cell(error.relative, shown);
}

std::string zero_blocks(const MatrixReport& m) {
  return percent(m.zero_blocks) + (m.zero_blocks < 0.01 ? "" : html_bar(m.zero_blocks, purpose_class(m.purpose)));
}

std::string matrices(const ReportData& data, const FileReport& file) {
  const bool compared = !data.source.empty();
  std::vector<std::string> head = {"Matrix", "Type", "Layout", "Shape", "Size", "Zeros, %", "Zero blocks, %"};
  head.push_back(compared ? "Error, %" : "Largest error");
  std::vector<std::vector<HtmlCell>> rows;
  for (const MatrixReport& m : file.matrices) {
    HtmlCell name = {html_swatch(purpose_class(m.purpose)) + html_name(m.group + ": " + m.part), 0, false};
    name.html = fmt::format("<span title=\"{}\">{}</span>", html_escaped(m.name), name.html);
    rows.push_back(
        {name, text_cell(m.type), text_cell(m.layout),
         number_cell(static_cast<double>(m.rows) * m.columns,
                     fmt::format("{}\xC2\xA0\xC3\x97\xC2\xA0{}", m.rows, m.columns)),
         number_cell(static_cast<double>(m.bytes), readable_bytes(m.bytes)), number_cell(m.zeros, percent(m.zeros)),
         number_cell(m.zero_blocks, m.linear ? zero_blocks(m) : ""),
         compared ? error_cell(m) : number_cell(double{m.recorded_error}, fmt::format("{:.3g}", m.recorded_error))});
  }
  return "<h3>Layers</h3>\n" + error_note(data, file) + html_table("Matrices", head, rows);
}

std::vector<HtmlCell> time_cells(const OperatorTime& op) {
  return {text_cell(op.type), number_cell(op.ms, fmt::format("{:.4f}", op.ms)),
          number_cell(op.share, percent(op.share) + html_bar(op.share, "k0")),
          number_cell(op.of_peak, op.of_peak > 0 ? percent(op.of_peak) : "")};
}

std::string times(const FileReport& file) {
  if (!file.timing) return "";
  const Timing& timing = *file.timing;
  std::vector<std::vector<HtmlCell>> kinds, ops;
  for (const OperatorTime& op : timing.kinds) {
    kinds.push_back({text_cell(op.kind), number_cell(op.count, fmt::format("{}", op.count))});
    for (HtmlCell& cell : time_cells(op)) kinds.back().push_back(std::move(cell));
  }
  for (const OperatorTime& op : timing.operators) {
    ops.push_back({text_cell(op.name), text_cell(op.kind)});
    for (HtmlCell& cell : time_cells(op)) ops.back().push_back(std::move(cell));
  }
  return fmt::format(
             "<h3>Time by operator</h3>\n<p class=\"soft\">Measured here at {} tokens: median {:.3f} ms, least {:.3f} "
             "ms, 99 % "
             "below {:.3f} ms of {} passes; {} of memory; {:.0f} texts an hour of a core{}. Each operator: the least "
             "of its "
             "passes, timed one by one.</p>\n",
             timing.tokens, timing.median_ms, timing.least_ms, timing.p99_ms, timing.repetitions,
             readable_bytes(timing.arena), timing.per_core_hour,
             timing.joules ? fmt::format(", {:.3f} mJ of the whole processor each", *timing.joules * 1e3) : "") +
         html_table("Time by kind of operator", {"Kind", "Operators", "Type", "ms", "Share, %", "Of peak, %"}, kinds) +
         fmt::format("<details><summary>All {} operators</summary>\n", ops.size()) +
         html_table("Time by operator", {"Operator", "Kind", "Type", "ms", "Share, %", "Of peak, %"}, ops) +
         "</details>\n";
}

}  // namespace

std::string metric_words(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

std::string file_section(const ReportData& data, const FileReport& file) {
  return facts(data, file) + sizes(file) + matrices(data, file) + times(file);
}

}  // namespace bantam::convert
