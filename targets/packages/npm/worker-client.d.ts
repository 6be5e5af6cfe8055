import type { Answer, Input, LoadOptions, RunOptions } from "./index.js";

export interface WorkerModel {
  readonly task: string;
  readonly name: string;
  readonly labels: string[];
  readonly maxTokens: number;
  readonly memoryBytes: number;
  readonly module: string;
  run(input: Input, options?: RunOptions): Promise<Answer>;
  run(inputs: Input[], options?: RunOptions): Promise<Answer[]>;
  index(texts?: string[]): Promise<{
    search(query: string, top?: number): Promise<{ index: number; text: string; score: number }[]>;
  }>;
  free(): Promise<void>;
}

/** As load() of the package; the model lives in a worker. */
export function load(source: string | URL | Blob | ArrayBuffer, options?: LoadOptions): Promise<WorkerModel>;
