// Untrusted SentencePiece model files. The first byte chooses the family; the rest is the file. Whatever is imported
// must pass the verifier and tokenize a text.
#include <cstdlib>

#include "tests/fuzz/limits.h"
#include "tests/text/vocabulary.h"

namespace bantam::tests {
namespace {

constexpr const char* kTokenizers[] = {"XLMRobertaTokenizer", "CamembertTokenizer", "AlbertTokenizer",    "T5Tokenizer",
                                       "XLNetTokenizer",      "LlamaTokenizer",     "DebertaV2Tokenizer", ""};

void import_and_check(const char* name, const std::string& bytes) {
  convert::TokenizerFiles files;
  files.pieces = convert::SentencePieceFile{"spiece.model", bytes, "", {}};
  files.config = {{"tokenizer_class", name}};
  convert::Graph graph;
  std::vector<std::string> problems;
  if (!convert::import_tokenizer(files, graph, problems)) {
    if (problems.empty()) std::abort();
    return;
  }
  TokenizerImage image(graph);
  if (image.verify() != Status::kOk) std::abort();
  const Encoded got = encode(image.open(), "ab  9, \u00e9 the \u2581 <s> [CLS] \U0001f600");
  if (got.status != Status::kOk) std::abort();
}

}  // namespace
}  // namespace bantam::tests

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size);

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const bantam::fuzz::Limits limits(size);
  if (size == 0) return 0;
  bantam::tests::import_and_check(bantam::tests::kTokenizers[bytes[0] % 8],
                                  std::string(reinterpret_cast<const char*>(bytes) + 1, size - 1));
  return 0;
}
