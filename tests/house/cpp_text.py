"""Takes C++ and CUDA sources apart without a compiler: code, comments and texts, and functions.

house_rules.py asks here where an identifier, a comment or a function stands.
"""
import bisect
import dataclasses
import re

_TOKEN = re.compile(
    r"""(?P<comment>//(?:\\\n|[^\n])*|/\*.*?\*/)
      | (?P<raw>(?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)")
      | (?P<string>"(?:\\.|[^"\\\n])*")
      | (?P<char>(?<![0-9A-Za-z_])(?:u8|[uUL])?'(?:\\.|[^'\\\n])+')
    """, re.VERBOSE | re.DOTALL)
# A line of the preprocessor with the lines that it continues on.
_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.)*(?:\\\n[^\n]*)*", re.MULTILINE)
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"(?P<quoted>[^"]+)"|<(?P<angle>[^>]+)>)',
                      re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class Include:
    line: int
    name: str
    quoted: bool


@dataclasses.dataclass(frozen=True)
class Function:
    line: int  # of the first word of its signature
    end_line: int  # of its closing brace
    head: str

    @property
    def lines(self):
        return self.end_line - self.line + 1


def _blank(text):
    return re.sub(r"[^\n]", " ", text)


class CppText:
    """One source in three texts of equal length: what is not of the kind is blank.

    code: no comments, and of strings and characters only the quotes; comments; strings.
    """

    def __init__(self, text):
        code, comments, strings, position = [], [], [], 0
        for token in _TOKEN.finditer(text):
            plain, kept = text[position : token.start()], token.group()
            code.append(plain)
            comments.append(_blank(plain))
            strings.append(_blank(plain))
            is_comment = token.lastgroup == "comment" or token.group("comment") is not None
            is_text = token.group("string") is not None or token.group("raw") is not None
            comments.append(kept if is_comment else _blank(kept))
            strings.append(kept if is_text else _blank(kept))
            code.append(_blank(kept) if is_comment else '"' + _blank(kept)[2:] + '"')
            position = token.end()
        plain = text[position:]
        self.text = text
        self.code = "".join(code) + plain
        self.comments = "".join(comments) + _blank(plain)
        self.strings = "".join(strings) + _blank(plain)
        self._line_starts = [match.start() for match in re.finditer(r"^", text, re.MULTILINE)]

    def line_of(self, offset):
        return bisect.bisect_right(self._line_starts, offset)

    def includes(self):
        """Every #include that is not in a comment."""
        return [Include(self.line_of(found.start()), found["quoted"] or found["angle"],
                        found["quoted"] is not None)
                for found in _INCLUDE.finditer(self.text)
                if self.code[found.start() : found.end()].strip()]

    def strings_outside(self, call):
        """The strings text without the arguments of call(...), such as seeds of random numbers."""
        kept = self.strings
        for found in re.finditer(rf"\b{call}\s*\(", self.code):
            depth, end = 1, found.end()
            while depth and end < len(self.code):
                depth += {"(": 1, ")": -1}.get(self.code[end], 0)
                end += 1
            kept = kept[: found.start()] + _blank(kept[found.start() : end]) + kept[end:]
        return kept

    def functions(self):
        """Every function with a body, lambdas that start a namespace's constant included."""
        return _Functions(self).found


class _Functions:
    """Reads braces: into namespaces and classes, past initializers, over functions."""

    def __init__(self, source):
        self.source = source
        self.code = _DIRECTIVE.sub(lambda found: _blank(found.group()), source.code)
        self.found = []
        head_start = position = 0
        while (position := self._next(position)) < len(self.code):
            character = self.code[position]
            if character != "{":  # ; or }: a declaration or a scope ends
                head_start = position = position + 1
                continue
            kind = _opens(self.code[head_start:position])
            end = self._closing(position)
            if kind == "scope":
                head_start = position = position + 1
            elif kind == "function":
                self._keep(head_start, end)
                head_start = position = end + 1
            else:  # an initializer: the declaration goes on behind it
                position = end + 1

    def _next(self, position):
        """The next brace or semicolon outside of parentheses."""
        depth = 0
        for found in re.compile(r"[(){};]").finditer(self.code, position):
            character = found.group()
            if character == "(":
                depth += 1
            elif character == ")":
                depth -= 1
            elif depth <= 0:
                return found.start()
        return len(self.code)

    def _closing(self, opening):
        depth = 0
        for found in re.compile(r"[{}]").finditer(self.code, opening):
            depth += 1 if found.group() == "{" else -1
            if depth == 0:
                return found.start()
        return len(self.code) - 1

    def _keep(self, head_start, end):
        head = self.code[head_start : self.code.index("{", head_start)]
        lead = re.match(r"(?:\s*(?:public|private|protected)\s*:(?!:))*\s*", head)
        self.found.append(Function(self.source.line_of(head_start + lead.end()),
                                   self.source.line_of(end), " ".join(head.split())))


def _without_brackets(head):
    """The head without what stands in (), [] and template <>; these leave their brackets."""
    head = re.sub(r"\boperator\s*(\(\s*\)|[^\s\w(]+)", "operator_name", head)
    for brackets in (r"\([^()]*\)", r"\[[^\[\]]*\]"):
        shorter = None
        while shorter != head:
            shorter, head = head, re.sub(brackets, lambda found: "\x01" if found.group()[0] == "("
                                         else "\x02", head)
    shorter = None
    while shorter != head:
        shorter, head = head, re.sub(r"(template|\w)\s*<[^<>]*>", r"\1 ", head)
    return head


def _opens(head):
    """What a brace behind this head opens: a "scope", a "function" or an "initializer"."""
    flat = _without_brackets(head)
    if re.search(r"\bnamespace\b", flat) or re.search(r'\bextern\s*"', flat):
        return "scope"
    if re.search(r"\benum\b", flat):
        return "initializer"
    assigned = re.search(r"(?<![=!<>])=(?!=)", flat)
    if assigned:
        return "function" if re.match(r"\s*\x02\s*(\x01[^{]*)?$", flat[assigned.end() :]) \
            else "initializer"
    if re.search(r"\b(class|struct|union)\b", flat) and not re.search(r"\w\s*\x01\s*$", flat) \
            and not re.search(r"\b(?!alignas)\w+\s*\x01", flat):
        return "scope"
    parameters = re.search(r"\w\s*\x01", flat)
    if not parameters:
        return "initializer"
    # A constructor's list of members: name{...} is a member, the body follows ) or }.
    members = re.search(r"(?<!:):(?!:)", flat[parameters.end() :])
    if members and re.search(r"[\w>]\s*$", flat):
        return "initializer"
    return "function"
