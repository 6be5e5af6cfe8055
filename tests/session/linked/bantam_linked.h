// The links of the image under test in linked_test.cpp: an int8 encoder with f32 heads, and nothing else.
#define BANTAM_LINKS                                                                                        \
  op_Embed, op_Linear, op_SplitHeads, op_Attention, op_Pool, Float /* but not Half */, Dynamic, pool_first, \
      activation_gelu, activation_tanh, norm_layer, task_multi_label, task_tag /* scores need sigmoid, exp */
