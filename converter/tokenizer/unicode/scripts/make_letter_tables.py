#!/usr/bin/env python3
"""Writes ../letter_tables.cpp: the code points that \\p{L}, \\p{M}, \\p{N}, \\p{P}, \\p{S} and \\s of a split pattern match,
../property_tables.cpp: those of other properties, and ../script_tables.cpp: the scripts that its splitter UnicodeScripts tells apart.

Found by asking Hugging Face `tokenizers`, whose regular expressions have a version of Unicode of their own.

Usage: make_letter_tables.py          (needs the `tokenizers` package; takes half a minute)
"""

import pathlib

import tokenizers
from tokenizers import Regex, pre_tokenizers

CODE_POINTS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
SETS = {"L": r"\p{L}", "M": r"\p{M}", "N": r"\p{N}", "P": r"\p{P}", "S": r"\p{S}", "s": r"\s", "w": r"\w", "d": r"\d"}
CHUNK = 4096

PROPERTIES = (
    "Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Z Zs Zl Zp C Cc Cf Han Hiragana Katakana Hangul "
    "Latin Greek Cyrillic Arabic Hebrew Devanagari Thai"
).split()


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


def touching(splitter):
    """The code points that `splitter` leaves with a letter ("word") or sets apart from it ("numerals")."""
    return {c for c in CODE_POINTS if len(splitter.pre_tokenize_str("a" + chr(c) + "a")) > 1}


def scripts():
    """The code points that go with every script, which the splitter leaves out at the beginning of a text, then those of each."""
    split = pre_tokenizers.UnicodeScripts().pre_tokenize_str
    any_script = [c for c in CODE_POINTS if not split(chr(c))]
    others = sorted(set(CODE_POINTS) - set(any_script))
    found = []
    for at in range(0, len(others), CHUNK):
        for run, _ in split("".join(map(chr, others[at : at + CHUNK]))):
            mine = next((s for s in found if len(split(chr(s[0]) + run[0])) == 1), None)
            if mine is None:
                found.append([])
            (found[-1] if mine is None else mine).extend(map(ord, run))
    return [any_script] + found


def ranges(points):
    out = []
    for c in points:
        if out and out[-1][1] == c:
            out[-1][1] = c + 1
        else:
            out.append([c, c + 1])
    return out


def table(name, points):
    lines, line = [], "   "
    for begin, end in ranges(points):
        text = " {%d, %d}," % (begin, end)
        if len(line) + len(text) > 118:
            lines.append(line)
            line = "   "
        line += text
    return "    // %s\n" % name + "\n".join(lines + [line]) + "\n"


def head():
    text = (
        "// Written by scripts/make_letter_tables.py with tokenizers %s.\n// clang-format off\n"
        % tokenizers.__version__
    )
    return text + '#include "tokenizer/unicode/code_set.h"\n\nnamespace bantam::convert {\n\n'


def main():
    body = ""
    sets = [("matched_by_" + ("blank" if k == "s" else k), p, members(p)) for k, p in SETS.items()]
    others = touching(pre_tokenizers.Whitespace())
    sets.append(("matched_by_word", "Whitespace", [c for c in CODE_POINTS if c not in others]))
    sets.append(("numerals", "Digits", sorted(touching(pre_tokenizers.Digits(individual_digits=True)))))
    for name, comment, points in sets:
        body += "const std::vector<CodeRange>& %s() {\n  static const std::vector<CodeRange> ranges = {\n" % name
        body += table(comment, points) + "  };\n  return ranges;\n}\n\n"
    folder = pathlib.Path(__file__).resolve().parent.parent
    (folder / "letter_tables.cpp").write_text(head() + body + "}  // namespace bantam::convert\n")
    body = "const std::vector<CodeRange>* matched_by_property(const std::string& name) {\n"
    body += "  static const std::map<std::string, std::vector<CodeRange>> properties = {\n"
    for name in PROPERTIES:
        points = table(r"\p{%s}" % name, members(r"\p{%s}" % name))
        body += '    {"%s", {\n%s    }},\n' % (name.lower(), points)
    body += "  };\n  const auto found = properties.find(name);\n"
    body += "  return found == properties.end() ? nullptr : &found->second;\n}\n\n"
    more = head().replace('#include "tok', '#include <map>\n#include <string>\n\n#include "tok')
    (folder / "property_tables.cpp").write_text(more + body + "}  // namespace bantam::convert\n")
    body = "const std::vector<std::vector<CodeRange>>& scripts() {\n"
    body += "  static const std::vector<std::vector<CodeRange>> ranges = {\n"
    for points in scripts():
        body += "    {\n%s    },\n" % table("U+%04X and others" % points[0], points)
    body += "  };\n  return ranges;\n}\n\n"
    (folder / "script_tables.cpp").write_text(head() + body + "}  // namespace bantam::convert\n")


main()
