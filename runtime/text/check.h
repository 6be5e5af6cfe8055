// Check: the state that the parts of a tokenizer's verification share.
#ifndef BANTAM_TEXT_CHECK_H_
#define BANTAM_TEXT_CHECK_H_

#include <stdint.h>

#include "bantam/status.h"
#include "bantam_generated.h"
#include "linked.h"

namespace bantam::text {

struct Check {
  const fb::Tokenizer& tokenizer;
  const uint8_t* data;
  const uint64_t data_size;
  Fault* fault;  // may be null

  bool is_id(int32_t id) const { return id >= 0 && static_cast<uint32_t>(id) < tokenizer.vocab_size(); }

  bool lies_inside(const fb::Blob* blob) const {
    return blob != nullptr && blob->segment() == 0 && blob->offset() % 4 == 0 && blob->offset() <= data_size &&
           blob->size() <= data_size - blob->offset();
  }

  /// Inlined so that an image without the sentences does not contain them.
  [[gnu::always_inline]] Status fail(const char* what, Status status = Status::kCorrupt) {
    return report(linked::kFaultText ? what : "", status);
  }

 private:
  Status report(const char* what, Status status);
};

}  // namespace bantam::text

#endif  // BANTAM_TEXT_CHECK_H_
