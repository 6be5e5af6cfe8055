// The model as a constant: bantam_model .. bantam_model_end, 64-byte aligned. BANTAM_MODEL_FILE is its path.
#include "model_file.h"
  .section .model, "a", %progbits
  .balign 64
  .global bantam_model
  .global bantam_model_end
bantam_model:
  .incbin BANTAM_MODEL_FILE
bantam_model_end:
  .balign 4
