// The report as JSON, schema "bantam.convert/1". Compatibility: fields may be added but never removed.
#ifndef BANTAM_CONVERTER_PIPELINE_REPORT_JSON_H_
#define BANTAM_CONVERTER_PIPELINE_REPORT_JSON_H_

#include <string>

#include "pipeline/report.h"

namespace bantam::convert {

/// Returns one line without its line end. Floats parse back to the same f32; invalid UTF-8 becomes U+FFFD.
std::string to_json(const Report& report);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_PIPELINE_REPORT_JSON_H_
