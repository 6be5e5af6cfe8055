// What the pages that commands write share.
#ifndef BANTAM_CONVERTER_REPORT_HTML_H_
#define BANTAM_CONVERTER_REPORT_HTML_H_

#include <string>

namespace bantam::convert {

/// `text` for HTML, between tags and inside quoted attributes.
std::string html_escaped(const std::string& text);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_REPORT_HTML_H_
