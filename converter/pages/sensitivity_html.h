// The costs of matrices as one self-contained page.
#ifndef BANTAM_CONVERTER_PAGES_SENSITIVITY_HTML_H_
#define BANTAM_CONVERTER_PAGES_SENSITIVITY_HTML_H_

#include <string>

#include "quantize/budget.h"

namespace bantam::convert {

/// A table with a row a matrix and type, in the model's order, and bars of their divergence (logarithmic).
std::string sensitivity_html(const Sensitivity& measured);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_PAGES_SENSITIVITY_HTML_H_
