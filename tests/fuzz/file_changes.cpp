#include "tests/fuzz/file_changes.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "tests/fuzz/model_mutator.h"

namespace bantam::fuzz {
namespace {

constexpr size_t kLargest = size_t{1} << 20;
constexpr size_t kAlike = 4;          // how many equal numbers of a field are changed one by one
constexpr size_t kWordsOfTable = 48;  // words of data, from the beginning of a blob
constexpr size_t kOffset = sizeof(flatbuffers::uoffset_t);

/// Returns replacements for a number of this kind: nearby values, and values that sizes, counts and offsets seldom
/// have.
std::vector<uint64_t> odd_numbers(const Slot& slot, uint64_t number) {
  std::vector<uint64_t> all;
  const auto add_float = [&](double value) {
    uint64_t bits = 0;
    if (slot.base == reflection::Float) {
      const auto single = static_cast<float>(value);
      std::memcpy(&bits, &single, sizeof(single));
    } else {
      std::memcpy(&bits, &value, sizeof(value));
    }
    all.push_back(bits);
  };
  if (slot.base == reflection::Float || slot.base == reflection::Double) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    for (const double value : {0.0, -1.0, 1.0, 1e-30, 2e6, -2e6, 1e30, 3e38, kInfinity, -kInfinity, std::nan("")})
      add_float(value);
  } else if (slot.index >= 0) {
    const auto& values = *schema().enums()->Get(static_cast<flatbuffers::uoffset_t>(slot.index))->values();
    for (uint64_t value = 0; value < values.size() + 1; ++value) all.push_back(value);
  } else if (slot.base == reflection::Bool) {
    all = {number ^ 1, 2};
  } else {
    all = {
        0,     1,       2,          number + 1, number - 1, number * 2, number / 2,       number + 16, number ^ 1 << 16,
        66312, 1 << 22, 0x7FFFFFFF, 0x80000000, 0xFFFFFFF0, UINT64_MAX, uint64_t{1} << 40};
  }
  return all;
}

}  // namespace

FileChanges::FileChanges(const std::vector<uint8_t>& seed, const std::vector<uint8_t>& other, Judge judge)
    : file_(seed), seed_(seed), other_(other), judge_(std::move(judge)) {
  FileHeader header;
  const uint8_t* graph = graph_of(file_, &header);
  if (graph == nullptr) return;
  graph_ = static_cast<size_t>(header.graph_offset);
  graph_size_ = static_cast<size_t>(header.graph_size);
  data_ = static_cast<size_t>(header.data_offset);
  slots_ = slots_of(graph);
  std::map<std::pair<size_t, uint64_t>, std::vector<size_t>> equal;  // by the first slot of the field
  std::map<const reflection::Field*, size_t> first;
  for (const Slot& slot : slots_) first.emplace(slot.field, slot.at);
  for (size_t i = 0; i < slots_.size(); ++i) {
    const uint64_t number = number_at(graph_ + slots_[i].at, flatbuffers::GetTypeSize(slots_[i].base));
    equal[{first[slots_[i].field], number}].push_back(i);
  }
  for (auto& [key, places] : equal) {
    if (places.size() > 1) equal_.push_back(std::move(places));
  }
  find_tables();
}

void FileChanges::put(size_t at, uint64_t number, size_t size) {
  if (at + size <= file_.size()) std::memcpy(file_.data() + at, &number, size);
}

void FileChanges::put_back(size_t at, size_t size) {
  if (at + size <= file_.size()) std::memcpy(file_.data() + at, seed_.data() + at, size);
}

uint64_t FileChanges::number_at(size_t at, size_t size) const {
  uint64_t number = 0;
  if (at + size <= seed_.size()) std::memcpy(&number, seed_.data() + at, size);
  return number;
}

bool FileChanges::change(const char* kind, size_t at, uint64_t number, size_t size) {
  put(at, number, size);
  const bool opens = judge_(file_, kind, at);
  put_back(at, size);
  return opens;
}

void FileChanges::try_tested(const std::string& chosen, const std::string& name) {
  try_all();
  for (uint64_t i = 0; i < kSeveral; ++i) try_several(i);
  for (uint64_t i = 0; i < kTrees; ++i) try_tree(i);
  std::ifstream file(chosen);
  std::string of, kind;
  for (uint64_t number; file >> of >> kind >> number;) {
    if (of == name) kind == "tree" ? try_tree(number) : try_several(number);
  }
}

void FileChanges::try_all() {
  if (slots_.empty()) return;
  try_header();
  try_numbers();
  try_equal_numbers();
  try_layout();
  try_words();
  change_operands(seed_, kLargest,
                  [this](const std::vector<uint8_t>& made, uint64_t number) { judge_(made, "operand", number); });
}

void FileChanges::try_header() {
  for (size_t at = 0; at < kFileAlignment; at += 4) {
    const uint64_t word = number_at(at, 4);
    for (const uint64_t number : {uint64_t{0}, word + 1, word - 1, word + 64, word * 2, uint64_t{0xFFFFFFFF}})
      change("header", at, number, 4);
  }
  for (const size_t size : {size_t{0}, size_t{63}, size_t{64}, graph_, data_, file_.size() - 1, file_.size() - 64})
    judge_({seed_.begin(), seed_.begin() + static_cast<std::ptrdiff_t>(size)}, "size", size);
}

void FileChanges::try_numbers() {
  std::map<std::pair<const reflection::Field*, uint64_t>, size_t> alike;  // layers repeat the values of others
  for (const Slot& slot : slots_) {
    const size_t at = graph_ + slot.at, size = flatbuffers::GetTypeSize(slot.base);
    if (++alike[{slot.field, number_at(at, size)}] > kAlike) continue;
    for (const uint64_t number : odd_numbers(slot, number_at(at, size))) change("number", at, number, size);
  }
}

/// Changes all equal numbers of a field together: widths, types, offsets.
void FileChanges::try_equal_numbers() {
  for (const std::vector<size_t>& places : equal_) {
    const Slot& slot = slots_[places[0]];
    const size_t size = flatbuffers::GetTypeSize(slot.base);
    for (const uint64_t number : odd_numbers(slot, number_at(graph_ + slot.at, size))) {
      for (const size_t place : places) put(graph_ + slots_[place].at, number, size);
      judge_(file_, "equal numbers", slot.at);
      for (const size_t place : places) put_back(graph_ + slots_[place].at, size);
    }
  }
}

/// Removes or moves fields; redirects offsets, also outside the file; removes the ends of strings; changes the counts
/// of vectors, and duplicates or reorders their elements.
void FileChanges::try_layout() {
  const Layout layout = layout_of(seed_.data() + graph_);
  for (const size_t entry : layout.fields) {
    for (const uint64_t offset : {uint64_t{0}, number_at(graph_ + entry, sizeof(uint16_t)) + 2, uint64_t{0xFFFE}})
      change("field", graph_ + entry, offset, sizeof(uint16_t));
  }
  for (const size_t vtable : layout.vtables) {
    const uint64_t size = number_at(graph_ + vtable, sizeof(uint16_t));
    for (const uint64_t number : {size + 1, size - 2, size + 2, uint64_t{0xFFFE}})
      change("vtable", graph_ + vtable, number, sizeof(uint16_t));
  }
  for (const size_t link : layout.links) {
    const uint64_t offset = number_at(graph_ + link, kOffset), to_end = graph_size_ - link;
    for (const uint64_t number :
         {uint64_t{0}, offset + 1, offset + 4, offset - 4, 0 - offset, to_end, to_end - 1, to_end - 4, to_end - 64,
          uint64_t{0x7FFFFFFF}, 0 - uint64_t{link}, uint64_t{UINT32_MAX}})
      change("link", graph_ + link, number, kOffset);
  }
  for (const size_t end : layout.ends) change("end of a string", graph_ + end, 'a', 1);
  for (size_t i = 0; i < layout.vectors.size(); ++i) {
    const size_t at = graph_ + layout.vectors[i];
    const uint64_t count = number_at(at, kOffset);
    for (const uint64_t number : {uint64_t{0}, uint64_t{1}, count - 1, count / 2, count + 1, uint64_t{0x40000000}})
      change("count", at, number, kOffset);
    for (uint64_t element = 1; layout.offsets[i] && element < std::min<uint64_t>(count, 64); ++element) {
      const size_t here = at + kOffset * (1 + element), before = here - kOffset;
      const uint64_t own = number_at(here, kOffset), others = number_at(before, kOffset);
      change("twice", here, others - kOffset, kOffset);
      put(before, own + kOffset, kOffset);
      change("order", here, others - kOffset, kOffset);
      put_back(before, kOffset);
    }
  }
}

/// Returns false for most weights: no change of the blob's first words changes the verdict.
bool FileChanges::is_read(size_t place) {
  bool all_open = true;
  for (size_t at = place; at < place + 32 && at + 4 <= file_.size(); at += 4)
    all_open = change("data", at, 0xFFFFFFFF, 4) && all_open;
  return !all_open;
}

void FileChanges::find_tables() {
  for (const Slot& slot : slots_) {
    if (slot.base == reflection::ULong) tables_.push_back(data_ + number_at(graph_ + slot.at, sizeof(uint64_t)));
  }
  std::sort(tables_.begin(), tables_.end());
  tables_.erase(std::unique(tables_.begin(), tables_.end()), tables_.end());
  tables_.erase(std::remove_if(tables_.begin(), tables_.end(), [this](size_t place) { return !is_read(place); }),
                tables_.end());
}

/// Changes the first words of every blob that is read, because tables of tokenizers describe their content there.
void FileChanges::try_words() {
  for (const size_t place : tables_) {
    for (size_t at = place; at < place + 4 * kWordsOfTable && at + 4 <= file_.size(); at += 4) {
      const uint64_t word = number_at(at, 4);
      for (const uint64_t number : {uint64_t{0}, word + 1, word - 1, word ^ 1 << 16, word ^ 0x80000000, word * 2,
                                    uint64_t{66312}, uint64_t{0xFFFFFFFF}})
        change("data", at, number, 4);
    }
  }
}

void FileChanges::change_one(std::mt19937_64* random) {
  const uint64_t how = (*random)() % 8;
  std::vector<size_t> places;  // all of them get the value of the first
  Slot slot = slots_[(*random)() % slots_.size()];
  if (how == 0 && !tables_.empty()) {
    slot.at = tables_[(*random)() % tables_.size()] - graph_ + 4 * ((*random)() % kWordsOfTable);
    slot.base = reflection::UInt;
    slot.index = -1;
  } else if (how < 4 && !equal_.empty()) {
    const std::vector<size_t>& equal = equal_[(*random)() % equal_.size()];
    slot = slots_[equal[0]];
    for (const size_t other : equal) places.push_back(graph_ + slots_[other].at);
  }
  if (places.empty()) places.push_back(graph_ + slot.at);
  const size_t size = flatbuffers::GetTypeSize(slot.base);
  if (places[0] + sizeof(uint64_t) > file_.size()) return;
  change_number(file_.data() + places[0], slot.base, slot.index, *random);
  uint64_t number = 0;
  std::memcpy(&number, file_.data() + places[0], size);
  for (const size_t place : places) {
    put(place, number, size);
    changed_.push_back(place);
  }
}

void FileChanges::try_several(uint64_t number) {
  if (slots_.empty()) return;
  std::mt19937_64 random(number);
  for (uint64_t n = 2 + random() % 2; n > 0; --n) change_one(&random);
  judge_(file_, "several", number);
  for (const size_t at : changed_) put_back(at, sizeof(uint64_t));
  changed_.clear();
}

void FileChanges::try_tree(uint64_t number) {
  const auto made = mutate_model(seed_, other_, number, kLargest);
  if (made) judge_(*made, "tree", number);
}

}  // namespace bantam::fuzz
