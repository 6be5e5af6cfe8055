"""Clients that people have already ask the server: openai, LangChain, huggingface_hub. Those that are not installed are
skipped, and named (tests/python/requirements.txt)."""

import importlib.util
import json
import unittest

from support import model
from test_serve_generate import Generating

EMBEDDER = "sentence-mean"


def needs(*modules):
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    return unittest.skipIf(missing, f"not installed: {', '.join(missing)}")


class Client(Generating):
    MESSAGES = [{"role": "user", "content": "the cat"}]

    def setUp(self):
        super().setUp()
        self.made = self.chat_model()
        self.serve(self.made, model(EMBEDDER), model("colbert"), environment={"BANTAM_API_KEY": "secret"})
        self.url = f"http://127.0.0.1:{self.port}"
        self.wanted = self.line("generate", self.made, "the cat", "--chat", "--max-new", "8", "--json")["generated"]

    def vector(self, text):
        return self.line("embed", model(EMBEDDER), text, "--json")["embedding"]


@needs("openai")
class OpenAI(Client):
    def setUp(self):
        super().setUp()
        import openai

        self.openai = openai
        self.client = openai.OpenAI(base_url=f"{self.url}/v1", api_key="secret", max_retries=0)
        self.addCleanup(self.client.close)

    def test_conversations(self):
        create = self.client.chat.completions.create
        made = create(model="zephyr", messages=self.MESSAGES, max_tokens=8)
        self.assertEqual(made.choices[0].message.content, self.wanted)
        self.assertEqual(made.usage.completion_tokens, 8)
        options = {"include_usage": True}
        *events, last = create(
            model="zephyr", messages=self.MESSAGES, max_tokens=8, stream=True, stream_options=options
        )
        self.assertEqual("".join(one.choices[0].delta.content or "" for one in events), self.wanted)
        self.assertEqual(last.usage, made.usage)

    def test_completions_and_models(self):
        made = self.client.completions.create(model="zephyr", prompt="the cat", max_tokens=5, n=2)
        self.assertEqual(len(made.choices), 2)
        pieces = self.client.completions.create(model="zephyr", prompt="the cat", max_tokens=5, stream=True)
        self.assertEqual("".join(one.choices[0].text for one in pieces), made.choices[0].text)
        self.assertEqual([one.id for one in self.client.models.list()], ["zephyr", EMBEDDER, "colbert"])

    def test_vectors_come_as_base64(self):
        texts = ["ba di", "ko"]
        made = self.client.embeddings.create(model=EMBEDDER, input=texts)  # the client asks for base64
        for text, one in zip(texts, made.data, strict=True):
            for found, wanted in zip(one.embedding, self.vector(text), strict=True):
                self.assertAlmostEqual(found, wanted, delta=1e-6)
        ids = [self.line("tokenize", model(EMBEDDER), text, "--json")["ids"] for text in texts]
        same = self.client.embeddings.create(model=EMBEDDER, input=ids)
        self.assertEqual([one.embedding for one in same.data], [one.embedding for one in made.data])

    def test_refusals_are_the_clients_exceptions(self):
        create = self.client.chat.completions.create
        with self.assertRaises(self.openai.NotFoundError):
            create(model="gpt-4o", messages=self.MESSAGES)
        tool = {"type": "function", "function": {"name": "a", "parameters": {}}}
        with self.assertRaisesRegex(self.openai.BadRequestError, "tools"):
            create(model="zephyr", messages=self.MESSAGES, tools=[tool])
        other = self.openai.OpenAI(base_url=f"{self.url}/v1", api_key="wrong", max_retries=0)
        self.addCleanup(other.close)
        with self.assertRaises(self.openai.AuthenticationError):
            other.models.list()


@needs("langchain_openai")
class LangChain(Client):
    def chat(self, most):
        from langchain_openai import ChatOpenAI

        return ChatOpenAI(base_url=f"{self.url}/v1", api_key="secret", model="zephyr", max_tokens=most, max_retries=0)

    def test_conversations(self):
        chat = self.chat(8)
        self.assertEqual(chat.invoke("the cat").content, self.wanted)
        self.assertEqual("".join(one.content for one in chat.stream("the cat")), self.wanted)
        self.assertEqual([one.content for one in chat.batch(["the cat"] * 3)], [self.wanted] * 3)

    def test_objects(self):
        from pydantic import BaseModel

        class Answer(BaseModel):
            sure: bool
            count: int

        made = self.chat(40).with_structured_output(Answer, method="json_schema").invoke("the cat")
        self.assertIsInstance(made, Answer)
        fields = ["--field", "sure:boolean", "--field", "count:integer"]
        wanted = self.line("generate", self.made, "the cat", "--chat", *fields, "--max-new", "40", "--json")
        self.assertEqual(made, Answer(**json.loads(wanted["generated"])))


@needs("huggingface_hub", "numpy")
class HuggingFace(Client):
    def client(self, path):
        from huggingface_hub import InferenceClient

        client = InferenceClient(base_url=self.url + path, api_key="secret")
        self.addCleanup(client.__exit__, None, None, None)
        return client

    def test_conversations(self):
        client = self.client("/v1")
        made = client.chat_completion(self.MESSAGES, max_tokens=8, model="zephyr")
        self.assertEqual(made.choices[0].message.content, self.wanted)
        events = client.chat_completion(self.MESSAGES, max_tokens=8, model="zephyr", stream=True)
        self.assertEqual("".join(one.choices[0].delta.content or "" for one in events), self.wanted)

    def test_vectors_as_text_embeddings_inference_has_them(self):
        made = self.client(f"/models/{EMBEDDER}/embed").feature_extraction("ba di")
        for found, wanted in zip(made[0], self.vector("ba di"), strict=True):
            self.assertAlmostEqual(float(found), wanted, delta=1e-6)


if __name__ == "__main__":
    unittest.main()
