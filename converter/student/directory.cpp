// Writing a student as a directory that transformers loads.
#include <fmt/format.h>
#include <unistd.h>

#include <map>
#include <system_error>

#include "graph/error.h"
#include "import/model_card.h"
#include "import/safetensors_writer.h"
#include "import/sentence_transformers.h"
#include "pack/output_file.h"
#include "student/student.h"

namespace bantam::convert {
namespace fs = std::filesystem;
namespace {

void put(const fs::path& path, const std::string& text) {
  OutputFile file(path);
  file.commit(text.data(), text.size());
}

void put(const fs::path& path, const Json& json) { put(path, json.dump(1) + "\n"); }

/// A folder that disappears unless it is given its name.
class Folder {
 public:
  explicit Folder(const fs::path& target) : target_(target) {
    std::error_code error;
    if (fs::exists(target, error) && !(fs::is_directory(target, error) && fs::is_empty(target, error))) {
      throw Error(ExitCode::kUsage,
                  fmt::format("-o {}: is there already and not an empty directory; name a new one", target.string()));
    }
    const fs::path name = target.filename().empty() ? target.parent_path() : target;
    path_ = name.parent_path() / fmt::format(".{}.{}.part", name.filename().string(), getpid());
    target_ = name;
    fs::remove_all(path_, error);
    fs::create_directories(path_, error);
    if (error) throw Error(ExitCode::kIo, fmt::format("-o {}: {}", target.string(), error.message()));
  }
  ~Folder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const fs::path& path() const { return path_; }
  void commit() {
    std::error_code error;
    fs::rename(path_, target_, error);
    if (error) throw Error(ExitCode::kIo, fmt::format("-o {}: {}", target_.string(), error.message()));
    path_.clear();
  }

 private:
  fs::path target_, path_;
};

void refuse_uneven(const Draft& draft) {
  if (draft.uniform()) return;
  throw Error(
      ExitCode::kUnsupported,
      fmt::format("the student's layers differ in width, or {} heads of {} columns do not fill the hidden width of "
                  "{}: transformers has no settings for that. `bantam convert TEACHER --student RECIPE -o "
                  "FILE.bantam` writes such students; for a directory keep as much in every layer, and name "
                  "\"hidden\" with \"heads\"",
                  draft.config().widths.heads.front(), draft.config().head_width, draft.config().hidden));
}

std::string card(const StudentReport& report, const ModelCard& teacher) {
  std::string text = "---\n";
  if (!teacher.licence.empty()) text += fmt::format("license: {}\n", teacher.licence);
  for (const auto& [key, value] : teacher.fields) text += fmt::format("{}: \"{}\"\n", key, value);
  const std::string name = teacher.name.empty() ? fs::path(report.teacher).filename().string() : teacher.name;
  text += fmt::format("---\n# A student of {}\n\nMade by `bantam student`; it wants training (`bantam distill`).\n\n",
                      name);
  for (const std::string& step : report.steps) text += fmt::format("- {}\n", step);
  return text;
}

/// What stands around the transformer of a sentence-transformers model.
void copy_modules(const ModelSource& source, const fs::path& to) {
  for (const std::string& name : sentence_transformers_files(source.root)) {
    fs::create_directories((to / name).parent_path());
    fs::copy_file(source.root / name, to / name, fs::copy_options::overwrite_existing);
  }
}

void write_files(const Student& student, Draft& draft, const fs::path& root) {
  const ModelSource source = draft.source();
  const fs::path inside = root / fs::relative(source.directory, source.root);
  fs::create_directories(inside);
  copy_modules(source, root);
  Json config = source.config;
  config.erase("torch_dtype");
  config["dtype"] = "float32";
  put(inside / "config.json", config);
  if (source.tokenizer.json.is_object()) put(inside / "tokenizer.json", source.tokenizer.json);
  if (source.tokenizer.vocab) put(inside / "vocab.txt", *source.tokenizer.vocab);
  if (source.tokenizer.config.is_object()) put(inside / "tokenizer_config.json", source.tokenizer.config);
  if (source.tokenizer.special.is_object()) put(inside / "special_tokens_map.json", source.tokenizer.special);
  std::map<std::string, TensorBytes> tensors;
  for (const auto& [name, tensor] : draft.tensors()) tensors[name] = tensor_bytes(tensor.shape, tensor.values);
  put(inside / "model.safetensors", safetensors_file(tensors));
  put(root / "README.md", card(student.report, read_model_card(source.root)));
  put(root / "bantam_student.json", student_json(student.report));
}

}  // namespace

void write_student(const Student& student, const fs::path& directory) {
  Draft draft = student.draft;
  draft.multiply_factors();
  refuse_uneven(draft);
  Folder folder(directory);
  try {
    write_files(student, draft, folder.path());
  } catch (const fs::filesystem_error& error) {
    const bool full = error.code() == std::errc::no_space_on_device;
    throw Error(full ? ExitCode::kOutOfSpace : ExitCode::kIo,
                fmt::format("{}: {}", error.path1().string(), error.code().message()));
  }
  folder.commit();
}

}  // namespace bantam::convert
