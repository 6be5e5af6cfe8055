// The same calls, answered by a worker, so that a page stays responsive: everything is a promise.
import { BantamError } from "./module.js";

let worker;
let count = 0;
const waiting = new Map();

function ask(call, rest) {
  if (worker === undefined) {
    worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
    worker.onmessage = ({ data: { id, result, error } }) => {
      const { resolve, reject } = waiting.get(id);
      waiting.delete(id);
      if (error) reject(new BantamError(error.message, error.code));
      else resolve(result);
    };
    worker.onerror = (event) => {
      for (const { reject } of waiting.values()) reject(new BantamError(event.message ?? "the worker could not start"));
      waiting.clear();
    };
  }
  const id = ++count;
  return new Promise((resolve, reject) => {
    waiting.set(id, { resolve, reject });
    worker.postMessage({ id, call, ...rest });
  });
}

/** As load() of the package. An address is the page's, a buffer is copied. */
export async function load(source, options = {}) {
  const model = ++count;
  const where = typeof source === "string" || source instanceof URL ? new URL(source, document.baseURI).href : source;
  const about = await ask("load", { model, source: where, options });
  return {
    ...about,
    run: (input, given = {}) => ask("run", { model, input, options: given }),
    async index(texts = []) {
      const index = ++count;
      await ask("index", { model, index, texts });
      return { search: (query, top) => ask("search", { index, query, top }) };
    },
    free: () => ask("free", { model }),
  };
}
