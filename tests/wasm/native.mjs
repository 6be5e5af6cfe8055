// Answers of the npm package beside those of the command, bit for bit, of every file that tests/cli has converted. BANTAM_WASM_TEST names
// the package's folder, the command and the folder of files, with colons between them.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";

const [packageFolder, command, models] = process.env.BANTAM_WASM_TEST.split(":");
const { load } = await import(pathToFileURL(join(packageFolder, "node.js")));

const TEXTS = [
  "play some jazz by miles davis",
  "wake me at seven 🎷 in Zürich",
  "a",
  "日本語 and “quotes”",
  "the ".repeat(40).trim(),
  "x\u0301 y\r\nz",
];
const SECOND = "the other 🎷 one";
const OP_NOT_LINKED = 9;
// A module without Big Bird's mask does not know the lists that such a file has, and takes them for damage.
const CORRUPT = 7;
// What the module leaves out: targets/wasm/linked.h.
const LEFT_OUT =
  /voice-static|vit|dinov2|deit|clip-vision|siglip|longformer|big-bird|performer|linformer|reformer|retro|seq2seq|mixtral|moe|switch|experts|aria|flex-olmo|mellum|transfo|evolved|nplm|elmo|recurrent|gliner|bart|mvp|marian|m2m|t5|pegasus|blenderbot|unilm|fsmt|led-|seamless|nystrom|hy-v3|minimax|kolibri|solar|flint|granite-swa|convbert|mamba|rwkv|gpt-oss|lfm2|llama4|privacy-filter|fnet/;

/** What the command prints, a JSON object a line. */
function native(model, options, texts) {
  const output = execFileSync(
    command,
    ["run", join(models, `${model}.bantam`), ...options, ...(texts.length > 0 ? ["--", ...texts] : [])],
    { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] },
  );
  return output
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}
const scores = (labels) => labels.map(({ label, score }) => [label, Math.fround(score)]);
const places = (entities) =>
  entities.map(({ label, text, start, end, score }) => [label, text, start, end, Math.fround(score)]);

/** Both answers in one form. */
function form(answer) {
  const same = { truncated: answer.truncated };
  if (answer.labels) same.labels = scores(answer.labels);
  if (answer.selected !== undefined) same.selected = answer.selected;
  if (answer.intent) same.intent = scores([answer.intent]);
  if (answer.slots) same.slots = places(answer.slots);
  if (answer.entities) same.entities = places(answer.entities);
  if (answer.embedding) same.embedding = Array.from(answer.embedding, Math.fround);
  if (answer.candidates) same.candidates = answer.candidates.map(({ id, score }) => [id, Math.fround(score)]);
  if (answer.answer !== undefined)
    same.answer = [answer.answer, answer.start, answer.end, Math.fround(answer.score), answer.answerable];
  for (const [name, set] of Object.entries(answer.sets ?? {})) (same.sets ??= {})[name] = form(set);
  return same;
}

/** Options of the command and inputs of the package that ask a task for the same. */
function asked(task) {
  if (task === "answer")
    return [["--question", "who is it?"], TEXTS.map((context) => ({ question: "who is it?", context }))];
  if (task === "choose")
    return [["--pair", SECOND, "--pair", "two"], TEXTS.map((text) => ({ text, choices: [SECOND, "two"] }))];
  if (task === "next_sentence") return [["--pair", SECOND], TEXTS.map((text) => ({ text, pair: SECOND }))];
  if (task === "find") return [["--labels", "place,a thing"], TEXTS];
  return [[], TEXTS];
}

/** The graph's outputs, where a task has no answers here or texts are not the file's to split. */
function sameOutputs(found, printed, what) {
  const outputs = printed.outputs ?? printed;
  for (const { name, data } of found) {
    assert.deepEqual(Array.from(data), outputs[name].data.map(Math.fround), `${what}: ${name}`);
  }
}
function checkOutputs(name, model) {
  const expected = native(name, ["--raw"], TEXTS);
  for (const [i, found] of model.outputs(TEXTS).entries()) sameOutputs(found, expected[i], `${name}: ${TEXTS[i]}`);
}
function checkIds(name, model) {
  for (const count of [1, 5, 11]) {
    const ids = Array.from({ length: count }, (_, i) => (7 * i) % 29);
    const [printed] = native(name, ["--ids", ids.join()], []);
    sameOutputs(model.outputsOfIds(ids), printed, `${name}: ${ids}`);
  }
}

function checkAnswers(name, model) {
  const masked = ["fill", "pretraining"].includes(model.task);
  let [options, inputs] = asked(model.task);
  let texts = TEXTS;
  if (masked) {
    const mask = /roberta|xlm|camembert|mpnet|modernbert|jina-code|xlnet|deberta-fill/.test(name) ? "<mask>" : "[MASK]";
    texts = inputs = TEXTS.filter((text) => text.length < 100).map((text) => `${text} ${mask}`);
  }
  const places = ["tag", "joint", "answer", "find"].includes(model.task) ? ["--offsets", "utf16"] : [];
  const expected = native(name, ["--json", ...places, ...options], texts);
  const labels = ["place", "a thing"];
  const together = model.run(inputs, { labels }).map(form);
  for (const [i, text] of texts.entries()) {
    assert.deepEqual(together[i], form(expected[i]), `${name}: ${text}`);
    assert.deepEqual(form(model.run(inputs[i], { labels })), together[i], `${name}, alone: ${text}`);
  }
}

test("every line of commands.txt", async () => {
  const file = new URL("../../models/voice-commands/commands.txt", import.meta.url);
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  const model = await load(join(models, "voice.bantam"));
  assert.equal(model.task, "joint");
  const expected = native("voice", ["--json", "--offsets", "utf16"], lines).map(form);
  assert.equal(expected.length, lines.length);
  assert.deepEqual(model.run(lines).map(form), expected);
});

let answered = 0;
for (const name of readdirSync(models)
  .filter((file) => file.endsWith(".bantam"))
  .map((file) => basename(file, ".bantam"))) {
  test(name, async (context) => {
    let model;
    try {
      model = await load(join(models, `${name}.bantam`));
    } catch (error) {
      // Constants of attention that the module does not link are inputs that no field names.
      const unnamed = /^(big-bird|flint|gpt-oss|granite-swa|granitemoe-swa|privacy-filter)/.test(name);
      assert.equal(error.code, unnamed ? CORRUPT : OP_NOT_LINKED, `${name}: ${error.message}`);
      assert.match(name, LEFT_OUT, `${name} is left out: ${error.message}`);
      return context.skip("left out of the module");
    }
    if (!model.hasTokenizer) checkIds(name, model);
    else if (["none", "generate", "token_vectors"].includes(model.task)) checkOutputs(name, model);
    else checkAnswers(name, model);
    model.free();
    ++answered;
  });
}
test("most models are there", () => assert.ok(answered > 100, `${answered} models`));
