"""Checks the machine code of streams: hints, timed tiles, bulk copies, additions and groups of SMs.

A rate is that of a hint only if the hint stands at every load or store. The parser of
sass_windows.py does the reading.
"""

import re

import sass_windows
from sass_windows import in_flight_faults, is_memory, row_faults

# By template arguments (kernels::StreamWork, kernels::StreamHint). sm_75 adds .SYS where sm_80 has nothing.
READ, WRITE, COPY = 0, 1, 2
LOADS = [r"LDG\.E\.128(\.SYS)?", r"LDG\.E\.NA\.128(\.SYS)?", r"LDG\.E\.EF\.128(\.SYS)?", r"LDG\.E\.128(\.SYS)?"]
STORES = [r"STG\.E\.128(\.SYS)?", r"STG\.E\.128(\.SYS)?", r"STG\.E\.EF\.128(\.SYS)?",
          r"STG\.E\.128\.STRONG\.SYS"]


def check_hinted(name, code):
    """Every access of 16 bytes carries the hint, and `ilp` loads stand in a row."""
    work, hint, ilp = map(int, re.search(
        r"hinted_stream_kernelILNS0_10StreamWorkE(\d)ELNS0_10StreamHintE(\d)ELi(\d+)E", name).groups())
    wanted = ([LOADS[hint]] if work != WRITE else []) + ([STORES[hint]] if work != READ else [])
    wide = [i.opcode for i in code if re.match(r"(LD|ST)G\.E.*\.128", i.opcode)]
    faults = [f"{o} without the hint" for o in wide if not any(re.fullmatch(w, o) for w in wanted)]
    faults += [f"{sum(bool(re.fullmatch(w, o)) for o in wide)} accesses {w}, should be {ilp} or more"
               for w in wanted if sum(bool(re.fullmatch(w, o)) for o in wide) < ilp]
    return faults + (in_flight_faults(code, LOADS[hint], ilp) if work != WRITE else [])


def timed_faults(held, ilp):
    """The loads of the tile, arithmetic, and behind all of them one store that depends on each."""
    memory = [i for i in held if is_memory(i)]
    loads, store = memory[:-1], memory[-1]
    if len(loads) != ilp or not all(re.fullmatch(LOADS[0], i.opcode) for i in loads):
        return [f"holds {[i.opcode for i in memory]}, should hold {ilp} loads and STS"]
    if store.opcode != "STS":
        return [f"ends with {store.opcode}, should end with STS"]
    # Backwards from what is stored to all registers that it was made of.
    sources = {sass_windows.stored(store)}
    for i in reversed(held[:held.index(store)]):
        if sass_windows.register(i.operands) in sources and not is_memory(i):
            sources |= {int(r) for r in re.findall(r"\bR(\d+)\b", i.operands.split(",", 1)[-1])}
    return [f"the store does not wait for the load to R{sass_windows.loaded(i)}"
            for i in loads if sass_windows.loaded(i) not in sources]


def check_timed(name, code):
    ilp = int(re.search(r"timed_stream_kernelILi(\d+)E", name).group(1))
    faults = sass_windows.clock_faults(code)
    found = [held for _, held, _ in sass_windows.windows(code) if any(map(is_memory, held))]
    if len(found) != 1:
        return faults + [f"{len(found)} timed windows, should be 1"]
    return faults + timed_faults(found[0], ilp) + in_flight_faults(code, LOADS[0], ilp)


def check_bulk(name, code):
    """Tiles go by the engine alone: no loop holds another access but the look at the barrier."""
    if not any(is_memory(i) for i in code):
        return []  # targets below sm_90
    work = int(re.search(r"bulk_stream_kernelILNS0_10StreamWorkE(\d)E", name).group(1))
    tiles = [loop for loop in sass_windows.loop_codes(code) if any("TRYWAIT" in i.opcode for i in loop)
             and any(i.opcode.startswith("UBLKCP.S.G") for i in loop)]
    if not tiles:
        return ["no loop that waits for a tile and asks for another"]
    stores = [i for i in tiles[0] if i.opcode.startswith("UBLKCP.G.S")]
    faults = [] if bool(stores) == (work == COPY) else [f"{len(stores)} bulk stores in the loop of work {work}"]
    return faults + [f"{i.opcode} in the loop of a bulk stream" for i in tiles[0]
                     if re.match(r"(LD|ST|ATOM|RED)", i.opcode) and not i.opcode.startswith("LDC")
                     and i.opcode != "STG.E"]  # the flag of the deadline


def check_adding(name, code):
    """`ilp` reductions by 1 in a row, none of which asks for an answer."""
    ilp = int(re.search(r"adding_stream_kernelILi(\d+)E", name).group(1))
    return row_faults(code, GROUPED_ACCESSES[3], ilp, "reductions")


GROUPED_ACCESSES = {0: r"LDG\.E\.128\.STRONG\.GPU",  # by StreamWork: reads past the L1, ...
                    1: r"STG\.E\.128",  # ... writes, ...
                    3: r"REDG?\.E\.ADD\.STRONG\.GPU"}  # ... and additions


def check_grouped(name, code):
    """`ilp` accesses in a row, and in the loops nothing else but the look at the list."""
    work, ilp = map(int, re.search(r"StreamWorkE(\d).*EELi(\d+)E", name).groups())
    access = GROUPED_ACCESSES[work]
    begin = min((begin for begin, _ in sass_windows.loops(code)), default=0)
    looped = [i for i in code if begin <= i.address <= max((e for _, e in sass_windows.loops(code)
                                                            if e != code[-1].address), default=0)]
    return row_faults(looped, access, ilp, "accesses") + [f"{i.opcode} in the loop of chunks" for i in looped
                     if is_memory(i) and not re.fullmatch(access, i.opcode)
                     and i.opcode.removesuffix(".SYS") not in ("LDG.E", "STG.E")]  # the list, the flag of the deadline


CHECKS = [
    (re.compile(r"hinted_stream_kernel"), check_hinted, 35),
    (re.compile(r"timed_stream_kernel"), check_timed, 5),
    (re.compile(r"bulk_stream_kernel"), check_bulk, 2),
    (re.compile(r"adding_stream_kernel"), check_adding, 5),
    (re.compile(r"grouped_stream_kernel"), check_grouped, 12),
]
