// bantam in a browser: modules are fetched from beside this file, models from where the caller says.
import { choose } from "./module.js";
import { Model } from "./model.js";

export { BantamError } from "./module.js";
export { Model };

/** The bytes at an address, a Response, a Blob or a buffer. */
async function bytesOf(source) {
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) return source;
  const response = typeof source === "string" || source instanceof URL ? await fetch(source) : source;
  if (response.ok === false) throw new Error(`${response.url}: ${response.status} ${response.statusText}`);
  return response.arrayBuffer();
}

let compiled;

/** A model from an address, a Response, a File or Blob, or its bytes. */
export async function load(source, options = {}) {
  compiled ??= choose((name) =>
    bytesOf(
      name === "bantam.wasm"
        ? new URL("./bantam.wasm", import.meta.url)
        : new URL("./bantam-relaxed.wasm", import.meta.url),
    ),
  );
  compiled.catch(() => (compiled = undefined)); // a network that was away may come back
  const [module, bytes] = await Promise.all([compiled, bytesOf(source)]);
  return Model.open(module, bytes, options);
}
