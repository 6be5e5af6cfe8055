#!/usr/bin/env python3
"""keys.py on tables that say what the code does, and on some that do not."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import keys  # noqa: E402


class Keys(unittest.TestCase):
    def problems(self, table, code):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / keys.TABLES).mkdir(parents=True)
            (root / keys.TABLES / "some.inc").write_text(table, encoding="utf-8")
            (root / "converter/source/reader.cpp").write_text(code, encoding="utf-8")
            return list(keys.problems_of(root))

    def expect(self, table, code, *parts):
        found = self.problems(table, code)
        self.assertEqual(len(found), len(parts), found)
        for problem, part in zip(found, parts):
            self.assertIn(part, problem)

    def test_what_is_read_is_supported(self):
        row = 'BANTAM_KEY(kSetFit, "labels", kSupported, "", "")\n'
        self.expect(row, 'fields.has("labels");')
        self.expect(row, "", "no importer names it")
        self.expect(row, '// "labels" in words\nfields.has("labels"); fields.flag("folded", false);', 'reads "folded"')
        self.expect(row, 'if (part(json, "labels") && json["late"] == 1) {}', 'reads "late"')

    def test_parts_of_names(self):
        for code in ('begins("pool_mode_")', 'ends("_tokens")', 'format("pool_mode_{}_tokens")'):
            self.expect('BANTAM_KEY(kPooling, "pool_mode_max_tokens", kRefused, "", "")', code)

    def test_rows(self):
        self.expect('BANTAM_KEY(kSetFit, "a", kUnsupported, "", "it")', "", "name a value")
        self.expect('BANTAM_KEY(kSetFit, "a", kUnsupported, "null", "")', "", "say what it would change")
        self.expect('BANTAM_KEY(kSetFit, "a", kUnsupported, "null | x",\n           "it")', "", "x is not JSON")
        self.expect('BANTAM_KEY(kSetFit, "a", kUnsupported, "\\"b\\" | 1", "it")', "")
        self.expect(2 * 'BANTAM_KEY(kSetFit, "a", kWithoutEffect, "", "it")\n', "", "two rows")


if __name__ == "__main__":
    unittest.main()
