#include "cli/convert_report.h"

#include <string>
#include <vector>

#include "cli/output.h"

namespace bantam::cli {
namespace {

using convert::Comparison;
using convert::OutputComparison;
using convert::Report;

void print_sizes(const Report& report) {
  std::vector<std::vector<std::string>> rows = {{"tensors", "count", "type", "before", "after", "worst error"}};
  uint64_t before = 0;
  uint32_t count = 0;
  for (const convert::TensorClass& row : report.classes) {
    rows.push_back({row.name, fmt::format("{}", row.tensors), row.types, human_bytes(row.bytes_before),
                    human_bytes(row.bytes_after), row.worst_error > 0 ? fmt::format("{:.2g}", row.worst_error) : "0"});
    before += row.bytes_before;
    count += row.tensors;
  }
  rows.push_back({"tokenizer", "", "", "", human_bytes(report.tokenizer_bytes), ""});
  rows.push_back({"graph, names, labels", "", "", "", human_bytes(report.graph_bytes), ""});
  rows.push_back({"total", fmt::format("{}", count), "", human_bytes(before), human_bytes(report.file_bytes), ""});
  print_table(rows);
}

void print_arena(const Report& report) {
  std::vector<std::vector<std::string>> rows = {{"tokens"}, {"arena"}};
  for (const convert::ArenaSize& size : report.arena) {
    rows[0].push_back(fmt::format("{}", size.tokens));
    rows[1].push_back(human_bytes(size.bytes));
  }
  out().write("\n");
  print_table(rows);
}

void print_comparison(const Comparison& comparison) {
  if (!comparison.done()) return;
  out().print("\n{}\n", bold(fmt::format("Against {}, {} texts", comparison.against, comparison.texts)));
  std::vector<std::vector<std::string>> rows = {{"output", "labels", "flips", "largest difference", "cosine"}};
  for (const OutputComparison& output : comparison.outputs) {
    rows.push_back({output.name, output.decides ? fmt::format("{}", output.decisions) : "",
                    output.decides ? fmt::format("{} ({:.2f} %)", output.flips, 100 * output.flip_fraction()) : "",
                    fmt::format("{:.3g}", output.largest_difference), fmt::format("{:.5f}", output.cosine)});
  }
  print_table(rows);
}

void print_list(const char* heading, const std::vector<std::string>& lines) {
  if (lines.empty()) return;
  out().print("\n{}\n", bold(heading));
  for (const std::string& line : lines) out().print("  {}\n", printable(line));
}

}  // namespace

void print_report(const Report& report) {
  out().print("{} -> {}: {}, {}\n\n", report.source, report.output, report.task, human_bytes(report.file_bytes));
  print_sizes(report);
  print_arena(report);
  print_comparison(report.parity);
  print_comparison(report.expected);
  print_list("Notes", report.notes);
  print_list("Smaller", report.smaller);
}

}  // namespace bantam::cli
