"""keywords and topics: what texts are about."""

import unittest

from support import CommandTest, model

TEXTS = ["ba di", "ko lu", "di ba ba", "lu ko", "ko lu lu", "ba ba di"]


class Phrases(CommandTest):
    def test_keywords_are_scored_as_similar_scores(self):
        found = self.line("keywords", model("sentence-mean"), "Ba, di! ba", "--words", "2", "--json")
        phrases = {one["phrase"]: one["score"] for one in found["keywords"]}
        self.assertEqual(set(phrases), {"ba", "di", "ba di", "di ba"})
        self.assertEqual(list(phrases.values()), sorted(phrases.values(), reverse=True))
        for phrase, score in phrases.items():
            similar = self.line("similar", model("sentence-mean"), "Ba, di! ba", phrase, "--json")
            self.assertAlmostEqual(score, similar["score"], places=4)

    def test_keywords_of_lines_and_of_a_whole_file(self):
        file = self.write("page.txt", "ba di\n\nko lu\n")
        lines = self.lines("keywords", model("sentence-mean"), "--file", file, "--json")
        self.assertEqual([len(line["keywords"]) for line in lines], [2, 0, 2])
        whole = self.line("keywords", model("sentence-mean"), "--file", file, "--whole", "--json")
        self.assertEqual({one["phrase"] for one in whole["keywords"]}, {"ba", "di", "ko", "lu"})
        shown = self.ok("keywords", model("sentence-mean"), "ba", "--top", "1").decode()
        self.assertRegex(shown, r"^ 1\.0000 +ba\n$")

    def test_keywords_leave_stop_words_out(self):
        stop = self.write("stop.txt", "di lu\n")
        found = self.line("keywords", model("sentence-mean"), "the di ba", "--stop-words", stop, "--json")
        self.assertEqual({one["phrase"] for one in found["keywords"]}, {"the", "ba"})
        found = self.line("keywords", model("sentence-mean"), "the ba", "--json")
        self.assertEqual({one["phrase"] for one in found["keywords"]}, {"ba"})
        found = self.line("keywords", model("sentence-mean"), "the ba", "--stop-words", "none", "--json")
        self.assertEqual({one["phrase"] for one in found["keywords"]}, {"the", "ba"})

    def test_diverse_keywords_hold_the_nearest(self):
        plain = self.line("keywords", model("sentence-mean"), "ba di ko lu", "--words", "2", "--top", "1", "--json")
        other = self.line(
            "keywords",
            model("sentence-mean"),
            "ba di ko lu",
            "--words",
            "2",
            "--top",
            "3",
            "--diversity",
            "0.9",
            "--json",
        )
        self.assertEqual(len(other["keywords"]), 3)
        self.assertIn(plain["keywords"][0], other["keywords"])

    def test_topics_count_every_text_once(self):
        file = self.write("lines.txt", "\n".join(TEXTS) + "\n\n")
        found = self.line("topics", model("sentence-mean"), file, "--topics", "2", "--examples", "2", "--json")
        self.assertEqual(found["texts"], 6)
        self.assertEqual(sum(topic["size"] for topic in found["topics"]), 6)
        self.assertEqual(len(found["of"]), 6)
        for topic in found["topics"]:
            members = {text for text, of in zip(TEXTS, found["of"]) if of == topic["topic"]}
            self.assertEqual(len(members), topic["size"])
            self.assertLessEqual(set(topic["examples"]), members)
            self.assertLessEqual(
                {one["phrase"] for one in topic["words"]}, {w for text in members for w in text.split()}
            )
        self.assertEqual(
            found, self.line("topics", model("sentence-mean"), file, "--topics", "2", "--examples", "2", "--json")
        )
        self.assertIn(b"texts", self.ok("topics", model("sentence-mean"), file))

    def test_refusals(self):
        file = self.write("lines.txt", "ba\n")
        empty = self.write("empty.txt", "\n\n")
        self.fails(5, "keywords", model("bert-classify"), "ba", says=["this needs vectors of texts"])
        self.fails(5, "topics", model("bert-classify"), file, says=["--task embed"])
        self.fails(4, "topics", model("sentence-mean"), empty, says=["holds no text"])
        self.fails(3, "topics", model("sentence-mean"), file, "--stop-words", "nowhere.txt", says=["nowhere.txt"])
        self.fails(2, "keywords", model("sentence-mean"), "ba", "--diversity", "2", says=["--diversity"])
        self.assertEqual(self.line("topics", model("sentence-mean"), file, "--json")["of"], [1])


if __name__ == "__main__":
    unittest.main()
