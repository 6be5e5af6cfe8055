#include "bantam/sound.h"

#include <string.h>

#include "bantam/image.h"
#include "bantam/tasks.h"
#include "linked.h"

#if BANTAM_IF_LINKED(Sound)

namespace bantam {

bool takes_sound(const Model& model) {
  ImageForm form;
  if (image_form(model, &form) != Status::kOk || form.height != 1 || form.channels != kSoundBands) return false;
  const Text found = property(model, {kSoundKey, strlen(kSoundKey)});
  return found.size == strlen(kSoundForm) && memcmp(found.data, kSoundForm, found.size) == 0;
}

}  // namespace bantam

#endif  // BANTAM_IF_LINKED(Sound)
