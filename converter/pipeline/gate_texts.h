// The texts on which a file is judged.
#ifndef BANTAM_CONVERTER_PIPELINE_GATE_TEXTS_H_
#define BANTAM_CONVERTER_PIPELINE_GATE_TEXTS_H_

#include <string>
#include <vector>

#include "data/texts.h"
#include "pipeline/convert.h"

namespace bantam::convert {

struct GateTexts {
  std::string name;  // "45 built-in texts (en, commands)", "512 of the 13,084 texts of train.jsonl"
  std::vector<LabelledText> texts;
  std::vector<std::string> odd;  // their labels are not compared
  bool built_in = false;
  bool labelled = false;  // their labels are used
  std::vector<std::string> notes;
};

/// Returns the texts of the first of these that is given: --parity FILE or all, --gate-data, --calibrate-scores,
/// --calibrate (from long files, texts between those used for calibration), the data of --sensitivity if they still
/// exist, or else the built-in texts that fit the vocabulary. Without a tokenizer returns none; random ids are then
/// used. Throws Error (I/O, invalid, usage).
GateTexts gate_texts(const ConvertOptions& options, const fb::ModelT& model, const Model& file);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_PIPELINE_GATE_TEXTS_H_
