// Untrusted chat templates: reading, rendering and converting them to plain texts ends soon, with a result or a
// Problem.
#include <cstddef>
#include <cstdint>
#include <string>

#include "tokenizer/chat/chat.h"
#include "tokenizer/chat/jinja.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const bantam::convert::Json variables = {{"bos_token", "<s>"}, {"eos_token", "</s>"}};
  try {
    bantam::convert::read_chat(std::string(reinterpret_cast<const char*>(data), size), variables);
  } catch (const bantam::convert::jinja::Problem&) {
    return 0;
  }
  return 0;
}
