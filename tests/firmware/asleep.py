"""An image in QEMU that is asked, while its UART is silent, whether its core sleeps: it stands behind a WFI, at each of many looks."""

import json
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "targets" / "firmware"))
import run as emulator  # noqa: E402

WFI = {"R15": (2, 0xBF30), "pc": (4, 0x10500073)}  # by the counter's name: bytes and bits of the instruction
LOOKS = 12  # in a row; SysTick wakes a core for an instant now and then
ROUNDS = 50


class Machine:
    """Input to the UART and output of it as they come; ends with the image, or after `timeout` seconds."""

    def __init__(self, machine, image, timeout=600):
        self.folder = tempfile.TemporaryDirectory()
        place = pathlib.Path(self.folder.name) / "qmp"
        line = [*emulator.command(machine, image), "-qmp", f"unix:{place},server=on,wait=off"]
        self.process = subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        self.late = threading.Timer(timeout, self.process.kill)
        self.late.start()
        self.socket = socket.socket(socket.AF_UNIX)
        while True:
            try:
                self.socket.connect(str(place))
                break
            except OSError:
                if self.process.poll() is not None:
                    raise
                time.sleep(0.01)
        self.lines = self.socket.makefile("rb")
        self.lines.readline()  # the greeting
        self.ask("qmp_capabilities")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.late.cancel()
        self.process.kill()
        self.process.communicate()
        self.lines.close()
        self.socket.close()
        self.folder.cleanup()

    def ask(self, order, **arguments):
        self.socket.sendall(json.dumps({"execute": order, "arguments": arguments}).encode() + b"\n")
        while "return" not in (answer := json.loads(self.lines.readline())):
            if "error" in answer:
                raise RuntimeError(answer)
        return answer["return"]

    def monitor(self, line):
        return self.ask("human-monitor-command", **{"command-line": line})

    def is_behind_wfi(self):
        counter, value = re.search(r"(R15=|\bpc +)([0-9a-f]{8})", self.monitor("info registers")).groups()
        size, instruction = WFI[counter.strip(" =")]
        found = re.search(r": *0x([0-9a-f]+)", self.monitor(f"x /1{'hw'[size // 4]}x {int(value, 16) - size:#x}"))
        return found is not None and int(found[1], 16) == instruction

    def is_asleep(self):
        return any(all(self.is_behind_wfi() for _ in range(LOOKS)) or time.sleep(0.02) for _ in range(ROUNDS))

    def say(self, data):
        self.process.stdin.write(data)

    def read_line(self):
        return self.process.stdout.readline()

    def finish(self, data=b""):
        """(exit status, what was not read before)."""
        output = self.process.communicate(data + b"\x04")[0]
        return self.process.returncode, output
