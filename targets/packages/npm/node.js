// bantam in Node: modules from beside this file, models from the file system.
import { readFile } from "node:fs/promises";

import { check, choose } from "./module.js";
import { Model } from "./model.js";

export { BantamError } from "./module.js";
export { Model };

let compiled;

/** A model from a path, a file: URL, a Blob or its bytes. */
export async function load(source, { module, ...options } = {}) {
  if (module !== undefined) await check(module);
  else compiled ??= choose((name) => readFile(new URL(name, import.meta.url)));
  let bytes = source;
  if (typeof source === "string" || source instanceof URL) bytes = await readFile(source);
  else if (typeof source.arrayBuffer === "function") bytes = await source.arrayBuffer();
  return Model.open(module ?? (await compiled), bytes, options);
}
