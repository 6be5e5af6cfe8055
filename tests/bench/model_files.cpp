#include "tests/bench/model_files.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "tests/every_isa.h"

namespace bantam::bench {
namespace {

std::vector<ModelFile> open_all() {
  const char* named = std::getenv("BANTAM_BENCH_MODELS");
  const std::filesystem::path folder = named != nullptr ? named : BANTAM_BINARY_DIR "/bench/models";
  std::vector<std::filesystem::path> paths;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
    if (entry.path().extension() == ".bantam") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  if (paths.empty()) {
    std::fprintf(stderr, "%s: no .bantam files; tests/bench/models.py makes them, and ./dev bench calls it\n",
                 folder.c_str());
    std::exit(1);
  }
  std::vector<ModelFile> files(paths.size());
  for (size_t i = 0; i < paths.size(); ++i) {
    files[i].name = paths[i].stem();
    require(files[i].file.open(paths[i].c_str()), paths[i]);
    require(Model::open(files[i].file.data(), files[i].file.size(), &files[i].model), paths[i]);
  }
  return files;
}

}  // namespace

const std::vector<ModelFile>& model_files() {
  static const std::vector<ModelFile> files = open_all();
  return files;
}

void require(Status status, const std::string& what) {
  if (status == Status::kOk) return;
  std::fprintf(stderr, "%s: %s\n", what.c_str(), status_message(status));
  std::exit(1);
}

Runner::Runner(const ModelFile& file, const std::vector<uint32_t>& lengths, uint32_t threads, Isa isa)
    : name_(file.name), pool_(threads), offsets_{0}, arena_(nullptr, std::free) {
  for (const uint32_t length : lengths) offsets_.push_back(offsets_.back() + length);
  uint64_t state = offsets_.back();
  for (uint32_t i = 0; i < offsets_.back(); ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    ids_.push_back(static_cast<int32_t>((state >> 33) % file.model.vocabulary()));
  }
  batch_.ids = ids_.data();
  batch_.offsets = offsets_.data();
  batch_.sequences = static_cast<uint32_t>(lengths.size());
  batch_.tokens = offsets_.back();
  SessionOptions options;
  options.max_tokens = batch_.tokens;
  options.max_sequences = batch_.sequences;
  options.isa = isa;
  options.workers = pool_.threads();
  options.parallel = pool_.parallel();
  const size_t size = arena_bytes(file.model, options);
  arena_.reset(std::aligned_alloc(64, (size + 64) / 64 * 64));
  require(Session::create(file.model, options, arena_.get(), size, &session_), name_);
}

std::vector<Isa> fast_isas() {
  std::vector<Isa> isas;
  for (const Isa isa : testing::every_isa()) {
    if (isa != Isa::kReference && isa_available(isa)) isas.push_back(isa);
  }
  return isas;
}

}  // namespace bantam::bench
