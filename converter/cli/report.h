// Parts that all of `report` shares: options, and the report as JSON.
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
  std::string output;  // "": report.html, or none with --json
  std::string data, source;
  std::string metric;   // "": the one that says most
  uint32_t tokens = 0;  // 0: 32, or what the files take
  uint32_t repetitions = 0;
  size_t limit = 0;
  bool skip_bad = false, no_times = false, json = false;
  EngineOptions engine;
};

/// Opens, measures and scores all files. Throws Error with the problems of all of them.
convert::ReportData gather_report(const ReportOptions& options);

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_REPORT_H_
