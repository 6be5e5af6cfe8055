// The parts of the library (runtime/links.inc) in the module for browsers: text encoders with every task and tokenizer.
// The module omits only operators in integers (Static...), pruned weights, images, the continuation of texts (contexts,
// encoder-decoders, beams), and operators of few models: LSTM and GRU, experts, adaptive softmax, Performer and
// Linformer, Reformer, RETRO, FNet, Longformer's and Big Bird's masks. It refuses a file that needs one of them with
// kOpNotLinked. For a damaged file it does not say where the damage is; `bantam verify` does. -DBANTAM_LINKED= builds a
// module with everything.
#define BANTAM_LINKS                                                                                                 \
  op_Embed, op_Linear, op_Row, op_SplitHeads, op_Attention, op_Pool, op_Slice, op_Copy, op_Crf, op_Unfold, op_Spans, \
      op_Select, Float, Half, FloatTables, FloatAttention, Dynamic, Int4, Ternary, activation_all, norm_all, Gate,   \
      StoreSum, mask_causal, mask_window, mask_causal_window, mask_fillers, mask_window_fillers, mask_prefix,        \
      mask_marked, DistanceBias, Slopes, Rotary, Neighbours, PlaceScores, HeadNorms, SegmentKeys, SoftCap, pool_all, \
      PoolParts, PoolSkips, UnitLength, task_none, task_classify, task_multi_label, task_regress, task_choose,       \
      task_tag, task_joint, task_answer, task_embed, task_fill, task_next_sentence, task_pretraining,                \
      task_token_vectors, task_find, task_sparse_embed, FurtherSets, Parents, Strategies, Offsets, Find, Terms,      \
      ScoredRows, Marks, Tokenizer, normalizer_all, splitter_all, token_model_wordpiece, token_model_bpe,            \
      token_model_unigram, BpeWithUnknown, WordMarks, WordLevel, MergesInAnyOrder, SplitPasses, SplitEnds,           \
      NormalizedTokens, TokenEdges, TrimmedBlanks
