// Checks that the options of a conversion are compatible.
#ifndef BANTAM_CONVERTER_PIPELINE_CHECK_OPTIONS_H_
#define BANTAM_CONVERTER_PIPELINE_CHECK_OPTIONS_H_

#include "pipeline/convert.h"

namespace bantam::convert {

/// Throws Error (usage) that lists all incompatible options.
void check_options(const ConvertOptions& options);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_PIPELINE_CHECK_OPTIONS_H_
