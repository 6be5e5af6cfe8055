// What the module for browsers has of the library (runtime/linked.h): encoders of texts with every task and tokenizer.
// Left out are operators in integers alone (Static...), pruned weights, images, what goes on with texts (contexts, encoder-decoders, beams) and
// operators of few models: LSTM and GRU, experts, adaptive softmax, Performer and Linformer, Reformer, RETRO, Longformer's and Big Bird's masks.
// A file that needs one is refused with kOpNotLinked, a damaged one without the sentence that says where: `bantam verify` does. -DBANTAM_LINKED= makes a module that has everything.
#define BANTAM_LINK_OPS 0x0006E07Fu  // rows 0-6, 13-15, 17 and 18 of ops/ops.inc
#define BANTAM_LINK_NUMBERS 0x3Fu    // all but sparse weights and bitmasks
#define BANTAM_LINK_ACTIVATIONS ~0u
#define BANTAM_LINK_NORMS ~0u
#define BANTAM_LINK_MASKS 0xFFu
#define BANTAM_LINK_PLACES ~0u
#define BANTAM_LINK_EPILOGUE ~0u
#define BANTAM_LINK_POOLS ~0u
#define BANTAM_LINK_TASKS 0xDFFFu  // all but generate
#define BANTAM_LINK_LABELS ~0u
#define BANTAM_LINK_TOKENIZER 1
#define BANTAM_LINK_NORMALIZERS ~0u
#define BANTAM_LINK_SPLITTERS ~0u
#define BANTAM_LINK_TOKEN_MODELS 0x7u  // all but hashed
#define BANTAM_LINK_BPE ~0u
#define BANTAM_LINK_OFFSETS 1
#define BANTAM_LINK_NORMALIZED_TOKENS 1
#define BANTAM_LINK_TOKEN_EDGES 1
#define BANTAM_LINK_MARKS 1
