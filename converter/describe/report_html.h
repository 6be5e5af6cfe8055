// A self-contained page that compares files side by side.
#ifndef BANTAM_CONVERTER_DESCRIBE_REPORT_HTML_H_
#define BANTAM_CONVERTER_DESCRIBE_REPORT_HTML_H_

#include <string>

#include "describe/file_report.h"

namespace bantam::convert {

/// Returns a page for at least one file: an overview; with several files, plots of accuracy, size and latency against
/// each other; for each file, its bytes as a treemap, its matrices, and its time by operator. The page states what is
/// missing.
std::string report_html(const ReportData& data);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_DESCRIBE_REPORT_HTML_H_
