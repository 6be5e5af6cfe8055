// The links of links_test.cpp: three of more than a hundred operators, and parts that require others or have no effect
// alone.
#define BANTAM_LINKS \
  op_Linear, op_Scratch40, op_Scratch100, mask_window, mask_globals, mask_marked, Rotary, Chunks, norm_all
