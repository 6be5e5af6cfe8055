// A report about files as JSON.
#ifndef BANTAM_CONVERTER_DESCRIBE_REPORT_JSON_H_
#define BANTAM_CONVERTER_DESCRIBE_REPORT_JSON_H_

#include "base/ordered_json.h"
#include "describe/file_report.h"

namespace bantam::convert {

/// Schema "bantam.report/1".
OrderedJson report_json(const ReportData& data);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_DESCRIBE_REPORT_JSON_H_
