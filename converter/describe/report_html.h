// Files side by side as one self-contained page.
#ifndef BANTAM_CONVERTER_DESCRIBE_REPORT_HTML_H_
#define BANTAM_CONVERTER_DESCRIBE_REPORT_HTML_H_

#include <string>

#include "describe/file_report.h"

namespace bantam::convert {

/// An overview; accuracy, size and latency against each other where there are several files; of each file its bytes as a
/// treemap, its matrices, and time by operator. What is missing it says. At least one file.
std::string report_html(const ReportData& data);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_DESCRIBE_REPORT_HTML_H_
