// No operator, no tokenizer, no task: the core alone. Whatever a file asks for is refused with kOpNotLinked.
