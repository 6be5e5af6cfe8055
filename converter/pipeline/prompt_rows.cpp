#include "pipeline/prompt_rows.h"

#include <fmt/format.h>

#include <set>
#include <vector>

#include "bantam/tasks.h"
#include "bantam/tokenizer.h"
#include "base/error.h"
#include "base/status_error.h"
#include "base/strings.h"
#include "graph/access.h"
#include "graph/task_parts.h"
#include "pack/build.h"
#include "run/prompts.h"
#include "run/runner.h"

namespace bantam::convert {
namespace {

std::vector<fb::PoolT*> marked_pools(Graph* graph) {
  std::vector<fb::PoolT*> pools;
  for (const auto& op : main_subgraph(*graph).ops) {
    fb::PoolT* pool = op->attributes.AsPool();
    if (pool != nullptr && pool->skip_first == kPromptRows) pools.push_back(pool);
  }
  return pools;
}

/// Counts as sentence-transformers does: the tokens of the prompt alone, without a special token at its end.
uint32_t count_tokens(const Model& model, const Tokenizer& tokenizer, const std::string& prompt) {
  if (prompt.empty()) return 0;
  const std::vector<int32_t> ids = text_ids(model, 0, prompt, 0).ids;
  const bool ends = !ids.empty() && tokenizer.is_special(static_cast<uint32_t>(ids.back()));
  return static_cast<uint32_t>(ids.size()) - (ends ? 1U : 0U);
}

}  // namespace

void count_prompt_rows(const std::string& source, Graph* graph) {
  const std::vector<fb::PoolT*> pools = marked_pools(graph);
  if (pools.empty()) return;
  uint32_t rows = 0;
  if (!graph->model.tokenizers.empty()) {
    TypeOptions exact;
    exact.weights = fb::DType::f32;
    const FileBytes bytes = build(*graph, exact, DataSection::In::kScratch);
    const Runner runner(bytes, 1, Linears::kNative);
    Tokenizer tokenizer;
    check(Tokenizer::open(runner.model(), 0, &tokenizer), source);
    std::set<uint32_t> counts;
    for (const TextRole role : {TextRole::kPlain, TextRole::kQuery, TextRole::kDocument}) {
      const Text prompt = text_prompt(runner.model(), role);
      counts.insert(count_tokens(runner.model(), tokenizer, to_string(prompt)));
    }
    if (counts.size() > 1) {
      throw Error(
          ExitCode::kUnsupported,
          fmt::format("{}: include_prompt is false, so that a prompt's tokens are not pooled, and the prompts of "
                      "plain texts, queries and documents have different numbers of tokens; name the one that is "
                      "needed as default_prompt_name and remove the others",
                      source));
    }
    rows = *counts.begin();
  }
  for (fb::PoolT* pool : pools) pool->skip_first = rows;
}

}  // namespace bantam::convert
