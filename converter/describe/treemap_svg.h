// A file's components drawn as a treemap.
#ifndef BANTAM_CONVERTER_DESCRIBE_TREEMAP_SVG_H_
#define BANTAM_CONVERTER_DESCRIBE_TREEMAP_SVG_H_

#include <string>
#include <vector>

#include "describe/components.h"

namespace bantam::convert {

/// An SVG element of this size in pixels: a box a component (class "leaf", data-bytes), whose area is its share of the bytes,
/// groups together; names where they fit, and all of them as titles.
std::string treemap_svg(const std::vector<Component>& components, double width, double height);

/// Colour class of a purpose, see page_style.h.
std::string purpose_class(Purpose purpose);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_DESCRIBE_TREEMAP_SVG_H_
