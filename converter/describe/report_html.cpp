#include "describe/report_html.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/readable.h"
#include "describe/file_section.h"
#include "pages/html.h"
#include "pages/scatter.h"

namespace bantam::convert {
namespace {

constexpr double kMegabyte = 1e6, kKilobyte = 1e3;

std::string file_name(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

const double* find_metric(const FileReport& file, const std::string& name) {
  for (const auto& [metric, value] : file.metrics) {
    if (metric == name) return &value;
  }
  return nullptr;
}

/// Returns true if a score is shown in the overview of all files, rather than only in the file's section.
bool is_headline(const std::string& name) {
  for (const char* detail : {"macro_f1", "matthews", "pearson", "_precision", "_recall", "_strict"}) {
    if (name.find(detail) != std::string::npos) return false;
  }
  return true;
}

std::string overview(const ReportData& data) {
  std::vector<std::string> head = {"File", "Task", "Size", "Parameters"};
  const Timing* timed = nullptr;
  for (const FileReport& file : data.files) {
    if (file.timing) timed = &*file.timing;
  }
  if (timed != nullptr) {
    head.push_back(fmt::format("Median at {} tokens", timed->tokens));
    head.push_back("Texts an hour of a core");
  }
  std::vector<std::string> metrics;
  for (const FileReport& file : data.files) {
    for (const auto& [name, value] : file.metrics) {
      if (is_headline(name) && std::find(metrics.begin(), metrics.end(), name) == metrics.end())
        metrics.push_back(name);
    }
  }
  for (const std::string& metric : metrics) head.push_back(html_escaped(metric_words(metric)) + ", %");
  std::vector<std::vector<HtmlCell>> rows;
  for (size_t i = 0; i < data.files.size(); ++i) {
    const FileReport& file = data.files[i];
    const std::string number = data.files.size() > 1 ? fmt::format("{}. ", i + 1) : "";
    rows.push_back(
        {HtmlCell{fmt::format("<a href=\"#file{}\">{}{}</a>", i + 1, number, html_escaped(file_name(file.path))), 0,
                  false},
         text_cell(file.task), number_cell(static_cast<double>(file.bytes), readable_bytes(file.bytes)),
         number_cell(static_cast<double>(file.parameters),
                     fmt::format("{:.2f} M", static_cast<double>(file.parameters) * 1e-6))});
    if (timed != nullptr) {
      rows.back().push_back(file.timing
                                ? number_cell(file.timing->median_ms, fmt::format("{:.3f} ms", file.timing->median_ms))
                                : number_cell(0, "not measured"));
      const double per_hour = file.timing ? file.timing->per_core_hour : 0;
      rows.back().push_back(number_cell(per_hour, per_hour > 0 ? fmt::format("{:.2f} M", per_hour * 1e-6) : ""));
    }
    for (const std::string& metric : metrics) {
      const double* value = find_metric(file, metric);
      rows.back().push_back(value == nullptr ? number_cell(0, "")
                                             : number_cell(*value, fmt::format("{:.2f}", *value * 100)));
    }
  }
  std::string html = data.files.size() > 1 ? html_table("Files", head, rows) : "";
  if (timed != nullptr) {
    html += fmt::format(
        "<p class=\"soft\">Latency: measured here ({}), one forward pass over random ids, batch 1, no "
        "tokenizer.</p>\n",
        html_escaped(data.machine));
  }
  if (!data.data.empty()) {
    html += fmt::format(
        "<p class=\"soft\">Scores: {} examples of {} ({}), as <code>bantam eval</code> computes them.</p>\n",
        data.examples, html_escaped(file_name(data.data)), html_escaped(data.layout));
  }
  return html;
}

/// One measure of a file; empty if it was not measured.
struct Measure {
  std::string title;  // with the unit
  std::string word;   // "size"
  const double* (*value)(const ReportData&, const FileReport&, double* room);
  double unit = 1;  // divisor of the value
};

const double* size_of(const ReportData&, const FileReport& file, double* room) {
  *room = static_cast<double>(file.bytes);
  return room;
}
const double* latency_of(const ReportData&, const FileReport& file, double*) {
  return file.timing ? &file.timing->median_ms : nullptr;
}
const double* score_of(const ReportData& data, const FileReport& file, double*) {
  return find_metric(file, data.metric);
}

/// States the resolution of a score over this many examples.
std::string chance(const ReportData& data) {
  return fmt::format(" The vertical axis does not begin at 0; one of {} examples is {:.2f} points.", data.examples,
                     100.0 / static_cast<double>(data.examples));
}

/// Capitalizes words: "Sentence accuracy".
std::string capital(std::string words) {
  if (!words.empty() && words[0] >= 'a' && words[0] <= 'z') words[0] = static_cast<char>(words[0] - 'a' + 'A');
  return words;
}

std::string trade_off(const ReportData& data, const Measure& x, const Measure& y, bool more_is_better) {
  Scatter scatter;
  scatter.label = fmt::format("{} against {}, a point a file", y.word, x.word);
  scatter.x_title = x.title;
  scatter.y_title = y.title;
  scatter.more_is_better = more_is_better;
  if (more_is_better) scatter.least_span = 1;
  std::vector<std::string> names;
  for (size_t i = 0; i < data.files.size(); ++i) {
    const FileReport& file = data.files[i];
    double x_room = 0, y_room = 0;
    const double* across = x.value(data, file, &x_room);
    const double* up = y.value(data, file, &y_room);
    if (across == nullptr || up == nullptr) continue;
    std::string name = file_name(file.path);
    const std::string title =
        fmt::format("{}. {}: {} {:.4g}, {} {:.4g}", i + 1, name, x.title, *across / x.unit, y.title, *up / y.unit);
    const size_t end = name.rfind(".bantam");
    if (end != std::string::npos && end > 0) name.resize(end);
    scatter.points.push_back(
        {*across / x.unit, *up / y.unit, fmt::format("{}. {}", i + 1, name), fmt::format("{}", i + 1), title});
    names.push_back(name);
  }
  if (scatter.points.size() < 2) return "";
  std::string front;
  for (const size_t i : front_of(scatter)) front += (front.empty() ? "" : ", ") + html_escaped(names[i]);
  return fmt::format("<h3>{} and {}</h3>\n", html_escaped(capital(y.word)), html_escaped(x.word)) +
         html_figure([&](double width) { return scatter_svg(scatter, width, width < 500 ? 300 : 420); },
                     fmt::format("Line and filled points: the Pareto front, files that no other beats in both: {}. "
                                 "Numbers are those of the table above.{}",
                                 front, more_is_better ? chance(data) : ""));
}

std::string trade_offs(const ReportData& data) {
  if (data.files.size() < 2) return "";
  uint64_t largest = 0;
  for (const FileReport& file : data.files) largest = std::max(largest, file.bytes);
  const bool megabytes = static_cast<double>(largest) >= kMegabyte;
  const Measure size = {megabytes ? "size, MB" : "size, kB", "size", size_of, megabytes ? kMegabyte : kKilobyte};
  const Measure latency = {"latency measured here, ms", "latency", latency_of, 1};
  std::string word = metric_words(data.metric);
  const Measure score = {word + ", %", word, score_of, 0.01};
  std::string body;
  if (!data.metric.empty()) {
    body = trade_off(data, size, score, true) + trade_off(data, latency, score, true);
  } else {
    body = trade_off(data, size, latency, false);
  }
  return body.empty() ? "" : "<h2 id=\"trade-offs\">What is gained for what</h2>\n" + body;
}

std::string missing(const ReportData& data) {
  if (data.missing.empty()) return "";
  std::string html = "<div class=\"note\"><strong>Not in this report</strong><ul>\n";
  for (const Missing& entry : data.missing)
    html += fmt::format("<li>{} <code>{}</code></li>\n", html_escaped(entry.what), html_escaped(entry.how));
  return html + "</ul></div>\n";
}

}  // namespace

std::string report_html(const ReportData& data) {
  const bool one = data.files.size() == 1;
  std::string body = overview(data) + missing(data) + trade_offs(data);
  for (size_t i = 0; i < data.files.size(); ++i) {
    const FileReport& file = data.files[i];
    body += fmt::format("<section><h2 id=\"file{}\">{}{}</h2>\n{}</section>\n", i + 1,
                        one ? "" : fmt::format("{}. ", i + 1), html_escaped(file_name(file.path)),
                        file_section(data, file));
  }
  body += fmt::format("<p class=\"soft\">Made by {}.</p>\n", html_escaped(data.tool));
  return html_page(
      one ? "Report on " + file_name(data.files[0].path) : fmt::format("Report on {} files", data.files.size()), body);
}

}  // namespace bantam::convert
