// The costs of matrices as a self-contained page.
#ifndef BANTAM_CONVERTER_PAGES_SENSITIVITY_HTML_H_
#define BANTAM_CONVERTER_PAGES_SENSITIVITY_HTML_H_

#include <string>

#include "quantize/budget.h"

namespace bantam::convert {

/// Returns a table with a row for each matrix and type, in the model's order, and bars for their divergences
/// (logarithmic).
std::string sensitivity_html(const Sensitivity& measured);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_PAGES_SENSITIVITY_HTML_H_
