"""Checks the machine code of programs: loads of a pass stand in a row, none of which waits for another one, the next
row waits for all of their values, and a timed window holds its load alone.
"""

import re

import sass_windows
from sass_windows import clock_faults, is_clock, is_jump, is_memory, loaded, stored

# By kernels::L1Use: plain, past, no_allocate, evict_first. sm_75 adds .SYS where sm_80 has nothing.
LOADS = [r"LDG\.E(\.SYS)?", r"LDG\.E\.STRONG\.GPU", r"LDG\.E\.NA(\.SYS)?", r"LDG\.E\.EF(\.SYS)?"]
MOST_LOADS = 12


def smallest_loop(code, row):
    around = [loop for loop in sass_windows.loop_codes(code) if row[0] in loop and row[-1] in loop]
    return min(around, key=len, default=None)


def rows(code, load):
    """Runs of that load without a jump between."""
    targets = sass_windows.jump_targets(code)
    found, run = [], []
    for i in code:
        if is_jump(i) or i.address in targets:
            found.append(run)
            run = []
        if re.fullmatch(load, i.opcode):
            run.append(i)
    return [run for run in found + [run] if run]


def wait_faults(code, row):
    """Nothing from the first to the last load of a row waits for the value of one of them, or is another access.
    Where registers are scarce (12 loads), an address waits until a load before it has read its own."""
    between = code[code.index(row[0]):code.index(row[-1]) + 1]
    if any(i.control is None for i in between):
        return ["no control words in the listing"]
    faults, pending = [], set()
    for i in between:
        faults += [f"{i.opcode} in a row of loads"] if is_memory(i) and i not in row else []
        faults += [f"{i.opcode} at {i.address:#x} waits for a value within a row of loads"] if pending & i.control.waits else []
        pending |= i.control.fills if i in row else set()
    return faults


def registers(operands):
    """Registers that are named; of a pair, an address or a base, the first one too."""
    return {int(r) for r in re.findall(r"\bR(\d+)", operands)}


def dependence_faults(loop, row):
    """In the next round of the loop every load's address is made of all values of this one. What an instruction
    makes of several registers depends on all of them; an instruction that is switched off leaves what was."""
    first, last = loop.index(row[0]), loop.index(row[-1])
    made_of = {loaded(load): {loaded(load)} for load in row}
    faults = []
    for i in loop[last + 1:] + loop[:last + 1]:
        target, _, sources = i.operands.partition(",")
        if i in row:
            address = re.search(r"\[R(\d+)", sources)
            seen = made_of.get(int(address.group(1)), set()) if address else set()
            missing = {loaded(load) for load in row} - seen
            faults += [f"the address of {i.opcode} at {i.address:#x} does not wait for R{sorted(missing)}"] if missing else []
            continue
        match = re.match(r"R(\d+)", target)
        if not match or is_jump(i) or i.opcode.startswith("ST"):
            continue
        seen = set().union(*(made_of.get(r, set()) for r in registers(sources)))
        wide = 2 if ".WIDE" in i.opcode or ".64" in i.opcode else 1
        for at in range(int(match.group(1)), int(match.group(1)) + wide):
            made_of[at] = seen | (made_of.get(at, set()) if i.predicate else set())
    return faults


def is_of_program(code, row, length):
    """What the launch reads of its own counters is never switched off. Nor is a row that should be of one, which may be
    jumped over; but its address is made of what it loaded."""
    if length > 1 or len(row) > 1 or row[0].predicate:
        return all(i.predicate for i in row)
    loop = smallest_loop(code, row)
    return loop is not None and not dependence_faults(loop, row)


def check_row(code, load, length):
    found = [row for row in rows(code, load) if is_of_program(code, row, length)]
    if [len(row) for row in found] != [length]:
        return [f"rows of {[len(row) for row in found]} {load}, should be one of {length}"]
    row = found[0]
    loop = smallest_loop(code, row)
    if loop is None:
        return [f"the row of {load} stands in no loop"]
    return wait_faults(code, row) + dependence_faults(loop, row)


def timed_loads(code):
    """What stands between three reads of the clock without a jump: [(until issued, until there)]."""
    found = []
    for at, i in enumerate(code):
        if not re.match(r"LDG\.", i.opcode) or at == 0 or not is_clock(code[at - 1]):
            continue
        reads = [n for n in range(at - 1, len(code)) if is_clock(code[n])][:3]
        if len(reads) == 3 and not any(is_jump(code[n]) for n in range(reads[0], reads[2])):
            found.append((code[reads[0] + 1:reads[1]], code[reads[1] + 1:reads[2]]))
    return found


def timed_faults(load, issue, rest):
    opcodes = [i.opcode for i in issue], [i.opcode for i in rest]
    if len(issue) != 1 or not re.fullmatch(load, issue[0].opcode) or issue[0].predicate:
        return [f"a window holds {opcodes[0]} until its load is issued, should hold {load}"]
    if opcodes[1] != ["STS"] or stored(rest[0]) != loaded(issue[0]):
        return [f"a window holds {opcodes[1]} behind its load, should hold STS of what was loaded"]
    return []


def check_timed(code):
    found = timed_loads(code)
    faults = [] if len(found) == len(LOADS) else [f"{len(found)} timed loads, should be {len(LOADS)}"]
    for load in LOADS:
        mine = [(issue, rest) for issue, rest in found if issue and re.fullmatch(load, issue[0].opcode)]
        faults += [] if len(mine) == 1 else [f"{len(mine)} timed {load}, should be 1"]
        for issue, rest in mine:
            faults += timed_faults(load, issue, rest)
    return faults + sass_windows.wait_faults(code)


def check_program(name, code):
    length = int(re.search(r"program_kernelILi(\d+)E", name).group(1))
    faults = clock_faults(code)
    if length == 0:
        return faults + check_timed(code)
    for load in LOADS:
        faults += check_row(code, load, length)
    return faults


CHECKS = [(re.compile(f"program_kernelILi{length}E"), check_program, 1) for length in range(MOST_LOADS + 1)]
