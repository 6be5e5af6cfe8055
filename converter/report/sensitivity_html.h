// The costs of matrices as one self-contained page.
#ifndef BANTAM_CONVERTER_REPORT_SENSITIVITY_HTML_H_
#define BANTAM_CONVERTER_REPORT_SENSITIVITY_HTML_H_

#include <string>

#include "quantize/budget.h"

namespace bantam::convert {

/// Bars of the divergence (logarithmic) of each matrix and type, in the model's order, and the same as a table. No scripts, no
/// other files.
std::string sensitivity_html(const Sensitivity& measured);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_REPORT_SENSITIVITY_HTML_H_
