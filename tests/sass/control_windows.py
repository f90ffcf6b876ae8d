"""Checks the machine code of the kernels on control flow: branches that are branches, paths of their own,
barriers in a row, registers that are in use.
"""

import re

import sass_windows
from sass_windows import (clock_faults, is_clock, is_jump, is_memory, longest_run, loop_codes, loops, read_faults, register,
                          windows)

PATHS = 32
OPERATIONS = 16
IN_A_ROW = 16
LOOP_CODE = 5  # instructions of a loop besides its row


def multiplies(held):
    """Dependent multiply-adds of a window: each one's result is a factor of the next."""
    found = [i for i in held if i.opcode.startswith("IMAD") and not i.opcode.startswith("IMAD.MOV")]
    chain = 0
    last = None
    for i in found:
        sources = [int(r) for r in re.findall(r"\bR(\d+)", i.operands.split(",", 1)[1])]
        if last is not None and last not in sources:
            return 0
        last = register(i.operands)
        chain += 1
    return chain


def path_faults(code, wanted=PATHS):
    """So many windows with 16 dependent operations, no two alike, and no memory access."""
    faults = []
    paths = [held for _, held, _ in windows(code) if multiplies(held) >= OPERATIONS]
    if len(paths) != wanted:
        faults.append(f"{len(paths)} paths of {OPERATIONS} operations, should be {wanted}")
    for held in paths:
        if multiplies(held) != OPERATIONS:
            faults.append(f"a path of {multiplies(held)} operations, should be {OPERATIONS}")
        faults += [f"{i.opcode} in a path" for i in held if is_memory(i) or i.predicate]
    if len({tuple(i.operands for i in held) for held in paths}) != len(paths):
        faults.append("two paths are alike (the compiler may merge them)")
    return faults


def is_kind(instruction, opcode):
    """Whatever follows the opcode: sm_120 has BSSY.RECONVERGENT."""
    return instruction.opcode.split(".")[0] == opcode


def divided(code):
    """The code from the opening of the convergence barrier around the paths to its end."""
    opened = [n for n, i in enumerate(code) if is_kind(i, "BSSY")]
    for n in reversed(opened):
        target = int(re.search(r"0x([0-9a-f]+)", code[n].operands).group(1), 16)
        inner = [i for i in code[n:] if i.address < target]
        if sum(map(is_clock, inner)) >= 2 * PATHS:
            return inner
    return []


def chain_branch_faults(code):
    """Each condition jumps over its path if it does not hold: the else-side is the taken one."""
    inner = divided(code)
    if not inner:
        return ["no convergence barrier around the paths"]
    forward = 0
    for at, i in enumerate(inner):
        if i.opcode != "BRA" or not i.predicate:
            continue
        target = int(re.search(r"0x([0-9a-f]+)", i.operands).group(1), 16)
        skipped = [j for j in inner[at:] if j.address < target]
        if target <= i.address or sum(map(is_clock, skipped)) != 2:
            return [f"branch at {i.address:#x} does not jump over one path"]
        forward += 1
    return [] if forward == PATHS else [f"{forward} branches over a path, should be {PATHS}"]


def check_branches(name, code):
    faults = clock_faults(code) + path_faults(code)
    if "BranchE1" in name:
        return faults + chain_branch_faults(code)
    return faults if divided(code) else faults + ["no convergence barrier around the paths"]


def nest_of(code):
    """What stands between the clock reads in front of a nest and behind it."""
    reads = [n for n, i in enumerate(code) if is_clock(i)]
    return code[reads[0] + 1:reads[-1]] if len(reads) > 1 else []


def single_operations(nest):
    """Multiply-adds outside of the paths, which stand between a first and a second clock read."""
    in_path = False
    found = []
    for i in nest:
        if is_clock(i):
            in_path = not in_path
        elif not in_path and i.opcode.startswith("IMAD") and re.search(r"R(\d+), R\1, 0x", i.operands):
            found.append(i)
    return found


def check_nest(name, code):
    """Each level has a branch, an operation in front of it, a join of its own and an operation behind it."""
    depth = int(re.search(r"nested_kernelILi(\d)E", name).group(1))
    nodes = 2**depth - 1
    nest = nest_of(code)
    counts = {"branches": sum(i.opcode == "BRA" and bool(i.predicate) for i in nest),
              "openings": sum(is_kind(i, "BSSY") for i in nest), "joins": sum(is_kind(i, "BSYNC") for i in nest)}
    faults = clock_faults(code) + path_faults(nest, 2**depth)
    faults += [f"{count} {what}, should be {nodes}" for what, count in counts.items() if count != nodes]
    operations = single_operations(nest)
    if len({i.operands for i in operations}) != 2 * nodes:
        faults.append(f"{len(operations)} operations around the branches, should be {2 * nodes}, no two alike")
    order = [held for _, held, _ in windows(nest) if multiplies(held) >= OPERATIONS]
    constants = [int(re.search(r"0x([0-9a-f]+)", held[0].operands).group(1), 16) for held in order]
    if constants != sorted(constants, reverse=True):
        faults.append("the sides of 0 are not those that are jumped to")
    return faults


def check_barriers(name, code):
    """A named barrier is told its number and the count of threads; the loop holds nothing but barriers, and after
    each of them a clock read where the kernel says so."""
    faults = clock_faults(code)
    if "BlockBarrierE2" in name:
        rows = [loop for loop in loop_codes(code) if any(i.opcode.startswith("BAR.SYNC") for i in loop)]
        for row in rows:
            pairs = sum(one.opcode.startswith("BAR.SYNC") and is_clock(two) for one, two in zip(row, row[1:]))
            if pairs != IN_A_ROW or len(row) > 2 * IN_A_ROW + LOOP_CODE:
                faults.append(f"{pairs} barriers with a clock read behind them, {len(row)} instructions")
    number = r"0x1, R\d+" if "BlockBarrierE1" in name else "0x0"
    rows = [i for i in code if i.opcode.startswith("BAR.SYNC") and re.match(number, i.operands)]
    if len(rows) != 3 * IN_A_ROW or longest_run(code, r"BAR\.SYNC.*") != IN_A_ROW:
        faults.append(f"{len(rows)} barriers, should be 3 loops of {IN_A_ROW}")
    return faults


def check_cluster_barriers(_, code):
    if not any(map(is_memory, code)):
        return []  # no clusters below sm_90
    found = [i for i in code if i.opcode.startswith("UCGABAR_WAIT")]
    return clock_faults(code) + (
        [] if len(found) >= 3 * IN_A_ROW else [f"{len(found)} cluster barriers, should be 3 loops of {IN_A_ROW}"])


def check_grid_barrier(_, code):
    """A reduction that releases, and a loop that looks past the L1."""
    looks = [i.address for i in code if re.match(r"LDG\.E\.STRONG\.GPU", i.opcode)]
    spins = any(begin <= look < end for look in looks for begin, end in loops(code))
    adds = any(re.match(r"REDG?\.E\.ADD", i.opcode) for i in code)
    return clock_faults(code) + ([] if spins and adds else ["no loop that waits for all arrivals"])


def check_sleep(_, code):
    held = [[i.opcode.split(".")[0] for i in inner if i.opcode != "NOP"] for _, inner, _ in windows(code) if inner]
    asleep = [opcodes for opcodes in held if "NANOSLEEP" in opcodes]
    return clock_faults(code) + (
        [] if asleep == [["NANOSLEEP"]] else [f"windows hold {asleep}, should hold one NANOSLEEP"])


def check_waits(name, code):
    """Who spins looks at shared memory each time, and lets other paths run. Times are of thousands of
    cycles here: which of the two instructions reads the clock does not matter."""
    faults = read_faults(code)
    looks = [i.address for i in code if i.opcode.startswith("LDS")]
    if not any(begin <= look < end for begin, end in loops(code) for look in looks):
        faults.append("no loop that looks at shared memory")
    # Targets below sm_90 have one more behind the code, for a warp that diverged before it arrives; ours has not.
    barriers = [i for i in code if i.opcode.startswith("BAR.SYNC") and i.operands == "0x1, 0x40"]
    wanted = 2 if re.search(r"WaitE[23]", name) else 0
    if len(barriers) != wanted or any(i.predicate for i in barriers):
        faults.append(f"{len(barriers)} barriers of paths or warps, should be {wanted}, none of them predicated")
    return faults


def check_occupancy(name, code):
    """Blocks come, wait and go without touching the code that is there for its registers."""
    live = int(re.search(r"occupancy_kernelILi(\d+)E", name).group(1))
    waits = next((n for n, i in enumerate(code) if i.opcode.startswith("NANOSLEEP")), None)
    if waits is None:
        return ["no wait"]
    before = sum(i.opcode.startswith("LDG") for i in code[:waits])
    used = sum(i.opcode.startswith(("IMAD", "UIMAD")) for i in code[waits:])
    return [] if before <= 3 and used >= live else [
        f"{before} loads before the wait, should be at most 3; {used} uses behind it, should be {live}"]


CHECKS = [
    (re.compile(r"\d+branch_kernel"), check_branches, 2),
    (re.compile(r"\d+nested_kernel"), check_nest, 6),
    (re.compile(r"\d+barrier_kernelILNS0_12BlockBarrier"), check_barriers, 3),
    (re.compile(r"\d+cluster_barrier_kernel"), check_cluster_barriers, 1),
    (re.compile(r"\d+grid_barrier_kernel"), check_grid_barrier, 1),
    (re.compile(r"\d+sleep_kernel"), check_sleep, 1),
    (re.compile(r"\d+wait_kernel"), check_waits, 4),
    (re.compile(r"\d+occupancy_kernel"), check_occupancy, 66),
]
