"""Figures that count_report.py considers stale, without a compiler; and that documents have a figure for every target."""

import unittest

import count_report
from run import MACHINES

ROWS = [("voice", "cortex-m4", 1000), ("voice", "cortex-m55", 500)]
TEXT = count_report.document(ROWS, [("16 x 128 -> 512, int8 out", "cortex-m4", 2000, 0.5)])


class Counts(unittest.TestCase):
    def test_a_document_tells_what_was_put_in(self):
        found = count_report.figures(TEXT)
        self.assertEqual(found[("voice", "cortex-m55")], 500)
        self.assertEqual(found[("16 x 128 -> 512, int8 out", "cortex-m4")], 2000)
        self.assertEqual(len(found), 3)

    def test_a_fiftieth_passes(self):
        documented = count_report.figures(TEXT)
        self.assertEqual(list(count_report.stale(documented, {("voice", "cortex-m4"): 1020})), [])
        self.assertEqual(list(count_report.stale(documented, {("voice", "cortex-m4"): 981})), [])

    def test_more_or_less_fails_and_is_named(self):
        documented = count_report.figures(TEXT)
        for number in (900, 1030):
            (line,) = count_report.stale(documented, {("voice", "cortex-m4"): number})
            self.assertIn(f"voice, cortex-m4: {number} instructions, documented 1000", line)

    def test_a_figure_that_is_not_documented_fails(self):
        self.assertEqual(len(list(count_report.stale({}, {("voice", "cortex-m4"): 1}))), 1)

    def test_the_document_has_every_file_and_layer_of_every_target(self):
        documented = count_report.figures(count_report.DOCUMENT.read_text())
        layers = [f"{layer}, {kind}" for layer in count_report.LAYERS for kind in count_report.KINDS.values()]
        for target in MACHINES:
            for what in [*count_report.FILES, *layers]:
                self.assertIn((what, target), documented)


if __name__ == "__main__":
    unittest.main()
