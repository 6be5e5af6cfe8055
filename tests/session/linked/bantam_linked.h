// What the image under test in linked_test.cpp links: an int8 encoder with f32 heads, and nothing else.
#define BANTAM_LINK_OPS \
  (1u << 0 | 1u << 1 | 1u << 3 | 1u << 4 | 1u << 5) /* Embed, Linear, SplitHeads, Attention, Pool */
#define BANTAM_LINK_NUMBERS (1u << 0 | 1u << 4)     /* Float but not Half; Dynamic */
#define BANTAM_LINK_POOLS (1u << 0)                 /* first */
#define BANTAM_LINK_ACTIVATIONS (1u << 2 | 1u << 4) /* gelu, tanh */
#define BANTAM_LINK_NORMS (1u << 1)                 /* layer */
#define BANTAM_LINK_TASKS (1u << 2 | 1u << 5)       /* multi_label, tag: whose scores want sigmoid, exp */
