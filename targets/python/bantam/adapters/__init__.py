"""Models in the shapes that other libraries take, each in a module of its own that imports its library when it is used:
sentence_transformers, langchain, llama_index, chroma, sklearn, spacy."""
