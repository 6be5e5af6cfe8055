"""monitor: a device's answers over a serial port, here a pseudo terminal, or over a program's standard input and output."""

import os
import shlex
import threading
import tty
import unittest

from support import COMMAND, SOURCE, CommandTest, model

TEXTS = (SOURCE / "models" / "voice-commands" / "commands.txt").read_text().splitlines()[:3]


def image(name, *options):
    """A shell's command that is what an image is: it says ready, then answers lines."""
    return "echo ready; exec " + shlex.join([COMMAND, "run", model(name), "--uart", *options])


class FakeDevice:
    """The other end of a port: answers each line by `answers`, a function; None: says nothing."""

    def __init__(self, answers, greeting=b""):
        self.end, self.inner = os.openpty()
        tty.setraw(self.inner)
        self.port = os.ttyname(self.inner)
        self.answers, self.greeting = answers, greeting
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        os.write(self.end, self.greeting)
        line = b""
        while True:
            try:
                byte = os.read(self.end, 1)
            except OSError:
                return
            if byte in (b"\n", b"\x04"):
                answer = self.answers(line if byte == b"\n" else b"\x04")
                line = b""
                if answer is not None:
                    os.write(self.end, answer)
            else:
                line += byte

    def close(self):
        os.close(self.inner)
        os.close(self.end)


class Monitor(CommandTest):
    def device(self, answers, greeting=b""):
        device = FakeDevice(answers, greeting)
        self.addCleanup(device.close)
        return device.port

    def test_program(self):
        answer = self.line("monitor", "--command", image("voice"), *TEXTS, "--parity", model("voice"), "--json")
        self.assertEqual([one["text"] for one in answer["answers"]], TEXTS)
        expected = self.ok("run", model("voice"), "--uart", stdin="\n".join(TEXTS).encode() + b"\n").decode()
        self.assertEqual([one["answer"] for one in answer["answers"]], expected.splitlines())
        for one in answer["answers"]:
            self.assertTrue(one["same"])
            self.assertEqual(one["answer"], one["host"])
            self.assertGreater(one["milliseconds"], 0)
        shown = self.ok("monitor", "--command", image("voice"), TEXTS[0], "--parity", model("voice")).decode()
        self.assertIn("1 of 1 answers are the same here", shown)

    def test_another_length_is_told(self):
        lines = self.write("lines.txt", "\n".join(TEXTS) + "\n")
        command = ("monitor", "--command", image("voice", "--max-tokens", "8"), "--file", lines)
        self.ok(*command, "--parity", model("voice"), "--max-tokens", "8")
        self.fails(6, *command, "--parity", model("voice"), says=["3 of 3 answers differ", "--max-tokens"])

    def test_port(self):
        port = self.device(lambda line: b"ok\t" + line.upper() + b"\t#00000000\r\n", b"ready\r\n")
        answer = self.line("monitor", port, "one", "two", "--json")
        self.assertEqual([one["answer"] for one in answer["answers"]], ["ok\tONE\t#00000000", "ok\tTWO\t#00000000"])
        self.assertEqual(answer["device"], port)
        self.assertNotIn("same", answer["answers"][0])
        self.fails(6, "monitor", port, "one", "--parity", model("voice"), says=["1 of 1 answers differ"])

    def test_memory(self):
        said = b"end\tarena 3968 of 4096\tstack 2528 of 4112\n"
        port = self.device(lambda line: said if line == b"\x04" else b"ok\t#00000000\n")
        answer = self.line("monitor", port, "--memory", "--json")
        self.assertEqual(answer["memory"], {"arena_used": 3968, "arena": 4096, "stack_used": 2528, "stack": 4112})
        self.assertIn(b"arena 3968 of 4096 bytes, stack 2528 of 4112\n", self.ok("monitor", port, "a", "--memory"))
        port = self.device(lambda line: b"what?\n")
        self.fails(3, "monitor", port, "--memory", says=["does not say what memory it used: what?"])

    def test_what_is_no_device(self):
        self.fails(3, "monitor", self.directory / "none", "a", says=["cannot open the port", "plugged in?"])
        self.fails(3, "monitor", self.write("file", "x"), "a", says=["not a serial port"])
        self.fails(3, "monitor", "--command", "exit 1", "a", says=["the device is gone"])
        self.fails(3, "monitor", "--command", "sleep 60", "a", "--timeout", "1", says=["not ready within 1 s"])
        silent = self.device(lambda line: None)
        self.fails(3, "monitor", silent, "a", "--timeout", "1", says=["no answer within 1 s", "--baud"])
        noise = "echo ready; read line; head -c 100000 /dev/zero | tr '\\0' x; sleep 60"
        self.fails(3, "monitor", "--command", noise, "a", says=["without the end of a line"])
        for line, words in (
            ("error\\tmodel\\t4 truncated", "cannot run its model: 4 truncated"),
            ("error\\tcompiler\\tfused", "cannot run its compiler"),
            ("fault: bus, pc 0x8000", "fault: bus"),
        ):
            self.fails(4, "monitor", "--command", f"printf '{line}\\n'; sleep 60", "a", says=[words])
        self.fails(
            4, "monitor", "--command", "echo ready; read line; echo 'fault: bus'; sleep 9", "a", says=["fault: bus"]
        )

    def test_bad_arguments(self):
        self.fails(2, "monitor", says=["PORT is missing"])
        self.fails(2, "monitor", "/dev/null", says=["nothing to ask"])
        self.fails(2, "monitor", self.device(lambda line: None), "a", "--baud", "3", says=["--baud 3"])
        self.fails(2, "monitor", "--command", image("voice"), "a\nb", says=["one line"])
        self.fails(3, "monitor", "--command", image("voice"), "a", "--parity", self.directory / "none.bantam")


if __name__ == "__main__":
    unittest.main()
