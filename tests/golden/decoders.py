"""Decoders of which transformers has a class: their tiny shapes, and a model of every head."""

from tags import FIVE_TAGS

# Decoders, in the names of their settings.
GPT = dict(vocab_size=61, n_embd=18, n_head=3, n_layer=2, n_positions=24)
NEO = dict(
    vocab_size=61,
    hidden_size=18,
    num_heads=3,
    num_layers=2,
    max_position_embeddings=24,
    attention_types=[[["global", "local"], 1]],
    window_size=4,
)
OPT = dict(
    vocab_size=61,
    hidden_size=18,
    word_embed_proj_dim=18,
    num_attention_heads=3,
    num_hidden_layers=2,
    ffn_dim=28,
    max_position_embeddings=24,
)
OPT_350M = {**OPT, "word_embed_proj_dim": 10, "do_layer_norm_before": False}
LLAMA = dict(
    vocab_size=61,
    hidden_size=24,
    num_attention_heads=4,
    num_key_value_heads=2,
    num_hidden_layers=2,
    intermediate_size=28,
    max_position_embeddings=24,
)
SCALED = dict(
    rope_type="llama3",
    rope_theta=100.0,
    factor=4.0,
    low_freq_factor=1.0,
    high_freq_factor=4.0,
    original_max_position_embeddings=12,
)
YARN = dict(rope_type="yarn", rope_theta=100.0, factor=4.0, beta_fast=3.0, original_max_position_embeddings=12)
DYNAMIC = dict(rope_type="dynamic", rope_theta=100.0, factor=4.0)
LONG = dict(
    rope_type="longrope", rope_theta=100.0, short_factor=[1.0, 1.25, 1.5], long_factor=[1.5, 2.0, 3.0], factor=None
)
PART = dict(rope_type="default", rope_theta=100.0, partial_rotary_factor=0.67)
HALF = dict(rope_type="default", rope_theta=100.0, partial_rotary_factor=0.5)
# Queries are scaled from the last of these positions on.
YARN_ALL = dict(**{**YARN, "original_max_position_embeddings": 24}, llama_4_scaling_beta=0.1)
GEMMA2 = dict(
    **LLAMA,
    head_dim=8,
    sliding_window=5,
    query_pre_attn_scalar=12,
    attn_logit_softcapping=2.0,
    final_logit_softcapping=3.0,
)
GRIFFIN = dict(
    vocab_size=61,
    hidden_size=24,
    num_attention_heads=3,
    num_key_value_heads=1,
    num_hidden_layers=3,
    intermediate_size=56,
)
MAMBA = dict(vocab_size=61, hidden_size=24, state_size=5, num_hidden_layers=2)
RWKV = dict(vocab_size=61, hidden_size=24, num_hidden_layers=2, context_length=24)
LFM2 = dict(**{**LLAMA, "num_hidden_layers": 3}, block_multiple_of=4)
GEMMA3 = dict(**{**LLAMA, "num_hidden_layers": 3}, head_dim=8, sliding_window=5, sliding_window_pattern=3)
NEOX = dict(
    vocab_size=61,
    hidden_size=24,
    num_attention_heads=4,
    num_hidden_layers=2,
    intermediate_size=28,
    max_position_embeddings=24,
    rope_parameters=PART,
)
GPTJ = dict(vocab_size=61, n_embd=24, n_head=3, n_layer=2, n_positions=24, rotary_dim=6)
FALCON = dict(vocab_size=61, hidden_size=24, num_attention_heads=4, num_hidden_layers=2, max_position_embeddings=24)
MIXTRAL = dict(**LLAMA, num_local_experts=4)
LAYERS_APART = dict(sliding_window=5, layer_types=["sliding_attention", "full_attention"])
BLOOM = dict(vocab_size=61, hidden_size=18, n_head=3, n_layer=2)
MPT = dict(vocab_size=61, d_model=18, n_heads=3, n_layers=2, max_seq_len=24)
CTRL = dict(vocab_size=61, n_embd=18, n_head=3, n_layer=2, n_positions=24, dff=28)
BIOGPT = dict(
    vocab_size=61,
    hidden_size=18,
    num_attention_heads=3,
    num_hidden_layers=2,
    intermediate_size=28,
    max_position_embeddings=24,
)
# The decoder of an encoder-decoder.
ALONE = dict(
    vocab_size=61,
    d_model=18,
    decoder_layers=2,
    decoder_attention_heads=3,
    decoder_ffn_dim=28,
    max_position_embeddings=24,
    forced_eos_token_id=None,
)
# The smallest layers of experts.
ROUTED = dict(
    vocab_size=61,
    hidden_size=16,
    num_attention_heads=2,
    num_key_value_heads=1,
    num_hidden_layers=2,
    intermediate_size=12,
    max_position_embeddings=24,
)
SIGMOIDS = dict(
    **ROUTED, moe_intermediate_size=10, n_routed_experts=4, num_experts_per_tok=2, routed_scaling_factor=1.5
)
LFM2_MOE = dict(**{**LLAMA, "num_hidden_layers": 3}, moe_intermediate_size=18, num_experts=6, num_experts_per_tok=2)
QWEN3_MOE = dict(**LLAMA, moe_intermediate_size=18, num_experts=6, num_experts_per_tok=3)

TOKENS = dict(bos_token_id=1, eos_token_id=2, pad_token_id=0)
DECODER_MODELS = {
    "gpt2-generate": ("GPT2LMHeadModel", GPT),
    "gpt2-classify": ("GPT2ForSequenceClassification", dict(**GPT, num_labels=3, n_inner=20)),
    "gpt2-tag": ("GPT2ForTokenClassification", dict(**GPT, **FIVE_TAGS)),
    "gpt2-answer": ("GPT2ForQuestionAnswering", GPT),
    "gpt2-encoder": ("GPT2Model", GPT),
    "gpt-generate": ("OpenAIGPTLMHeadModel", GPT),
    "gpt-classify": ("OpenAIGPTForSequenceClassification", dict(**GPT, num_labels=3)),
    "gpt-neo-generate": ("GPTNeoForCausalLM", NEO),
    "gpt-neo-classify": ("GPTNeoForSequenceClassification", dict(**NEO, num_labels=3)),
    "opt-generate": ("OPTForCausalLM", OPT),
    "opt-classify": ("OPTForSequenceClassification", dict(**OPT, num_labels=3)),
    "llama-generate": ("LlamaForCausalLM", LLAMA),
    "llama-scaled": ("LlamaForCausalLM", dict(**LLAMA, rope_parameters=SCALED, tie_word_embeddings=True)),
    "llama-tag": ("LlamaForTokenClassification", dict(**LLAMA, **FIVE_TAGS, attention_bias=True, mlp_bias=True)),
    "llama-answer": ("LlamaForQuestionAnswering", LLAMA),
    "mistral-generate": ("MistralForCausalLM", dict(**LLAMA, sliding_window=5, head_dim=8)),
    "qwen2-generate": (
        "Qwen2ForCausalLM",
        dict(**LLAMA, use_sliding_window=True, sliding_window=6, max_window_layers=1),
    ),
    "qwen2-classify": ("Qwen2ForSequenceClassification", dict(**LLAMA, num_labels=3)),
    "llama-yarn": ("LlamaForCausalLM", dict(**LLAMA, head_dim=10, rope_parameters=YARN)),
    "llama-dynamic": ("LlamaForCausalLM", dict(**LLAMA, rope_parameters=DYNAMIC)),
    "qwen3-generate": ("Qwen3ForCausalLM", dict(**LLAMA, head_dim=10)),
    "qwen3-classify": (
        "Qwen3ForSequenceClassification",
        dict(**LLAMA, num_labels=3, head_dim=8, use_sliding_window=True, sliding_window=6, max_window_layers=1),
    ),
    "qwen3-tag": ("Qwen3ForTokenClassification", dict(**LLAMA, **FIVE_TAGS, head_dim=6, attention_bias=True)),
    "qwen3-answer": ("Qwen3ForQuestionAnswering", dict(**LLAMA, head_dim=6)),
    "gemma-generate": ("GemmaForCausalLM", dict(**LLAMA, head_dim=10)),
    "gemma-classify": ("GemmaForSequenceClassification", dict(**LLAMA, head_dim=6, num_labels=3)),
    "gemma-tag": ("GemmaForTokenClassification", dict(**LLAMA, **FIVE_TAGS, head_dim=6)),
    "gemma2-generate": ("Gemma2ForCausalLM", GEMMA2),
    "gemma2-classify": ("Gemma2ForSequenceClassification", dict(**GEMMA2, num_labels=3)),
    "gemma2-tag": ("Gemma2ForTokenClassification", {**GEMMA2, **FIVE_TAGS, "attn_logit_softcapping": None}),
    "gemma3-generate": ("Gemma3ForCausalLM", GEMMA3),
    "gemma3-classify": ("Gemma3TextForSequenceClassification", dict(**GEMMA3, num_labels=3)),
    "gemma3-encoder": ("Gemma3TextModel", dict(**GEMMA3, use_bidirectional_attention=True)),
    "phi3-generate": ("Phi3ForCausalLM", LLAMA),
    "phi3-classify": ("Phi3ForSequenceClassification", dict(**LLAMA, num_labels=3, sliding_window=5)),
    "phi3-tag": ("Phi3ForTokenClassification", dict(**LLAMA, **FIVE_TAGS)),
    "phi3-long": (
        "Phi3ForCausalLM",
        dict(**LLAMA, original_max_position_embeddings=12, rope_parameters=LONG, tie_word_embeddings=True),
    ),
    "phi-generate": ("PhiForCausalLM", dict(**LLAMA, rope_parameters=PART)),
    "phi-classify": ("PhiForSequenceClassification", dict(**LLAMA, num_labels=3, rope_parameters=PART)),
    "phi-tag": ("PhiForTokenClassification", dict(**LLAMA, **FIVE_TAGS, rope_parameters=PART)),
    "gpt-neox-generate": ("GPTNeoXForCausalLM", NEOX),
    "gpt-neox-serial": ("GPTNeoXForCausalLM", dict(**NEOX, use_parallel_residual=False)),
    "gpt-neox-classify": ("GPTNeoXForSequenceClassification", dict(**NEOX, num_labels=3, attention_bias=False)),
    "gpt-neox-tag": ("GPTNeoXForTokenClassification", dict(**NEOX, **FIVE_TAGS)),
    "gpt-neox-answer": ("GPTNeoXForQuestionAnswering", NEOX),
    "gptj-generate": ("GPTJForCausalLM", GPTJ),
    "gptj-classify": ("GPTJForSequenceClassification", dict(**GPTJ, num_labels=3)),
    "gptj-answer": ("GPTJForQuestionAnswering", GPTJ),
    "falcon-generate": ("FalconForCausalLM", FALCON),
    "falcon-classify": (
        "FalconForSequenceClassification",
        dict(**FALCON, num_labels=3, parallel_attn=False, multi_query=False, bias=True),
    ),
    "falcon-tag": (
        "FalconForTokenClassification",
        dict(**FALCON, **FIVE_TAGS, new_decoder_architecture=True, num_kv_heads=2, num_ln_in_parallel_attn=1),
    ),
    "falcon-answer": ("FalconForQuestionAnswering", FALCON),
    "falcon-two-norms": ("FalconForCausalLM", dict(**FALCON, new_decoder_architecture=True, num_kv_heads=2)),
    "stablelm-generate": ("StableLmForCausalLM", dict(**LLAMA, rope_parameters=PART)),
    "stablelm-classify": (
        "StableLmForSequenceClassification",
        dict(**LLAMA, num_labels=3, rope_parameters=PART, use_parallel_residual=True, use_qkv_bias=True),
    ),
    "stablelm-tag": ("StableLmForTokenClassification", dict(**LLAMA, **FIVE_TAGS, rope_parameters=PART)),
    "smollm3-generate": ("SmolLM3ForCausalLM", dict(**LLAMA, no_rope_layer_interval=2)),
    "smollm3-classify": ("SmolLM3ForSequenceClassification", dict(**LLAMA, num_labels=3, no_rope_layers=[0, 1])),
    "smollm3-tag": ("SmolLM3ForTokenClassification", dict(**LLAMA, **FIVE_TAGS)),
    "smollm3-answer": ("SmolLM3ForQuestionAnswering", LLAMA),
    "olmo2-generate": ("Olmo2ForCausalLM", LLAMA),
    "olmo2-classify": ("Olmo2ForSequenceClassification", dict(**LLAMA, num_labels=3)),
    "granite-generate": (
        "GraniteForCausalLM",
        dict(
            **LLAMA,
            embedding_multiplier=3.0,
            attention_multiplier=0.3,
            residual_multiplier=0.7,
            logits_scaling=2.5,
            tie_word_embeddings=True,
        ),
    ),
    "starcoder2-generate": ("Starcoder2ForCausalLM", dict(**LLAMA, sliding_window=5)),
    "starcoder2-classify": ("Starcoder2ForSequenceClassification", dict(**LLAMA, num_labels=3, use_bias=False)),
    "starcoder2-tag": ("Starcoder2ForTokenClassification", dict(**LLAMA, **FIVE_TAGS)),
    "cohere-generate": ("CohereForCausalLM", dict(**LLAMA, logit_scale=0.4)),
    "mixtral-generate": ("MixtralForCausalLM", dict(**MIXTRAL, sliding_window=5, head_dim=8)),
    "mixtral-classify": ("MixtralForSequenceClassification", dict(**MIXTRAL, num_labels=3, num_experts_per_tok=1)),
    "mixtral-tag": ("MixtralForTokenClassification", dict(**MIXTRAL, **FIVE_TAGS)),
    "mixtral-answer": ("MixtralForQuestionAnswering", MIXTRAL),
    "qwen3-moe-generate": ("Qwen3MoeForCausalLM", dict(**QWEN3_MOE, norm_topk_prob=True, decoder_sparse_step=2)),
    "qwen3-moe-classify": ("Qwen3MoeForSequenceClassification", dict(**QWEN3_MOE, num_labels=3, mlp_only_layers=[1])),
    "olmoe-generate": ("OlmoeForCausalLM", dict(**LLAMA, num_experts=5, num_experts_per_tok=2)),
    "gpt-bigcode-classify": ("GPTBigCodeForSequenceClassification", dict(**GPT, num_labels=3)),
    "codegen-generate": ("CodeGenForCausalLM", dict(**{**GPTJ, "n_head": 4}, tie_word_embeddings=False)),
    "bloom-classify": ("BloomForSequenceClassification", dict(**BLOOM, num_labels=3)),
    "mpt-classify": ("MptForSequenceClassification", dict(**MPT, num_labels=3)),
    "ctrl-classify": ("CTRLForSequenceClassification", dict(**CTRL, num_labels=3)),
    "biogpt-classify": ("BioGptForSequenceClassification", dict(**BIOGPT, num_labels=3)),
    "persimmon-classify": ("PersimmonForSequenceClassification", dict(**BIOGPT, rope_parameters=PART, num_labels=3)),
    "ministral-classify": (
        "MinistralForSequenceClassification",
        dict(**LLAMA, head_dim=8, **LAYERS_APART, num_labels=3),
    ),
    "ministral3-classify": (
        "Ministral3ForSequenceClassification",
        dict(**LLAMA, head_dim=10, rope_parameters=YARN_ALL, num_labels=3),
    ),
    "seed-oss-classify": ("SeedOssForSequenceClassification", dict(**LLAMA, head_dim=8, num_labels=3)),
    "cwm-generate": ("CwmForCausalLM", dict(**LLAMA, **LAYERS_APART, head_dim=8, rope_parameters=SCALED)),
    "emu3-generate": ("Emu3ForCausalLM", LLAMA),
    "vaultgemma-generate": ("VaultGemmaForCausalLM", GEMMA2),
    "olmo-classify": ("OlmoForSequenceClassification", dict(**LLAMA, num_labels=3)),
    "olmo3-classify": ("Olmo3ForSequenceClassification", dict(**LLAMA, **LAYERS_APART, num_labels=3)),
    "hyperclovax-generate": (
        "HyperCLOVAXForCausalLM",
        dict(**LLAMA, head_dim=6, embedding_multiplier=3.0, attention_multiplier=0.3, logits_scaling=0.4),
    ),
    "cohere2-generate": ("Cohere2ForCausalLM", dict(**LLAMA, **LAYERS_APART, head_dim=6, logit_scale=0.4)),
    "glm-classify": ("GlmForSequenceClassification", dict(**LLAMA, head_dim=8, rope_parameters=HALF, num_labels=3)),
    "glm4-classify": ("Glm4ForSequenceClassification", dict(**LLAMA, head_dim=8, rope_parameters=HALF, num_labels=3)),
    "exaone4-classify": ("Exaone4ForSequenceClassification", dict(**LLAMA, **LAYERS_APART, num_labels=3)),
    "helium-classify": ("HeliumForSequenceClassification", dict(**LLAMA, head_dim=6, num_labels=3)),
    "ernie4-5-generate": ("Ernie4_5ForCausalLM", dict(**LLAMA, head_dim=8, use_bias=True)),
    "nemotron-classify": ("NemotronForSequenceClassification", dict(**LLAMA, rope_parameters=PART, num_labels=3)),
    "arcee-classify": ("ArceeForSequenceClassification", dict(**LLAMA, num_labels=3)),
    "jais2-generate": ("Jais2ForCausalLM", dict(**LLAMA, head_dim=6)),
    "nanochat-generate": ("NanoChatForCausalLM", LLAMA),
    "modernbert-decoder-classify": (
        "ModernBertDecoderForSequenceClassification",
        dict(**BIOGPT, **LAYERS_APART, num_labels=3, cls_token_id=1, sep_token_id=2),
    ),
    "bart-decoder-generate": ("BartForCausalLM", ALONE),
    "pegasus-decoder-generate": ("PegasusForCausalLM", ALONE),
    "blenderbot-small-decoder-generate": ("BlenderbotSmallForCausalLM", ALONE),
    "trocr-generate": ("TrOCRForCausalLM", ALONE),
    "qwen2-moe-classify": (
        "Qwen2MoeForSequenceClassification",
        dict(**QWEN3_MOE, shared_expert_intermediate_size=20, num_labels=3),
    ),
    "mellum-generate": (
        "MellumForCausalLM",
        dict(**QWEN3_MOE, **LAYERS_APART, head_dim=6, mlp_layer_types=["dense", "sparse"]),
    ),
    "flex-olmo-generate": ("FlexOlmoForCausalLM", dict(**LLAMA, num_experts=5, num_experts_per_tok=2)),
    "granitemoe-generate": (
        "GraniteMoeForCausalLM",
        dict(
            **MIXTRAL, embedding_multiplier=3.0, attention_multiplier=0.3, residual_multiplier=0.7, logits_scaling=2.5
        ),
    ),
    "aria-text-generate": (
        "AriaTextForCausalLM",
        dict(**LLAMA, head_dim=6, moe_num_experts=4, moe_num_shared_experts=2),
    ),
    "cohere2-moe-generate": (
        "Cohere2MoeForCausalLM",
        dict(**LLAMA, **LAYERS_APART, head_dim=6, num_experts=4, logit_scale=0.4),
    ),
    "bitnet-generate": ("BitNetForCausalLM", LLAMA),
    "gpt-neox-japanese-generate": (
        "GPTNeoXJapaneseForCausalLM",
        dict(
            vocab_size=61,
            hidden_size=16,
            num_attention_heads=2,
            num_hidden_layers=2,
            intermediate_multiple_size=2,
            max_position_embeddings=24,
        ),
    ),
    # Half of a head's ten columns is five; six columns are rotated.
    "glm-odd-classify": (
        "GlmForSequenceClassification",
        dict(**LLAMA, head_dim=10, rope_parameters=HALF, num_labels=3, attention_bias=True),
    ),
    "whisper-decoder-generate": (
        "WhisperForCausalLM",
        dict(**{**ALONE, "max_target_positions": 24}, suppress_tokens=None, begin_suppress_tokens=None),
    ),
    "granitemoeshared-generate": (
        "GraniteMoeSharedForCausalLM",
        dict(**ROUTED, num_local_experts=4, shared_intermediate_size=12, residual_multiplier=0.7),
    ),
    "phimoe-classify": (
        "PhimoeForSequenceClassification",
        dict(**ROUTED, num_local_experts=4, router_jitter_noise=0.3, attention_bias=True, num_labels=3),
    ),
    "hunyuan-dense-classify": (
        "HunYuanDenseV1ForSequenceClassification",
        dict(
            **LLAMA,
            head_dim=8,
            num_labels=3,
            rope_parameters=dict(rope_type="dynamic", rope_theta=100.0, factor=1.0, alpha=8.0),
        ),
    ),
    "hunyuan-moe-generate": ("HunYuanMoEV1ForCausalLM", dict(**ROUTED, head_dim=8, num_experts=4, moe_topk=2)),
    "glm4-moe-generate": ("Glm4MoeForCausalLM", dict(**SIGMOIDS, n_shared_experts=2, attention_bias=True)),
    "glm4-moe-normed-generate": ("Glm4MoeForCausalLM", dict(**SIGMOIDS, use_qk_norm=True, head_dim=6)),
    "solar-open-generate": (
        "SolarOpenForCausalLM",
        dict(**{name: value for name, value in SIGMOIDS.items() if name != "intermediate_size"}, head_dim=6),
    ),
    "exaone-moe-generate": (
        "ExaoneMoeForCausalLM",
        dict(**ROUTED, **LAYERS_APART, head_dim=6, moe_intermediate_size=10, num_experts=4, num_experts_per_tok=2),
    ),
    "hy-v3-generate": (
        "HYV3ForCausalLM",
        dict(**ROUTED, head_dim=6, moe_intermediate_size=10, num_experts=4, num_experts_per_tok=2),
    ),
    "minimax-m2-generate": (
        "MiniMaxM2ForCausalLM",
        dict(**ROUTED, head_dim=8, num_local_experts=4, num_experts_per_tok=2, rope_parameters=HALF),
    ),
    "kolibri1-generate": (
        "Kolibri1ForCausalLM",
        dict(
            **{name: value for name, value in ROUTED.items() if name != "intermediate_size"},
            **LAYERS_APART,
            head_dim=6,
            moe_intermediate_size=10,
            shared_expert_intermediate_size=12,
            num_experts=4,
            num_experts_per_tok=2,
        ),
    ),
    "afmoe-generate": (
        "AfmoeForCausalLM",
        dict(
            **ROUTED,
            **LAYERS_APART,
            head_dim=6,
            moe_intermediate_size=10,
            num_experts=4,
            num_experts_per_tok=2,
            route_scale=1.5,
            mup_enabled=True,
        ),
    ),
    "flint-generate": (
        "FlintForCausalLM",
        dict(
            **ROUTED,
            **LAYERS_APART,
            head_dim=6,
            moe_intermediate_size=10,
            shared_expert_intermediate_size=12,
            num_experts=4,
            num_experts_per_tok=2,
            mlp_only_layers=[0],
        ),
    ),
    "ernie4-5-moe-generate": (
        "Ernie4_5_MoeForCausalLM",
        dict(**ROUTED, moe_intermediate_size=10, moe_num_experts=4, moe_k=2, moe_layer_start_index=1),
    ),
    "granite-swa-generate": (
        "GraniteSWAForCausalLM",
        dict(**LLAMA, **LAYERS_APART, layer_rope_theta=[100.0, 0], attention_multiplier=0.3, logits_scaling=2.5),
    ),
    "granitemoe-swa-generate": (
        "GraniteMoeSWAForCausalLM",
        dict(**ROUTED, **LAYERS_APART, num_local_experts=4, shared_intermediate_size=12, residual_multiplier=0.7),
    ),
    "bigbird-pegasus-decoder-generate": ("BigBirdPegasusForCausalLM", ALONE),
    # Its matrices have whole blocks of 32 columns; tests/cli/test_experts.py packs them.
    "gpt-oss-generate": (
        "GptOssForCausalLM",
        dict(
            **{**MIXTRAL, "hidden_size": 32, "intermediate_size": 32},
            **LAYERS_APART,
            head_dim=6,
            num_experts_per_tok=2,
            swiglu_limit=0.9,
        ),
    ),
    "gpt-oss-tag": (
        "GptOssForTokenClassification",
        dict(**MIXTRAL, **LAYERS_APART, **FIVE_TAGS, head_dim=6, num_experts_per_tok=2),
    ),
    "privacy-filter-tag": (
        "OpenAIPrivacyFilterForTokenClassification",
        dict(**MIXTRAL, **FIVE_TAGS, head_dim=6, num_experts_per_tok=2, sliding_window=3),
    ),
    "apertus-generate": ("ApertusForCausalLM", LLAMA),
    "apertus-tag": ("ApertusForTokenClassification", dict(**LLAMA, **FIVE_TAGS)),
    "llama4-generate": (
        "Llama4ForCausalLM",
        dict(
            **{**MIXTRAL, "num_hidden_layers": 3},
            head_dim=6,
            num_experts_per_tok=2,
            intermediate_size_mlp=20,
            moe_layers=[0, 2],
            no_rope_layers=[1, 0, 1],
        ),
    ),
    "lfm2-generate": ("Lfm2ForCausalLM", dict(**LFM2, layer_types=["conv", "full_attention", "conv"])),
    "lfm2-biased": (
        "Lfm2ForCausalLM",
        dict(**LFM2, full_attn_idxs=[0], conv_bias=True, conv_L_cache=5, tie_word_embeddings=False),
    ),
    "lfm2-moe-generate": (
        "Lfm2MoeForCausalLM",
        dict(**LFM2_MOE, layer_types=["conv", "full_attention", "conv"], num_dense_layers=1, routed_scaling_factor=1.5),
    ),
    "mamba-generate": ("MambaForCausalLM", dict(**MAMBA)),
    "mamba-biased": ("MambaForCausalLM", dict(**MAMBA, use_bias=True, use_conv_bias=False, conv_kernel=2, expand=1)),
    "falcon-mamba-generate": ("FalconMambaForCausalLM", dict(**MAMBA, time_step_rank=3, mixer_rms_eps=1e-3)),
    "recurrent-gemma-generate": (
        "RecurrentGemmaForCausalLM",
        dict(**GRIFFIN, block_types=["recurrent", "attention"], attention_window_size=5, logits_soft_cap=4.0),
    ),
    "phi-normed": ("PhiForCausalLM", dict(**LLAMA, rope_parameters=PART, qk_layernorm=True)),
    "opt-350m-generate": ("OPTForCausalLM", OPT_350M),
    "opt-350m-classify": ("OPTForSequenceClassification", dict(**OPT_350M, num_labels=3)),
    "rwkv-generate": ("RwkvForCausalLM", dict(**RWKV)),
    "rwkv-halved": (
        "RwkvForCausalLM",
        dict(**RWKV, rescale_every=1, tie_word_embeddings=True, intermediate_size=28, layer_norm_epsilon=1e-3),
    ),
}
