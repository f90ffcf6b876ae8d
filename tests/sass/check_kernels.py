"""Checks the machine code of all kernels: each *_windows.py says of what.

Usage: check_kernels.py <library or object>...; needs cuobjdump and nvdisasm, on the PATH or in .tools/bin.
Exit status: 0 all well, 1 a kernel is wrong, 77 no disassembler (the test is skipped).
"""

import os
import shutil
import subprocess
import sys

import arithmetic_windows
import constant_windows
import control_windows
import program_windows
import sass_windows
import shared_windows
import stream_windows

CHECKS = [check for checks in (sass_windows, constant_windows, control_windows, program_windows, shared_windows,
                               stream_windows) for check in checks.CHECKS]
SKIPPED = 77


def find_disassembler():
    tools = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", ".tools", "bin")
    os.environ["PATH"] += os.pathsep + os.path.normpath(tools)
    if shutil.which("cuobjdump") and shutil.which("nvdisasm"):
        return "cuobjdump"
    return None


def check_listing(listing):
    """@return (what was checked, kernels, faults) of each check"""
    functions = sass_windows.parse(listing)
    return [("all kernels", len(functions), sass_windows.check_functions(functions, CHECKS)),
            ("loops of arithmetic", *arithmetic_windows.check(listing))]


def main(paths):
    disassembler = find_disassembler()
    if disassembler is None:
        print("skipped: no cuobjdump and nvdisasm on the PATH or in .tools/bin "
              "(the machine code cannot be read). Run tests/sass/get_disassembler.sh")
        return SKIPPED
    results = check_listing("".join(subprocess.run([disassembler, "-sass", path], check=True, capture_output=True,
                                                   text=True).stdout for path in paths))
    for name, kernels, faults in results:
        for fault in faults:
            print(f"{name}: {fault}")
        print(f"{name}: {kernels} kernels, {len(faults)} faults")
    return 1 if any(faults or not kernels for _, kernels, faults in results) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
