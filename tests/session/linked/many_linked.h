// Links of links_test.cpp: three of more than a hundred operators, and parts that bring others or mean nothing alone.
#define BANTAM_LINKS \
  op_Linear, op_Scratch40, op_Scratch100, mask_window, mask_globals, mask_marked, Rotary, Chunks, norm_all
