#include "run/texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text_encoding.h"

namespace bantam::convert {

std::vector<LabelledText> read_labelled(const char* option, const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw Error(ExitCode::kIo, fmt::format("{} {}: {}", option, file.string(), std::strerror(errno)));
  std::vector<LabelledText> texts;
  std::string line;
  for (size_t number = 1; std::getline(in, line); ++number) {
    if (number == 1) refuse_wide_encoding(fmt::format("{} {}", option, file.string()), line);
    clean_line(&line, number == 1);
    if (line.empty()) continue;
    if (line.front() != '{') {
      texts.push_back({line, "", "", ""});
      continue;
    }
    const nlohmann::json object = nlohmann::json::parse(line, nullptr, false);
    const char* key = object.is_object() && object.contains("text") ? "text" : "text_a";
    if (!object.is_object() || !object.contains(key) || !object[key].is_string()) {
      throw Error(ExitCode::kInvalid,
                  fmt::format("{} {}, line {}: a JSON object without \"text\"", option, file.string(), number));
    }
    LabelledText text{object[key].get<std::string>(), "", "", ""};
    if (object.contains("text_b") && object["text_b"].is_string()) text.second = object["text_b"].get<std::string>();
    for (const char* name : {"label", "label_name", "intent"}) {
      if (!object.contains(name)) continue;
      const nlohmann::json& label = object[name];
      text.number = text.label;
      if (label.is_string()) text.label = label.get<std::string>();
      if (label.is_number_integer()) text.label = label.dump();
    }
    texts.push_back(std::move(text));
  }
  if (in.bad()) throw Error(ExitCode::kIo, fmt::format("{} {}: cannot read it", option, file.string()));
  if (texts.empty()) throw Error(ExitCode::kInvalid, fmt::format("{} {}: no text in it", option, file.string()));
  return texts;
}

std::vector<std::string> read_texts(const char* option, const std::filesystem::path& file) {
  std::vector<std::string> texts;
  for (LabelledText& text : read_labelled(option, file)) texts.push_back(std::move(text.text));
  return texts;
}

std::vector<Sample> random_samples(uint32_t vocabulary, uint32_t max_tokens) {
  constexpr uint32_t kSamples = 128;
  std::vector<Sample> samples;
  uint64_t state = 0x9E3779B97F4A7C15u;
  const auto next = [&state] {  // splitmix64 (Steele, Lea, Flood 2014)
    state += 0x9E3779B97F4A7C15u;
    uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  };
  const uint32_t longest = std::max(1u, std::min(max_tokens, 64u));
  for (uint32_t i = 0; i < kSamples; ++i) {
    Sample sample;
    const uint32_t length = i == 0 ? 1 : i == 1 ? longest : 1 + static_cast<uint32_t>(next() % longest);
    for (uint32_t t = 0; t < length; ++t) sample.ids.push_back(static_cast<int32_t>(next() % vocabulary));
    sample.text = fmt::format("random ids {} ({} tokens)", i, length);
    samples.push_back(std::move(sample));
  }
  return samples;
}

}  // namespace bantam::convert
