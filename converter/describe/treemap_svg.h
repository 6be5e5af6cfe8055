// Draws a file's components as a treemap.
#ifndef BANTAM_CONVERTER_DESCRIBE_TREEMAP_SVG_H_
#define BANTAM_CONVERTER_DESCRIBE_TREEMAP_SVG_H_

#include <string>
#include <vector>

#include "describe/components.h"

namespace bantam::convert {

/// Returns an SVG element of this size in pixels. Each component is a box (class "leaf", data-bytes) whose area is
/// proportional to its bytes; groups stay together. Boxes show their names if they fit, and always have them as titles.
std::string treemap_svg(const std::vector<Component>& components, double width, double height);

/// Returns the color class of a purpose, see page_style.h.
std::string purpose_class(Purpose purpose);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_DESCRIBE_TREEMAP_SVG_H_
