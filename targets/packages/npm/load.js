// load(), as every entry of the package has it: one choice of a module for all models.
import { Model } from "./model.js";
import { check } from "./module.js";

/** load() from how a module is chosen, and how the bytes of a source are read. */
export function loader(choose, read) {
  let chosen;
  const module = () => {
    chosen ??= choose();
    chosen.catch(() => (chosen = undefined)); // a network that was away may come back
    return chosen;
  };
  return async (source, { module: given, ...options } = {}) => {
    if (given !== undefined) await check(given);
    const [ready, bytes] = await Promise.all([given ?? module(), read(source)]);
    return Model.open(ready, bytes, options);
  };
}
