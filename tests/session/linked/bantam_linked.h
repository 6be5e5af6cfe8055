// What the image under test in linked_test.cpp links: an int8 encoder with f32 heads, and nothing else.
#define BANTAM_LINK_EMBED 1
#define BANTAM_LINK_LINEAR 1
#define BANTAM_LINK_SPLIT_HEADS 1
#define BANTAM_LINK_ATTENTION 1
#define BANTAM_LINK_POOL 1
#define BANTAM_LINK_POOLS (1u << 0) /* first */
#define BANTAM_LINK_FLOAT 1         /* but no f16 */
#define BANTAM_LINK_DYNAMIC 1
#define BANTAM_LINK_ACTIVATIONS (1u << 2 | 1u << 4) /* gelu, tanh */
#define BANTAM_LINK_NORMS (1u << 1)                 /* layer */
#define BANTAM_LINK_TASKS (1u << 2 | 1u << 5)       /* multi_label, tag: whose scores want sigmoid, exp */
