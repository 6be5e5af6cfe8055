// The data of `bantam report` about files; report_html.h makes a page of them.
#ifndef BANTAM_CONVERTER_DESCRIBE_FILE_REPORT_H_
#define BANTAM_CONVERTER_DESCRIBE_FILE_REPORT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "describe/components.h"
#include "describe/matrices.h"
#include "run/engine.h"

namespace bantam::convert {

/// Time of an operator, or of all operators of a kind, in one forward pass, in milliseconds of one core.
struct OperatorTime {
  std::string name;  // of the operator; empty for a kind
  std::string kind;  // "Linear", ...
  std::string type;  // "int8", "f32"; empty where nothing is multiplied
  uint32_t count = 1;
  double ms = 0;       // least of all passes
  double share = 0;    // of the sum over all operators
  double of_peak = 0;  // of the core's dot-product peak; 0: unknown, or nothing is multiplied
};

/// One forward pass over random ids, batch 1, on the machine that made the report.
struct Timing {
  uint32_t tokens = 0;
  uint32_t repetitions = 0;
  double median_ms = 0, p99_ms = 0, least_ms = 0;
  double per_core_hour = 0;      // texts
  std::optional<double> joules;  // of a text, where the system counts them
  uint64_t arena = 0;
  std::vector<OperatorTime> kinds, operators;
};

struct FileReport {
  std::string path;
  std::string name, task, architecture, licence, tool;  // as the file states them
  uint64_t bytes = 0, parameters = 0;
  uint32_t vocabulary = 0, max_tokens = 0;
  std::vector<std::vector<std::string>> labels;  // of each label set
  std::vector<Component> components;             // add up to `bytes`
  std::vector<MatrixReport> matrices;
  std::optional<bool> made_from_source;  // where a source was given and the file states digests
  std::optional<Timing> timing;
  std::vector<std::pair<std::string, double>> metrics;  // empty without data
  uint64_t truncated = 0, unknown_labels = 0;           // examples
};

/// Describes what the file holds, without times and scores. `source`: what its weights are compared with, or null.
/// Reads every weight. Throws Error when the source's weights cannot be read.
FileReport describe_file(const ModelFile& file, const ModelSource* source);

/// Something that the page lacks, and how to get it.
struct Missing {
  std::string what, how;
};

struct ReportData {
  std::string tool;     // "bantam 0.9.0"
  std::string machine;  // "avx512_vnni, Release build, 1 thread"
  std::vector<FileReport> files;
  std::string data, layout;  // of the labelled examples; empty without
  uint64_t examples = 0;
  std::string metric;  // the one that is plotted
  std::string source;  // what weights were compared with; empty without
  std::vector<Missing> missing;
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_DESCRIBE_FILE_REPORT_H_
