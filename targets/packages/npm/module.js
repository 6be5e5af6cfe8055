// The WebAssembly module: which one this engine gets, and one instance with its memory.

/** What the library refuses, with its status (bantam/status.h) as `code`. */
export class BantamError extends Error {
  constructor(message, code = 0) {
    super(message);
    this.name = "BantamError";
    this.code = code;
  }
}

/** The bytes at an address, a Response, a Blob or a buffer. */
export async function bytesOf(source) {
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) return source;
  const response = typeof source === "string" || source instanceof URL ? await fetch(source) : source;
  if (response.ok === false) throw new Error(`${response.url}: ${response.status} ${response.statusText}`);
  return response.arrayBuffer();
}

// A function of one i32x4.relaxed_dot_i8x16_i7x16_add_s: engines without relaxed SIMD say that it is not valid.
const RELAXED = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 8, 1, 96, 3, 123, 123, 123, 1, 123, 3, 2, 1, 0, 10, 13, 1, 11, 0, 32, 0, 32, 1, 32, 2,
  253, 147, 2, 11,
]);

// f(x, y): the first lane of f32x4.relaxed_madd(x, x, y).
const MULTIPLY_ADD = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 7, 1, 96, 2, 125, 125, 1, 125, 3, 2, 1, 0, 7, 5, 1, 1, 102, 0, 0, 10, 22, 1, 20, 0, 32,
  0, 253, 19, 32, 0, 253, 19, 32, 1, 253, 19, 253, 133, 2, 253, 31, 0, 11,
]);

/** The file of each module, by the name that the module has for itself. */
const FILES = { simd128: "bantam.wasm", relaxed: "bantam-relaxed.wasm", "relaxed-dot": "bantam-relaxed-dot.wasm" };

/** Whether relaxed multiply-add rounds once here: rounded twice, this sum is 0. */
async function fuses() {
  const { instance } = await WebAssembly.instantiate(MULTIPLY_ADD);
  return instance.exports.f(1 + 2 ** -12, -(1 + 2 ** -11)) === 2 ** -24;
}

/** Throws a BantamError unless `module` is one of this package's, and its answers have the native bits in this engine. */
export async function check(module) {
  const exported = module instanceof WebAssembly.Module ? WebAssembly.Module.exports(module).map(({ name }) => name) : [];
  if (!["_initialize", "self_test", "variant"].every((name) => exported.includes(name))) {
    throw new BantamError("options.module is not a WebAssembly.Module of this package: import bantam/bantam.wasm");
  }
  const instance = await Instance.of(module);
  if (instance.x.self_test()) return;
  const name = instance.message(instance.x.variant());
  throw new BantamError(`the module ${name} gives other bits in this engine: import bantam/bantam.wasm instead`);
}

/** The first of `modules` (or promises of them) whose answers have the native bits in this engine. */
export async function firstExact(modules) {
  let refused;
  for (const module of modules) {
    try {
      const compiled = await module();
      await check(compiled);
      return compiled;
    } catch (error) {
      if (!(error instanceof BantamError)) throw error;
      refused = error;
    }
  }
  throw refused;
}

/** The fastest module with the native bits; `bytesOf` gives a file of the package. */
export async function choose(bytesOf) {
  const names = ["simd128"];
  if (WebAssembly.validate(RELAXED)) names.unshift((await fuses()) ? "relaxed" : "relaxed-dot");
  return firstExact(names.map((name) => async () => WebAssembly.compile(await bytesOf(FILES[name]))));
}

const ALIGNMENT = 64;

/** An instance: what it exports, and its memory. */
export class Instance {
  static async of(module) {
    const self = new Instance();
    self.x = (await WebAssembly.instantiate(module)).exports;
    self.x._initialize();
    self.memory = self.x.memory;
    self.end = self.x.__heap_base.value;
    return self;
  }

  /** Memory that belongs to the caller for good. */
  take(bytes) {
    const begin = Math.ceil(this.end / ALIGNMENT) * ALIGNMENT;
    this.end = begin + bytes;
    this.reach(this.end);
    return begin;
  }
  /** At least that much memory. Growing detaches views: they are made anew for every use. */
  reach(end) {
    const missing = end - this.memory.buffer.byteLength;
    if (missing > 0 && this.grown(Math.ceil(missing / 65536)) < 0) throw new BantamError(`no memory for ${end} bytes`);
  }
  grown(pages) {
    try {
      return this.memory.grow(pages);
    } catch {
      return -1;
    }
  }
  bytes(at, count) {
    return new Uint8Array(this.memory.buffer, at, count);
  }
  words(at, count) {
    return new Uint32Array(this.memory.buffer, at, count);
  }
  floats(at, count) {
    return new Float32Array(this.memory.buffer, at, count);
  }
  /** The text whose address and size lie at `at`. */
  text(at) {
    const [begin, size] = this.words(at, 2);
    return new TextDecoder().decode(this.bytes(begin, size));
  }
  /** The zero-terminated text. */
  message(at) {
    if (at === 0) return "";
    const rest = new Uint8Array(this.memory.buffer, at);
    return new TextDecoder().decode(rest.subarray(0, rest.indexOf(0)));
  }
}
