// Inputs: determines which inputs of a graph are ids, the mask, segments and positions, from --inputs, else from names
// and types.
#ifndef BANTAM_CONVERTER_ONNX_INPUTS_H_
#define BANTAM_CONVERTER_ONNX_INPUTS_H_

#include <map>
#include <optional>
#include <string>

#include "base/error.h"
#include "onnx/model.h"

namespace bantam::convert::onnx {

/// Parses text such as "ids=x,mask=m" to roles by input name. Throws Error (kUsage) that names any part that is not
/// such a pair.
std::map<std::string, InputRole> parse_inputs(const std::string& text);

/// The usual name of an input of this role: "input_ids".
const char* name_of(InputRole role);

/// The role that a word in a name indicates ("src_mask", "Token_Ids"); nullopt if no word does.
std::optional<InputRole> role_of_words(std::string name);

/// Returns true if the input is a decoder's cache of earlier tokens, [texts, heads, tokens, columns]. Models are
/// imported with an empty cache.
bool is_cache(const Port& port);

/// The value of an exporter's switch at which the cache is empty and all tokens have outputs; nullopt if the input is
/// not such a switch.
std::optional<int64_t> switch_value(const Port& port);

/// Returns the roles of the inputs of `model`, except constants, caches and switches. `model.given` has priority, then
/// names; then a single input of integers is the ids, and a single input of booleans the mask. Adds problems for inputs
/// that a text model does not have, and if no input or more than one is the ids.
std::map<std::string, InputRole> input_roles(const Model& model, Problems& problems);

/// Sets `tokens` and `filled` if the graph's inputs have a fixed length.
void find_fixed_length(Model& model);

}  // namespace bantam::convert::onnx

#endif  // BANTAM_CONVERTER_ONNX_INPUTS_H_
