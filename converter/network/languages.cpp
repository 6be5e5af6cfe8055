#include "network/languages.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>

namespace bantam::convert {
namespace {

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

/// Returns the text between `before` and `after`, or an empty text.
std::string_view between(std::string_view text, std::string_view before, std::string_view after) {
  const size_t around = before.size() + after.size();
  if (text.size() <= around || text.substr(0, before.size()) != before) return {};
  if (text.substr(text.size() - after.size()) != after) return {};
  return text.substr(before.size(), text.size() - around);
}

/// "deu_Latn", "de_DE", "en_XX".
bool is_locale(std::string_view text) {
  const size_t at = text.find('_');
  if (at != 2 && at != 3) return false;
  const std::string_view language = text.substr(0, at), place = text.substr(at + 1);
  if (!std::all_of(language.begin(), language.end(), is_lower)) return false;
  if (place.size() == 2) return is_upper(place[0]) && is_upper(place[1]);
  return place.size() == 4 && is_upper(place[0]) && std::all_of(place.begin() + 1, place.end(), is_lower);
}

/// The language code that a token names; empty: none.
std::string_view code_of(const fb::AddedTokenT& token, bool* of_marian) {
  const std::string_view text = token.text;
  const std::string_view marian = between(text, ">>", "<<");
  *of_marian = !marian.empty();
  if (*of_marian) return marian;
  if (!token.special) return {};
  if (const std::string_view code = between(text, "__", "__"); !code.empty()) return code;
  return is_locale(text) ? text : std::string_view();
}

}  // namespace

void add_languages(Graph& graph, uint32_t vocabulary) {
  fb::TaskT& task = *graph.model.task;
  if (graph.model.tokenizers.empty() || task.generations.empty() || task.generations.front()->start_id < 0) return;
  const fb::TokenizerT& tokenizer = *graph.model.tokenizers[graph.model.source_tokenizer];
  const int32_t start = task.generations.front()->start_id;
  bool source = false, starts = false;
  for (const auto& token : tokenizer.added_tokens) {
    bool of_marian = false;
    const std::string_view code = code_of(*token, &of_marian);
    const auto id = static_cast<int32_t>(token->id);
    const int32_t others[] = {tokenizer.model->unknown_id, tokenizer.pad_id, tokenizer.cls_id, tokenizer.sep_id};
    if (std::find(std::begin(others), std::end(others), id) != std::end(others))
      continue;  // BlenderbotSmall's "__end__"
    if (code.empty() || token->id >= vocabulary) continue;
    auto language = std::make_unique<fb::LanguageT>();
    language->code = code;
    language->token = id;
    source = source || of_marian;
    starts = starts || language->token == start;
    task.languages.push_back(std::move(language));
  }
  if (task.languages.empty()) return;
  task.language_place = source   ? fb::LanguagePlace::source
                        : starts ? fb::LanguagePlace::start
                                 : fb::LanguagePlace::first;
}

}  // namespace bantam::convert
