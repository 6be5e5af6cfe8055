// The texts that judge a file.
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
  std::vector<std::string> odd;  // judge no labels
  bool built_in = false;
  bool labelled = false;  // their labels judge
  std::vector<std::string> notes;
};

/// In this order: --parity FILE or all, --gate-data, what is given to --calibrate-scores, to --calibrate (of long files the
/// texts between those that calibrate), the data of --sensitivity where it still lies there, else the built-in texts that fit the
/// vocabulary. Without a tokenizer: none, random ids judge. Throws Error (I/O, invalid, usage).
GateTexts gate_texts(const ConvertOptions& options, const fb::ModelT& model, const Model& file);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_PIPELINE_GATE_TEXTS_H_
