// Merges LoRA adapters of PEFT that lie beside their model into its weights.
#ifndef BANTAM_CONVERTER_SOURCE_ADAPTER_H_
#define BANTAM_CONVERTER_SOURCE_ADAPTER_H_

#include <filesystem>
#include <string>

#include "base/directory.h"
#include "source/checkpoint.h"

namespace bantam::convert {

inline constexpr const char* kAdapterSettings = "adapter_config.json";

/// Reads adapter_config.json and adapter_model.safetensors (or adapter_model.bin) in `folder` and changes `checkpoint`
/// as PEFT's merge_and_unload() does; returns the file of the adapter's weights: W + scale B A, where scale is
/// lora_alpha / r or, rank-stabilised, lora_alpha / sqrt(r); DoRA's magnitudes; biases; and whole modules that the
/// adapter replaces. Sums are f32, as PEFT's. `config` is config.json. Throws Error with all problems: kUnsupported
/// names another kind of adapter, or a setting or tensor without a meaning here; kInvalid and kIo name a file that is
/// damaged or missing.
std::filesystem::path merge_adapter(const Directory& files, const std::string& folder, const Json& config,
                                    Checkpoint* checkpoint);

/// Returns advice for an adapter whose model is not beside it; `files` has adapter_config.json in `folder`.
std::string lonely_adapter(const Directory& files, const std::string& folder);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_ADAPTER_H_
