// Inputs: which of a graph's inputs are ids, the mask, segments and places: as --inputs says, else by names and types.
#ifndef BANTAM_CONVERTER_ONNX_INPUTS_H_
#define BANTAM_CONVERTER_ONNX_INPUTS_H_

#include <map>
#include <optional>
#include <string>

#include "base/error.h"
#include "onnx/model.h"

namespace bantam::convert::onnx {

/// Inputs by their names, from text such as "ids=x,mask=m". Throws Error (kUsage) naming what is no such pair.
std::map<std::string, InputRole> parse_inputs(const std::string& text);

/// The usual name of an input of this role: "input_ids".
const char* name_of(InputRole role);

/// The role that a word in a name tells ("src_mask", "Token_Ids"); nothing where none does.
std::optional<InputRole> role_of_words(std::string name);

/// Is it what a decoder has remembered of tokens before, [texts, heads, tokens, columns]? Models are read without any.
bool is_cache(const Port& port);

/// A number that an exporter's switch has where nothing is remembered and all tokens have outputs; nothing: it is no such switch.
std::optional<int64_t> switch_value(const Port& port);

/// Roles of the inputs of `model` that are no constants, caches or switches. `model.given` decides; then names; then one input of integers
/// is ids, and one of truth values the mask. Adds problems where an input is none of a model of texts, and where none
/// or two are ids.
std::map<std::string, InputRole> input_roles(const Model& model, Problems& problems);

/// Sets `tokens` and `filled` where the graph's inputs have one length.
void find_fixed_length(Model& model);

}  // namespace bantam::convert::onnx

#endif  // BANTAM_CONVERTER_ONNX_INPUTS_H_
