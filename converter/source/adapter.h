// Merges LoRA adapters of PEFT into the weights of the model beside them.
#ifndef BANTAM_CONVERTER_SOURCE_ADAPTER_H_
#define BANTAM_CONVERTER_SOURCE_ADAPTER_H_

#include <filesystem>
#include <string>

#include "base/directory.h"
#include "source/checkpoint.h"

namespace bantam::convert {

inline constexpr const char* kAdapterSettings = "adapter_config.json";

/// Reads adapter_config.json and adapter_model.safetensors (or adapter_model.bin) in `folder` and changes `checkpoint`
/// as PEFT's merge_and_unload() does; returns the file of the adapter's weights. Supports W + scale B A, where scale is
/// lora_alpha / r or, rank-stabilized, lora_alpha / sqrt(r); DoRA's magnitudes; biases; and whole modules that the
/// adapter replaces. Sums are f32, as in PEFT. `config` is config.json. Throws Error with all problems: kUnsupported
/// names another kind of adapter, or an unsupported setting or tensor; kInvalid and kIo name a damaged or missing file.
std::filesystem::path merge_adapter(const Directory& files, const std::string& folder, const Json& config,
                                    Checkpoint* checkpoint);

/// Returns advice for an adapter without its model; `files` has adapter_config.json in `folder`.
std::string lonely_adapter(const Directory& files, const std::string& folder);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_ADAPTER_H_
