// Files that commands read record by record: texts of .jsonl, .csv and .tsv files for --file, and the state from which
// `bantam label` resumes. The first byte selects the kind; the rest is the file.
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>

#include "base/resumable_file.h"
#include "data/records.h"
#include "data/text_source.h"
#include "tests/fuzz/limits.h"
#include "tests/fuzz/refusals.h"

namespace {

using bantam::fuzz::InputFile;
using bantam::fuzz::may_refuse;
namespace convert = bantam::convert;

/// Reads every text, including records without one.
void read_texts(const InputFile& file) {
  convert::TextSource source({}, file.path().string());
  for (bool more = true; more;) {
    const std::string before = source.place();
    may_refuse([&] {
      std::string text;
      more = source.next(&text);
    });
    if (more && source.place() == before) return;  // the whole file is invalid, not only one record
  }
}

void read_state(const uint8_t* data, size_t size) {
  static const InputFile out(".out");
  const std::string part = out.path().string() + ".part", state = out.path().string() + ".state";
  std::ofstream(part, std::ios::binary) << "some lines\n";
  std::ofstream(state, std::ios::binary).write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  may_refuse([&] {
    const convert::ResumableFile file(out.path(), {{"key", "key"}}, true);
    if (file.progress().bytes > sizeof("some lines\n")) std::abort();
  });
  std::filesystem::remove(part);
  std::filesystem::remove(state);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const InputFile lines(".jsonl"), commas(".csv"), tabs(".tsv");
  if (size == 0) return 0;
  const bantam::fuzz::Limits limits(size);
  const unsigned kind = data[0] % 4;
  if (kind == 3) {
    read_state(data + 1, size - 1);
    return 0;
  }
  const InputFile& file = kind == 0 ? lines : kind == 1 ? commas : tabs;
  file.write(data + 1, size - 1);
  may_refuse([&] { read_texts(file); });
  return 0;
}
