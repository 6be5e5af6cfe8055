"""Times that only whole processes show: commands.py COMMAND MODELS_DIRECTORY OUTPUT.json

`bantam run` from process start to the answer, `bantam verify`, and `bantam bench --text`. Standard library only.
"""

import json
import pathlib
import subprocess
import sys
import time

import machine

SENTENCES = (  # 12 words each
    "play the latest album by the beatles on spotify in the kitchen",
    "book a table for four people at an italian restaurant tomorrow evening",
    "what will the weather be like in paris on friday next week",
)


def milliseconds(command, runs=20):
    """(least, median) of a process from start to end."""
    times = []
    for _ in range(runs):
        begin = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        times.append((time.perf_counter() - begin) * 1e3)
    times.sort()
    return {"min_ms": times[0], "p50_ms": times[len(times) // 2]}


def main():
    command, models, out = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    results = {"machine": machine.describe(command), "processes": {}, "texts": {}}
    results["model"] = json.loads((models / "minilm.json").read_text())["what"]
    voice = models / "voice-commands-int8.bantam"
    minilm = models / "minilm-int8.bantam"
    results["processes"]["run voice-commands-int8, 12 words"] = milliseconds([command, "run", voice, SENTENCES[0]])
    if "random" not in results["model"]:  # random weights come with words of their own
        results["processes"]["run minilm-int8, 12 words"] = milliseconds([command, "run", minilm, SENTENCES[0]])
    results["processes"]["verify minilm-int8"] = milliseconds([command, "verify", minilm])
    for model in sorted(models.glob("voice-commands-*.bantam")):
        options = [argument for text in SENTENCES for argument in ("--text", text)]
        done = subprocess.run([command, "bench", model, "--json", *options], check=True, text=True, capture_output=True)
        results["texts"][model.stem] = [json.loads(line) for line in done.stdout.splitlines()]
    out.write_text(json.dumps(results, indent=1))
    for what, times in results["processes"].items():
        print(f"{what}: {times['min_ms']:.1f} ms at best, median {times['p50_ms']:.1f} ms")
    for model, texts in results["texts"].items():
        for text in texts:
            print(f"{model}: {text['p50_us']:.1f} us from text to answer ({text['tokens']} tokens)")


if __name__ == "__main__":
    main()
