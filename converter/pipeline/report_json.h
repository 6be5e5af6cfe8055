// The report as JSON, schema "bantam.convert/1": fields are only ever added.
#ifndef BANTAM_CONVERTER_PIPELINE_REPORT_JSON_H_
#define BANTAM_CONVERTER_PIPELINE_REPORT_JSON_H_

#include <string>

#include "pipeline/report.h"

namespace bantam::convert {

/// One line without the line end. Floats read back as the same f32; invalid UTF-8 becomes U+FFFD.
std::string to_json(const Report& report);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_PIPELINE_REPORT_JSON_H_
