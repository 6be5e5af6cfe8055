// The section of a report's page about one file.
#ifndef BANTAM_CONVERTER_DESCRIBE_FILE_SECTION_H_
#define BANTAM_CONVERTER_DESCRIBE_FILE_SECTION_H_

#include <string>

#include "describe/file_report.h"

namespace bantam::convert {

/// Returns a metric's name in words: "sentence accuracy" for "sentence_accuracy".
std::string metric_words(std::string name);

/// Returns HTML with facts, bytes, matrices and operators.
std::string file_section(const ReportData& data, const FileReport& file);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_DESCRIBE_FILE_SECTION_H_
