// What the npm package is, and what it says of bad files, texts and calls. BANTAM_WASM_TEST as in native.mjs.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { brotliCompressSync, constants } from "node:zlib";

const [packageFolder, , models] = process.env.BANTAM_WASM_TEST.split(":");
const { load, BantamError } = await import(pathToFileURL(join(packageFolder, "node.js")));
const file = join(models, "voice.bantam");
const bytes = readFileSync(file);
const manifest = JSON.parse(readFileSync(join(packageFolder, "package.json"), "utf8"));

const LIMIT = 108 * 1024;

test("modules are small and import nothing", () => {
  for (const name of ["bantam.wasm", "bantam-relaxed.wasm", "bantam-relaxed-dot.wasm"]) {
    const module = readFileSync(join(packageFolder, name));
    const size = brotliCompressSync(module, {
      params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 24 },
    }).length;
    console.log(`${name}: ${module.length} bytes, ${size} with brotli`);
    assert.ok(size <= LIMIT, `${name}: ${size} bytes with brotli`);
    if (WebAssembly.validate(module)) assert.deepEqual(WebAssembly.Module.imports(new WebAssembly.Module(module)), []);
    else assert.match(name, /^bantam-relaxed/);
  }
});

test("a module that the caller compiled", async () => {
  const module = await WebAssembly.compile(readFileSync(join(packageFolder, "bantam.wasm")));
  const model = await load(bytes, { module });
  assert.equal(model.module, "simd128");
  const chosen = await load(bytes);
  const text = "play some jazz from the sixties";
  assert.deepEqual(model.run(text), chosen.run(text));
  model.free();
  chosen.free();
  const empty = new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]));
  for (const wrong of [empty, bytes, {}, "bantam.wasm", null]) {
    await assert.rejects(load(bytes, { module: wrong }), { name: "BantamError", message: /not a WebAssembly.Module of/ });
  }
});

test("the manifest names files that are there, and runs nothing", () => {
  const named = (value) => (typeof value === "string" ? [value] : Object.values(value).flatMap(named));
  for (const path of named(manifest.exports)) assert.ok(readFileSync(join(packageFolder, path)).length > 0, path);
  assert.equal(manifest.scripts, undefined);
  const project = readFileSync(new URL("../../CMakeLists.txt", import.meta.url), "utf8");
  assert.equal(manifest.version, project.match(/project\(bantam VERSION ([\d.]+)/)[1]);
  assert.equal(manifest.type, "module");
  for (const name of readdirSync(packageFolder).filter((name) => name.endsWith(".js"))) {
    assert.doesNotMatch(readFileSync(join(packageFolder, name), "utf8"), /\beval\(|new Function|innerHTML/, name);
  }
});

test("npm pack", { skip: spawnSync("npm", ["--version"]).status !== 0 && "npm is not installed" }, () => {
  const done = spawnSync("npm", ["pack", "--dry-run", "--json", "--offline"], { cwd: packageFolder, encoding: "utf8" });
  assert.equal(done.status, 0, done.stderr);
  const answer = JSON.parse(done.stdout);
  const [packed] = Array.isArray(answer) ? answer : Object.values(answer);
  const names = packed.files.map(({ path }) => path).sort();
  assert.deepEqual(names, readdirSync(packageFolder).sort());
});

test("a file that is cut, at any place, is refused", async () => {
  for (const size of [0, 1, 7, 63, 64, 100, 4096, bytes.length >> 1, bytes.length - 1]) {
    await assert.rejects(
      load(bytes.subarray(0, size)),
      (error) => error instanceof BantamError && error.code > 0,
      `${size} bytes`,
    );
  }
});

test("what is not a model is refused", async () => {
  await assert.rejects(load(new TextEncoder().encode("<!doctype html><title>Not found</title>".repeat(10))), {
    code: 4,
  });
  await assert.rejects(load(new ArrayBuffer(4096)), BantamError);
  await assert.rejects(load("/nonexistent.bantam"), { code: "ENOENT" });
});

test("damaged files are refused or answer, and never trap", async () => {
  const small = readFileSync(join(models, "bert-tag.bantam"));
  let state = 1;
  const random = (n) => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) % n;
  for (let round = 0; round < 300; ++round) {
    const damaged = Uint8Array.from(small);
    for (let i = 0; i < 3; ++i) damaged[random(Math.min(damaged.length, 16384))] = random(256);
    try {
      (await load(damaged, { maxTokens: 32 })).outputsOfIds([1, 2, 3]);
    } catch (error) {
      assert.ok(error instanceof BantamError, `round ${round}: ${error.stack}`);
    }
  }
});

test("inputs that no task takes", async () => {
  const model = await load(file);
  for (const input of [undefined, null, 7, {}, [3], { text: 5 }, { text: "a", pair: 5 }])
    assert.throws(() => model.run(input), BantamError);
  assert.deepEqual(model.run([]), []);
  assert.throws(() => model.outputsOfIds([]), BantamError);
  assert.throws(() => model.outputsOfIds([-1]), BantamError);
  assert.throws(() => model.outputsOfIds([1 << 30]), BantamError);
  assert.throws(() => model.outputsOfIds(new Array(5000).fill(1)), BantamError);
  assert.equal(model.run("turn it up").intent.label, model.run("turn it up").intent.label);
});

test("long texts are cut and say so; texts beyond any limit are refused", async () => {
  const model = await load(file);
  assert.equal(model.run("play jazz ".repeat(10000)).truncated, true);
  assert.equal(model.run("play jazz").truncated, false);
  const lone = model.run("play \ud800 jazz 🎷 x");
  for (const { text, start, end } of lone.slots) assert.equal("play \ud800 jazz 🎷 x".slice(start, end), text);
  await assert.rejects(load(file, { maxTokens: 1e9 }), BantamError);
});

test("answers do not depend on their neighbours, or on the size of batches", async () => {
  const texts = Array.from({ length: 40 }, (_, i) => `play song number ${i} ${"again ".repeat(i % 7)}`.trim());
  const alone = await load(file, { batch: 1 });
  const together = await load(file, { batch: 16, maxTokens: 64 });
  assert.deepEqual(
    together.run(texts),
    texts.map((text) => alone.run(text)),
  );
});

test("a model that was freed", async () => {
  const model = await load(file);
  model.free();
  model.free();
  assert.throws(() => model.run("play jazz"), /freed/);
  assert.throws(() => model.outputsOfIds([1]), /freed/);
});

test("the examples of the documents", () => {
  const folder = mkdtempSync(join(tmpdir(), "bantam-"));
  try {
    mkdirSync(join(folder, "node_modules"));
    symlinkSync(resolve(packageFolder), join(folder, "node_modules", "bantam"));
    copyFileSync(file, join(folder, "voice-commands.bantam"));
    copyFileSync(join(models, "minilm-multilingual.bantam"), join(folder, "minilm.bantam"));
    let ran = 0;
    const documents = ["../../docs/web.md", "../../docs/start-browser.md", "../../targets/packages/npm/README.md"];
    for (const document of documents) {
      for (const [, code] of readFileSync(new URL(document, import.meta.url), "utf8").matchAll(/```js\n(.*?)```/gs)) {
        if (code.includes("bantam/worker")) continue; // test_browser.py has a worker
        writeFileSync(join(folder, "example.mjs"), code);
        const done = spawnSync("node", ["example.mjs"], { cwd: folder, encoding: "utf8" });
        assert.equal(done.status, 0, done.stderr);
        assert.match(done.stdout, /PlayMusic|index: \d/);
        ++ran;
      }
    }
    assert.equal(ran, 4);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("search finds the nearest text", async () => {
  const model = await load(join(models, "minilm-multilingual.bantam"), { maxTokens: 64 });
  const texts = ["one two three", "a cat", "the sea is blue", ""];
  const index = model.index(texts);
  for (const [i, text] of texts.entries()) {
    if (text === "") continue;
    const [best] = index.search(text, 1);
    assert.equal(best.index, i);
    assert.ok(Math.abs(best.score - 1) < 1e-6);
  }
  assert.equal(index.search("a cat", 10).length, texts.length);
});
