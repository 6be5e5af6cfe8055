// Determines which JSON documents of a source its conversion uses, and of which kind they are.
#include <array>
#include <utility>

#include "base/error.h"
#include "source/generation.h"
#include "source/gliner.h"
#include "source/keys.h"
#include "source/sentence_modules.h"
#include "source/setfit.h"
#include "source/token_vectors.h"

namespace bantam::convert {
namespace {

class KeyDocuments {
 public:
  KeyDocuments(const ModelSource& source, const KeyUse& use) : source_(source), use_(use) {}

  std::vector<KeyDocument> run() {
    add_settings();
    if (use_.generates) add_file(KeyFile::kGeneration, source_.name_inside(kGenerationFile));
    if (use_.reads_images) add_file(KeyFile::kProcessor, source_.name_around(kImageSettings));
    if (use_.reads_texts) add_tokenizer();
    add_modules();
    add_file(KeyFile::kSetFit, source_.name_around(kSetFitSettings));
    add_file(KeyFile::kColbert, source_.name_around(kColbertSettings));
    add_adapter();
    return std::move(found_);
  }

 private:
  void add(KeyFile kind, std::string file, std::shared_ptr<const Json> json) {
    found_.push_back({kind, std::move(file), std::move(json)});
  }

  void add_copy(KeyFile kind, std::string file, Json json) {
    add(kind, std::move(file), std::make_shared<const Json>(std::move(json)));
  }

  /// Adds a document that lives as long as the source.
  void add_part(KeyFile kind, std::string file, const Json& json) {
    add(kind, std::move(file), std::shared_ptr<const Json>(std::shared_ptr<const Json>(), &json));
  }

  /// Adds a document of the directory if it exists and is readable. Its name in reports is relative to modules.json.
  void add_file(KeyFile kind, const std::string& name) {
    if (!source_.files->has_file(name)) return;
    const std::string around = source_.name_around("");
    const std::string file = name.compare(0, around.size(), around) == 0 ? name.substr(around.size()) : name;
    try {
      add_part(kind, file, source_.files->json(name));
    } catch (const Error&) {
      // A reader that needs the file reports the error.
    }
  }

  bool is_inside(const std::string& name) const { return source_.files->has_file(source_.name_inside(name)); }

  /// Adds config.json as opened. Sources of other formats derive their settings from something else.
  void add_settings() {
    if (has_gliner(source_.config)) {
      add_part(KeyFile::kGlinerConfig, kGlinerSettings, source_.config.at(kGliner));
      Json encoder = source_.config;
      encoder.erase(kGliner);
      return add_copy(KeyFile::kConfig, std::string(kGlinerSettings) + ": encoder_config", std::move(encoder));
    }
    const bool is_static = source_.config.is_object() && source_.config.value("model_type", Json()) == "model2vec";
    if (is_static) return add_file(KeyFile::kStatic, source_.name_inside("config.json"));
    const bool stated = is_inside(source_.config_name) || source_.onnx != nullptr;
    if (stated && source_.config.is_object()) add_part(KeyFile::kConfig, source_.config_name, source_.config);
  }

  void add_tokenizer() {
    const TokenizerFiles& files = source_.tokenizer;
    const auto add_object = [&](KeyFile kind, const char* name, const Json& json) {
      if (json.is_object() && is_inside(name)) add_part(kind, name, json);
    };
    add_object(KeyFile::kTokenizerConfig, "tokenizer_config.json", files.config);
    add_object(KeyFile::kSpecialTokens, "special_tokens_map.json", files.special);
    add_object(KeyFile::kAddedTokens, "added_tokens.json", files.added);
    if (!files.json.is_object() || !is_inside(files.json_name)) return;
    add_part(KeyFile::kTokenizer, files.json_name, files.json);
    using Part = std::pair<const char*, const char*>;
    for (const auto& [name, list] : {Part("normalizer", "normalizers"), Part("pre_tokenizer", "pretokenizers"),
                                     Part("post_processor", "processors"), Part("decoder", "decoders")}) {
      const auto part = files.json.find(name);
      if (part == files.json.end() || !part->is_object()) continue;
      const std::string file = files.json_name + ": " + name;
      add_part(KeyFile::kComponent, file, *part);
      const auto steps = part->find(list);
      if (steps == part->end() || !steps->is_array()) continue;
      for (size_t i = 0; i < steps->size(); ++i) {
        if (steps->at(i).is_object()) add_part(KeyFile::kComponent, file + "[" + std::to_string(i) + "]", steps->at(i));
      }
    }
  }

  void add_modules() {
    if (source_.modules.empty()) return;
    add_file(KeyFile::kModules, source_.name_around(kModulesFile));
    add_file(KeyFile::kSentenceTransformers, source_.name_around(kPromptsFile));
    constexpr std::array<std::pair<const char*, KeyFile>, 5> kKinds = {{{"Pooling", KeyFile::kPooling},
                                                                        {"Dense", KeyFile::kDense},
                                                                        {"Normalize", KeyFile::kNormalize},
                                                                        {"SpladePooling", KeyFile::kTerms},
                                                                        {"MultiVectorMask", KeyFile::kMask}}};
    for (const SentenceModule& module : source_.modules.list) {
      const std::string folder = source_.name_around(module.folder);
      if (module.is_transformer()) add_file(KeyFile::kSentenceBert, name_in(folder, kTransformerFile));
      for (const auto& [type, kind] : kKinds) {
        if (module.type == type) add_file(kind, name_in(folder, "config.json"));
      }
    }
  }

  /// transformers loads an adapter together with the model beside it.
  void add_adapter() {
    if (is_inside("adapter_model.safetensors") || is_inside("adapter_model.bin")) {
      add_file(KeyFile::kAdapter, source_.name_inside("adapter_config.json"));
    }
  }

  const ModelSource& source_;
  const KeyUse& use_;
  std::vector<KeyDocument> found_;
};

}  // namespace

std::vector<KeyDocument> key_documents(const ModelSource& source, const KeyUse& use) {
  return KeyDocuments(source, use).run();
}

}  // namespace bantam::convert
