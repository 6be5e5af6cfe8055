// The conversion's report for a person.
#ifndef BANTAM_CONVERTER_CLI_CONVERT_REPORT_H_
#define BANTAM_CONVERTER_CLI_CONVERT_REPORT_H_

#include "report/report.h"

namespace bantam::cli {

/// Tables of sizes, arena and parity, then notes and what would make the file smaller, to standard output.
void print_report(const convert::Report& report);

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_CONVERT_REPORT_H_
