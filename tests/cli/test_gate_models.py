"""The quality gate on the models that the README converts."""

import unittest

from support import SHARED, CommandTest


@unittest.skipUnless((SHARED / "models" / "minilm-snips-joint").is_dir(), "needs the models of ../shared")
class RealModels(CommandTest):
    def test_what_the_readme_shows_passes(self):
        for model, more in (("minilm-snips-joint", ()), ("minilm-sst2", ("--weights", "int4"))):
            self.ok("convert", SHARED / "models" / model, "-o", self.directory / "out.bantam", *more)


if __name__ == "__main__":
    unittest.main()
