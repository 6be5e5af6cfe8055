#!/usr/bin/env python3
"""Writes ../letter_tables.cpp: the code points that \\p{L}, \\p{M}, \\p{N}, \\p{P}, \\p{S} and \\s of a split pattern match.

Found by asking Hugging Face `tokenizers`, whose regular expressions have a version of Unicode of their own.

Usage: make_letter_tables.py          (needs the `tokenizers` package; takes seconds)
"""

import pathlib

import tokenizers
from tokenizers import Regex, pre_tokenizers

CODE_POINTS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
SETS = {"L": r"\p{L}", "M": r"\p{M}", "N": r"\p{N}", "P": r"\p{P}", "S": r"\p{S}", "s": r"\s"}
CHUNK = 4096


def members(pattern):
    remove = pre_tokenizers.Split(Regex(pattern), "removed")
    found = []
    for at in range(0, len(CODE_POINTS), CHUNK):
        chunk = CODE_POINTS[at : at + CHUNK]
        rest = set()
        for piece, _ in remove.pre_tokenize_str("".join(map(chr, chunk))):
            rest.update(piece)
        found += [c for c in chunk if chr(c) not in rest]
    return found


def ranges(points):
    out = []
    for c in points:
        if out and out[-1][1] == c:
            out[-1][1] = c + 1
        else:
            out.append([c, c + 1])
    return out


def table(name, pattern):
    lines, line = [], "   "
    for begin, end in ranges(members(pattern)):
        text = " {%d, %d}," % (begin, end)
        if len(line) + len(text) > 118:
            lines.append(line)
            line = "   "
        line += text
    return "    // %s\n" % name + "\n".join(lines + [line]) + "\n"


def main():
    head = (
        "// Written by scripts/make_letter_tables.py with tokenizers %s.\n// clang-format off\n"
        % tokenizers.__version__
    )
    head += '#include "import/tokenizer/code_set.h"\n\nnamespace bantam::convert {\n\n'
    body = ""
    for name, pattern in SETS.items():
        body += (
            "const std::vector<CodeRange>& matched_by_%s() {\n  static const std::vector<CodeRange> ranges = {\n"
            % (name if name != "s" else "blank")
        )
        body += table(pattern, pattern) + "  };\n  return ranges;\n}\n\n"
    path = pathlib.Path(__file__).resolve().parent.parent / "letter_tables.cpp"
    path.write_text(head + body + "}  // namespace bantam::convert\n")


main()
