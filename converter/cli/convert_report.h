// The conversion's report for a person.
#ifndef BANTAM_CONVERTER_CLI_CONVERT_REPORT_H_
#define BANTAM_CONVERTER_CLI_CONVERT_REPORT_H_

#include <cstdint>
#include <string>

#include "pipeline/report.h"
#include "student/student.h"

namespace bantam::cli {

/// Prints tables of sizes, arena and parity, then notes and the options that would make the file smaller.
void print_report(const convert::Report& report);

/// Returns a line such as "--rounding gptq (23.1 MB, the same size) passes", or one with the reason for the failure.
std::string attempt_line(const convert::Attempt& attempt, uint64_t refused_bytes);

/// Prints the parts of its teacher that a student keeps: a table of sizes, coverage of the vocabulary, steps and notes.
void print_student(const convert::StudentReport& report);

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_CONVERT_REPORT_H_
