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

const std::vector<std::string>& built_in_texts() {
  static const std::vector<std::string> texts = {
      // commands
      "turn on the lights in the kitchen",
      "play the new album by nina simone",
      "set a timer for twenty five minutes",
      "book a table for four at an italian restaurant tomorrow at 7 pm",
      "what will the weather be like in Oslo on friday",
      "add this song to my running playlist",
      "wake me up at six thirty",
      "find showtimes for the late movie near me",
      "rate this novel five stars out of six",
      "stop",
      "Call Mom.",
      "how long does it take to drive to the airport",
      // opinions
      "A warm, funny and surprisingly wise film.",
      "the plot makes no sense and the acting is worse",
      "I wanted to like it, but two hours of this was two hours too many.",
      "not bad at all",
      "The soup was cold, the waiter was rude, and we will never come back!",
      "Best purchase I have made this year.",
      "it is neither good nor bad , just forgettable",
      "An hour in, nobody in the room was laughing.",
      "exceeds every expectation",
      "The sequel lacks everything that made the first one charming.",
      "Arrived late, but works perfectly.",
      "hardly a masterpiece, yet oddly moving",
      // statements and questions
      "Water boils at 100 degrees Celsius at sea level.",
      "Who wrote the first computer program?",
      "The committee will meet again on 14 March 2031 in Geneva.",
      "My card was charged twice for the same order.",
      "Why is the sky blue during the day and red in the evening?",
      "A man is playing a guitar on the street.",
      "Someone is slicing an onion.",
      "The stock fell 3.5% after the company cut its forecast.",
      "Please send the invoice to accounts@example.org before noon.",
      "There are 1,024 bytes in a kilobyte.",
      "The old bridge was closed to traffic, so the bus took another way.",
      "Is it possible to change my delivery address?",
      "Dogs bark; cats, on the whole, do not.",
      "Marie Curie won two Nobel Prizes, in physics and in chemistry.",
      "He said: \"I'll be back in 5-10 minutes\" and left.",
      "The quick brown fox jumps over the lazy dog.",
      // names, numbers, odd forms
      "Flight LH 2037 from Munich to Rotterdam, gate B12",
      "C++17 & Rust (2021 edition)",
      "https://example.org/a?b=c#d",
      "3 + 4 * 2 / (1 - 5) ^ 2",
      "ISBN 978-0-306-40615-7",
      "u r gr8 :-)",
      "!!!",
      "a",
      "1",
      "?",
      "WHY ARE YOU SHOUTING",
      "supercalifragilisticexpialidocious antidisestablishmentarianism",
      "the the the the the the the the",
      "one two three four five six seven eight nine ten eleven twelve thirteen",
      // other languages and scripts
      "Guten Morgen, wie geht es Ihnen heute?",
      "Où se trouve la gare la plus proche ?",
      "El niño come una manzana roja.",
      "A chuva parou há pouco, mas o chão ainda está molhado.",
      "Żółta łódź płynie po jeziorze.",
      "Сегодня хорошая погода.",
      "Καλημέρα σε όλους",
      "今日はとても暑いですね。",
      "我们明天去北京。",
      "오늘 날씨가 좋네요",
      "صباح الخير",
      "आज मौसम अच्छा है",
      "Tôi thích cà phê sữa đá.",
      "😀 great job 🎉",
      // long  NOLINTNEXTLINE(bugprone-suspicious-missing-comma)
      "When the last guests had gone home, she opened all the windows, put the chairs back along the wall, counted the "
      "glasses that were still whole, and sat down with a cup of tea to write a letter to her brother, who had "
      "promised to come and had not, as he had not come every summer since their parents sold the house by the lake.",
  };
  return texts;
}

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
