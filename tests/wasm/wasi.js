// As much of WASI (snapshot preview 1) as a test program needs that reads standard input and writes standard output, in Node and in
// browsers alike.

/** Runs `module`'s _start with the input; returns { status, output }. */
export async function runCommand(module, input = "") {
  const bytes = new TextEncoder().encode(input);
  const parts = [];
  let read = 0;
  let memory;
  const view = () => new DataView(memory.buffer);
  /** The total of what f(pointer, size) returns for each of `count` buffers. */
  const buffers = (list, count, total, f) => {
    let sum = 0;
    for (let i = 0; i < count; ++i)
      sum += f(view().getUint32(list + 8 * i, true), view().getUint32(list + 8 * i + 4, true));
    view().setUint32(total, sum, true);
    return 0;
  };
  class Exit {
    constructor(status) {
      this.status = status;
    }
  }
  const known = {
    fd_write: (_file, list, count, total) =>
      buffers(list, count, total, (at, size) => {
        parts.push(new Uint8Array(memory.buffer, at, size).slice());
        return size;
      }),
    fd_read: (_file, list, count, total) =>
      buffers(list, count, total, (at, size) => {
        const some = bytes.subarray(read, read + size);
        new Uint8Array(memory.buffer).set(some, at);
        read += some.length;
        return some.length;
      }),
    proc_exit: (status) => {
      throw new Exit(status);
    },
  };
  const notImplemented = 52; // ENOSYS
  const imports = new Proxy(known, { get: (all, name) => all[name] ?? (() => notImplemented) });
  const instance = await WebAssembly.instantiate(module, { wasi_snapshot_preview1: imports });
  memory = instance.exports.memory;
  let status = 0;
  try {
    instance.exports._start();
  } catch (error) {
    if (!(error instanceof Exit)) throw error;
    status = error.status;
  }
  return { status, output: await new Blob(parts).text() };
}
