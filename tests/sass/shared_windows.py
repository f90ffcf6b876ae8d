"""Checks the machine code of the atomics on shared memory: rows of them, dependent or not, and nothing else in
their loops; and that streams of loads make all of their loads.
"""

import re

from sass_windows import clock_faults, is_memory, loop_codes, register, stored

IN_A_ROW = 16
LOADS_IN_ROW = 8
# By template argument (kernels::SharedAtomic: returned, unused, counted). There is no RED for shared memory. ptxas
# counts the constant 1 up from sm_80 on; for sm_75 it adds it.
ADDITIONS = [r"ATOMS\.ADD", r"ATOMS\.ADD", r"ATOMS\.(POPC\.INC\.32|ADD)"]


def chain_faults(row):
    """Each addition adds what the one before gave back."""
    broken = sum(stored(second) != register(first.operands) for first, second in zip(row, row[1:]))
    return [f"{broken} additions do not wait for the one before"] if broken else []


def check_atomics(name, code):
    form = int(re.search(r"shared_atomic_kernelILNS0_12SharedAtomicE(\d)E", name).group(1))
    faults = clock_faults(code)
    rows = [list(filter(is_memory, loop)) for loop in loop_codes(code)]
    rows = [row for row in rows if any(i.opcode.startswith("ATOMS") for i in row)]
    if len(rows) != 3:
        faults.append(f"{len(rows)} loops of additions, should be 3")
    for row in rows:
        wrong = [i.opcode for i in row if not re.fullmatch(ADDITIONS[form], i.opcode) or i.predicate]
        if wrong or len(row) != IN_A_ROW:
            faults.append(f"a loop of {len(row)} memory accesses, {wrong} among them, should be {IN_A_ROW} additions")
        unused = sum(i.operands.startswith("RZ") for i in row)
        if unused != (0 if form == 0 else len(row)):
            faults.append(f"{unused} of {len(row)} results are not used")
        faults += chain_faults(row) if form == 0 else []
    return faults


def check_loads(name, code):
    """All loads of a row, in their full width; sm_75 calls them LDS.U."""
    load = "LDS.64" if "kernelILi8E" in name else "LDS"
    faults = clock_faults(code)
    rows = [list(filter(is_memory, loop)) for loop in loop_codes(code)]
    if [i.opcode.replace(".U", "") for row in rows for i in row if i.opcode.startswith("LDS")] != [load] * LOADS_IN_ROW:
        faults.append(f"loops of {[[i.opcode for i in row] for row in rows]}, should be {LOADS_IN_ROW} {load}")
    return faults


CHECKS = [(re.compile("shared_atomic_kernel"), check_atomics, 3),
          (re.compile(r"shared_stream_kernel.*4WorkE1"), check_loads, 2)]
