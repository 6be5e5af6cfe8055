// The npm package in Bun, Deno and workerd (Cloudflare Workers): the answers are the command's, bit for bit. A host that
// is not in BANTAM_WASM_HOSTS, a folder of node_modules, is skipped. BANTAM_WASM_TEST as in native.mjs.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import test from "node:test";

const [packageFolder, command, models] = process.env.BANTAM_WASM_TEST.split(":").map((path) => resolve(path));
const hosts = process.env.BANTAM_WASM_HOSTS ?? "";
const file = join(models, "voice.bantam");
const texts = readFileSync(new URL("../../models/voice-commands/commands.txt", import.meta.url), "utf8")
  .trimEnd()
  .split("\n");

const slot = ({ label, text, start, end, score }) => [label, text, start, end, Math.fround(score)];
const form = ({ intent, labels, slots }) => ({
  intent: [intent.label, Math.fround(intent.score)],
  labels: labels.map(({ label, score }) => [label, Math.fround(score)]),
  slots: slots.map(slot),
});
const expected = execFileSync(command, ["run", file, "--json", "--offsets", "utf16", "--", ...texts], { encoding: "utf8" })
  .trimEnd()
  .split("\n")
  .map((line) => form(JSON.parse(line)));

const program = (name) => join(hosts, ".bin", name);
const missing = (name) =>
  !existsSync(program(name)) && `${name}: not installed; \`./dev test all\` installs it`;

/** A folder with the package as an application has it, removed after the test. */
function application(t) {
  const folder = mkdtempSync(join(tmpdir(), "bantam-hosts-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(packageFolder, join(folder, "node_modules", "bantam"), { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  writeFileSync(
    join(folder, "main.js"),
    `import { load } from "bantam";
const model = await load(process.argv[2]);
console.log(JSON.stringify({ module: model.module, answers: model.run(${JSON.stringify(texts)}) }));
`,
  );
  return folder;
}

function same(printed, modules) {
  const { module, answers } = JSON.parse(printed);
  console.log(`module: ${module}`);
  assert.ok(modules.includes(module), module);
  assert.deepEqual(answers.map(form), expected);
}

test("Bun", { skip: missing("bun") }, (t) => {
  const folder = application(t);
  // JavaScriptCore rounds relaxed multiply-add twice; its relaxed dot product is exact.
  same(execFileSync(program("bun"), ["main.js", file], { cwd: folder, encoding: "utf8" }), ["relaxed-dot", "simd128"]);
});

test("Deno", { skip: missing("deno") }, (t) => {
  const folder = application(t);
  const options = ["run", "--no-remote", "--allow-read", "main.js", file];
  same(execFileSync(program("deno"), options, { cwd: folder, encoding: "utf8" }), ["relaxed", "relaxed-dot", "simd128"]);
});

/** What workerd is to run: the package's files as modules of the Worker, whose body is `script`. */
function configuration(folder, script) {
  writeFileSync(join(folder, "worker.js"), script);
  const files = readdirSync(packageFolder).filter((name) => /\.(js|wasm)$/.test(name));
  const modules = files.map(
    (name) => `(name = "bantam/${name}", ${name.endsWith(".js") ? "esModule" : "wasm"} = embed "node_modules/bantam/${name}")`,
  );
  const path = join(folder, "config.capnp");
  writeFileSync(
    path,
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .worker)],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const worker :Workerd.Worker = (
  modules = [
    (name = "worker.js", esModule = embed "worker.js"),
    ${modules.join(",\n    ")},
  ],
  compatibilityDate = "2026-11-01",
);
`,
  );
  return path;
}

/** The port that workerd reports for its socket. */
function listening(child) {
  return new Promise((found, failed) => {
    let errors = "";
    child.stderr.on("data", (data) => (errors += data));
    child.once("error", failed);
    child.once("exit", () => failed(new Error(errors)));
    let reports = "";
    child.stdio[3].on("data", (data) => {
      const port = (reports += data).match(/"port"\s*:\s*(\d+)/);
      if (port) found(Number(port[1]));
    });
  });
}

const WORKER = `
let model;
export default {
  async fetch(request) {
    model ??= await open(await request.arrayBuffer());
    return Response.json({ module: model.module, answers: model.run(${JSON.stringify(texts)}) });
  },
};
`;
for (const [what, head] of [
  ["as its exports are", 'import { load } from "./bantam/workerd.js";\nconst open = (bytes) => load(bytes);'],
  [
    "with a module of the caller",
    'import { load } from "./bantam/index.js";\nimport module from "./bantam/bantam.wasm";\nconst open = (bytes) => load(bytes, { module });',
  ],
]) {
  test(`workerd, ${what}`, { skip: missing("workerd") }, async (t) => {
    const folder = application(t);
    const child = spawn(program("workerd"), ["serve", configuration(folder, head + WORKER), "--control-fd=3"], {
      cwd: folder,
      stdio: ["ignore", "ignore", "pipe", "pipe"],
    });
    t.after(() => child.kill());
    const port = await listening(child);
    const answer = await fetch(`http://127.0.0.1:${port}/`, { method: "POST", body: readFileSync(file) });
    const printed = await answer.text();
    assert.equal(answer.status, 200, printed);
    same(printed, ["relaxed", "simd128"]);
  });
}
