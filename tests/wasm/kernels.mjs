// The kernels' random calls in Node: kernels.mjs MODULE HASHES. 8 seeds give the hashes of every machine, more agree with the reference.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

import { runCommand } from "./wasi.js";

const module = new WebAssembly.Module(readFileSync(process.argv[2]));
const { status, output } = await runCommand(module, "8\n");
assert.equal(output, readFileSync(process.argv[3], "utf8"));
assert.equal(status, 0);
const more = await runCommand(module, "100\n");
assert.match(more.output, /\n0 failures\n$/);
console.log("the same bits in", output.trimEnd().split("\n").length - 1, "kernels");
