#!/usr/bin/env python3
"""Writes ../form_tables.cpp: what Unicode's normal forms, lower case and the stripping of accents make of code points, and
where characters begin.

Found by asking Hugging Face `tokenizers`, whose Unicode data are a mixture of versions.

Usage: make_form_tables.py          (needs the `tokenizers` package; takes about a minute)
"""

import pathlib
import struct
import sys
import unicodedata

import tokenizers
from tokenizers import normalizers

ROOT = pathlib.Path(__file__).resolve().parents[4]
sys.path.insert(0, str(ROOT / "runtime/text/unicode/scripts"))
from make_unicode_tables import CODE_POINTS, HANGUL, probe_classes, to_ranges  # noqa: E402


def grapheme_probe(key):
    """A charsmap that makes b of `key`: what it leaves out behind it belongs to the same grapheme."""
    units = [0] * 2048
    base = 0x100
    units[0] = base << 10
    data = key.encode()
    for i, byte in enumerate(data):
        step = (0x200, 0x400, 0x600)[i]  # so that no two nodes lie in one place
        at = base ^ byte
        units[at] = byte | (i + 1 == len(data)) << 8 | step << 10
        base = at ^ step
    units[base] = 1 << 31
    return normalizers.Precompiled(struct.pack("<I2048I", 8192, *units) + b"b\0").normalize_str


def numbers(values, width=118):
    lines, line = [], "   "
    for value in values:
        text = " %d," % value
        if len(line) + len(text) > width:
            lines.append(line)
            line = "   "
        line += text
    return "\n".join(lines + [line])


def function(name, values):
    return (
        "const std::vector<uint32_t>& %s() {\n  static const std::vector<uint32_t> values = {\n%s\n  };\n"
        "  return values;\n}\n\n" % (name, numbers(values))
    )


def mapping(change):
    """Of each code point that changes: itself, how many it becomes, and these."""
    out = []
    for c in CODE_POINTS:
        made = change(chr(c))
        if made != chr(c) and c not in HANGUL:
            out += [c, len(made)] + [ord(x) for x in made]
    return out


def main():
    nfc, nfd, nfkd = (form().normalize_str for form in (normalizers.NFC, normalizers.NFD, normalizers.NFKD))
    classes = probe_classes(nfd)
    pairs = []
    for c in CODE_POINTS:
        parts = nfd(chr(c))
        if len(parts) < 2 or c in HANGUL or nfc(parts) != chr(c):
            continue
        first = nfc(parts[:-1])
        assert len(first) == 1 and nfc(first + parts[-1]) == chr(c), hex(c)
        pairs += [ord(first), ord(parts[-1]), c]
    probe = grapheme_probe("a")
    extends = [c for c in CODE_POINTS if probe("a" + chr(c)) == "b"]
    ranges = [v for r in to_ranges(extends) for v in r]
    alone = [
        c
        for c in range(0xFFFF)
        if unicodedata.category(chr(c)) in ("Cc", "Cf", "Zl", "Zp")
        and c not in extends
        and c != 0
        and grapheme_probe(chr(c))(chr(c) + "\u0301") == "b\u0301"
    ]
    by_class = [v for c in sorted(classes) for v in (c, classes[c])]
    text = (
        "// Written by scripts/make_form_tables.py with tokenizers %s.\n// clang-format off\n"
        '#include "tokenizer/unicode/form_tables.h"\n\nnamespace bantam::convert {\n\n' % tokenizers.__version__
    )
    text += function("canonical_parts", mapping(nfd)) + function("compatible_parts", mapping(nfkd))
    text += function("combining_classes", by_class) + function("compositions", pairs)
    text += function("lower_cases", mapping(normalizers.Lowercase().normalize_str))
    text += function("stripped_accents", mapping(normalizers.StripAccents().normalize_str))
    text += function("nmt_changes", mapping(normalizers.Nmt().normalize_str))
    text += function("extending_ranges", ranges)
    text += function("lone_ranges", [v for r in to_ranges([0] + alone) for v in r])
    path = pathlib.Path(__file__).resolve().parent.parent / "form_tables.cpp"
    path.write_text(text + "}  // namespace bantam::convert\n")


main()
