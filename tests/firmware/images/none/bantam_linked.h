// No operator, tokenizer or task: the core alone. Whatever a file needs is refused with kOpNotLinked.
