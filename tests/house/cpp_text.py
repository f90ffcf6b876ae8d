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
# What stands before the brace of a body: parameters, or what closes a constructor's list of members.
_FUNCTION_HEAD = re.compile(r"[)}\]]\s*(const|noexcept|override|final|mutable|->[^{};]*|\s)*\s$")
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
        """Every function with a body, with the blocks and lambdas in it, which are no longer."""
        code = _DIRECTIVE.sub(lambda found: _blank(found.group()), self.code)
        found, open_braces, head_start = [], [], 0
        for character in re.finditer(r"[{};]", code):
            at = character.start()
            if character.group() == "{":
                open_braces.append((at, head_start))
            elif character.group() == "}" and open_braces:
                opening, start = open_braces.pop()
                if _FUNCTION_HEAD.search(code[start:opening]):
                    head = code[start:opening]
                    start += len(head) - len(head.lstrip())
                    found.append(Function(self.line_of(start), self.line_of(at), " ".join(head.split())))
            head_start = at + 1
        return sorted(found, key=lambda function: function.line)
