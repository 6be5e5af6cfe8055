// bantam in Node: modules from beside this file, models from the file system.
import { readFile } from "node:fs/promises";

import { loader } from "./load.js";
import { choose } from "./module.js";

export { BantamError } from "./module.js";
export { Model } from "./model.js";

async function read(source) {
  if (typeof source === "string" || source instanceof URL) return readFile(source);
  return typeof source.arrayBuffer === "function" ? source.arrayBuffer() : source;
}

/** A model from a path, a file: URL, a Blob or its bytes. */
export const load = loader(() => choose((name) => readFile(new URL(name, import.meta.url))), read);
