"""sign and verify --key: keys, signatures, what has changed, and minisign's own command where it is installed."""

import json
import os
import shutil
import stat
import subprocess
import unittest

from support import CommandTest, bantam, model

MADE_WITHOUT = b"without libsodium"


class Sign(CommandTest):
    def setUp(self):
        super().setUp()
        self.file = self.directory / "voice.bantam"
        shutil.copy(model("voice"), self.file)
        self.keys = self.directory / "release"
        made = bantam("sign", "--new-keys", self.keys, "--json")
        if MADE_WITHOUT in made.stderr:
            self.skipTest("this build has no libsodium")
        self.assertEqual(made.returncode, 0, made.stderr)
        self.secret, self.open = (self.directory / f"release.{end}" for end in ("key", "pub"))
        self.assertEqual(
            json.loads(made.stdout),
            {"schema": "bantam.sign/1", "secret_key": str(self.secret), "public_key": str(self.open)},
        )

    def test_a_signed_file_is_sound_and_a_changed_one_is_not(self):
        self.assertEqual(stat.S_IMODE(os.stat(self.secret).st_mode) & 0o077, 0)
        said = self.line("sign", self.file, "--key", self.secret, "--comment", "voice 3", "--json")
        self.assertEqual(said["signature"], f"{self.file}.minisig")
        self.assertIn(said["key"], self.open.read_text())
        shown = self.line("verify", self.file, "--key", self.open, "--json")
        self.assertEqual((shown["ok"], shown["signed"]), (True, "voice 3"))
        self.assertIn(b"voice 3", self.ok("verify", self.file, "--key", self.open))
        # Before a file is read, its signature is: a program that is no model.
        self.file.write_bytes(self.file.read_bytes()[:-1] + b"!")
        self.fails(4, "verify", self.file, "--key", self.open, says=["is not what", "minisig", "do not use it"])

    def test_other_keys_and_missing_signatures_are_told(self):
        self.fails(3, "verify", self.file, "--key", self.open, says=["minisig"])
        self.ok("sign", self.file, "--key", self.secret, "-o", self.directory / "s")
        self.ok("verify", self.file, "--key", self.open, "--signature", self.directory / "s")
        self.ok("sign", "--new-keys", self.directory / "other")
        other = self.directory / "other.pub"
        self.fails(4, "verify", self.file, "--key", other, "--signature", self.directory / "s", says=["by the key"])
        self.fails(
            4, "verify", self.file, "--key", self.secret, "--signature", self.directory / "s", says=["not a public"]
        )
        self.fails(4, "sign", self.file, "--key", self.open, says=["not a secret key", "--new-keys"])
        self.fails(2, "verify", self.file, "--signature", self.directory / "s", says=["--key"])
        self.fails(2, "sign", "--new-keys", self.keys, says=["is there already"])
        self.fails(2, "sign", self.file, says=["--key"])
        self.fails(2, "sign", self.file, "--key", self.secret, "-o", self.file, says=["is an input"])
        self.fails(3, "sign", self.directory / "none", "--key", self.secret, says=["none"])
        self.assertFalse((self.directory / "none.minisig").exists())

    @unittest.skipUnless(shutil.which("minisign"), "minisign is not installed")
    def test_minisign_reads_what_bantam_writes(self):
        self.ok("sign", self.file, "--key", self.secret)
        subprocess.run(["minisign", "-Vm", self.file, "-p", self.open], check=True, capture_output=True)
        subprocess.run(
            ["minisign", "-Sm", self.file, "-s", self.secret, "-t", "by minisign"], check=True, capture_output=True
        )
        self.assertEqual(self.line("verify", self.file, "--key", self.open, "--json")["signed"], "by minisign")


if __name__ == "__main__":
    unittest.main()
