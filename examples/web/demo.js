// Two models in a worker: commands by the model that ships with bantam, search by one of the reader's.
import { load } from "./npm/worker-client.js";

const find = (id) => document.getElementById(id);

/** An element with its class and contents. */
function element(name, className, ...contents) {
  const made = document.createElement(name);
  made.className = className;
  made.append(...contents);
  return made;
}

function score(name, value) {
  const meter = Object.assign(document.createElement("meter"), { min: 0, max: 1, value: Math.max(0, value) });
  meter.setAttribute("aria-label", name);
  return [name, element("output", "", value.toFixed(3)), meter];
}

/** Runs `work` and says how long it took, or why it failed. */
async function report(status, work) {
  status.classList.remove("error");
  try {
    status.textContent = await work();
  } catch (error) {
    status.classList.add("error");
    status.textContent = error.message;
  }
}

async function timed(work) {
  const begin = performance.now();
  const result = await work();
  return [result, performance.now() - begin];
}

// ---- commands
let commands;

function showCommand(text, { intent, slots, labels, outOfScope }) {
  const words = element("p", "words");
  let at = 0;
  for (const { label, start, end } of slots) {
    words.append(text.slice(at, start), element("mark", "", text.slice(start, end), element("small", "", label)));
    at = end;
  }
  words.append(text.slice(at));
  const name = outOfScope ? "not for me" : intent.label;
  const best = labels.slice(0, 3).map(({ label, score: value }) => element("div", "score", ...score(label, value)));
  find("command-answer").replaceChildren(element("p", "intent", name), words, ...best);
}

const understand = () =>
  report(find("command-status"), async () => {
    const text = find("command-text").value.trim();
    if (text === "") return "Write a command.";
    const [answer, time] = await timed(() => commands.run(text));
    showCommand(text, answer);
    return `${time.toFixed(1)} ms · ${(commands.memoryBytes / 1e6).toFixed(1)} MB · ${commands.module}`;
  });

find("command").addEventListener("submit", (event) => {
  event.preventDefault();
  if (commands) understand();
});
for (const example of document.querySelectorAll(".example")) {
  example.addEventListener("click", () => {
    find("command-text").value = example.textContent;
    if (commands) understand();
  });
}

// ---- search
let embedder;
let indexed = { texts: "" };

find("search-file").addEventListener("change", ({ target }) =>
  report(find("search-status"), async () => {
    const [file] = target.files;
    if (!file) return "No model yet.";
    const model = await load(file, { maxTokens: 256 });
    if (model.task !== "embed") {
      await model.free();
      throw new Error(`${file.name} is for the task "${model.task}"; convert it with --task embed`);
    }
    await embedder?.free();
    embedder = model;
    indexed = { texts: "" };
    document.querySelector("#search button").disabled = false;
    return `${file.name} is ready.`;
  }),
);

find("search").addEventListener("submit", (event) => {
  event.preventDefault();
  if (!embedder) return;
  report(find("search-status"), async () => {
    const texts = find("search-texts").value;
    const lines = texts
      .split("\n")
      .map((line) => line.trim())
      .filter(Boolean);
    if (texts !== indexed.texts) indexed = { texts, index: await embedder.index(lines) };
    const [found, time] = await timed(() => indexed.index.search(find("search-query").value, 5));
    const items = found.map(({ text, score: value }) => element("li", "score", ...score(text, value)));
    find("search-answer").replaceChildren(...items);
    return `${lines.length} texts, ${time.toFixed(1)} ms`;
  });
});

await report(find("command-status"), async () => {
  commands = await load("voice-commands.bantam");
  document.querySelector("#command button").disabled = false;
  await understand();
  return find("command-status").textContent;
});
document.documentElement.dataset.ready = "yes";
