// Students, pruning, training and integer files for each family: the table of docs/students.md agrees with the registry
// and the passes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "golden/tiny.h"
#include "graph/training.h"
#include "quantize/static.h"
#include "source/write_back.h"

namespace bantam::golden::narrowing_test {
namespace {

/// Returns a classifier like the family's published files, if the family has one.
Tiny usual(const Family& family) {
  const Head* classify = family.head(fb::TaskKind::classify);
  const bool biases = !family.block.norm_first || !family.block.optional_biases;
  return {family, classify != nullptr ? *classify : family.heads.front(), kHidden, biases};
}

std::vector<std::string> lost(const convert::Graph& graph, const convert::Checkpoint& checkpoint) {
  return convert::not_written_back(graph, convert::ways_back(graph, checkpoint));
}

const char* cell(bool can) { return can ? "yes" : "-"; }

/// Returns true if the family can be trained: with labels of texts or words, or as a generator.
bool trains(const Family& family) {
  const bool generates = family.head(fb::TaskKind::generate) != nullptr;
  const Head* head = family.head(generates ? fb::TaskKind::generate : fb::TaskKind::classify);
  if (head == nullptr) return false;
  const Tiny model(family, *head, kHidden, !family.block.norm_first || !family.block.optional_biases);
  const convert::ModelSource source = model.source();
  const convert::Graph graph = convert::import_source(source, model.options());
  for (const auto& op : graph.model.subgraphs.front()->ops) {
    if (!convert::why_untrained(*op).empty()) return false;
  }
  return lost(graph, *source.checkpoint).empty();
}

bool is_static(const convert::Graph& graph) {
  try {
    convert::check_static(graph);
    return true;
  } catch (const convert::Error&) {
    return false;
  }
}

std::string row(const Family& family) {
  const Tiny model = usual(family);
  const convert::ModelSource source = model.source();
  const convert::Graph graph = convert::import_source(source, model.options());
  std::string names;
  for (const char* name : family.model_types) names += fmt::format("{}`{}`", names.empty() ? "" : ", ", name);
  const bool heads = family.why_heads_stay() == nullptr;
  const std::vector<bool> cells = {family.why_layers_stay() == nullptr,
                                   family.why_columns_stay() == nullptr,
                                   heads,
                                   heads && family.why_hidden_stays() == nullptr,
                                   family.why_matrices_stay() == nullptr,
                                   trains(family),
                                   is_static(graph)};
  std::string line = "| " + names + " |";
  for (const bool can : cells) line += fmt::format(" {} |", cell(can));
  return line;
}

std::string document() {
  std::ifstream stream(BANTAM_SOURCE_DIR "/docs/students.md");
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST(Narrowing, TheTableOfTheDocumentIsTheRegistrys) {
  const std::string text = document();
  for (const Family& family : convert::families()) {
    if (family.block.patches) continue;  // one line covers all of them
    EXPECT_NE(text.find(row(family)), std::string::npos) << "docs/students.md lacks the row\n" << row(family);
  }
}

TEST(Narrowing, TheDocumentHasEveryReason) {
  const std::string text = std::regex_replace(document(), std::regex("\\s+"), " ");  // ignores line breaks
  for (const Family& family : convert::families()) {
    for (const char* why : {family.why_layers_stay(), family.why_columns_stay(), family.why_heads_stay(),
                            family.why_hidden_stays(), family.why_matrices_stay()}) {
      if (why == nullptr) continue;
      EXPECT_NE(text.find(why), std::string::npos) << "docs/students.md lacks: " << why;
    }
  }
}

TEST(Narrowing, WhatTheGraphHoldsInAnotherFormIsNotWrittenBack) {
  const Tiny gptj = usual(*convert::find_family("gptj"));
  const convert::ModelSource source = gptj.source();
  const convert::Graph graph = convert::import_source(source, gptj.options());
  // Queries and keys are stored in the order for rotation.
  EXPECT_EQ(lost(graph, *source.checkpoint),
            (std::vector<std::string>{"transformer.h.0.attn.qkv.weight", "transformer.h.1.attn.qkv.weight"}));
  const Tiny roberta = usual(*convert::find_family("roberta"));
  const convert::ModelSource cut = roberta.source();
  const convert::WaysBack ways = convert::ways_back(convert::import_source(cut, roberta.options()), *cut.checkpoint);
  EXPECT_EQ(std::count_if(ways.begin(), ways.end(), [](const auto& way) { return way.second.front().first != 0; }), 1);
  const Tiny bert = usual(*convert::find_family("bert"));
  const convert::ModelSource plain = bert.source();
  EXPECT_TRUE(lost(convert::import_source(plain, bert.options()), *plain.checkpoint).empty());
}

}  // namespace
}  // namespace bantam::golden::narrowing_test
