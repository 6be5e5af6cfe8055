// bantam in Cloudflare Workers and other hosts of workerd, which compile modules when a worker is deployed: no engine of
// theirs compiles bytes.
import relaxed from "./bantam-relaxed.wasm";
import simd128 from "./bantam.wasm";

import { bytesOf, check, firstExact } from "./module.js";
import { Model } from "./model.js";

export { BantamError } from "./module.js";
export { Model };

let chosen;

/** A model from an address, a Response, a Blob or its bytes. */
export async function load(source, { module, ...options } = {}) {
  if (module !== undefined) await check(module);
  else chosen ??= firstExact([async () => relaxed, async () => simd128]);
  const bytes = await bytesOf(source);
  return Model.open(module ?? (await chosen), bytes, options);
}
