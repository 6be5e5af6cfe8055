// The WebAssembly module: which one this engine gets, and one instance with its memory.

/** What the library refuses, with its status (bantam/status.h) as `code`. */
export class BantamError extends Error {
  constructor(message, code = 0) {
    super(message);
    this.name = "BantamError";
    this.code = code;
  }
}

// A function of one i32x4.relaxed_dot_i8x16_i7x16_add_s: engines without relaxed SIMD say that it is not valid.
const RELAXED = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 8, 1, 96, 3, 123, 123, 123, 1, 123, 3, 2, 1, 0, 10, 13, 1, 11, 0, 32, 0, 32, 1, 32, 2,
  253, 147, 2, 11,
]);

/**
 * Relaxed SIMD where the engine has it and passes the module's own test, so that answers have the native bits; else SIMD128.
 * `bytesOf` gives a file of the package.
 */
export async function choose(bytesOf) {
  if (WebAssembly.validate(RELAXED)) {
    const relaxed = await WebAssembly.compile(await bytesOf("bantam-relaxed.wasm"));
    if ((await Instance.of(relaxed)).x.self_test()) return { module: relaxed, name: "relaxed" };
  }
  return { module: await WebAssembly.compile(await bytesOf("bantam.wasm")), name: "simd128" };
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
