// The conversion's report for a person.
#ifndef BANTAM_CONVERTER_CLI_CONVERT_REPORT_H_
#define BANTAM_CONVERTER_CLI_CONVERT_REPORT_H_

#include <cstdint>
#include <string>

#include "pipeline/report.h"
#include "student/student.h"

namespace bantam::cli {

/// Tables of sizes, arena and parity, then notes and what would make the file smaller, to standard output.
void print_report(const convert::Report& report);

/// A line such as "--rounding gptq (23.1 MB, the same size) passes", or with the reason why the attempt fails.
std::string attempt_line(const convert::Attempt& attempt, uint64_t refused_bytes);

/// Prints the parts of its teacher that a student keeps: a table of sizes, coverage of the vocabulary, steps and notes.
void print_student(const convert::StudentReport& report);

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_CONVERT_REPORT_H_
