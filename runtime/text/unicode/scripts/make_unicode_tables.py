#!/usr/bin/env python3
"""Writes unicode_class_tables.cpp, unicode_compact_tables.cpp, unicode_mapping_tables.cpp and unicode_word_tables.cpp into ../.

The tables hold what Hugging Face `tokenizers` does with every code point, found by asking it, because its
Unicode data are a mixture of versions (character categories of Unicode 8, normalisation of Unicode 9,
lower case and white space of a recent Rust) that no single Unicode library reproduces. Python's own
unicodedata only lends the combining classes against which unknown ones are measured, and the count of
differences that the header of each file reports.

Usage: make_unicode_tables.py          (needs the `tokenizers` package; takes about a minute)
"""

import bisect
import collections
import pathlib
import unicodedata

import tokenizers
from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers

CODE_POINTS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
HANGUL = range(0xAC00, 0xD7A4)
CJK_BLOCKS = (range(0xF900, 0xFB00), range(0x2F800, 0x2FA1E))

# Bits of a character class; the same names are in ../unicode.h.
CONTROL, SPACE, PUNCTUATION, MARK, DECOMPOSES, UPPER = 1, 2, 4, 8, 16, 32
RANK_SHIFT = 8
COMPACT_STRIDE = 104  # bytes of the compact table that are read at most, about

# Builds that have the tables, for the preprocessor; see ../../linked.h.
HOSTS = "!defined(BANTAM_FIRMWARE)"
WORDS = "BANTAM_IF_LINKED(TokenEdges) || BANTAM_IF_LINKED(NormalizedTokens)"

# Canonical combining classes by rank. Only the order around classes that have a member which survives the
# stripping of accents matters (7, 9, 216, 224, 226, 230), so the others share ranks.
RANK_BOUNDS = [7, 8, 9, 10, 216, 217, 224, 225, 226, 227, 230, 231]


def rank_of(combining_class):
    return 1 + bisect.bisect_right(RANK_BOUNDS, combining_class)


def bert(**on):
    options = dict(clean_text=False, handle_chinese_chars=False, strip_accents=False, lowercase=False)
    return normalizers.BertNormalizer(**{**options, **on})


def probe_classes(nfd):
    """Combining class of every code point that `tokenizers` reorders, measured against known ones."""
    known = {}
    for c in range(0x300, 0x3100):
        value = unicodedata.ucd_3_2_0.combining(chr(c))
        if value and value == unicodedata.combining(chr(c)):
            known.setdefault(value, chr(c))
    known[214] = "\u1dce"

    def less(a, b):
        return nfd("a" + b + a) == "a" + a + b

    lowest, highest = known[1], known[240]
    classes = {}
    for c in CODE_POINTS:
        s = chr(c)
        if c < 0x300 or c in HANGUL or nfd(s) != s:
            continue
        if nfd("a" + highest + s) == "a" + highest + s and nfd("a" + s + lowest) == "a" + s + lowest:
            continue
        equal = [v for v, r in known.items() if r == s or not (less(s, r) or less(r, s))]
        classes[c] = equal[0] if equal else unicodedata.combining(s)
    for c in CODE_POINTS:
        first = ord(nfd(chr(c))[0])
        if c not in classes and first in classes:
            classes[c] = classes[first]
    return classes


def probe_words():
    tokenizer = Tokenizer(models.WordPiece({"[UNK]": 0, "xx": 1}, unk_token="[UNK]"))
    tokenizer.add_tokens([AddedToken("xx", single_word=True, normalized=False)])
    return [c for c in CODE_POINTS if tokenizer.encode("xx" + chr(c)).ids[0] != 1]


def numbers(values, width=118):
    lines, line = [], "   "
    for value in values:
        text = " %d," % value
        if len(line) + len(text) > width:
            lines.append(line)
            line = "   "
        line += text
    return "\n".join(lines + [line])


def array(kind, name, values):
    values = list(values)
    return "const %s %s[%d] = {\n%s\n};\n" % (kind, name, len(values), numbers(values))


def counts(**values):
    return "\n" + "".join("const uint32_t %s = %d;\n" % item for item in values.items())


def split(values, size):
    """Distinct blocks of `size` values, one after the other, and the number of the block at each place."""
    blocks = {}
    index = [blocks.setdefault(tuple(values[i : i + size]), len(blocks)) for i in range(0, len(values), size)]
    return [v for block in blocks for v in block], index


def to_ranges(points):
    ranges = []
    for c in points:
        if ranges and ranges[-1][1] == c:
            ranges[-1][1] = c + 1
        else:
            ranges.append([c, c + 1])
    return ranges


def gamma(value):
    """Elias' gamma code: as many zeros as bits follow the highest one, then the number."""
    return "0" * (value.bit_length() - 1) + format(value, "b")


def to_bytes(bits):
    """The highest bit first; zeros to the next byte."""
    return [int(bits[i : i + 8].ljust(8, "0"), 2) for i in range(0, len(bits), 8)]


def compact_classes(classes):
    """The runs of equal classes (what the mappings tell left out) as bytes, an index into them, the classes' values:
    see ../unicode_compact.cpp."""
    kept = [v & 15 | v >> RANK_SHIFT << 4 for v in classes]
    runs = []
    for c, v in enumerate(kept):
        if runs and runs[-1][2] == v and runs[-1][1] == c:
            runs[-1][1] = c + 1
        elif v:
            runs.append([c, c + 1, v])
    counts = collections.Counter(v for _, _, v in runs)
    values = sorted(counts, key=lambda v: (-counts[v], v))
    assert max(values) < 256
    stream, index, bits, end = [], [], "", 0
    for begin, after, v in [*runs, (0x200000, 0x200000, values[0])]:  # last a gap that nobody leaves
        if len(stream) + len(bits) / 8 >= len(index) * COMPACT_STRIDE:
            stream += to_bytes(bits)
            bits = ""
            index.append(end << 11 | len(stream))
        bits += gamma(values.index(v) + 1) + gamma(begin - end + 1) + (gamma(after - begin) if after > begin else "")
        end = after
    stream += to_bytes(bits)
    assert len(stream) < 2048
    return stream, index + [0xFFFFFFFF], values


def lower_ranges(lower):
    """[first, count, stride, delta] so that first + i * stride maps to itself + delta."""
    items = sorted(lower.items())
    ranges = []
    i = 0
    while i < len(items):
        best = 1
        stride = 1
        for step in (1, 2):
            n = 1
            while (
                i + n < len(items)
                and items[i + n][0] == items[i][0] + n * step
                and items[i + n][1] - items[i + n][0] == items[i][1] - items[i][0]
            ):
                n += 1
            if n > best:
                best, stride = n, step
        ranges.append((items[i][0], best, stride, items[i][1] - items[i][0]))
        i += best
    return ranges


def source(what, body, needed=""):
    """A source file; `needed`: the builds that have it."""
    linked = '\n#include "linked.h"\n' if "BANTAM_LINKS" in needed else ""
    return (
        "// %s\n// Generated by scripts/make_unicode_tables.py from tokenizers %s and Unicode %s; do not edit.\n"
        '#include "text/unicode/unicode_tables.h"\n%s%s\n// clang-format off\nnamespace bantam::text {\n\n%s\n}  // namespace bantam::text\n%s'
        % (
            what,
            tokenizers.__version__,
            unicodedata.unidata_version,
            linked,
            f"\n#if {needed}\n" if needed else "",
            body,
            f"\n#endif  // {needed}\n" if needed else "",
        )
    )


def main():
    folder = pathlib.Path(__file__).resolve().parent.parent
    clean, strip, lower = (
        bert(clean_text=True).normalize_str,
        bert(strip_accents=True).normalize_str,
        bert(lowercase=True).normalize_str,
    )
    nfd = normalizers.NFD().normalize_str
    pieces = pre_tokenizers.BertPreTokenizer().pre_tokenize_str
    ranks = {c: rank_of(v) for c, v in probe_classes(nfd).items()}

    stripped, lowered, classes = {}, {}, [0] * 0x110000
    differences = 0
    for c in CODE_POINTS:
        s = chr(c)
        bits = ranks.get(c, 0) << RANK_SHIFT
        if clean(s) == "":
            bits |= CONTROL
        parts = len(pieces("a" + s + "b"))
        bits |= {1: 0, 2: SPACE, 3: PUNCTUATION}[parts]
        assert bits & CONTROL or (clean(s) == " ") == bool(bits & SPACE), hex(c)
        bare = strip(s)
        if bare == "":
            bits |= MARK
        elif bare != s and c not in HANGUL:
            bits |= DECOMPOSES
            stripped[c] = [ord(x) for x in bare]
        small = lower(s)
        if small != s:
            bits |= UPPER
            if c != 0x130:  # becomes two characters; see unicode.cpp
                assert len(small) == 1, hex(c)
                lowered[c] = ord(small)
        classes[c] = bits
        category = unicodedata.category(s)
        differences += (
            bool(bits & PUNCTUATION) != (category[0] == "P")
            or bool(bits & MARK) != (category == "Mn")
            or small != s.lower()
            or (
                c not in HANGUL
                and bare != "".join(x for x in unicodedata.normalize("NFD", s) if unicodedata.category(x) != "Mn")
            )
        )
    assert all(strip(chr(c)) == unicodedata.normalize("NFD", chr(c)) for c in HANGUL)
    for c, rank in ranks.items():  # reordering in normalizer.cpp relies on this
        assert stripped.get(c) is None, hex(c)
    survivors = sorted({ranks[c] for c in ranks if not classes[c] & MARK})
    # White space at both ends of an added token is found by a regular expression's \s: the same characters.
    properties = sorted(set(classes))
    assert len(properties) <= 256
    leaf, middle_values = split([properties.index(v) for v in classes], 16)
    middle, top = split(middle_values, 64)
    assert max(top) < 256 and max(middle) < 65536

    text = array("uint16_t", "kClassBits", properties) + "\n"
    text += array("uint8_t", "kClassTop", top) + "\n"
    text += array("uint16_t", "kClassMiddle", middle) + "\n"
    text += array("uint8_t", "kClassLeaf", leaf)
    what = (
        "Character classes of all code points: three stages of 17, 64 and 16 steps, then the class's bits.\n"
        "// %d code points differ from Python's unicodedata in punctuation, nonspacing mark, lower case or NFD."
        % differences
    )
    (folder / "unicode_class_tables.cpp").write_text(source(what, text, HOSTS))

    words = to_ranges(probe_words())
    low = [r for r in words if r[0] < 0x10000]
    high = [r for r in words if r[0] >= 0x10000]
    assert all(r[1] <= 0xFFFF for r in low) and all(r[0] < 0x30000 + 0x10000 for r in high[:-1])
    text = array("uint16_t", "kWordLow", [v for r in low for v in r]) + "\n"
    text += array("uint32_t", "kWordHigh", [v for r in high for v in r])
    text += counts(kWordLowCount=2 * len(low), kWordHighCount=2 * len(high))
    what = "Word characters (\\w): begin, end, begin, end ...; the first table below U+10000."
    (folder / "unicode_word_tables.cpp").write_text(source(what, text, WORDS))

    runs, index, values = compact_classes(classes)
    text = "const uint8_t kSurvivorRanks[%d] = {%s};" % (len(survivors), ", ".join(map(str, survivors)))
    text += counts(kSurvivorRankCount=len(survivors)) + "\n"
    text += array("uint8_t", "kCompactValues", values) + "\n"
    text += array("uint32_t", "kCompactIndex", index) + "\n"
    text += array("uint8_t", "kCompactRuns", runs)
    what = "Character classes of all code points in little room: see unicode_compact.cpp."
    (folder / "unicode_compact_tables.cpp").write_text(source(what, text))

    cjk = {c: v for c, v in stripped.items() if any(c in block for block in CJK_BLOCKS) and len(v) == 1}
    assert all(v[0] < 0x10000 or 0x20000 <= v[0] < 0x30000 for v in cjk.values())
    simple = {c: v[0] for c, v in stripped.items() if c not in cjk and len(v) == 1 and c < 0x10000}
    assert all(v < 0x10000 for v in simple.values())
    irregular = {c: v for c, v in stripped.items() if c not in cjk and c not in simple}
    order = [c for block in CJK_BLOCKS for c in block]
    bits = bytearray((len(order) + 7) // 8)
    for i, c in enumerate(order):
        if cjk.get(c, [0])[0] >= 0x20000:
            bits[i // 8] |= 1 << i % 8
    text = array("uint16_t", "kStripFrom", sorted(simple)) + "\n"
    text += array("uint16_t", "kStripTo", [simple[c] for c in sorted(simple)]) + "\n"
    text += "// From, then up to three code points.\n"
    text += array("uint32_t", "kStripLong", [v for c in sorted(irregular) for v in ([c] + irregular[c] + [0, 0])[:4]])
    text += "\n// U+F900..U+FAFF, U+2F800..U+2FA1D: the low 16 bits, and whether the target lies in plane 2.\n"
    text += array("uint16_t", "kStripCjk", [cjk.get(c, [0])[0] & 0xFFFF for c in order]) + "\n"
    text += array("uint8_t", "kStripCjkPlane2", bits) + "\n"
    ranges = lower_ranges(lowered)
    text += "const LowerRange kLower[%d] = {\n%s\n};\n" % (
        len(ranges),
        "\n".join("    {%d, %d, %d, %d}," % r for r in ranges),
    )
    text += counts(kStripCount=len(simple), kStripLongCount=4 * len(irregular), kLowerCount=len(ranges))
    what = "Canonical decompositions without nonspacing marks, and lower case."
    (folder / "unicode_mapping_tables.cpp").write_text(source(what, text, HOSTS))

    print(
        "classes %d, leaf %d, middle %d, top %d, word ranges %d + %d"
        % (len(properties), len(leaf), len(middle), len(top), len(low), len(high))
    )
    print(
        "simple %d, irregular %d, cjk %d, lower ranges %d, differences %d, survivors %s"
        % (len(simple), len(irregular), len(order), len(ranges), differences, survivors)
    )


if __name__ == "__main__":
    main()
