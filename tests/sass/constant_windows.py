"""Checks the machine code of streams of constants and of the load under which clocks are read.

Their times are those of whole loops, so what counts is what the loops hold. The parser of
sass_windows.py does the reading.
"""

import re

import sass_windows
from sass_windows import is_clock, is_jump, is_memory

BANK_LOAD = re.compile(r"c\[0x3\]\[R\d+")


def is_bank_load(instruction):
    return instruction.opcode.startswith("LDC") and bool(BANK_LOAD.search(instruction.operands))


def innermost_loops(code):
    """The code of each loop that holds no other loop."""
    spans = set(sass_windows.loops(code))
    inner = [(begin, end) for begin, end in spans
             if not any(other != (begin, end) and begin <= other[0] and other[1] <= end for other in spans)]
    return [[i for i in code if begin <= i.address <= end] for begin, end in sorted(inner)]


def row_faults(loop, ilp):
    """A row: so many loads of one word, none of which is used before all are under way, and nothing else that
    reads constants or memory."""
    loads = [at for at, i in enumerate(loop) if is_bank_load(i)]
    faults = [] if len(loads) == ilp else [f"{len(loads)} loads of constants in a row, should be {ilp}"]
    faults += [f"{loop[at].opcode} loads no single word" for at in loads if loop[at].opcode != "LDC"]
    faults += [f"reads besides: {i.opcode} {i.operands}" for i in loop
               if not is_bank_load(i) and ("c[" in i.operands or is_memory(i))]
    for at in loads:
        value = sass_windows.loaded(loop[at])
        for i in loop[at + 1:loads[-1]]:
            if re.search(rf"\bR{value}\b", i.operands.split(",", 1)[-1]):
                faults.append(f"R{value} is used by {i.opcode} before all loads of the row are under way")
    return faults


def check_constant_stream(_, code, ilp=8):
    faults = sass_windows.clock_faults(code)
    rows = [loop for loop in innermost_loops(code) if any(map(is_bank_load, loop))]
    if len(rows) != 2:
        faults.append(f"{len(rows)} loops of rows, should be 2 (untimed, timed)")
    outside = [i.address for i in code if is_bank_load(i)]
    inside = {i.address for loop in rows for i in loop}
    faults += [f"load of a constant outside of the rows at {at:#x}" for at in outside if at not in inside]
    for loop in rows:
        faults += row_faults(loop, ilp)
    return faults


def check_pace(_, code, least=256):
    """The load is a loop of multiply-adds and a look at the flag; nothing was folded or left out."""
    loops = [loop for loop in innermost_loops(code) if sum(i.opcode.startswith("FFMA") for i in loop) >= least]
    faults = sass_windows.clock_faults(code)
    if len(loops) != 1:
        return faults + [f"{len(loops)} loops of {least} multiply-adds, should be 1"]
    others = [i.opcode for i in loops[0] if is_memory(i) and not i.opcode.startswith("LDS")]
    looks = [i for i in loops[0] if i.opcode.startswith("LDS")]
    faults += [f"the load accesses memory: {others}"] if others else []
    faults += [] if len(looks) == 1 else [f"{len(looks)} looks at the flag in the loop, should be 1"]
    return faults + [f"clock read in the load: {i.opcode}" for i in loops[0] if is_clock(i)]


def check_busy(_, code):
    """Both clocks are read before and after the wait, which only looks at the timer."""
    reads = [i for i in code if is_clock(i)]
    faults = sass_windows.clock_faults(code)
    if len(reads) != 2:
        return faults + [f"{len(reads)} clock reads, should be 2"]
    timers = [i for i in code if reads[0].address < i.address < reads[1].address and "GLOBALTIMER" in i.operands]
    between = [i for i in code if reads[0].address < i.address < reads[1].address]
    faults += [] if timers else ["the wait does not look at the timer"]
    return faults + [f"memory access in the wait: {i.opcode}" for i in between if is_memory(i)]


def check_empty(_, code):
    work = [i.opcode for i in code if is_memory(i) or is_clock(i)]
    return [f"an empty kernel does {work}"] if work else []


CHECKS = [
    (re.compile(r"constant_stream_kernel"), check_constant_stream, 1),
    (re.compile(r"\d+pace_kernel"), check_pace, 1),
    (re.compile(r"\d+busy_kernel"), check_busy, 1),
    (re.compile(r"\d+empty_kernel"), check_empty, 1),
]
