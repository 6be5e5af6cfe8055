#include "source/model_source.h"

#include <fmt/format.h>

#include "base/error.h"
#include "source/adapter.h"
#include "source/bitnet.h"
#include "source/generation.h"
#include "source/packed_blocks.h"
#include "source/sentence_transformers.h"
#include "source/setfit.h"
#include "source/token_vectors.h"

namespace bantam::convert {

Checkpoint open_checkpoint(const std::filesystem::path& directory) {
  const Directory files(directory);
  const std::string folder = transformer_folder(files, read_sentence_modules(files));
  if (files.has(name_in(folder, kAdapterSettings))) {
    throw Error(
        ExitCode::kUnsupported,
        fmt::format("{}: weights with an adapter beside them are not trained; merge it into the model with peft "
                    "first, or remove the file to train the model without it",
                    files.path(name_in(folder, kAdapterSettings)).string()));
  }
  const std::string config = name_in(folder, "config.json");
  if (files.has(config) && is_bitnet(files.object(config))) {
    throw Error(ExitCode::kUnsupported,
                fmt::format("{}: quantization_config: layers that round their weights are not trained; remove it to "
                            "train the weights as they are",
                            files.path(config).string()));
  }
  return Checkpoint(files, folder);
}

void read_checkpoint(ModelSource* source) {
  auto checkpoint = std::make_shared<Checkpoint>(*source->files, source->inside);
  if (has_packed_blocks(source->config)) join_packed_blocks(checkpoint.get());
  for (const auto& file : checkpoint->files()) source->weight_files.push_back(file->path());
  if (is_bitnet(source->config)) settle_bitnet(&source->config, source->config_name, checkpoint.get());
  if (source->files->has(source->name_inside(kAdapterSettings))) {
    source->weight_files.push_back(merge_adapter(*source->files, source->inside, source->config, checkpoint.get()));
    source->notes.push_back(fmt::format("the adapter of {} is merged into the weights", kAdapterSettings));
  }
  source->checkpoint = std::move(checkpoint);
  source->tokenizer = read_tokenizer_files(*source->files, source->inside);
}

void read_around(ModelSource* source) {
  const Directory& files = *source->files;
  if (source->modules.empty()) source->modules = read_sentence_modules(files, source->around);
  if (files.has_file(source->name_around(kCardFile))) source->card = read_model_card(files, source->around);
  const auto read = [&files](const std::string& name) {
    if (!files.has_file(name)) return;
    try {
      files.json(name);
    } catch (const Error&) {
      // Readers that need the file get the same error.
    }
  };
  for (const char* name : {kPromptsFile, kColbertSettings, kSetFitSettings, kImageSettings}) {
    read(source->name_around(name));
  }
  for (const SentenceModule& module : source->modules.list) {
    const char* name = module.is_transformer() ? kTransformerFile : "config.json";
    read(source->name_around(name_in(module.folder, name)));
  }
  read(source->name_inside(kGenerationFile));
}

Fields fields_around(const ModelSource& source, const std::string& name, Problems& problems) {
  const std::string file = source.name_around(name);
  return {source.files->object_or_empty(file), source.files->path(file).string(), problems};
}

}  // namespace bantam::convert
