// bantam in a browser: modules are fetched from beside this file, models from where the caller says.
import { loader } from "./load.js";
import { bytesOf, choose } from "./module.js";

export { BantamError } from "./module.js";
export { Model } from "./model.js";

// Bundlers find files by these expressions.
const FILES = {
  "bantam.wasm": () => new URL("./bantam.wasm", import.meta.url),
  "bantam-relaxed.wasm": () => new URL("./bantam-relaxed.wasm", import.meta.url),
  "bantam-relaxed-dot.wasm": () => new URL("./bantam-relaxed-dot.wasm", import.meta.url),
};

/** A model from an address, a Response, a File or Blob, or its bytes. */
export const load = loader(() => choose((name) => bytesOf(FILES[name]())), bytesOf);
