"""Finds the checks of the code that verifies a model file, and makes each of them ask whether it is there."""

import collections
import dataclasses
import pathlib
import re

import tree_sitter
import tree_sitter_cpp

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("runtime/format", "runtime/model", "runtime/ops", "runtime/text")
# Functions whose answer is the verdict: each `return false` and each conjunct of what they return is a check.
JUDGES = {
    "runtime/model/structure.cpp": ("run", "follow", "holds", "holds_aligned", "check_vector", "check_string",
                                    "check_strings", "enter_at", "enter", "check_fields", "is_well_formed"),
    "runtime/model/verify.cpp": ("all_in_range",),
    "runtime/model/verify_plan.cpp": ("ends_before",),
    "runtime/ops/operands.h": ("is_token_rows_of_any_type", "is_token_rows"),
    "runtime/ops/weights.cpp": ("is_order",),
}  # fmt: skip
HEADER = '#include "mutants.h"\n'
PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_cpp.language()))


@dataclasses.dataclass(frozen=True)
class Check:
    file: str
    line: int
    what: str  # the sentence of the fault, or the judge's name
    operand: str  # its text, without what removes blanks
    number: int

    def key(self):
        return f"{self.file}: {self.what}: {self.operand}"


def text(node):
    return " ".join(node.text.decode().split())


def bare(node):
    while node.type == "parenthesized_expression":
        node = node.named_children[0]
    return node


def operator(node):
    found = node.child_by_field_name("operator")
    return text(found) if found and node.type in ("binary_expression", "unary_expression") else ""


def sides(node):
    return node.child_by_field_name("left"), node.child_by_field_name("right")


class Source:
    """One source file: its checks in order, and its text in which they ask."""

    def __init__(self, file, first):
        self.file, self.next = file, first
        self.bytes = (ROOT / file).read_bytes()
        self.checks, self.edits, self.seen = [], [], set()
        self.keys = collections.Counter()
        self.root = PARSER.parse(self.bytes).root_node
        self.walk(self.root)

    def walk(self, node):
        if node.type == "call_expression" and self.fails(node):
            self.failing(node, self.sentence(node))
        elif (
            node.type == "return_statement"
            and self.file == "runtime/model/verify.cpp"
            and text(node) == "return Status::kCorrupt;"
        ):
            self.failing(node.named_children[0], "not a well-formed FlatBuffer")
        elif node.type == "return_statement" and text(node) == "return kOutOfBudget;":
            self.failing(node.named_children[0], "the plan is too large to be verified")
        elif node.type == "return_statement" and self.judge(node):
            self.judged(node)
        for child in node.named_children:
            self.walk(child)

    # Calls that fail

    def fails(self, call):
        function, arguments = (text(call.child_by_field_name(name)) for name in ("function", "arguments"))
        if "kOpNotLinked" in arguments or call.parent.type in ("init_declarator", "field_declaration"):
            return False
        if function == "fail":
            return self.file == "runtime/format/header.cpp"
        return function in ("corrupt", "unsupported", "check.fail", "check_.fail")

    def sentence(self, call):
        arguments = call.child_by_field_name("arguments").named_children
        for argument in arguments:
            if argument.type in ("string_literal", "concatenated_string"):
                return text(argument).strip('"')
        return text(arguments[0])

    def failing(self, node, what):
        """Removes the condition on which `node` is the answer, or the answer where there is none."""
        child, parent = node, node.parent
        while parent.type == "parenthesized_expression":
            child, parent = parent, parent.parent
        if parent.type == "conditional_expression":
            fails_if = parent.child_by_field_name("consequence").id == child.id
            self.split(parent.child_by_field_name("condition"), what, fails_if)
            return
        if parent.type == "return_statement":
            condition = self.condition_of(parent)
            if condition is not None:
                self.split(condition, what, True)
                return
            body = node.text.decode()
            number = self.add(node, what, "otherwise")
            self.edits.append(
                (node.start_byte, node.end_byte, f"(mutants::found({number}, true) ? {body} : decltype({body}){{}})")
            )
            return
        raise SystemExit(f"{self.file}:{node.start_point[0] + 1}: a fault in a place that is not known: {text(parent)}")

    @staticmethod
    def condition_of(returned):
        """The condition of the if whose whole body ends with this return."""
        child, parent = returned, returned.parent
        if parent.type == "compound_statement":
            if parent.named_children[-1].id != returned.id or any(
                b"return" in c.text for c in parent.named_children[:-1]
            ):
                return None
            child, parent = parent, parent.parent
        if parent.type != "if_statement" or parent.child_by_field_name("consequence").id != child.id:
            return None
        if any(c.type == "constexpr" for c in parent.children):
            return None
        value = parent.child_by_field_name("condition").child_by_field_name("value")
        return None if value is None or value.type == "declaration" else value

    # Functions that judge

    def judge(self, node):
        while node is not None and node.type != "function_definition":
            if node.type == "lambda_expression":
                return None
            node = node.parent
        if node is None:
            return None
        declared = node.child_by_field_name("declarator").child_by_field_name("declarator")
        return text(declared) if declared is not None and text(declared) in JUDGES.get(self.file, ()) else None

    def judged(self, node):
        name, value = self.judge(node), node.named_children[0]
        if text(value) == "false":
            condition = self.condition_of(node)
            if condition is not None:
                self.split(condition, name, True)
                return
            number = self.add(value, name, "otherwise")
            self.edits.append((value.start_byte, value.end_byte, f"!mutants::found({number}, true)"))
        elif value.type == "conditional_expression":
            self.split(value.child_by_field_name("condition"), name, False)
        elif value.type not in ("true", "identifier", "number_literal"):
            self.split(value, name, False)

    # Conditions

    def split(self, node, what, fails_if):
        """One check for each operand that alone makes the condition `fails_if`."""
        inner = bare(node)
        if operator(inner) == "!":
            self.split(inner.child_by_field_name("argument"), what, not fails_if)
            return
        if operator(inner) == ("||" if fails_if else "&&"):
            for side in sides(inner):
                self.split(side, what, fails_if)
            return
        if operator(inner) == ("&&" if fails_if else "||"):
            several = [side for side in sides(inner) if self.is_several(side, fails_if)]
            for side in several:
                self.split(side, what, fails_if)
            if several:
                return
        if inner.type == "identifier" and (value := self.named(inner)) is not None:
            self.split(value, what, fails_if)
            return
        if (inner.start_byte, inner.end_byte) in self.seen or re.fullmatch(r"linked::\w+", text(inner)):
            return  # what a build has is no check of a file
        self.seen.add((inner.start_byte, inner.end_byte))
        number = self.add(inner, what, ("" if fails_if else "not: ") + text(inner))
        body = inner.text.decode()
        self.edits.append((inner.start_byte, inner.end_byte,
                           f"mutants::found({number}, ({body}))" if fails_if else f"!mutants::found({number}, !({body}))"))  # fmt: skip

    def is_several(self, node, fails_if):
        inner = bare(node)
        if operator(inner) == "!":
            return self.is_several(inner.child_by_field_name("argument"), not fails_if)
        if operator(inner) == ("||" if fails_if else "&&"):
            return True
        return operator(inner) == ("&&" if fails_if else "||") and any(
            self.is_several(s, fails_if) for s in sides(inner)
        )

    def named(self, identifier):
        """The value of the constant bool of that name, where nothing else reads it."""
        function = identifier
        while function.type not in ("function_definition", "translation_unit"):
            function = function.parent
        uses, values = 0, []
        stack = [function]
        while stack:
            node = stack.pop()
            uses += node.type == "identifier" and node.text == identifier.text
            named = node.type == "init_declarator" and node.child_by_field_name("declarator").text == identifier.text
            if named and text(node.parent).startswith("const bool "):
                values.append(node.child_by_field_name("value"))
            stack.extend(node.named_children)
        return values[0] if uses == 2 and len(values) == 1 else None

    def add(self, node, what, operand):
        key = (what, operand)
        self.keys[key] += 1
        if self.keys[key] > 1:
            operand += f" ({self.keys[key]})"
        number, self.next = self.next, self.next + 1
        self.checks.append(Check(self.file, node.start_point[0] + 1, what, operand, number))
        return number

    def asking(self):
        """The text in which each check asks."""
        out = self.bytes
        for begin, end, new in sorted(self.edits, reverse=True):
            out = out[:begin] + new.replace("mutants::", "::bantam::mutants::").encode() + out[end:]
        return HEADER.encode() + out


def find():
    """Sources that have checks."""
    sources, number = [], 1
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".cpp", ".h"):
                source = Source(str(path.relative_to(ROOT)), number)
                if source.checks:
                    sources.append(source)
                    number = source.next
    return sources


if __name__ == "__main__":
    for found in find():
        for check in found.checks:
            print(f"{check.number} {check.file}:{check.line}: {check.what}: {check.operand}")
