#!/usr/bin/env python3
"""The completions of bash, zsh and fish, each asked in its own shell; a shell that is not installed
is skipped. completion_test.py <sonde> <folder of the completions>"""
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time
import unittest
from pathlib import Path

SONDE = Path(sys.argv[1]).resolve()
FOLDER = Path(sys.argv[2]).resolve()
ENVIRONMENT = {**os.environ, "PATH": f"{SONDE.parent}:{os.environ['PATH']}", "TERM": "dumb"}

# What is typed, and what it may become.
TYPED = [("sonde ru", ["run"]),
         ("sonde run --su", ["--suite"]),
         ("sonde run --suite q", ["quick"]),
         ("sonde list ", ["devices", "jobs", "metrics", "models"]),
         ("sonde run --jobs clock,shar", ["clock,shared", "clock,sharing"]),
         ("sonde run --backend sim:gtx98", ["sim:gtx980"]),
         ("sonde run --backend=sim:gtx98", ["--backend=sim:gtx980"])]

ASK_BASH = r"""
source "$1"
compopt() { :; }
COMP_LINE=$2 COMP_POINT=${#2}
_sonde
printf '%s\n' "${COMPREPLY[@]}"
"""


def ask(*command):
    done = subprocess.run(command, env=ENVIRONMENT, text=True, stdout=subprocess.PIPE, timeout=30,
                          check=True)
    return sorted(line for line in done.stdout.splitlines() if line)


class CompletionTest(unittest.TestCase):
    def test_bash(self):
        for typed, expected in TYPED:
            if typed.startswith("sonde run --backend="):
                expected = ["gtx980"]  # bash replaces what stands behind the last = or :
            elif "sim:" in typed:
                expected = ["gtx980"]
            self.assertEqual(ask("bash", "-c", ASK_BASH, "bash", FOLDER / "sonde.bash", typed),
                             expected, typed)

    @unittest.skipUnless(shutil.which("fish"), "fish is not installed")
    def test_fish(self):
        for typed, expected in TYPED:
            script = f"source {FOLDER / 'sonde.fish'}; complete -C '{typed}'"
            self.assertEqual(ask("fish", "--no-config", "-c", script), expected, typed)

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
    def test_zsh_completes_what_is_typed(self):
        child, terminal = pty.fork()
        if child == 0:
            os.chdir("/")
            os.execvpe("zsh", ["zsh", "-f", "-i"], ENVIRONMENT)
        begin = (f"fpath=({FOLDER} $fpath); autoload -U compinit; compinit -u -D; "
                 "unsetopt beep prompt_sp; PS1=''\n")
        os.write(terminal, begin.encode())
        try:
            self.expect(terminal, "PS1")
            for typed, expected in TYPED:
                if len(expected) > 1:
                    continue
                os.write(terminal, f"{typed}\t\x01echo said \n".encode())
                words = typed.rsplit(" ", 1)[0] + " " + expected[0]
                self.expect(terminal, f"\nsaid {words}")
        finally:
            os.close(terminal)
            os.waitpid(child, 0)

    def expect(self, terminal, text):
        heard, end = "", time.monotonic() + 20
        while text not in heard:
            left = end - time.monotonic()
            self.assertTrue(left > 0 and select.select([terminal], [], [], left)[0],
                            f"not heard: {text!r} in {heard!r}")
            heard += re.sub(r"\r+\n", "\n", os.read(terminal, 4096).decode(errors="replace"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
