// Untrusted inputs other than models: labeled data, texts, recipes, costs, expected outputs, target.json, patterns, and
// any text that is shown. The first byte selects the kind; the rest is the file. It must be read, or refused by an
// Error.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json_file.h"
#include "base/pattern.h"
#include "base/printable.h"
#include "calibrate/sensitivity.h"
#include "data/texts.h"
#include "firmware/resources.h"
#include "firmware/target.h"
#include "import/hugging_face.h"
#include "pack/build.h"
#include "pages/html.h"
#include "score/eval_data.h"
#include "score/expect.h"
#include "student/recipe.h"
#include "tests/fuzz/limits.h"

namespace {

namespace fs = std::filesystem;
namespace convert = bantam::convert;

/// A model whose labels the data may use, and a file for readers that need one.
class Workspace {
 public:
  explicit Workspace(const char* golden)
      : bytes_(convert::build(
            convert::import_hugging_face(fs::path(BANTAM_SOURCE_DIR) / "tests/golden/models" / golden), {})) {
    if (bantam::Model::open(bytes_.data(), bytes_.size(), &model_) != bantam::Status::kOk) std::abort();
  }

  const bantam::Model& model() const { return model_; }

 private:
  convert::FileBytes bytes_;
  bantam::Model model_;
};

class TemporaryFile {
 public:
  TemporaryFile() : path_(fs::temp_directory_path() / ("bantam-data-fuzz-" + std::to_string(getpid()))) {}
  ~TemporaryFile() {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const fs::path& path() const { return path_; }
  void write(const std::string& text) const { std::ofstream(path_, std::ios::binary) << text; }

 private:
  fs::path path_;
};

/// Shown text must be one line of printable characters, without code points that control a terminal or change the text
/// direction.
void check_shown(const std::string& shown) {
  for (size_t i = 0; i < shown.size(); ++i) {
    const auto byte = static_cast<uint8_t>(shown[i]);
    if (byte < 0x20 || byte == 0x7F) std::abort();
    const auto next = static_cast<uint8_t>(i + 1 < shown.size() ? shown[i + 1] : 0);
    if (byte == 0xC2 && next < 0xA0) std::abort();  // C1
    if (byte != 0xE2) continue;
    const auto last = static_cast<uint8_t>(i + 2 < shown.size() ? shown[i + 2] : 0);
    if (next == 0x80 && last >= 0xA8 && last <= 0xAE) std::abort();  // line separators, directional embeddings
    if (next == 0x81 && last >= 0xA6 && last <= 0xA9) std::abort();  // directional isolates
  }
}

void show(const std::string& text) {
  check_shown(convert::printable(text));
  check_shown(convert::markdown_text(text));
  check_shown(convert::shell_word(text));
  if (convert::html_escaped(text).find_first_of("<>\"'") != std::string::npos) std::abort();
}

void read(uint8_t kind, const std::string& text) {
  static const Workspace joint("bert-joint"), classify("bert-classify");
  static const TemporaryFile file;
  switch (kind % 8) {
    case 0:
    case 1:
      file.write(text);
      convert::read_dataset(file.path().string(), kind % 2 == 0 ? joint.model() : classify.model(), 0, kind >= 128);
      return;
    case 2:
      file.write(text);
      convert::read_labelled("DATA", file.path());
      return;
    case 3:
      convert::parse_recipe(convert::parse_json(text, "recipe"), "recipe", ".");
      return;
    case 4:
      file.write(text);
      convert::read_sensitivity(file.path());
      return;
    case 5:
      file.write(text);
      convert::read_expected(file.path(), {"logits"});
      return;
    case 6:
      bantam::firmware::parse_target(text, "target");
      return;
    default: {
      show(text);
      const size_t half = text.size() / 2;
      try {
        static_cast<void>(convert::Pattern(text.substr(0, half)).search(text.substr(half)));
      } catch (const convert::PatternError& error) {
        convert::printable(error.what());
      }
    }
  }
}

}  // namespace

/// The files that descriptions of boards refer to. The boards of this build are part of `bantam firmware` and are not
/// read here.
const std::vector<bantam::firmware::Resource>& bantam::firmware::resources() {
  static const std::vector<Resource> cores = {
      {"targets/firmware/cores.json", R"({"cortex-m4": {"kernels": "dsp"}, "cortex-m55": {"kernels": "mve"}})"}};
  return cores;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const bantam::fuzz::Limits limits(size);
  try {
    read(data[0], std::string(reinterpret_cast<const char*>(data) + 1, size - 1));
  } catch (const convert::Error& error) {
    if (error.problems().empty()) std::abort();
    for (const std::string& problem : error.problems()) convert::printable(problem);
  }
  return 0;
}
