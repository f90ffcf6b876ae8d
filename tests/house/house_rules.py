#!/usr/bin/env python3
"""The rules of the house: who may include whom, how long things may be, which words are used.

    house_rules.py [--root DIR] [--rules layers circles ...]

Prints every fault as `file:line: rule: what is wrong`, then a count for each rule; exit status 1
when there is one. What is wanted stands in tables.py; CONTRIBUTING.md draws the layers.
"""
import argparse
import bisect
import dataclasses
import graphlib
import re
import sys
from pathlib import Path

from cpp_text import CppText
from tables import (DOCUMENTS, DOCUMENTS_LEFT_OUT, LAYERS, LIBRARIES, LONGEST_FILE_LINES,
                    LONGEST_FUNCTION_LINES, PRODUCT, SEED_CALL, SHARED_HEADERS, SUFFIXES,
                    TREES_WITHOUT_FOLDER_CIRCLES, WORDS, WORDS_ALLOWED)


@dataclasses.dataclass(frozen=True, order=True)
class Fault:
    path: str
    line: int
    rule: str
    text: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.rule}: {self.text}"


class Tree:
    """The product's sources under a root, read once."""

    def __init__(self, root):
        self.root = Path(root)
        found = (path for folder in PRODUCT for path in (self.root / folder).rglob("*")
                 if path.suffix in SUFFIXES and path.is_file())
        self.sources = {path.relative_to(self.root).as_posix(): CppText(path.read_text())
                        for path in sorted(found)}
        self.edges = {path: self._edges(path) for path in self.sources}

    def resolve(self, path, name):
        """The file of the tree that `#include "name"` in path means, or None."""
        for candidate in (Path(path).parent / name, Path("src") / name, Path(name)):
            if candidate.as_posix() in self.sources:
                return candidate.as_posix()
        return None

    def _edges(self, path):
        """[(line, included file)] of the includes that the tree answers."""
        resolved = ((include.line, self.resolve(path, include.name))
                    for include in self.sources[path].includes() if include.quoted)
        return [edge for edge in resolved if edge[1]]


def layer_of(path):
    """The name of the layer that a file belongs to, or None."""
    for prefix in sorted(LAYERS, key=len, reverse=True):
        if prefix.endswith("/*"):
            if Path(path).parent.as_posix() == prefix[:-2]:
                return prefix
        elif path == prefix or path.startswith(prefix + "/"):
            return prefix
    return None


def check_layers(tree):
    """A file includes only what its layer may."""
    for path, edges in tree.edges.items():
        layer = layer_of(path)
        if layer is None:
            yield Fault(path, 1, "layers", "no layer has this folder: add it to LAYERS")
            continue
        for line, target in edges:
            other = layer_of(target)
            if other is not None and other != layer and other not in LAYERS[layer]:
                yield Fault(path, line, "layers", f"{layer} may not include {target} ({other})")


def own_header(tree, path):
    """The header of the name of a source, or None."""
    stem, _, suffix = path.rpartition(".")
    headers = (stem + ".hpp", stem + ".cuh") if suffix in ("cpp", "cu") else ()
    return next((header for header in headers if header in tree.sources), None)


def find_circle(edges):
    """A circle as a path that ends where it begins, or None; edges: node -> [nodes]."""
    try:
        graphlib.TopologicalSorter(edges).prepare()
    except graphlib.CycleError as error:
        circle = error.args[1][:0:-1]  # there each node stands before the one that leads to it
        first = circle.index(min(circle))
        return circle[first:] + circle[: first + 1]
    return None


def check_circles(tree):
    """No file includes itself over others; a source counts as one with the header of its name."""
    evidence = {}  # (file, file) -> the first include from one to the other
    for path, found in tree.edges.items():
        for line, target in found:
            pair = own_header(tree, path) or path, own_header(tree, target) or target
            if pair[0] != pair[1]:
                evidence.setdefault(pair, (path, line, target))
    yield from _circle_faults("circles", evidence)


def _circle_faults(rule, evidence):
    """A circle, where it closes, if there is any; evidence: (from, to) -> (file, line, target)."""
    edges = {}
    for one, other in evidence:
        edges.setdefault(one, []).append(other)
    circle = find_circle(edges)
    if circle:
        steps = [f"{evidence[pair][0]}:{evidence[pair][1]}" for pair in zip(circle, circle[1:])]
        path, line, _ = evidence[circle[-2], circle[-1]]
        yield Fault(path, line, rule, f"{' -> '.join(circle)} (by {', '.join(steps)})")


def check_folder_circles(tree):
    """No two folders of one of the trees include each other, over others or not."""
    for top in TREES_WITHOUT_FOLDER_CIRCLES:
        evidence = {}  # (folder, folder) -> the first include from one to the other
        for path, edges in tree.edges.items():
            for line, target in edges:
                pair = Path(path).parent.as_posix(), Path(target).parent.as_posix()
                if all((folder + "/").startswith(top + "/") for folder in pair) \
                        and pair[0] != pair[1]:
                    evidence.setdefault(pair, (path, line, target))
        yield from _circle_faults("folder_circles", evidence)


def check_libraries(tree):
    """HDF5, MPI and CUDA are known where they belong and nowhere else."""
    for path, source in tree.sources.items():
        for include in source.includes():
            for pattern, folders, name in LIBRARIES:
                inside = any(path.startswith(folder + "/") for folder in folders)
                ours = include.quoted and tree.resolve(path, include.name)
                if re.fullmatch(pattern, include.name) and not inside and not ours:
                    yield Fault(path, include.line, "libraries",
                                f"{include.name}: only {', '.join(folders)} may know {name}")


def check_lengths(tree):
    """Files and functions are short enough to be read."""
    for path, source in tree.sources.items():
        lines = len(source.text.splitlines())
        if lines > LONGEST_FILE_LINES:
            yield Fault(path, lines, "file_length", f"{lines} lines, more than "
                        f"{LONGEST_FILE_LINES}")
        for function in source.functions():
            if function.lines > LONGEST_FUNCTION_LINES:
                name = re.search(r"[\w:~]+\s*\(", function.head)
                yield Fault(path, function.line, "function_length",
                            f"{name.group()[:-1] if name else 'a function'} has {function.lines} "
                            f"lines, more than {LONGEST_FUNCTION_LINES}")


def check_headers(tree):
    """A source has the header of its name, or includes the one that SHARED_HEADERS names."""
    needed = set()
    for path in tree.sources:
        stem, _, suffix = path.rpartition(".")
        if suffix not in ("cpp", "cu") or own_header(tree, path):
            continue
        rows = [row for row in SHARED_HEADERS if matches(path, row)]
        if not rows:
            yield Fault(path, 1, "headers", f"no header {stem}.hpp, nor a row of SHARED_HEADERS")
            continue
        needed.update(rows)
        headers = [SHARED_HEADERS[row] for row in rows]
        included = [target for _, target in tree.edges[path]]
        if None not in headers and not any(target == header or target.endswith("/" + header)
                                           for target in included for header in headers):
            yield Fault(path, 1, "headers", f"no header {stem}.hpp, and it does not include "
                        f"{' or '.join(headers)}")
    for row in SHARED_HEADERS.keys() - needed:
        yield Fault("tests/house/tables.py", 1, "headers", f"no file needs {row}: remove it")


def matches(path, glob):
    """As a shell would: * stays in its folder, ** does not."""
    pattern = re.escape(glob).replace(r"\*\*", ".*").replace(r"\*", "[^/]*")
    return re.fullmatch(pattern, path) is not None


class Lane:
    """Words in lower case and where they stand; texts of one word each are kept apart."""

    def __init__(self, source, text, lane):
        pieces, self._offsets, self._lines, length = [], [], [], 0
        pattern = r"[A-Za-z_]\w*" if lane == "identifier" else r"[A-Za-z_]\w*|[^\w\s/*\"#>-]+"
        for found in re.finditer(pattern, text):
            piece = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|_", " ", found.group()).strip().lower()
            separator = " | " if lane == "identifier" else " "
            self._offsets.append(length)
            self._lines.append(source.line_of(found.start()))
            pieces.append(piece + separator)
            length += len(pieces[-1])
        self.words = "".join(pieces)

    def find(self, pattern):
        """[(line, words)] of each place."""
        for found in re.finditer(rf"\b(?:{pattern})\b", self.words):
            yield self._lines[bisect.bisect_right(self._offsets, found.start()) - 1], found.group()


def lanes_of(path, source):
    if path.endswith(".md"):
        return {"text": Lane(source, source.text, "text")}
    code = re.sub(r"\bstd::visit\b", lambda found: " " * len(found.group()), source.code)
    return {"identifier": Lane(source, code, "identifier"),
            "comment": Lane(source, source.comments, "comment"),
            "text": Lane(source, source.strings_outside(SEED_CALL), "text")}


def read_words_allowed(root):
    """[(line, glob, pattern)]; the third part of a line says why and is required."""
    file = Path(root) / WORDS_ALLOWED
    rows = []
    for number, line in enumerate(file.read_text().splitlines() if file.exists() else [], 1):
        if line.strip() and not line.startswith("#"):
            glob, words, why = (part.strip() for part in line.split(" : ", 2))
            if not why:
                raise SystemExit(f"{WORDS_ALLOWED}:{number}: no reason given")
            rows.append((number, glob, words))
    return rows


def check_words(tree):
    """The field's words; WORDS_ALLOWED names where an odd one has its plain sense."""
    allowed, used = read_words_allowed(tree.root), set()
    documents = {path.relative_to(tree.root).as_posix() for glob in DOCUMENTS
                 for path in tree.root.glob(glob)} - set(DOCUMENTS_LEFT_OUT)
    sources = {**tree.sources,
               **{path: CppText((tree.root / path).read_text()) for path in sorted(documents)}}
    for path, source in sources.items():
        lanes = lanes_of(path, source)
        for word in WORDS:
            in_scope = path in documents or any(path.startswith(under) for under in word.under)
            for name in word.lanes if in_scope else ():
                for line, text in lanes[name].find(word.pattern) if name in lanes else ():
                    excuses = {row for row in allowed
                               if matches(path, row[1]) and re.fullmatch(row[2], text)}
                    used |= excuses
                    if not excuses:
                        yield Fault(path, line, "words", f"{text} ({name}): {word.instead}")
    for number, glob, words in sorted(set(allowed) - used):
        yield Fault(WORDS_ALLOWED, number, "words", f"nothing needs `{glob} : {words}`: remove it")


RULES = {"layers": check_layers, "circles": check_circles, "folder_circles": check_folder_circles,
         "libraries": check_libraries, "lengths": check_lengths, "headers": check_headers,
         "words": check_words}


def check(root, rules=tuple(RULES)):
    """@returns the faults of a tree; @throws SystemExit when there is nothing to check."""
    tree = Tree(root)
    if not tree.sources:
        raise SystemExit(f"house_rules: no sources under {root} (nothing can be checked) "
                         "give the root of the repository")
    return sorted({fault for rule in rules for fault in RULES[rule](tree)})


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", default=Path(__file__).parents[2], help="of the repository")
    parser.add_argument("--rules", nargs="+", choices=RULES, default=tuple(RULES))
    parser.add_argument("--under", default="", help="print faults of files under this prefix only")
    options = parser.parse_args()
    faults = [fault for fault in check(options.root, options.rules)
              if fault.path.startswith(options.under)]
    for fault in faults:
        print(fault)
    counts = {}
    for fault in faults:
        counts[fault.rule] = counts.get(fault.rule, 0) + 1
    print("; ".join(f"{rule}: {count}" for rule, count in sorted(counts.items()))
          or "the rules of the house are kept")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
