"""The pages that commands write, as a browser shows them: report, sensitivity, and distill's curve. Skipped without one."""

import json
import pathlib
import sys
import unittest

from browser import Browser, find_browser
from support import COMMAND, GOLDEN, SOURCE, CommandTest, model

BROWSER = find_browser()
TRAINER = pathlib.Path(COMMAND).parent / "bantam-train"
COMMANDS = SOURCE / "models" / "voice-commands" / "commands.txt"
WIDTHS = (360, 1280)

# Everything that a reader sees, with its place: shown texts as rectangles, elements that stick out sideways, and SVG.
SHOWN = """(() => {
  const shown = e => e.checkVisibility() && e.getBoundingClientRect().width > 0;
  const place = r => [r.left, r.top, r.right, r.bottom];
  const out = {texts: [], outside: [], overfull: []};
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const parent = walk.currentNode.parentElement;
    if (!walk.currentNode.data.trim() || parent.closest('title,script,.hidden') || !shown(parent)) continue;
    const range = document.createRange();
    range.selectNodeContents(walk.currentNode);
    for (const r of range.getClientRects()) {
      out.texts.push([walk.currentNode.data.trim().slice(0, 40), ...place(r)]);
      const svg = parent.closest('svg');
      const box = (svg || parent.closest('.scroll') || document.documentElement).getBoundingClientRect();
      if (svg && (r.left < box.left - 1 || r.right > box.right + 1 || r.top < box.top - 1 || r.bottom > box.bottom + 1))
        out.overfull.push(walk.currentNode.data);
    }
  }
  for (const e of document.body.querySelectorAll('*')) {
    const r = e.getBoundingClientRect();
    if (shown(e) && !e.closest('.scroll > *') && (r.right > innerWidth + 0.5 || r.left < -0.5)) out.outside.push(e.outerHTML.slice(0, 80));
  }
  out.width = document.scrollingElement.scrollWidth;
  return out;
})()"""

TREEMAPS = """[...document.querySelectorAll('svg.treemap')].filter(s => s.checkVisibility()).map(s => ({
  area: s.viewBox.baseVal.width * s.viewBox.baseVal.height,
  leaves: [...s.querySelectorAll('rect.leaf')].map(r => ({
    bytes: +r.dataset.bytes, title: r.querySelector('title').textContent, fill: getComputedStyle(r).fill,
    x: r.x.baseVal.value, y: r.y.baseVal.value, width: r.width.baseVal.value, height: r.height.baseVal.value})),
  texts: [...s.querySelectorAll('text')].map(t => {
    const b = t.getBBox();
    return {text: t.textContent, group: t.classList.contains('b'), x: b.x, y: b.y, right: b.x + b.width, bottom: b.y + b.height};
  })}))"""

# Contrast of every shown text with what lies behind it, at its worst (WCAG 2.1).
CONTRAST = """(() => {
  const luminance = c => {
    const parts = c.match(/[\\d.]+/g).slice(0, 3).map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  };
  const ratio = (a, b) => (Math.max(luminance(a), luminance(b)) + 0.05) / (Math.min(luminance(a), luminance(b)) + 0.05);
  const page = getComputedStyle(document.body).backgroundColor;
  let worst = 21, where = '';
  const see = (colour, behind, what) => { const r = ratio(colour, behind); if (r < worst) { worst = r; where = what; } };
  for (const t of document.querySelectorAll('p, td, th, h1, h2, h3, dt, dd, li, summary, a, code')) {
    const note = t.closest('.note, code');
    see(getComputedStyle(t).color, note ? getComputedStyle(note).backgroundColor : page, t.textContent);
  }
  for (const s of document.querySelectorAll('svg')) {
    const fills = s.classList.contains('treemap') ? [...s.querySelectorAll('rect.leaf')].map(r => getComputedStyle(r).fill) : [page];
    for (const t of s.querySelectorAll('text')) for (const f of fills) see(getComputedStyle(t).fill, f, t.textContent);
  }
  return [worst, where];
})()"""


def overlaps(a, b, slack=1.0):
    return min(a[2], b[2]) - max(a[0], b[0]) > slack and min(a[3], b[3]) - max(a[1], b[1]) > slack


class Pages(CommandTest):
    @classmethod
    def setUpClass(cls):
        cls.browser = Browser(BROWSER)
        cls.addClassCleanup(cls.browser.close)

    def looks_right(self, page):
        """Checks the conditions for every page, at both widths, in light and dark, with and without scripts."""
        for width in WIDTHS:
            for dark, scripts in ((False, True), (True, False)):
                with self.subTest(page=page.name, width=width, dark=dark, scripts=scripts):
                    self.browser.open(page, width, dark=dark, scripts=scripts)
                    self.assertEqual(self.browser.complaints(), [])
                    self.assertEqual(self.browser.requests(), [])
                    shown = self.browser.evaluate(SHOWN)
                    self.assertEqual(shown["width"], width)
                    self.assertEqual(shown["outside"], [])
                    self.assertEqual(shown["overfull"], [])
                    self.assertGreater(len(shown["texts"]), 20)
                    texts = sorted(shown["texts"], key=lambda t: t[2])
                    for i, (text, *place) in enumerate(texts):
                        for other, *elsewhere in texts[i + 1 :]:
                            if elsewhere[1] > place[3]:
                                break
                            self.assertFalse(overlaps(place, elsewhere), f"{text!r} and {other!r} overlap")
                    worst, where = self.browser.evaluate(CONTRAST)
                    self.assertGreaterEqual(worst, 4.5, where)
                    # One look for both: the page's colours differ.
                    background = self.browser.evaluate("getComputedStyle(document.body).backgroundColor")
                    self.assertEqual(background == "rgb(255, 255, 255)", not dark)

    def has_true_treemaps(self, page, reports):
        for width in WIDTHS:
            self.browser.open(page, width)
            maps = self.browser.evaluate(TREEMAPS)
            self.assertEqual(len(maps), len(reports))
            for drawn, file in zip(maps, reports):
                self.assertEqual(
                    sorted(leaf["bytes"] for leaf in drawn["leaves"]),
                    sorted(component["bytes"] for component in file["components"]),
                )
                for leaf in drawn["leaves"]:
                    share = leaf["width"] * leaf["height"] / drawn["area"]
                    self.assertAlmostEqual(share, leaf["bytes"] / file["bytes"], places=5, msg=leaf["title"])
                    self.assertIn(f"{leaf['bytes']} bytes", leaf["title"])
                for text in drawn["texts"]:
                    if text["group"]:
                        continue
                    holders = [
                        leaf for leaf in drawn["leaves"]
                        if leaf["x"] <= text["x"] and text["right"] <= leaf["x"] + leaf["width"] + 0.5
                        and leaf["y"] - 0.5 <= text["y"] and text["bottom"] <= leaf["y"] + leaf["height"] + 2
                    ]  # fmt: skip
                    self.assertEqual(len(holders), 1, text)

    def report(self, name, *arguments):
        page = self.directory / name
        report = self.line("report", *arguments, "-o", page, "--json")
        return page, report["files"]

    def test_report_of_one_file(self):
        page, files = self.report("one.html", model("voice"), "--repetitions", "2", "--tokens", "4")
        self.looks_right(page)
        self.has_true_treemaps(page, files)

    def test_report_of_many_files(self):
        long = self.directory / ("a-very-long-name-without-an-end-" * 4 + "<b>.bantam")
        long.symlink_to(pathlib.Path(model("voice")).resolve())
        names = [model(name) for name in ("voice-f32", "voice", "voice-int4", "voice-static")]
        lines = [
            {
                "text": "play some jazz",
                "intent": "PlayMusic",
                "tokens": ["play", "some", "jazz"],
                "slots": ["O", "O", "O"],
            }
        ]
        data = self.write("data.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
        source = SOURCE / "models" / "voice-commands"
        quick = ("--repetitions", "2", "--tokens", "4")
        page, files = self.report("many.html", *names, long, "--data", data, "--source", source, *quick)
        self.looks_right(page)
        self.has_true_treemaps(page, files)
        self.browser.open(page, 1280)
        points = "[...document.querySelectorAll('svg.chart')].filter(s => s.checkVisibility()).map(s => [...s.querySelectorAll('circle title')].map(t => t.textContent))"
        plots = self.browser.evaluate(points)
        self.assertEqual([len(plot) for plot in plots], [5, 5])  # against size and against latency
        for plot in plots:
            self.assertTrue(any("Pareto front" in title for title in plot))
        self.assertEqual(self.browser.evaluate("document.querySelectorAll('b').length"), 0)

    def test_report_of_embeddings(self):
        names = [model(name) for name in ("sentence-mean", "bert-tag", "distilbert-fill")]
        page, files = self.report("tasks.html", *names, "--no-times")
        self.looks_right(page)
        self.has_true_treemaps(page, files)

    def test_scripts_sort_and_tell(self):
        page, files = self.report("one.html", model("voice"), "--no-times")
        self.browser.open(page, 1280)
        sizes = """(() => {
          const table = [...document.querySelectorAll('table')].find(t => t.caption.textContent === 'Matrices');
          const head = [...table.tHead.rows[0].cells].find(c => c.textContent === 'Size');
          head.click();
          const column = head.cellIndex;
          return [...table.tBodies[0].rows].map(row => +row.cells[column].dataset.v);
        })()"""
        down = self.browser.evaluate(sizes)
        self.assertEqual(down, sorted((m["bytes"] for m in files[0]["matrices"]), reverse=True))
        self.assertEqual(self.browser.evaluate(sizes), down[::-1])
        told = """(() => {
          const leaf = document.querySelector('.wide rect.leaf');
          leaf.dispatchEvent(new PointerEvent('pointerover', {bubbles: true}));
          return [leaf.closest('figure').querySelector('.readout').textContent, leaf.querySelector('title').textContent];
        })()"""
        self.assertEqual(*self.browser.evaluate(told))

    def test_report_on_paper(self):
        page, _ = self.report("one.html", model("voice"), "--no-times")
        self.browser.open(page, 794, dark=True, media="print")
        self.assertEqual(self.browser.complaints(), [])
        colours = self.browser.evaluate(
            "[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]"
        )
        self.assertEqual(colours, ["rgb(255, 255, 255)", "rgb(27, 31, 36)"])
        self.assertEqual(
            self.browser.evaluate("[...document.querySelectorAll('svg.treemap')].map(s => s.checkVisibility())"),
            [True, False],
        )

    def test_sensitivity(self):
        page = self.directory / "costs.html"
        self.ok("sensitivity", GOLDEN / "bert-joint", COMMANDS, "-o", self.directory / "costs.json", "--html", page)
        self.looks_right(page)
        self.browser.open(page, 1280)
        costs = json.loads((self.directory / "costs.json").read_text())["matrices"]
        bars = self.browser.evaluate("document.querySelectorAll('svg.bar').length")
        self.assertEqual(bars, sum(len(matrix["types"]) for matrix in costs))

    @unittest.skipUnless(TRAINER.exists(), "this build has no bantam-train: libtorch-dev is not installed")
    def test_curve(self):
        lines = [{"text": text, "label": label} for text, label in (("ba la", "LABEL_0"), ("ko li", "LABEL_1")) * 8]
        data = self.write("data.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
        out = self.directory / "out"
        self.ok(
            *("distill", "--student", GOLDEN / "bert-classify", "--data", data, "--validation", data, "-o", out),
            *("--epochs", "3", "--batch", "8", "--json"),
        )
        page = out / "curve.html"
        self.looks_right(page)
        self.browser.open(page, 1280)
        self.assertGreaterEqual(self.browser.evaluate("document.querySelectorAll('.wide svg polyline').length"), 2)


if __name__ == "__main__":
    if BROWSER is None:
        print("no browser: install Debian's chromium-headless-shell, or name one in BANTAM_BROWSER")
        sys.exit(77)
    unittest.main()
