// tokenize_lines DIR: imports the tokenizer of a Hugging Face directory and encodes standard input, one JSON object per
// line: {"a": text, "b": text or null, "max": n, "special": bool}. For each line, prints a JSON list [ids, begins,
// ends, segments], or an error message. {"ids": list, "skip": bool, "stream": bool} is decoded to a JSON string. For
// conformance.py.
#include <cstdio>
#include <iostream>
#include <string>

#include "bantam/decode.h"
#include "base/json_file.h"
#include "tests/text/fixture.h"

namespace bantam::tests {
namespace {

void print_list(std::string& line, const std::vector<int32_t>& values) {
  line += '[';
  for (const int32_t value : values) line += std::to_string(value) + ',';
  if (!values.empty()) line.pop_back();
  line += ']';
}

/// Returns the text of ids, decoded as a whole or, if "stream" is true, one id after the other.
std::string decoded(const Tokenizer& tokenizer, const nlohmann::json& request) {
  const auto ids = request.at("ids").get<std::vector<int32_t>>();
  const bool skip = request.value("skip", true);
  std::string text;
  if (request.value("stream", false)) {
    const auto write = [](void* target, const char* bytes, size_t size) {
      static_cast<std::string*>(target)->append(bytes, size);
    };
    TextDecoder decoder;
    const Status status = TextDecoder::open(tokenizer, skip, write, &text, &decoder);
    if (status != Status::kOk) return status_message(status);
    for (const int32_t id : ids) decoder.add(id);
    decoder.finish();
    return text;
  }
  size_t size = 0;
  Status status = decode(tokenizer, ids.data(), ids.size(), skip, nullptr, 0, &size);
  text.resize(size);
  if (status == Status::kOk || status == Status::kBufferTooSmall) {
    status = decode(tokenizer, ids.data(), ids.size(), skip, text.data(), text.size(), &size);
  }
  return status == Status::kOk ? text : status_message(status);
}

int run(const char* directory) {
  convert::Graph graph;
  std::vector<std::string> problems;
  if (!convert::import_tokenizer(directory, graph, problems)) {
    for (const std::string& problem : problems) std::fprintf(stderr, "%s\n", problem.c_str());
    return 4;
  }
  TokenizerImage image(graph);
  Fault fault;
  if (image.verify(&fault) != Status::kOk) {
    std::fprintf(stderr, "%s\n", fault.what);
    return 4;
  }
  const Tokenizer tokenizer = image.open();
  std::ios::sync_with_stdio(false);
  std::string line;
  std::string out;
  while (std::getline(std::cin, line)) {
    const auto request = nlohmann::json::parse(line);
    if (request.contains("ids")) {
      std::puts(nlohmann::json(decoded(tokenizer, request)).dump().c_str());
      continue;
    }
    const std::string first = request.at("a").get<std::string>();
    const bool pair = request.contains("b") && !request.at("b").is_null();
    const std::string second = pair ? request.at("b").get<std::string>() : "";
    EncodeOptions options;
    options.max_tokens = request.value("max", 0u);
    options.add_special = request.value("special", true);
    const Encoded encoded = encode(tokenizer, first, pair ? &second : nullptr, options, 1u << 14);
    out.clear();
    if (encoded.status != Status::kOk) {
      out = "\"" + std::string(status_message(encoded.status)) + "\"";
    } else {
      std::vector<int32_t> begins;
      std::vector<int32_t> ends;
      for (const Offset offset : encoded.offsets) {
        begins.push_back(static_cast<int32_t>(offset.begin));
        ends.push_back(static_cast<int32_t>(offset.end));
      }
      out = "[";
      print_list(out, encoded.ids);
      out += ',';
      print_list(out, begins);
      out += ',';
      print_list(out, ends);
      out += ',';
      print_list(out, encoded.segments);
      out += ']';
    }
    std::puts(out.c_str());
  }
  return 0;
}

}  // namespace
}  // namespace bantam::tests

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: tokenize_lines DIR < REQUESTS.jsonl\n");
    return 2;
  }
  return bantam::tests::run(argv[1]);
}
