"""Where functions and classes of a C++ file begin and end, found from its braces.

Not a parser of C++: it knows strings, comments, the preprocessor, and what may stand before a brace at the level of
namespaces and classes in code that clang-format has formatted. That is enough to measure, and it needs no compiler.
"""

import re
from dataclasses import dataclass

TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/'
    r'|R"(?P<delimiter>[^\s()\\]{0,16})\(.*?\)(?P=delimiter)"'
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9A-Za-z_])'(?:\\.|[^'\\\n])+'"
    r"|^[ \t]*#(?:\\\n|[^\n])*"
    r"|[A-Za-z_0-9]+|::|->|[^\s]",
    re.DOTALL | re.MULTILINE)
OPENING, CLOSING = {"(": ")", "[": "]", "{": "}"}, {")", "]", "}"}
CLASS_WORDS = {"class", "struct", "union"}


@dataclass(frozen=True)
class Piece:
    kind: str  # "function" or "class"
    name: str  # as written: "Parse", "Server::Start", "TEST_F(A, B)"
    line: int  # of its opening brace
    lines: int  # from that line to the line of the closing brace, as clang-tidy counts
    member_of: str  # of a function defined outside of its class: the class, without classes around it; else empty


def tokens_of(text):
    line, at = 1, 0
    for match in TOKEN.finditer(text):
        line += text.count("\n", at, match.start())
        at = match.start()
        token = match.group()
        if not token.startswith(("//", "/*")) and not token.lstrip().startswith("#"):
            yield token, line


def measure(text):
    """Every class, and every function that is not inside another one."""
    return _Reader(list(tokens_of(text))).read()


class _Reader:
    def __init__(self, tokens):
        self.tokens = tokens
        self.pieces = []

    def read(self):
        self._scope(0, [])
        return self.pieces

    def _end(self, index):
        """The index of the bracket that closes the one at `index`."""
        depth = 0
        for at in range(index, len(self.tokens)):
            depth += (self.tokens[at][0] in OPENING) - (self.tokens[at][0] in CLOSING)
            if depth == 0:
                return at
        return len(self.tokens) - 1

    def _scope(self, index, classes):
        """Declarations from `index` to the brace that closes the scope; returns that brace's index."""
        head = []
        while index < len(self.tokens):
            token = self.tokens[index][0]
            if token == "}":
                return index
            if token == ";" or (token == ":" and head and head[-1] in ("public", "private", "protected")):
                head = []
            elif token in "([":
                end = self._end(index)
                head += [word for word, _ in self.tokens[index:end + 1]]
                index = end
            elif token == "{":
                index, ends = self._brace(index, head, classes)
                head = [] if ends else [*head, "{}"]
            else:
                head.append(token)
            index += 1
        return index

    def _brace(self, index, head, classes):
        """Goes past a brace; whether it ended a declaration (a class ends with its semicolon)."""
        end = self._end(index)
        line, lines = self.tokens[index][1], self.tokens[end][1] - self.tokens[index][1]
        kind, name = kind_of(head)
        if kind == "namespace":
            self._scope(index + 1, classes)
        elif kind == "class":
            self.pieces.append(Piece("class", "::".join([*classes, name]), line, lines, ""))
            self._scope(index + 1, [*classes, name])
        elif kind == "function":
            outer = [] if classes else name.split("::")[:-1]
            self.pieces.append(Piece("function", "::".join([*classes, name]), line, lines, outer[0] if outer else ""))
        return end, kind in ("namespace", "function")


def without_brackets(head):
    """The words outside of parentheses, square brackets and template parameters."""
    words, depth, angles = [], 0, 0
    for at, word in enumerate(head):
        if word in ("(", "["):
            if not depth and not angles:
                words.append(word)
            depth += 1
        elif word in (")", "]"):
            depth -= 1
            if not depth and not angles:
                words.append(word)
        elif depth:
            continue
        elif word == "<" and at and head[at - 1] != "operator" and (re.match(r"\w", head[at - 1])):
            angles += 1
        elif word == ">" and angles:
            angles -= 1
        elif not angles:
            words.append(word)
    return words


def kind_of(head):
    """What the brace after these words opens: (kind, name)."""
    words = without_brackets(head)
    if not words:
        return "block", ""
    if "namespace" in words or words[:1] == ["extern"] and len(words) == 2:
        return "namespace", ""
    if "enum" in words:
        return "enum", ""
    if "(" not in words or ("=" in words and "operator" not in words):
        for word in CLASS_WORDS & set(words):
            return "class", next((name for name in words[words.index(word) + 1:] if re.fullmatch(r"\w+", name)), "")
        return "block", ""
    if ":" in words and words[-1] not in (")", "{}", "try"):
        return "block", ""  # a member initialised with braces
    return "function", name_of(head)


def name_of(head):
    """What stands before the first parenthesis; with the arguments for GoogleTest's macros."""
    opening = head.index("(")
    first = opening - 1
    while first > 0 and (head[first - 1] in ("::", "~") or head[first] in ("::", "~") and re.fullmatch(r"\w+", head[first - 1])):
        first -= 1
    name = "".join(head[first:opening]) + ("()" if head[opening - 1] == "operator" else "")
    if re.fullmatch(r"(TYPED_)?TEST(_\w+)?", name):
        closing = head.index(")", opening)
        name += "(" + " ".join(head[opening + 1:closing]).replace(" ,", ",") + ")"
    return name
