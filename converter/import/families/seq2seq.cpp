// Seq2seq: a recurrent encoder and a recurrent decoder, each above words of its own, as PyTorch stores them (Cho et al., arXiv 1406.1078;
// Sutskever et al., arXiv 1409.3215). No library writes such directories: docs/recurrent.md says what stands in them.
#include "import/families/blocks.h"

namespace bantam::convert {
namespace {

Family seq2seq_stack(bool decoder) {
  Family family;
  family.base = "seq2seq";
  Settings& settings = family.settings;
  settings.vocabulary = {decoder ? "target_vocab_size" : "source_vocab_size", 0};
  settings.positions = {decoder ? "max_target_length" : "max_source_length", 512};
  settings.segments = {nullptr, 0};
  settings.hidden.key = decoder ? "decoder_embedding_size" : "encoder_embedding_size";
  settings.synonyms = {{"embedding_size", settings.hidden.key}, {"hidden_size", settings.hidden.key}};
  settings.layers = {nullptr, 0};
  settings.heads = {nullptr, 1};
  settings.intermediate = {nullptr, 1};
  settings.epsilon = nullptr;
  settings.untied = true;
  family.block.recurrent = true;
  family.block.causal = decoder;
  family.block.optional_biases = true;
  family.roles = {{Slot::kWords, decoder ? "decoder.embedding.weight" : "encoder.embedding.weight"}};
  family.layer = decoder ? "decoder.layer.{}" : "encoder.layer.{}";
  return family;
}

}  // namespace

Family seq2seq() {
  Family family = seq2seq_stack(true);
  family.source = std::make_shared<const Family>(seq2seq_stack(false));
  family.model_types = {"seq2seq", "seq2seq-gru"};
  family.architectures = {"Seq2Seq"};
  family.heads = {{fb::TaskKind::generate, "ForGeneration", Rows::kTokens, {{"output", HeadLayer::Out::kVocabulary}}},
                  {fb::TaskKind::none, "Model"}};
  return family;
}

}  // namespace bantam::convert
