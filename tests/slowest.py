#!/usr/bin/env python3
"""slowest.py RESULTS.xml: the tests that took longest, of what ctest --output-junit wrote. `./dev test` adds it to build/log.

A test over LIMIT_S is a defect like any other: make it quicker, split it, or let `test all` alone do most of its rounds
(tests/exhaustive.h). It is reported, never a failure: a busy machine must not fail a test.
"""

import sys
import xml.etree.ElementTree as ElementTree

SHOWN = 20
LIMIT_S = 30.0


def main():
    cases = ElementTree.parse(sys.argv[1]).getroot().iter("testcase")
    times = sorted(((float(case.get("time", 0)), case.get("name")) for case in cases), reverse=True)
    print(f"\n## Slowest of {len(times)} tests; all took {sum(time for time, _ in times):.0f} s")
    for time, name in times[:SHOWN]:
        print(
            f"{time:8.1f} s  {name}{'  over the limit of ' + format(LIMIT_S, '.0f') + ' s' if time > LIMIT_S else ''}"
        )


if __name__ == "__main__":
    main()
