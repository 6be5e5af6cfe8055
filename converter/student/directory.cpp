// Writes a student as a directory that transformers loads.
#include <fmt/format.h>

#include <iterator>
#include <map>
#include <system_error>

#include "base/error.h"
#include "base/output_file.h"
#include "source/generation.h"
#include "source/gliner.h"
#include "source/safetensors_writer.h"
#include "source/sentence_transformers.h"
#include "source/token_vectors.h"
#include "student/student.h"
#include "tokenizer/tokenizer.h"

namespace bantam::convert {
namespace fs = std::filesystem;
namespace {

/// Writes files until it is told to stop.
class Writer {
 public:
  explicit Writer(const std::function<bool()>& stopped) : stopped_(stopped) {}

  void put(const fs::path& path, const std::string& text) const {
    if (stopped_()) throw Error(ExitCode::kInterrupted, "interrupted; nothing was written");
    OutputFile file(path);
    file.commit(text.data(), text.size());
  }
  void put(const fs::path& path, const Json& json) const { put(path, json.dump(1) + "\n"); }

 private:
  const std::function<bool()>& stopped_;
};

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

/// Copies the modules around the transformer of a sentence-transformers model, and ColBERT's settings.
void copy_modules(const ModelSource& source, const fs::path& to) {
  std::vector<std::string> names = sentence_transformers_files(source);
  if (source.files->has(source.name_around(kColbertSettings))) names.emplace_back(kColbertSettings);
  for (const std::string& name : names) {
    fs::create_directories((to / name).parent_path());
    fs::copy_file(source.files->path(source.name_around(name)), to / name, fs::copy_options::overwrite_existing);
  }
}

/// Returns the student's config.json, without the settings that belong in generation_config.json.
Json config_of(const ModelSource& source) {
  Json config = source.config;
  config.erase("torch_dtype");
  config["dtype"] = "float32";
  const std::string generation = source.name_inside(kGenerationFile);
  if (!source.files->has(generation)) return config;
  const Json& teacher = source.files->object(source.name_inside("config.json"));
  const Json& settings = source.files->object(generation);
  for (const auto& [key, value] : settings.items()) {
    if (teacher.contains(key)) {
      config[key] = teacher[key];
    } else {
      config.erase(key);
    }
  }
  return config;
}

/// Returns the teacher's files that no step of a recipe changes; for encoder-decoders, whose vocabularies stay, also
/// the tokenizers' files.
std::vector<std::string> copied_files(const Draft& draft) {
  std::vector<std::string> names = {kGenerationFile, "chat_template.jinja"};
  if (draft.source_config() != nullptr)
    names.insert(names.end(), std::begin(kTokenizerFiles), std::end(kTokenizerFiles));
  return names;
}

void put_tokenizer(const Writer& writer, const TokenizerFiles& tokenizer, const fs::path& inside) {
  if (tokenizer.json.is_object()) writer.put(inside / "tokenizer.json", tokenizer.json);
  if (tokenizer.vocab) writer.put(inside / "vocab.txt", *tokenizer.vocab);
  if (tokenizer.merges) {
    writer.put(inside / "vocab.json", tokenizer.letters.dump() + "\n");
    writer.put(inside / "merges.txt", *tokenizer.merges);
  }
  if (tokenizer.pieces) writer.put(inside / tokenizer.pieces->name, tokenizer.pieces->bytes);
  if (tokenizer.config.is_object()) writer.put(inside / "tokenizer_config.json", tokenizer.config);
  if (tokenizer.special.is_object()) writer.put(inside / "special_tokens_map.json", tokenizer.special);
}

void write_files(const Student& student, Draft& draft, const fs::path& root, const std::function<bool()>& stopped) {
  const Writer writer(stopped);
  const ModelSource source = draft.source();
  const fs::path inside = root / source.inside;
  fs::create_directories(inside);
  copy_modules(source, root);
  const Json config = config_of(source);
  if (has_gliner(config)) {
    writer.put(inside / kGlinerSettings, gliner_settings_of(config));
  } else {
    writer.put(inside / "config.json", config);
  }
  if (draft.source_config() == nullptr) put_tokenizer(writer, source.tokenizer, inside);
  for (const std::string& name : copied_files(draft)) {
    const std::string file = source.name_inside(name);
    if (source.files->has(file)) writer.put(inside / name, source.files->text(file));
  }
  std::map<std::string, TensorBytes> tensors;
  for (const auto& [name, tensor] : draft.tensors()) tensors[name] = tensor_bytes(tensor.shape, tensor.values);
  writer.put(inside / "model.safetensors", safetensors_file(tensors));
  writer.put(root / "README.md", card(student.report, source.card));
  writer.put(root / "bantam_student.json", student_json(student.report));
}

}  // namespace

void check_new_directory(const fs::path& directory) {
  std::error_code error;
  if (!fs::exists(directory, error) || (fs::is_directory(directory, error) && fs::is_empty(directory, error))) return;
  throw Error(ExitCode::kUsage,
              fmt::format("-o {}: is there already and not an empty directory; name a new one", directory.string()));
}

void refuse_uneven(bool uniform, uint32_t heads, uint32_t head_width, uint32_t hidden) {
  if (uniform) return;
  throw Error(
      ExitCode::kUnsupported,
      fmt::format("the student's layers differ in width, or {} heads of {} columns do not fill the hidden width of "
                  "{}: transformers has no settings for that. `bantam convert TEACHER --student RECIPE -o "
                  "FILE.bantam` writes such students; for a directory keep as much in every layer, and name "
                  "\"hidden\" with \"heads\"",
                  heads, head_width, hidden));
}

void write_student(const Student& student, const fs::path& directory, const std::function<bool()>& stopped) {
  Draft draft = student.draft;
  draft.multiply_factors();
  const EncoderConfig& config = draft.config();
  if (config.layers != 0) {
    refuse_uneven(draft.uniform(), config.widths.heads.front(), config.head_width, config.hidden);
  }
  check_new_directory(directory);
  OutputFolder folder(directory);
  write_files(student, draft, folder.path(), stopped);
  folder.commit();
}

}  // namespace bantam::convert
