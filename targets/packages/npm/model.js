// A model: texts in, answers out. Places in texts are UTF-16 units, as JavaScript counts them.
import { BantamError, Instance } from "./module.js";
import { Index } from "./search.js";

// In the order of bantam::TaskKind.
const TASKS = [
  "none",
  "classify",
  "multi_label",
  "regress",
  "choose",
  "tag",
  "joint",
  "answer",
  "embed",
  "fill",
  "next_sentence",
  "pretraining",
  "token_vectors",
  "generate",
  "find",
];
const LABELS = ["classify", "multi_label", "regress", "joint"];
const ROLES = ["plain", "query", "document"]; // bantam::TextRole
const SUPPORTED = [...LABELS, "choose", "tag", "answer", "embed", "fill", "pretraining", "next_sentence", "find"];
// Of bantam::Status.
const INVALID_ARGUMENT = 1,
  TOO_MANY_TOKENS = 10,
  TOO_MANY_SEQUENCES = 11,
  INDEX_OUT_OF_RANGE = 12,
  BUFFER_TOO_SMALL = 17;
const OWN_SET = 0xffffffff;
// How labels of tokens become entities: the numbers of bantam/tasks.h.
const AGGREGATIONS = { words: 0, none: 1, simple: 2, first: 3, average: 4, max: 5, file: 255 };
const RECORD = 32; // bytes of one answer, at most

const encoder = new TextEncoder();

/** UTF-16 units in front of byte `end` of the UTF-8 text. */
function units(utf8, end) {
  let count = 0;
  for (let i = 0; i < end; ++i) count += (utf8[i] & 0xc0) === 0x80 ? 0 : utf8[i] >= 0xf0 ? 2 : 1;
  return count;
}

export class Model {
  #m;
  #scratch;
  #batch;
  #prompts;
  #answers;
  #width;

  /** @internal: load() of the package is the way to a model. */
  static async open(module, source, { maxTokens, batch = 8 } = {}) {
    const bytes = ArrayBuffer.isView(source)
      ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
      : new Uint8Array(source);
    const self = new Model();
    const m = (self.#m = await Instance.of(module));
    const file = m.take(bytes.length);
    m.bytes(file, bytes.length).set(bytes);
    self.#scratch = m.take(64);
    self.#check(m.x.open(file, bytes.length), true);
    m.x.describe(self.#scratch);
    const [task, longest, sets, ownSets, outputs, tokenizer] = m.words(self.#scratch, 6);
    const text = (f, ...args) => (f(...args, self.#scratch), m.text(self.#scratch));
    self.#batch = batch;
    self.#prompts = ROLES.map((_, role) => text(m.x.prompt, role));
    self.module = m.message(m.x.variant());
    self.task = TASKS[task] ?? "none";
    self.name = text(m.x.model_name);
    self.similarity = text(m.x.similarity) || "cosine";
    self.maxTokens = maxTokens ?? (longest || 512);
    self.hasTokenizer = tokenizer !== 0;
    self.outputNames = Array.from({ length: outputs }, (_, i) => text(m.x.output_name, i));
    // A file may name no labels; its task's sets are there all the same.
    self.sets = Array.from({ length: Math.max(sets, ownSets) }, (_, set) => ({
      name: set < sets ? text(m.x.label_set_name, set) : "",
      further: set >= ownSets,
      levels: set < sets && m.x.has_levels(set) !== 0,
      labels: Array.from({ length: set < sets ? m.x.label_count(set) : 0 }, (_, i) => text(m.x.label, set, i)),
    }));
    const rows = self.task === "choose" ? self.maxTokens * batch : self.maxTokens; // all choices are one pass
    const arenaBytes = m.x.arena_bytes(rows, batch);
    const arena = m.take(arenaBytes);
    self.memoryBytes = bytes.length + arenaBytes;
    self.#check(m.x.create(arena, arenaBytes, rows, batch), true);
    self.#scratch = m.take(0);
    return self;
  }

  /** The labels of the task's first set. */
  get labels() {
    return this.sets[0]?.labels ?? [];
  }

  /** The answer to a text, or the answers to a list of them: see docs/web.md for what each task answers. */
  run(input, options = {}) {
    if (!SUPPORTED.includes(this.task))
      throw new BantamError(
        `run() does not answer for files of the task "${this.task}"; outputs() gives their numbers`,
      );
    const answers = this.#each(input, options, (sequence, one) => this.#answer(sequence, one, options));
    for (const answer of [answers].flat()) {
      if (answer.embedding?.length === 0)
        answer.embedding = new Float32Array((this.#width ??= this.run("a").embedding.length));
    }
    return answers;
  }

  /** The graph's outputs for a text, or for each of a list. */
  outputs(input, options = {}) {
    return this.#each(input, options, (sequence) => this.outputNames.map((name, i) => this.#output(name, i, sequence)));
  }

  /** The same of token ids. */
  outputsOfIds(ids) {
    const m = this.#alive();
    const at = this.#scratch,
      end = at + 4 * ids.length;
    m.reach(end);
    new Int32Array(m.memory.buffer, at, ids.length).set(ids);
    this.#check(m.x.run_ids(at, ids.length));
    this.#answers = Math.ceil(end / 8) * 8;
    return this.outputNames.map((name, i) => this.#output(name, i, 0));
  }

  /** Vectors of texts, and the texts nearest to a query among them. */
  index(texts = []) {
    return new Index(this, texts);
  }

  /** Gives the memory back. What is called afterwards throws. */
  free() {
    this.#m = undefined;
  }

  #alive() {
    if (this.#m === undefined) throw new BantamError("the model was freed");
    return this.#m;
  }

  #check(status, file = false) {
    if (status === 0) return;
    const m = this.#m;
    const what = file ? m.message(m.x.fault(this.#scratch)) : "";
    const name = what ? m.text(this.#scratch) : "";
    const detail = what ? `: ${what}${name ? ` (${name})` : ""}` : "";
    throw new BantamError(m.message(m.x.status_message(status)) + detail, status);
  }

  #each(input, options, answer) {
    this.#alive();
    const list = (Array.isArray(input) ? input : [input]).map((one) => this.#parts(one, options.role));
    const answers = [];
    while (answers.length < list.length) answers.push(...this.#pass(list, answers.length, options, answer));
    return Array.isArray(input) ? answers : answers[0];
  }

  /** A text, { text, pair }, { question, context } or { text, choices } as texts of UTF-8. */
  #parts(input, role = "plain") {
    const given = typeof input === "string" ? { text: input } : input;
    const first = given?.text ?? given?.question;
    const seconds = given?.choices ?? [given?.pair ?? given?.context];
    if (typeof first !== "string" || seconds.some((text) => text !== undefined && typeof text !== "string")) {
      throw new BantamError(
        "a text, { text, pair }, { question, context } or { text, choices } is wanted",
        INVALID_ARGUMENT,
      );
    }
    if (this.task === "choose" && seconds[0] === undefined)
      throw new BantamError("a file of the task choose wants { text, choices }", INVALID_ARGUMENT);
    if (this.task === "answer" && seconds[0] === undefined)
      throw new BantamError("a file of the task answer wants { question, context }", INVALID_ARGUMENT);
    if (!ROLES.includes(role)) throw new BantamError(`role: ${role} is none of ${ROLES.join(", ")}`, INVALID_ARGUMENT);
    const text = this.#prompts[ROLES.indexOf(role)] + first;
    return {
      text: first,
      second: seconds[0],
      choices: given.choices,
      first: encoder.encode(text),
      seconds: seconds.map((s) => (s === undefined ? undefined : encoder.encode(s))),
    };
  }

  /** As many of the texts from `begin` on as the session takes at a time. */
  #pass(list, begin, options, answer) {
    const { x } = this.#m;
    x.clear();
    let end = this.#scratch; // texts follow each other, then answers
    const added = [];
    let sequences = 0;
    for (let i = begin; i < list.length && added.length < this.#batch; ++i) {
      const one = { ...list[i], sequence: sequences };
      let status = 0;
      one.at = this.#put(one.first, end);
      end = one.at + one.first.length;
      for (const second of one.seconds) {
        const at = second && this.#put(second, end);
        if (second) end = at + second.length;
        status =
          this.task === "find"
            ? this.#addLabelled(one, options, end)
            : x.add(one.at, one.first.length, at ?? 0, second?.length ?? 0);
        if (status !== 0) break;
        ++sequences;
      }
      if (added.length > 0 && (status === TOO_MANY_TOKENS || status === TOO_MANY_SEQUENCES)) break;
      // The tokenizer finds no token in it: the vector of nothing is 0.
      if (status === INVALID_ARGUMENT && this.task === "embed") one.sequence = -1;
      else this.#check(status);
      added.push(one);
      if (one.choices) break;
    }
    if (sequences > 0) this.#check(x.run());
    return added.map((one) => {
      this.#answers = Math.ceil(end / 8) * 8;
      return answer(one.sequence, one);
    });
  }

  #put(utf8, at) {
    this.#m.reach(at + utf8.length + 1);
    this.#m.bytes(at, utf8.length).set(utf8);
    return at;
  }

  #addLabelled(one, { labels }, end) {
    if (!Array.isArray(labels) || labels.length === 0)
      throw new BantamError("a file of the task find wants { labels: [...] }", INVALID_ARGUMENT);
    const list = Math.ceil(end / 8) * 8;
    let at = list + 8 * labels.length;
    for (const [i, label] of labels.entries()) {
      const utf8 = encoder.encode(label);
      this.#put(utf8, at);
      this.#m.words(list + 8 * i, 2).set([at, utf8.length]);
      at += utf8.length;
    }
    return this.#m.x.add_labelled(one.at, one.first.length, list, labels.length);
  }

  /** The records that f(address, capacity, address of the count, of a further number) writes, each as `read` makes it of words and floats. */
  #records(capacity, size, f, read) {
    const m = this.#m;
    for (;;) {
      const counts = this.#answers,
        at = counts + 8;
      m.reach(at + capacity * RECORD);
      const status = f(at, capacity, counts, counts + 4);
      if (status === BUFFER_TOO_SMALL) {
        capacity *= 4;
        continue;
      }
      if (status === INDEX_OUT_OF_RANGE) return undefined;
      this.#check(status);
      const [count, above] = m.words(counts, 2);
      const records = Array.from({ length: count }, (_, i) =>
        read(m.words(at + 4 * size * i, size), m.floats(at + 4 * size * i, size), at + 4 * size * i),
      );
      return Object.assign(records, { above });
    }
  }

  #labelled(sequence, set, top) {
    const { labels } = this.sets[set];
    const capacity = top || labels.length || 256;
    const found = this.#records(
      capacity,
      2,
      (at, n, count, above) => this.#m.x.classify(sequence, set, at, n, count, above),
      (words, floats) => ({ label: labels[words[0]] ?? `LABEL_${words[0]}`, score: floats[1] }),
    );
    const several = this.task === "multi_label";
    const answer = { labels: [...found] };
    if (several || this.sets[set].levels) answer.selected = found.above;
    if (found.above === 0 && !several) answer.outOfScope = true;
    return answer;
  }

  #entities(one, f, name) {
    const text = one.text;
    return [
      ...this.#records(32, 6, f, (words, floats, at) => {
        const start = units(one.first, words[3]),
          end = units(one.first, words[4]);
        return {
          label: name?.[words[0]] ?? this.#m.text(at + 4),
          text: text.slice(start, end),
          start,
          end,
          score: floats[5],
        };
      }),
    ];
  }

  #tagged(sequence, one, set, { aggregation = "file" }) {
    const how = AGGREGATIONS[aggregation];
    if (!Object.hasOwn(AGGREGATIONS, aggregation))
      throw new BantamError(
        `aggregation: "${aggregation}" is not one of none, simple, first, average, max and words`,
        INVALID_ARGUMENT,
      );
    return this.#entities(one, (at, n, count) =>
      this.#m.x.tag(sequence, set, how, one.at, one.first.length, at, n, count),
    );
  }

  #answer(sequence, one, options) {
    const { x } = this.#m;
    const truncated = sequence >= 0 && x.truncated(sequence) !== 0;
    const task = {
      tag: "tag",
      joint: "joint",
      answer: "span",
      embed: "embed",
      fill: "fill",
      pretraining: "fill",
      next_sentence: "next",
      find: "find",
      choose: "choose",
    }[this.task];
    const answer = {};
    if (LABELS.includes(this.task)) Object.assign(answer, this.#labelled(sequence, 0, options.top ?? 5));
    if (task === undefined) Object.assign(answer, { label: answer.labels[0]?.label, score: answer.labels[0]?.score });
    if (task === "joint") {
      const { label, score } = answer.labels[0];
      Object.assign(answer, { intent: { label, score }, slots: this.#tagged(sequence, one, OWN_SET, options) });
    }
    if (task === "tag") answer.entities = this.#tagged(sequence, one, OWN_SET, options);
    if (task === "find") {
      const { threshold = 0, nested = false, several = false, labels } = options;
      answer.entities = this.#entities(
        one,
        (at, n, count) => x.find(sequence, threshold, nested ? 1 : 0, several ? 1 : 0, at, n, count),
        labels,
      );
    }
    if (task === "span") Object.assign(answer, this.#span(sequence, one));
    if (task === "embed") answer.embedding = this.#embedding(sequence);
    if (task === "fill") Object.assign(answer, this.#masks(sequence, one, options.top ?? 5));
    if (task === "next" || (this.task === "pretraining" && one.second !== undefined))
      answer.labels = this.#next(sequence);
    if (task === "choose") {
      answer.labels = [
        ...this.#records(
          one.choices.length,
          2,
          (at, n, count) => x.choose(one.choices.length, at, n, count),
          (words, floats) => ({ label: one.choices[words[0]], index: words[0], score: floats[1] }),
        ),
      ];
    }
    for (const [set, { name, further }] of this.sets.entries()) {
      if (!further) continue;
      const found =
        this.task === "tag"
          ? { entities: this.#tagged(sequence, one, set, options) }
          : this.#labelled(sequence, set, options.top ?? 5);
      (answer.sets ??= {})[name] = found;
    }
    answer.truncated = truncated;
    return answer;
  }

  #span(sequence, one) {
    const m = this.#m;
    m.reach(this.#answers + 16);
    this.#check(m.x.answer(sequence, this.#answers));
    const [begin, end, , answerable] = m.words(this.#answers, 4);
    const score = m.floats(this.#answers, 3)[2];
    const start = answerable ? units(one.seconds[0], begin) : 0;
    const stop = answerable ? units(one.seconds[0], end) : 0;
    return { answer: one.second.slice(start, stop), start, end: stop, score, answerable: answerable !== 0 };
  }

  #embedding(sequence) {
    const m = this.#m;
    if (sequence < 0) return new Float32Array(0); // run() knows the width
    m.reach(this.#answers + 8);
    this.#check(m.x.embed(sequence, this.#answers));
    const [at, width] = m.words(this.#answers, 2);
    this.#width = width;
    return m.floats(at, width).slice();
  }

  #masks(sequence, one, top) {
    const masks = [];
    for (;;) {
      const mask = masks.length;
      const found = this.#records(
        top,
        4,
        (at, n, count) => this.#m.x.fill(sequence, mask, at, n, count),
        (words, floats, at) => ({ id: words[0], token: this.#m.text(at + 8), score: floats[1] }),
      );
      if (found === undefined) break;
      masks.push([...found]);
    }
    return { candidates: masks[0] ?? [], masks };
  }

  #next(sequence) {
    const m = this.#m;
    m.reach(this.#answers + 4);
    this.#check(m.x.next_sentence(sequence, this.#answers));
    const [score] = m.floats(this.#answers, 1);
    const labels = [
      { label: "is_next", score },
      { label: "not_next", score: Math.fround(1 - score) },
    ];
    return labels.sort((a, b) => b.score - a.score);
  }

  #output(name, index, sequence) {
    const m = this.#m;
    m.reach(this.#answers + 16);
    this.#check(m.x.output(index, sequence, this.#answers));
    const [at, rows, width, stride] = m.words(this.#answers, 4);
    const data = new Float32Array(rows * width);
    for (let r = 0; r < rows; ++r) data.set(m.floats(at + 4 * r * stride, width), r * width);
    return { name, rows, width, data };
  }
}
