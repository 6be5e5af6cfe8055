// bantam in Cloudflare Workers and other hosts of workerd, which compile modules when a worker is deployed: none of them
// compiles bytes.
import relaxed from "./bantam-relaxed.wasm";
import simd128 from "./bantam.wasm";

import { loader } from "./load.js";
import { bytesOf, firstExact } from "./module.js";

export { BantamError } from "./module.js";
export { Model } from "./model.js";

/** A model from an address, a Response, a Blob or its bytes. */
export const load = loader(() => firstExact([async () => relaxed, async () => simd128]), bytesOf);
