#include "student/vocabulary.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "base/error.h"
#include "data/texts.h"
#include "import/hugging_face.h"
#include "pack/build.h"
#include "run/runner.h"
#include "student/scripts.h"
#include "student/tokens.h"
#include "text/utf8.h"

namespace bantam::convert {
namespace {

constexpr size_t kFold = 10;  // one of this many texts is held out
constexpr size_t kFewTexts = 20;

/// A draft's tokenizer, executed by the runtime.
class Splitter {
 public:
  explicit Splitter(const Draft& draft) {
    Draft small = draft;
    if (small.config().layers != 0) small.keep_layers({0});
    graph_ = import_source(small.source());
    if (graph_.model.tokenizers.empty()) {
      throw Error(ExitCode::kInvalid,
                  fmt::format("{}: has no tokenizer, so that no texts can be run; add tokenizer.json "
                              "or vocab.txt",
                              draft.origin().directory().string()));
    }
    TypeOptions exact;
    exact.weights = fb::DType::f32;
    bytes_ = build(graph_, exact);
    max_tokens_ = tokenizer().max_length;
    runner_ = std::make_unique<Runner>(bytes_, max_tokens_);
  }

  const fb::TokenizerT& tokenizer() const { return *graph_.model.tokenizers.front(); }

  /// Adds the uses of the ids in a text to `counts`. The text is tokenized in pieces that fit the buffer, because a
  /// token takes at least a byte.
  Coverage count(const std::string& text, std::vector<double>* counts) {
    Coverage coverage;
    const size_t most = max_tokens_ > 8 ? max_tokens_ - 4 : 4;
    for (size_t begin = 0; begin < text.size();) {
      size_t end = std::min(text.size(), begin + most);
      if (end < text.size()) {
        const size_t blank = text.find_last_of(" \t\n", end);
        if (blank != std::string::npos && blank > begin) end = blank;
      }
      const Sample sample = runner_->encode(text.substr(begin, end - begin));
      for (size_t i = 0; i < sample.ids.size(); ++i) {
        if (!sample.content[i]) continue;
        ++coverage.tokens;
        coverage.unknown += sample.ids[i] == tokenizer().model->unknown_id ? 1u : 0u;
        if (counts != nullptr) (*counts)[static_cast<size_t>(sample.ids[i])] += 1;
      }
      begin = end;
    }
    return coverage;
  }

 private:
  Graph graph_;
  FileBytes bytes_;
  uint32_t max_tokens_ = 0;
  std::unique_ptr<Runner> runner_;
};

void add(Coverage& sum, const Coverage& part) {
  sum.tokens += part.tokens;
  sum.unknown += part.unknown;
}

/// Returns the code points of a token without its continuation prefix.
std::vector<std::string> characters(const std::string& token, const std::string& prefix) {
  std::vector<std::string> found;
  size_t at = !prefix.empty() && token.compare(0, prefix.size(), prefix) == 0 ? prefix.size() : 0;
  while (at < token.size()) {
    const auto left = static_cast<uint32_t>(std::min<size_t>(token.size() - at, 4));
    const uint32_t size = text::decode_utf8(reinterpret_cast<const uint8_t*>(token.data()) + at, left).size;
    found.push_back(token.substr(at, size));
    at += size;
  }
  return found;
}

class Chooser {
 public:
  Chooser(const std::vector<std::string>& tokens, const fb::TokenizerT& tokenizer, uint32_t rows,
          const Recipe::Vocabulary& recipe)
      : tokens_(tokens), rows_(rows), prefix_(tokenizer.model->continuing_prefix), recipe_(recipe) {
    for (uint32_t id = 0; id < tokens.size(); ++id) ids_[tokens[id]] = id;
    for (const int32_t id :
         {tokenizer.model->unknown_id, tokenizer.pad_id, tokenizer.cls_id, tokenizer.sep_id, tokenizer.mask_id}) {
      stays(id);
    }
    for (const auto& added : tokenizer.added_tokens) stays(static_cast<int32_t>(added->id));
    for (const auto* pieces : {&tokenizer.single, &tokenizer.pair}) {
      for (const fb::TemplatePiece& piece : *pieces) stays(piece.token());
    }
  }

  Indices choose(const std::vector<double>& counts) const {
    std::set<uint32_t> kept = special_;
    std::vector<uint32_t> used;
    for (uint32_t id = 0; id < tokens_.size() && id < rows_; ++id) {
      if (tokens_[id].empty() || special_.count(id) != 0) continue;
      if (!recipe_.scripts.empty() && in_scripts(tokens_[id], recipe_.scripts)) kept.insert(id);
      if (counts[id] >= recipe_.min_count) used.push_back(id);
    }
    for (const uint32_t id : used) {
      for (const std::string& character : characters(tokens_[id], prefix_)) {
        for (const std::string& token : {character, prefix_ + character}) {
          const auto found = ids_.find(token);
          if (found != ids_.end() && found->second < rows_) kept.insert(found->second);
        }
      }
    }
    if (recipe_.size != 0 && kept.size() > recipe_.size) {
      throw Error(ExitCode::kInvalid,
                  fmt::format("vocabulary.size: {} is less than the {} tokens that always stay (special ones, those of "
                              "scripts, and single characters of the corpus); ask for more, or raise min_count",
                              recipe_.size, kept.size()));
    }
    std::stable_sort(used.begin(), used.end(), [&](uint32_t a, uint32_t b) { return counts[a] > counts[b]; });
    for (const uint32_t id : used) {
      if (recipe_.size != 0 && kept.size() >= recipe_.size) break;
      kept.insert(id);
    }
    return {kept.begin(), kept.end()};
  }

 private:
  void stays(int32_t id) {
    if (id >= 0 && static_cast<uint32_t>(id) < rows_) special_.insert(static_cast<uint32_t>(id));
  }

  const std::vector<std::string>& tokens_;
  uint32_t rows_;
  std::string prefix_;
  const Recipe::Vocabulary& recipe_;
  std::map<std::string, uint32_t> ids_;
  std::set<uint32_t> special_;
};

void trim_to(Draft& draft, const Indices& kept) {
  draft.keep(Axis::kVocabulary, 0, kept);
  renumber_tokens(kept, draft.tokenizer(), draft.settings());
}

std::vector<std::string> read_corpus(const Recipe::Vocabulary& recipe) {
  std::vector<std::string> texts;
  for (const auto& file : recipe.corpus) {
    const std::vector<std::string> more = read_texts("vocabulary.corpus", file);
    texts.insert(texts.end(), more.begin(), more.end());
  }
  return texts;
}

}  // namespace

VocabularyReport trim_vocabulary(Draft& draft, const Recipe::Vocabulary& recipe, std::vector<double>* uses,
                                 const std::function<void(const char*, double)>& progress) {
  const std::vector<std::string> texts = read_corpus(recipe);
  Splitter before(draft);
  if (before.tokenizer().model->kind != fb::TokenModelKind::wordpiece) {
    throw Error(
        ExitCode::kUnsupported,
        fmt::format("{}: the vocabulary of a WordPiece tokenizer only can be made smaller by this version; leave "
                    "vocabulary out of the recipe",
                    draft.origin().directory().string()));
  }
  const std::vector<std::string> tokens = tokens_of(draft.tokenizer());
  const uint32_t rows = draft.config().vocabulary;
  const Chooser chooser(tokens, before.tokenizer(), rows, recipe);
  VocabularyReport report;
  report.before = rows;
  report.texts = texts.size();
  const bool estimates = texts.size() >= kFewTexts;
  // Counts the held-out texts separately, so that one pass serves both vocabularies.
  std::vector<double> counts(std::max<size_t>(rows, tokens.size()), 0), aside = counts;
  for (size_t i = 0; i < texts.size(); ++i) {
    const bool unseen = i % kFold == kFold - 1;
    const Coverage part = before.count(texts[i], unseen ? &aside : &counts);
    add(report.corpus_before, part);
    if (unseen && estimates) add(report.unseen_before, part);
    if (i % 64 == 0) progress("counting tokens", static_cast<double>(i) / static_cast<double>(texts.size()));
  }
  if (estimates) {
    Draft trial = draft;
    trim_to(trial, chooser.choose(counts));
    Splitter after(trial);
    for (size_t i = kFold - 1; i < texts.size(); i += kFold) add(report.unseen_after, after.count(texts[i], nullptr));
  }
  for (size_t i = 0; i < counts.size(); ++i) counts[i] += aside[i];
  const Indices kept = chooser.choose(counts);
  trim_to(draft, kept);
  report.after = static_cast<uint32_t>(kept.size());
  Splitter after(draft);
  for (const std::string& text : texts) add(report.corpus_after, after.count(text, nullptr));
  uses->clear();
  for (const uint32_t id : kept) uses->push_back(counts[id]);
  return report;
}

}  // namespace bantam::convert
