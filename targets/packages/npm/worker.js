// A model in a worker of its own: answers the messages of worker-client.js.
import { load } from "./index.js";

const models = new Map();
const indexes = new Map();

const calls = {
  async load({ model, source, options }) {
    const loaded = await load(source, options);
    models.set(model, loaded);
    const { task, labels, name, maxTokens, module, memoryBytes } = loaded;
    return { task, labels, name, maxTokens, module, memoryBytes };
  },
  run: ({ model, input, options }) => models.get(model).run(input, options),
  index: ({ model, index, texts }) => void indexes.set(index, models.get(model).index(texts)),
  search: ({ index, query, top }) => indexes.get(index).search(query, top),
  free: ({ model }) => {
    models.get(model)?.free();
    models.delete(model);
  },
};

self.onmessage = async ({ data: { id, call, ...rest } }) => {
  try {
    self.postMessage({ id, result: await calls[call](rest) });
  } catch (error) {
    self.postMessage({ id, error: { message: error.message, code: error.code } });
  }
};
