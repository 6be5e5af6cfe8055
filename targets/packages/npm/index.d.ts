/** A label and its probability; of regression the value itself. */
export interface LabelScore {
  label: string;
  score: number;
}

/** A part of the text: `start` and `end` are UTF-16 units, so that `text.slice(start, end)` is it. */
export interface Entity extends LabelScore {
  text: string;
  start: number;
  end: number;
}

export interface Candidate {
  id: number;
  token: string;
  score: number;
}

/** What a task answers; each has the members of its own task. docs/web.md lists them. */
export interface Answer {
  /** classify, multi_label, regress: the best label. */
  label?: string;
  score?: number;
  /** Best first. */
  labels?: (LabelScore & { index?: number })[];
  /** multi_label: how many of `labels` hold. */
  selected?: number;
  /** The best score is under the file's limit. */
  outOfScope?: boolean;
  /** joint */
  intent?: LabelScore;
  slots?: Entity[];
  /** tag, find */
  entities?: Entity[];
  /** answer */
  answer?: string;
  start?: number;
  end?: number;
  answerable?: boolean;
  /** embed */
  embedding?: Float32Array;
  /** fill: for the first mask, and for all of them. */
  candidates?: Candidate[];
  masks?: Candidate[][];
  /** Further label sets by their names. */
  sets?: Record<string, Answer>;
  /** The end of the text was not read. */
  truncated?: boolean;
}

export type Input =
  | string
  | { text: string; pair?: string }
  | { question: string; context: string }
  | { text: string; choices: string[] };

export interface RunOptions {
  /** Most labels or candidates; 0: all labels. Default 5. */
  top?: number;
  /** embed: what the text is for, which decides about the model's prompt before it; default: plain. */
  role?: "plain" | "query" | "document";
  /** tag, joint: how labels of tokens become entities; default: the file's way. */
  aggregation?: "none" | "simple" | "first" | "average" | "max" | "words";
  /** find: what to look for, in words of your own. */
  labels?: string[];
  threshold?: number;
  nested?: boolean;
  several?: boolean;
}

export interface LoadOptions {
  /** Most tokens of a text; default: the model's. Memory grows with it. */
  maxTokens?: number;
  /** Texts of one pass. Answers do not depend on it. Default 8. */
  batch?: number;
  /**
   * A module of this package that is compiled already, for engines that compile no bytes. Default: the fastest one whose
   * answers have the native bits. `load` refuses a module whose answers would have other bits in this engine.
   */
  module?: WebAssembly.Module;
}

export interface Output {
  name: string;
  rows: number;
  width: number;
  data: Float32Array;
}

export class BantamError extends Error {
  /** A status of bantam/status.h, 0 where there is none. */
  code: number;
}

export class Index {
  texts: string[];
  add(texts: string[]): this;
  search(query: string, top?: number): { index: number; text: string; score: number }[];
}

export class Model {
  readonly task: string;
  readonly name: string;
  readonly labels: string[];
  /** embed: how vectors are compared: "cosine", "dot", "euclidean" or "manhattan". */
  readonly similarity: string;
  readonly maxTokens: number;
  /** The file and the arena. */
  readonly memoryBytes: number;
  /** "relaxed", "relaxed-dot" or "simd128": the same answers, the first ones faster. */
  readonly module: string;
  readonly outputNames: string[];
  run(input: Input, options?: RunOptions): Answer;
  run(inputs: Input[], options?: RunOptions): Answer[];
  outputs(input: Input): Output[];
  outputs(inputs: Input[]): Output[][];
  outputsOfIds(ids: ArrayLike<number>): Output[];
  index(texts?: string[]): Index;
  free(): void;
}

/** A model from an address (in Node a path), a Response, a Blob or its bytes. */
export function load(
  source: string | URL | Response | Blob | ArrayBuffer | ArrayBufferView,
  options?: LoadOptions,
): Promise<Model>;
