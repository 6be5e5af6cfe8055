"""Decoders of published shapes with random weights, by bantam in int8 and int4 and by llama.cpp in Q8_0 and Q4_0.

  pip install -r tests/bench/requirements-peers.txt && npm install --prefix build/bench/node node-llama-cpp@3.22.1
  python3 tests/bench/peers_decoders.py --command build/bantam --out build/bench/decoders.json

node-llama-cpp has llama.cpp's own builds for each kind of core. Systems take turns, round after round; of each the least
time counts. `prefill` is the time of a prompt until its first token, `step` the mean time of the tokens behind it, and
`read` the time that one core takes to read the weights once. `beyond` is the memory that a conversion holds at its peak,
less the bytes of its output. Prints Markdown. One thread. llama.cpp is left out, and named, where it is not installed.
"""

import argparse
import json
import os
import pathlib
import struct
import subprocess
import sys

import machine
import numpy as np

SHAPES = {
    "Qwen3-0.6B": {
        "model_type": "qwen3",
        "architectures": ["Qwen3ForCausalLM"],
        "vocab_size": 151936,
        "hidden_size": 1024,
        "intermediate_size": 3072,
        "num_hidden_layers": 28,
        "num_attention_heads": 16,
        "num_key_value_heads": 8,
        "head_dim": 128,
        "max_position_embeddings": 40960,
        "rms_norm_eps": 1e-6,
        "rope_theta": 1000000.0,
        "hidden_act": "silu",
        "tie_word_embeddings": True,
        "attention_bias": False,
    },
    "Llama-110M": {
        "model_type": "llama",
        "architectures": ["LlamaForCausalLM"],
        "vocab_size": 32000,
        "hidden_size": 768,
        "intermediate_size": 2048,
        "num_hidden_layers": 12,
        "num_attention_heads": 12,
        "num_key_value_heads": 4,
        "head_dim": 64,
        "max_position_embeddings": 1024,
        "rms_norm_eps": 1e-6,
        "rope_theta": 10000.0,
        "hidden_act": "silu",
        "tie_word_embeddings": True,
        "attention_bias": False,
    },
    "SmolLM2-360M": {
        "model_type": "llama",
        "architectures": ["LlamaForCausalLM"],
        "vocab_size": 49152,
        "hidden_size": 960,
        "intermediate_size": 2560,
        "num_hidden_layers": 32,
        "num_attention_heads": 15,
        "num_key_value_heads": 5,
        "head_dim": 64,
        "max_position_embeddings": 8192,
        "rms_norm_eps": 1e-5,
        "rope_theta": 100000.0,
        "hidden_act": "silu",
        "tie_word_embeddings": True,
        "attention_bias": False,
    },
}
MAX_TOKENS = 1024
# llama.cpp's names of the same tensors.
GGUF_NAMES = {
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}
SCRIPT = """
import {getLlama} from "node-llama-cpp";
const [path, prompt, generate] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];
const llama = await getLlama({gpu: false, maxThreads: 1, build: "never", logLevel: "error"});
const model = await llama.loadModel({modelPath: path});
const context = await model.createContext({contextSize: 1024, batchSize: 512, threads: 1});
const sequence = context.getSequence();
const tokens = Array.from({length: prompt}, (_, i) => 300 + (i * 7919) % 40000);
let first = Infinity, step = Infinity;
for (let round = 0; round < 3; ++round) {
  await sequence.clearHistory();
  const begin = performance.now();
  let made = 0, after = 0;
  for await (const token of sequence.evaluate(tokens, {temperature: 0, yieldEogToken: true})) {
    if (++made === 1) after = performance.now();
    if (made > generate) break;
  }
  first = Math.min(first, after - begin);
  step = Math.min(step, (performance.now() - after) / generate);
}
console.log(JSON.stringify({first_ms: first, token_ms: step}));
process.exit(0);
"""


def tensors_of(config):
    """Names and shapes, as transformers has them."""
    hidden, inner, width = (
        config["hidden_size"],
        config["intermediate_size"],
        config["head_dim"],
    )
    queries, keys = (
        config["num_attention_heads"] * width,
        config["num_key_value_heads"] * width,
    )
    yield "model.embed_tokens.weight", (config["vocab_size"], hidden)
    for layer in range(config["num_hidden_layers"]):
        name = f"model.layers.{layer}."
        yield name + "input_layernorm.weight", (hidden,)
        yield name + "self_attn.q_proj.weight", (queries, hidden)
        yield name + "self_attn.k_proj.weight", (keys, hidden)
        yield name + "self_attn.v_proj.weight", (keys, hidden)
        yield name + "self_attn.o_proj.weight", (hidden, queries)
        if config["model_type"] == "qwen3":
            yield name + "self_attn.q_norm.weight", (width,)
            yield name + "self_attn.k_norm.weight", (width,)
        yield name + "post_attention_layernorm.weight", (hidden,)
        yield name + "mlp.gate_proj.weight", (inner, hidden)
        yield name + "mlp.up_proj.weight", (inner, hidden)
        yield name + "mlp.down_proj.weight", (hidden, inner)
    yield "model.norm.weight", (hidden,)


def values_of(name, shape):
    """The tensor's values: norms are near 1, and matrices keep the size of a row."""
    random = np.random.default_rng(sum(name.encode()))
    values = random.standard_normal(shape, dtype=np.float32)
    return 1 + 0.1 * values if len(shape) == 1 else values / np.float32(np.sqrt(shape[-1]))


def write_directory(config, folder):
    """config.json and model.safetensors in bf16."""
    if (folder / "config.json").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    header, end = {}, 0
    for name, shape in tensors_of(config):
        begin, end = end, end + 2 * int(np.prod(shape))
        header[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(folder / "model.safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for name, shape in tensors_of(config):
            file.write((values_of(name, shape).view(np.uint32) >> 16).astype(np.uint16).tobytes())
    (folder / "config.json").write_text(json.dumps(config))


def write_gguf(config, path, kind):
    """The same model for llama.cpp, with words without a meaning."""
    import gguf

    if path.exists():
        return
    kind = getattr(gguf.GGMLQuantizationType, kind)
    writer = gguf.GGUFWriter(str(path) + ".part", config["model_type"])
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_head_count_kv(config["num_key_value_heads"])
    writer.add_key_length(config["head_dim"])
    writer.add_value_length(config["head_dim"])
    writer.add_rope_dimension_count(config["head_dim"])
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_rope_freq_base(config["rope_theta"])
    writer.add_vocab_size(config["vocab_size"])
    bytes_first = [f"<0x{i:02X}>" for i in range(256)]
    words = ["<unk>", "<s>", "</s>", *bytes_first]
    words += [f"w{i}" for i in range(config["vocab_size"] - len(words))]
    kinds = [2, 3, 3] + [6] * 256 + [1] * (len(words) - 259)
    writer.add_tokenizer_model("llama")
    writer.add_token_list(words)
    writer.add_token_scores([0.0] * len(words))
    writer.add_token_types(kinds)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    for name, shape in tensors_of(config):
        values = values_of(name, shape)
        short = name.replace("model.layers.", "blk.")
        for theirs, own in GGUF_NAMES.items():
            short = short.replace(theirs + ".", own + ".")
        if len(shape) == 1:
            writer.add_tensor(short, values)
        else:
            writer.add_tensor(short, gguf.quants.quantize(values, kind), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    os.rename(str(path) + ".part", path)


def converted(command, directory, path, weights):
    """Peak memory of the conversion beyond its output, in MB; None where the file was there."""
    if path.exists():
        return None
    arguments = [
        command,
        "convert",
        directory,
        "-o",
        path,
        "--weights",
        weights,
        "--ids-only",
        "--parity",
        "none",
    ]
    process = subprocess.Popen(
        [*map(str, arguments), "--max-tokens", str(MAX_TOKENS)],
        stdout=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"peers_decoders: {directory}: convert failed")
    return usage.ru_maxrss / 1024 - path.stat().st_size / 2**20


def own_times(command, path, options):
    arguments = [
        command,
        "bench",
        path,
        "--prompt",
        options.prompt,
        "--generate",
        options.generate,
        "--threads",
        1,
    ]
    arguments += ["--json", "--repetitions", 3, "--warmup", 1]
    line = json.loads(subprocess.run(list(map(str, arguments)), check=True, capture_output=True).stdout)
    return {**line["generate"], "arena_bytes": line["arena_bytes"]}


def llama_times(node, path, options):
    script = node / "decoders.mjs"
    script.write_text(SCRIPT)
    command = ["node", script.name, path.resolve(), options.prompt, options.generate]
    done = subprocess.run(list(map(str, command)), cwd=node, check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--command", default="build/bantam", type=pathlib.Path)
    parser.add_argument("--folder", default=pathlib.Path("build/bench/decoders"), type=pathlib.Path)
    parser.add_argument("--node", default=pathlib.Path("build/bench/node"), type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--shapes", default=",".join(SHAPES))
    parser.add_argument("--prompt", default=128, type=int)
    parser.add_argument("--generate", default=32, type=int)
    parser.add_argument("--rounds", default=3, type=int)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    peer = (options.node / "node_modules" / "node-llama-cpp").exists()
    if not peer:
        print("llama.cpp is left out: node-llama-cpp is not installed", file=sys.stderr)
    out = {
        "machine": machine.describe(options.command),
        "prompt": options.prompt,
        "shapes": {},
    }
    for name in options.shapes.split(","):
        config = SHAPES[name]
        directory = options.folder / name
        write_directory(config, directory)
        systems = {}
        for weights in ("int8", "int4"):
            path = options.folder / f"{name}-{weights}.bantam"
            beyond = converted(options.command, directory, path, weights)
            systems[f"bantam {weights}"] = {
                "path": path,
                "call": own_times,
                "with": options.command,
                "beyond_mb": beyond,
            }
        for kind in ("Q8_0", "Q4_0") if peer else ():
            path = options.folder / f"{name}-{kind}.gguf"
            write_gguf(config, path, kind)
            systems[f"llama.cpp {kind}"] = {
                "path": path,
                "call": llama_times,
                "with": options.node,
            }
        for _ in range(options.rounds):
            for system in systems.values():
                times = system["call"](system["with"], system["path"], options)
                least = system.setdefault("times", times)
                for key in ("first_ms", "token_ms", "read_ms"):
                    if key in times:
                        least[key] = min(least[key], times[key])
        print(f"\n{name}, prompt of {options.prompt} tokens, {options.generate} behind it, ms\n")
        print(
            "| system | file, MB | convert beyond, MB | arena, MB | prefill | step | step / read | step / Q8_0 | step / Q4_0 |"
        )
        print("|---|---|---|---|---|---|---|---|---|")
        for system, found in systems.items():
            times = found["times"]
            ratios = [f"{times['token_ms'] / times['read_ms']:.2f}" if "read_ms" in times else ""]
            for kind in ("Q8_0", "Q4_0"):
                other = systems.get(f"llama.cpp {kind}")
                ratios.append(f"{times['token_ms'] / other['times']['token_ms']:.2f}" if other else "")
            beyond = "" if found.get("beyond_mb") is None else f"{found['beyond_mb']:.0f}"
            arena = f"{times['arena_bytes'] / 2**20:.1f}" if "arena_bytes" in times else ""
            size = found["path"].stat().st_size / 2**20
            print(
                f"| {system} | {size:.0f} | {beyond} | {arena} | {times['first_ms']:.1f} | {times['token_ms']:.2f} "
                f"| {' | '.join(ratios)} |",
                flush=True,
            )
        out["shapes"][name] = {
            system: {
                "bytes": found["path"].stat().st_size,
                "beyond_mb": found.get("beyond_mb"),
                **found["times"],
            }
            for system, found in systems.items()
        }
    if options.out:
        options.out.write_text(json.dumps(out, indent=1) + "\n")


if __name__ == "__main__":
    main()
