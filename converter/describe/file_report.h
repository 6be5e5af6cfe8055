// The data of `bantam report` about files; report_html.h turns them into a page.
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

/// The time of one operator, or of all operators of a kind, in one forward pass, in milliseconds on one core.
struct OperatorTime {
  std::string name;  // name of the operator; empty for a kind
  std::string kind;  // "Linear", ...
  std::string type;  // "int8", "f32"; empty if the operator multiplies nothing
  uint32_t count = 1;
  double ms = 0;       // minimum over all passes
  double share = 0;    // fraction of the sum over all operators
  double of_peak = 0;  // fraction of the core's peak dot-product rate; 0: unknown, or nothing is multiplied
};

/// One forward pass over random ids, batch 1, on the machine that made the report.
struct Timing {
  uint32_t tokens = 0;
  uint32_t repetitions = 0;
  double median_ms = 0, p99_ms = 0, least_ms = 0;
  double per_core_hour = 0;      // texts per core and hour
  std::optional<double> joules;  // per text, if the system measures energy
  uint64_t arena = 0;
  std::vector<OperatorTime> kinds, operators;
};

struct FileReport {
  std::string path;
  std::string name, task, architecture, licence, tool;  // as the file states them
  uint64_t bytes = 0, parameters = 0;
  uint32_t vocabulary = 0, max_tokens = 0;
  std::vector<std::vector<std::string>> labels;  // one list per label set
  std::vector<Component> components;             // their sizes add up to `bytes`
  std::vector<MatrixReport> matrices;
  std::optional<bool> made_from_source;  // present if a source is given and the file contains digests
  std::optional<Timing> timing;
  std::vector<std::pair<std::string, double>> metrics;  // empty without data
  uint64_t truncated = 0, unknown_labels = 0;           // numbers of examples
};

/// Describes the content of the file, without times and scores. `source`: the model to compare the weights with, or
/// null. Reads every weight. Throws Error if the source's weights cannot be read.
FileReport describe_file(const ModelFile& file, const ModelSource* source);

/// Something that the page lacks, and how to obtain it.
struct Missing {
  std::string what, how;
};

struct ReportData {
  std::string tool;     // "bantam 0.9.0"
  std::string machine;  // "avx512_vnni, Release build, 1 thread"
  std::vector<FileReport> files;
  std::string data, layout;  // the labeled examples; empty without them
  uint64_t examples = 0;
  std::string metric;  // the metric to plot
  std::string source;  // the model that weights were compared with; empty without one
  std::vector<Missing> missing;
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_DESCRIBE_FILE_REPORT_H_
