// The method by which a directory's weights are stored, as config.json names it.
#ifndef BANTAM_CONVERTER_SOURCE_QUANTIZATION_H_
#define BANTAM_CONVERTER_SOURCE_QUANTIZATION_H_

#include <string>

#include "base/json_file.h"

namespace bantam::convert {

constexpr const char* kQuantizationSettings = "quantization_config";

/// Returns quant_method of quantization_config, such as "mxfp4"; "" if there is none.
inline std::string quantization_method(const Json& config) {
  if (!config.is_object()) return "";
  const auto settings = config.find(kQuantizationSettings);
  if (settings == config.end() || !settings->is_object()) return "";
  const auto method = settings->find("quant_method");
  return method == settings->end() || !method->is_string() ? "" : method->get<std::string>();
}

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_QUANTIZATION_H_
