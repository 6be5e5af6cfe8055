// Shared parts of `report`: its options, and the report as JSON.
#ifndef BANTAM_CONVERTER_CLI_REPORT_H_
#define BANTAM_CONVERTER_CLI_REPORT_H_

#include <string>
#include <vector>

#include "cli/answer/engine.h"
#include "cli/frame/output.h"
#include "describe/file_report.h"

namespace bantam::cli {

struct ReportOptions {
  std::vector<std::string> files;
  std::string output;  // empty: report.html, or no page with --json
  std::string data, source;
  std::string metric;   // empty: the most informative metric
  uint32_t tokens = 0;  // 0: 32, or fewer if a file allows fewer
  uint32_t repetitions = 0;
  size_t limit = 0;
  bool skip_bad = false, no_times = false, json = false;
  EngineOptions engine;
};

/// Opens, measures and scores all files. Throws one Error with the problems of all of them.
convert::ReportData gather_report(const ReportOptions& options);

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_REPORT_H_
