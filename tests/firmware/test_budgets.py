"""Budgets of ./dev size, without a compiler: figures over a budget, figures without one, and budgets without a figure."""

import json
import unittest

import size_report


class Budgets(unittest.TestCase):
    def test_figures_up_to_the_budget_pass(self):
        report = size_report.Report({"core": 100, "code": 50})
        report.check("core", 100)
        report.check("code", 1)
        self.assertEqual(report.failures(), [])

    def test_a_byte_more_fails_and_is_named(self):
        report = size_report.Report({"core": 100, "code": 50})
        report.check("core", 101)
        report.check("code", 50)
        self.assertEqual(report.failures(), ["core: 101 bytes, 1 over the budget"])

    def test_a_figure_without_a_budget_fails(self):
        report = size_report.Report({})
        report.check("stack", 7)
        self.assertEqual(len(report.failures()), 1)
        self.assertIn("stack: 7 bytes", report.failures()[0])

    def test_a_budget_that_nothing_was_compared_with_fails(self):
        self.assertEqual(size_report.Report({"gone": 1}).failures(), ["gone: not measured"])

    def test_no_budget_is_above_what_must_hold(self):
        must = {"core ": 10, "code ": 48, "stack ": 4}
        must |= {"RAM 2x128 64 tokens": 48, "RAM 2x128 128 tokens": 80, "RAM 2x128 512 tokens": 256}
        budgets = json.loads((size_report.SOURCE / "targets" / "budgets.json").read_text())
        for name, budget in budgets.items():
            most = [kilobytes for prefix, kilobytes in must.items() if name.startswith(prefix)]
            self.assertEqual(len(most), 1, name)
            self.assertLessEqual(budget, most[0] * 1024, name)


if __name__ == "__main__":
    unittest.main()
