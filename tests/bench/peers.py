"""MiniLM-L6, or with --name bert-base that shape, by bantam, ONNX Runtime, OpenVINO and CTranslate2, in one interleaved run.

  peers.py --command build/bantam --models build/bench/models --out build/bench/peers.json

Every system runs a shape in turn, round after round, so that a drift of the machine hits all alike; its figure is the
least over rounds of each round's median. Single requests are one sequence; batches are padded for the peers that need
it, never for bantam. Where a peer has several forms of the model (ONNX Runtime: plain and fused graphs) all are
measured, and report.py takes the fastest. Memory and load times come from a fresh process each. Results already in the
output file are kept where they are not measured again. int4 are weights of 4 bits: by the peers those of its tools that their
authors recommend, with factors of groups of 32 weights. static is bantam's int8 file with scales that calibration fixed, as
OpenVINO's int8 is; ONNX Runtime's and CTranslate2's are dynamic, as bantam's int8 file is. sparse is bantam's file with 80 % of
its blocks of weights 0; peers have nothing faster than their int8 for it, but on other processors. A peer that is not installed, or whose model cannot be made, is
left out and named.
"""

import argparse
import importlib.metadata
import json
import os
import pathlib
import subprocess
import sys
import time

import machine
import numpy as np
import peer_models

SINGLES = (8, 16, 32, 64, 128, 256)
# A ragged batch such as a server collects: 16 texts, 731 tokens.
MIX = (31, 9, 128, 22, 14, 61, 7, 90, 36, 18, 50, 12, 110, 26, 75, 42)
BATCHES = {"8x32": (32,) * 8, "32x32": (32,) * 32, "mix": MIX}
OWN_FORMS = ("static", "sparse", "static-sparse")  # of bantam's int8 file; beside both stand the peers' int8
SLICE_SECONDS = 0.15  # of one system in one round


def choose_runs(ms):
    """(warm-up runs, measured runs) for one slice of runs that take so long."""
    return (3 if ms < 50 else 1), max(3, min(50, int(SLICE_SECONDS * 1e3 / ms)))


def median_ms(call):
    begin = time.perf_counter()
    call()
    warmup, runs = choose_runs((time.perf_counter() - begin) * 1e3)
    for _ in range(warmup - 1):
        call()
    times = []
    for _ in range(runs):
        begin = time.perf_counter()
        call()
        times.append((time.perf_counter() - begin) * 1e3)
    return sorted(times)[len(times) // 2]


class OnnxRuntime:
    package = "onnxruntime"

    def __init__(self, path, threads):
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        options.log_severity_level = 3
        self.session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        self.names = [entry.name for entry in self.session.get_inputs()]

    def prepare(self, lengths):
        full = peer_models.feed(lengths)
        feed = {name: full[name] for name in self.names}
        return lambda: self.session.run(None, feed)[0]


class OpenVino:
    package = "openvino"
    precision = None  # of what is not int8; None: what OpenVINO takes

    def __init__(self, path, threads):
        import openvino

        settings = {"INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1, "PERFORMANCE_HINT": "LATENCY"}
        if self.precision is not None or "f32" in pathlib.Path(path).name:
            settings["INFERENCE_PRECISION_HINT"] = self.precision or "f32"  # else bf16 where the processor has it
        self.model = openvino.Core().compile_model(str(path), "CPU", settings)
        self.request = self.model.create_infer_request()
        self.names = [entry.any_name for entry in self.model.inputs]

    def prepare(self, lengths):
        full = peer_models.feed(lengths)
        feed = {name: full[name] for name in self.names}
        return lambda: self.request.infer(feed)[0]


class CTranslate2:
    package = "ctranslate2"

    def __init__(self, path, threads):
        import ctranslate2

        kind = "int8" if str(path).endswith("int8") else "float32"
        self.encoder = ctranslate2.Encoder(str(path), compute_type=kind, inter_threads=1, intra_threads=threads)

    def prepare(self, lengths):
        full = peer_models.feed(lengths)
        ids = [row[:length].tolist() for row, length in zip(full["input_ids"], lengths)]
        return lambda: np.array(self.encoder.forward_batch(ids).pooler_output)


class Ours:
    """`bantam bench`, a process each time: its own median over as many runs."""

    package = None

    def __init__(self, command, file, threads, backend="native"):
        self.command = [command, "bench", str(file), "--threads", str(threads), "--backend", backend]
        self.runs = {}  # by shape

    def bench(self, *options):
        return subprocess.run([*self.command, *options], text=True, capture_output=True, check=True).stdout

    def shape(self, lengths):
        if len(set(lengths)) == 1:
            return ["--seq", str(lengths[0]), "--batch", str(len(lengths))]
        return ["--mix", ",".join(map(str, lengths))]

    def median_ms(self, lengths):
        shape = self.shape(lengths)
        if lengths not in self.runs:
            self.runs[lengths] = choose_runs(float(self.bench(*shape, "--repetitions", "1", "--plain")))
        warmup, runs = self.runs[lengths]
        return float(self.bench(*shape, "--warmup", str(warmup), "--repetitions", str(runs), "--plain"))


def made(path, make, *arguments):
    """`path`, made first when it is not there."""
    path = pathlib.Path(path)
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        make(*arguments)
    return path


def described(options):
    """The description that models.py wrote of the model."""
    return json.loads((pathlib.Path(options.models) / f"{options.name}.json").read_text())


class Systems:
    """The systems that can be measured: names are SYSTEM/TYPE or SYSTEM/TYPE/FORM."""

    def __init__(self, options):
        self.options, self.left_out = options, {}
        self.folder = pathlib.Path(options.peers) / ("" if options.name == "minilm" else options.name)
        self.source = described(options)["directory"]

    def onnx(self, form, kind):
        f32, path = self.folder / f"{form}-f32.onnx", self.folder / f"{form}-{kind}.onnx"
        made(f32, peer_models.onnx_f32, self.source, f32, form == "fused")
        makers = {"int8": peer_models.onnx_int8, "int4": peer_models.onnx_int4}
        return f32 if kind == "f32" else made(path, makers[kind], f32, path)

    def openvino(self, kind):
        f32, path = self.onnx("plain", "f32"), self.folder / f"openvino-{kind}.xml"
        makers = {"int8": peer_models.openvino_int8, "int4": peer_models.openvino_int4}
        return f32 if kind == "f32" else made(path, makers[kind], f32, path)

    def ctranslate2(self, kind):
        path = self.folder / f"ctranslate2-{kind}"
        quantization = {"int8": "int8", "f32": None}[kind]
        made(path / "model.bin", peer_models.ctranslate2_model, self.source, path, quantization)
        return path

    def given(self, name):
        """A peer's model that lies beside the checkout."""
        path = pathlib.Path(self.options.given or "") / name
        if not self.options.given or self.options.name != "minilm" or not path.exists():
            raise FileNotFoundError
        return path

    def makers(self, threads):
        """name -> function that makes the system for so many threads."""
        command, models, name = self.options.command, pathlib.Path(self.options.models), self.options.name
        all_makers = {}
        for kind in ("int8", "int4", "f32"):
            all_makers[f"bantam/{kind}"] = lambda k=kind: Ours(command, models / f"{name}-{k}.bantam", threads)
            for form in ("plain", "fused"):
                all_makers[f"onnxruntime/{kind}/{form}"] = lambda k=kind, f=form: OnnxRuntime(self.onnx(f, k), threads)
            all_makers[f"openvino/{kind}"] = lambda k=kind: OpenVino(self.openvino(k), threads)
            if kind != "int4":
                all_makers[f"ctranslate2/{kind}"] = lambda k=kind: CTranslate2(self.ctranslate2(k), threads)
        for form in OWN_FORMS:
            all_makers[f"bantam/{form}"] = lambda f=form: Ours(command, models / f"{name}-{f}.bantam", threads)
        f32 = models / f"{name}-f32.bantam"
        all_makers["bantam-xnnpack/f32"] = lambda: Ours(command, f32, threads, "xnnpack")
        all_makers["onnxruntime/int8/given"] = lambda: OnnxRuntime(self.given("minilm_i8.onnx"), threads)
        all_makers["openvino/int8/given"] = lambda: OpenVino(self.given("minilm_ov8.xml"), threads)
        wanted = self.options.types.split(",")
        return {name: make for name, make in all_makers.items() if name.split("/")[1] in wanted}

    def make(self, threads):
        """name -> system, for all that can be made here."""
        systems = {}
        for name, maker in self.makers(threads).items():
            try:
                systems[name] = maker()
                # Tries it once: an option that a build lacks shows here.
                systems[name].median_ms((4,)) if isinstance(systems[name], Ours) else systems[name].prepare((4,))()
            except FileNotFoundError:
                systems.pop(name, None)  # a model that is not beside the checkout
            except Exception as error:  # whatever a peer raises, the others go on
                systems.pop(name, None)
                words = error.stderr.strip() if isinstance(error, subprocess.CalledProcessError) else str(error)
                self.left_out[name] = f"{type(error).__name__}: {words}".splitlines()[0][:200]
                print(f"left out: {name}: {self.left_out[name]}", file=sys.stderr)
        return systems


def refuse_other_models(systems, source, left_out):
    """Removes f32 systems whose answer is not bantam's: they would not run the same model."""
    lengths = (16,)
    ids = ",".join(map(str, peer_models.feed(lengths)["input_ids"][0]))
    ours = systems["bantam/f32"].command
    raw = subprocess.run([ours[0], "run", ours[2], "--raw", "--ids", ids], text=True, capture_output=True, check=True)
    wanted = np.array(json.loads(raw.stdout)["outputs"]["logits"]["data"])
    weights = peer_models.read_weights(source)[1]
    for name in list(systems):
        if "/f32" not in name or isinstance(systems[name], Ours):
            continue
        answer = systems[name].prepare(lengths)()
        if name.startswith("ctranslate2"):
            answer = answer @ weights["classifier.weight"].T + weights["classifier.bias"]
        difference = float(np.abs(np.ravel(answer) - wanted).max())
        if difference > 2e-3 * max(1.0, float(np.abs(wanted).max())):
            left_out[name] = f"its logits differ from bantam's by {difference:.3g}"
            print(f"left out: {name}: {left_out[name]}", file=sys.stderr)
            del systems[name]


def measure_shape(systems, lengths, rounds):
    best, calls = {}, {}
    for name, system in systems.items():
        calls[name] = None if isinstance(system, Ours) else system.prepare(lengths)
    for _ in range(rounds):
        for name, system in systems.items():
            time.sleep(0.01)  # lets another system's idle threads go to sleep
            spent = system.median_ms(lengths) if calls[name] is None else median_ms(calls[name])
            best[name] = min(best.get(name, spent), spent)
    return best


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def child(options):
    """Loads one system in this fresh process and runs 128 tokens: milliseconds of loading, bytes of memory added."""
    systems = Systems(options)
    maker = systems.makers(1)[options.child]
    maker_class = {"onnxruntime": OnnxRuntime, "openvino": OpenVino, "ctranslate2": CTranslate2}
    importlib.import_module(maker_class[options.child.split("/")[0]].package)
    before, begin = resident_bytes(), time.perf_counter()
    system = maker()
    loaded = (time.perf_counter() - begin) * 1e3
    call = system.prepare((128,))
    for _ in range(3):
        call()
    print(json.dumps({"load_ms": loaded, "memory_bytes": resident_bytes() - before}))


def measure_loading(systems, rounds):
    loading = {}
    for _ in range(rounds):
        for name, system in systems.items():
            if isinstance(system, Ours):
                found = json.loads(system.bench("--seq", "128", "--repetitions", "5", "--json"))
                one = {"load_ms": found["open_ms"] + found["create_ms"], "memory_bytes": found["memory_added_bytes"]}
            else:
                arguments = [sys.executable, *sys.argv, "--child", name]
                one = json.loads(subprocess.run(arguments, text=True, capture_output=True, check=True).stdout)
            known = loading.setdefault(name, one)
            loading[name] = {key: min(known[key], value) for key, value in one.items()}
    return loading


def parser_of(words, out):
    """Options that every run beside peers takes: the places of the command, the models and the results."""
    parser = argparse.ArgumentParser(description=words, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--command", default="build/bantam")
    parser.add_argument("--models", default="build/bench/models", help="folder that models.py filled")
    parser.add_argument("--peers", default="build/bench/peers", help="folder for the peers' models")
    parser.add_argument("--given", help="folder with minilm_i8.onnx and minilm_ov8.xml, measured as well")
    parser.add_argument("--out", default=out)
    return parser


def read_options():
    parser = parser_of(__doc__, "build/bench/peers.json")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--name", default="minilm", help="or bert-base, which models.py --base makes")
    parser.add_argument("--types", default="int8,static,int4,sparse,static-sparse,f32")
    parser.add_argument("--seq", default=",".join(map(str, SINGLES)), help="single requests; empty: none")
    parser.add_argument("--batches", default=",".join(BATCHES), help="of 8x32, 32x32, mix; empty: none")
    parser.add_argument("--no-loading", action="store_true", help="leave out memory and load times")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    return parser.parse_args()


def main():
    options = read_options()
    if options.child:
        return child(options)
    shapes = {length: (int(length),) for length in options.seq.split(",") if length}
    shapes |= {name: BATCHES[name] for name in options.batches.split(",") if name}
    out = pathlib.Path(options.out)
    results = json.loads(out.read_text()) if out.exists() else {"times": {}, "loading": {}, "left_out": {}}
    systems = Systems(options)
    for threads in map(int, options.threads.split(",")):
        made_here = systems.make(threads)
        if "bantam/f32" in made_here:
            refuse_other_models(made_here, systems.source, systems.left_out)
        for shape, lengths in shapes.items():
            times = measure_shape(made_here, lengths, options.rounds)
            results["times"].setdefault(f"{shape}/{threads}", {}).update(times)
            print(f"{shape} x {threads}:  " + "  ".join(f"{name} {ms:.3f}" for name, ms in times.items()), flush=True)
        if threads == 1 and not options.no_loading:
            results["loading"].update(measure_loading(made_here, 3))
    results["left_out"].update(systems.left_out)
    for name in {name for times in results["times"].values() for name in times}:
        results["left_out"].pop(name, None)
    packages = ("onnxruntime", "openvino", "nncf", "ctranslate2")
    found = {d.metadata["Name"].lower(): d.version for d in importlib.metadata.distributions()}
    results["versions"] = {name: found[name] for name in packages if name in found}
    results["machine"] = machine.describe(options.command)
    results["model"] = described(options)["what"]
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(results, indent=1))
    print(f"results: {out}")


if __name__ == "__main__":
    main()
