"""What lint remembers: clean sources as they were, never findings."""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).parent
# Stands in for clang-tidy: counts its calls, and finds fault where a source says so.
FAKE_TIDY = """#!/bin/sh
[ "$1" = --version ] && { echo fake; exit 0; }
for source; do :; done
echo "$source" >> calls
! grep -q FAULT "$source" || { echo "$source: fault"; exit 1; }
"""


class TidyTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name).resolve()
        self.write("fake-tidy", FAKE_TIDY).chmod(0o755)
        self.write(".clang-tidy", "Checks: all")
        self.write("src/a.cpp", '#include "a.hpp"')
        self.write("src/a.hpp", "")
        self.write("build/compile_commands.json",
                   f'[{{"file": "{self.root}/src/a.cpp", "command": "g++ -o a.o -c a.cpp"}}]')

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
        return file

    def lint(self):
        """@returns the exit status, and how often clang-tidy has been called so far."""
        environment = dict(os.environ, CCACHE_DIR=str(self.root / "cache"), HOME=str(self.root))
        command = [sys.executable, "-B", HERE / "tidy.py", "./fake-tidy", "build", "src"]
        done = subprocess.run(command, cwd=self.root, env=environment, capture_output=True,
                              text=True)
        calls = self.root / "calls"
        return done.returncode, len(calls.read_text().splitlines()) if calls.exists() else 0

    def test_a_clean_source_is_looked_at_once(self):
        self.assertEqual([self.lint(), self.lint()], [(0, 1), (0, 1)])

    def test_a_changed_header_or_configuration_is_looked_at_again(self):
        self.lint()
        self.write("src/a.hpp", "int a;")
        self.assertEqual(self.lint(), (0, 2))
        self.write(".clang-tidy", "Checks: other")
        self.assertEqual(self.lint(), (0, 3))

    def test_findings_are_told_every_time(self):
        self.write("src/a.cpp", "FAULT")
        self.assertEqual([self.lint(), self.lint()], [(1, 1), (1, 2)])

    def test_nothing_to_check_is_a_failure(self):
        self.write("build/compile_commands.json", "[]")
        self.assertEqual(self.lint()[0], 1)


if __name__ == "__main__":
    unittest.main()
