// The part of a report's page that is about one file.
#ifndef BANTAM_CONVERTER_DESCRIBE_FILE_SECTION_H_
#define BANTAM_CONVERTER_DESCRIBE_FILE_SECTION_H_

#include <string>

#include "describe/file_report.h"

namespace bantam::convert {

/// "sentence accuracy" of "sentence_accuracy".
std::string metric_words(std::string name);

/// HTML: facts, bytes, matrices, operators.
std::string file_section(const ReportData& data, const FileReport& file);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_DESCRIBE_FILE_SECTION_H_
