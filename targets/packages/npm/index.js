// bantam in a browser: modules are fetched from beside this file, models from where the caller says.
import { bytesOf, check, choose } from "./module.js";
import { Model } from "./model.js";

export { BantamError } from "./module.js";
export { Model };

// Bundlers find files by these expressions.
const FILES = {
  "bantam.wasm": () => new URL("./bantam.wasm", import.meta.url),
  "bantam-relaxed.wasm": () => new URL("./bantam-relaxed.wasm", import.meta.url),
  "bantam-relaxed-dot.wasm": () => new URL("./bantam-relaxed-dot.wasm", import.meta.url),
};

let compiled;

function chosen() {
  compiled ??= choose((name) => bytesOf(FILES[name]()));
  compiled.catch(() => (compiled = undefined)); // a network that was away may come back
  return compiled;
}

/** A model from an address, a Response, a File or Blob, or its bytes. */
export async function load(source, { module, ...options } = {}) {
  if (module !== undefined) await check(module);
  const [ready, bytes] = await Promise.all([module ?? chosen(), bytesOf(source)]);
  return Model.open(ready, bytes, options);
}
