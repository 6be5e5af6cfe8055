#include "golden/expected.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

namespace bantam::golden {
namespace fs = std::filesystem;
namespace {

using Json = nlohmann::json;

bool is_output(std::string_view key) {
  for (const std::string_view suffix : {"logits", "state", "output", "embedding", "embeddings"}) {
    if (key.size() >= suffix.size() && key.substr(key.size() - suffix.size()) == suffix) return true;
  }
  return false;
}

void flatten(const Json& json, std::vector<double>& out) {
  if (json.is_array()) {
    for (const Json& item : json) flatten(item, out);
  } else {
    out.push_back(json.get<double>());
  }
}

}  // namespace

std::vector<Case> read_expected(const fs::path& path) {
  std::ifstream stream(path);
  if (!stream) throw std::runtime_error("cannot read " + path.string());
  std::vector<Case> cases;
  std::string line;
  while (std::getline(stream, line)) {
    const Json json = Json::parse(line);
    Case read;
    read.ids = json.at("ids").get<std::vector<int32_t>>();
    if (json.contains("segments")) read.segments = json["segments"].get<std::vector<int32_t>>();
    if (json.contains("decoder_ids")) read.decoder_ids = json["decoder_ids"].get<std::vector<int32_t>>();
    if (json.contains("neighbours")) json["neighbours"].get_to(read.neighbours);
    if (json.contains("marks")) read.marks = json["marks"].get<std::vector<int32_t>>();
    if (json.contains("first_piece")) read.first_piece = json["first_piece"].get<std::vector<uint32_t>>();
    for (const auto& [key, value] : json.items()) {
      if (is_output(key)) flatten(value, read.outputs[key]);
    }
    cases.push_back(std::move(read));
  }
  return cases;
}

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(fs::path(BANTAM_SOURCE_DIR) / "tests/golden/models")) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

fs::path model_directory(const std::string& name) { return fs::path(BANTAM_SOURCE_DIR) / "tests/golden/models" / name; }

std::string test_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

fs::path shared_directory() {
  const char* set = std::getenv("BANTAM_SHARED");
  const fs::path path = set != nullptr ? fs::path(set) : fs::path(BANTAM_SOURCE_DIR) / "../shared";
  return fs::is_directory(path) ? path : fs::path();
}

}  // namespace bantam::golden
