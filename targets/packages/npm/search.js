// Texts by their meaning: vectors of length 1, compared by their cosine with a query's.

/** `vector` divided by its length. */
function unit(vector) {
  let sum = 0;
  for (const v of vector) sum += v * v;
  const length = Math.sqrt(sum) || 1;
  return vector.map((v) => v / length);
}

export class Index {
  #model;
  #vectors = [];

  constructor(model, texts) {
    if (!["cosine", "dot"].includes(model.similarity))
      throw new Error(`an index ranks by cosines or products; this model compares by ${model.similarity}`);
    this.#model = model;
    this.texts = [];
    this.add(texts);
  }

  /** Vectors whose products are the scores. */
  #ready(vector) {
    return this.#model.similarity === "dot" ? vector : unit(vector);
  }

  /** More texts. */
  add(texts) {
    for (const { embedding } of this.#model.run(texts, { role: "document" })) this.#vectors.push(this.#ready(embedding));
    this.texts.push(...texts);
    return this;
  }

  /** The `top` texts nearest to the query, best first: [{ index, text, score }]. */
  search(query, top = 5) {
    const wanted = this.#ready(this.#model.run(query, { role: "query" }).embedding);
    const scored = this.#vectors.map((vector, index) => {
      let score = 0;
      for (let i = 0; i < wanted.length; ++i) score += vector[i] * wanted[i];
      return { index, text: this.texts[index], score };
    });
    return scored.sort((a, b) => b.score - a.score || a.index - b.index).slice(0, top);
  }
}
