// tokenize_lines DIR: imports the tokenizer of a Hugging Face directory and encodes standard input, one JSON
// object a line: {"a": text, "b": text or null, "max": n, "special": bool}. Prints, for each line, a JSON list
// [ids, begins, ends, segments], or an error's message. For conformance.py.
#include <cstdio>
#include <iostream>
#include <string>

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
