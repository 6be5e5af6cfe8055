// The gate of one conversion: the f32 build, the texts, and the comparison with each file that is made.
#ifndef BANTAM_CONVERTER_PIPELINE_GATE_H_
#define BANTAM_CONVERTER_PIPELINE_GATE_H_

#include <memory>
#include <vector>

#include "pipeline/convert.h"
#include "pipeline/gate_texts.h"

namespace bantam::convert {

class Gate {
 public:
  /// `graph` is the source's and must outlive the gate. The f32 file is built when the first file is judged.
  Gate(const Graph& graph, const ConvertOptions& options);
  ~Gate();
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  /// Fills the comparisons, verdicts and failures of the report. `what` is the name of the progress stage. Throws Error
  /// as gate_texts and read_expected do.
  void judge(const FileBytes& file, const char* what, Report& report);

  /// Returns the texts whose labels are compared; empty before the first file, and if random ids are used.
  const std::vector<LabelledText>& texts() const { return texts_.texts; }

 private:
  void prepare();
  /// Removes texts in which the tokenizer finds no token, because a session refuses them.
  void leave_out_empty_texts();
  Comparison compare_with_reference(const FileBytes& file, const char* what);
  Comparison compare_with_expected(const FileBytes& file);
  const std::vector<OutputRows>& reference(size_t sample);

  const Graph& graph_;
  const ConvertOptions& options_;
  GateTexts texts_;
  FileBytes reference_bytes_;
  std::unique_ptr<Runner> reference_;
  std::vector<Sample> samples_;
  std::vector<int64_t> labels_;
  std::vector<std::vector<OutputRows>> outputs_;  // of the first samples, as many as fit kMostKept
  std::vector<OutputRows> last_;
  size_t kept_bytes_ = 0;
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_PIPELINE_GATE_H_
