"""Checks the machine code of the probe kernels: what stands between two reads of the clock.

A measured latency is right only if the window holds the load that was meant, the store that waits for
it, and nothing else. The parser of listings is here, too; check_kernels.py runs all checks.
"""

import re
from collections import namedtuple

Instruction = namedtuple("Instruction", "address predicate opcode operands control", defaults=[None])
# Scoreboards (0..5) that an instruction sets, to be released when it is done, and those it waits for; of those it
# sets, the one that is released when its result is there (the other: when its operands were read).
Control = namedtuple("Control", "sets waits fills", defaults=[frozenset()])

# Loads by template argument (kernels::Load: ca, cg, nc, cv). sm_75 adds .SYS where sm_80 has nothing.
GLOBAL_LOADS = [
    r"LDG\.E{width}(\.SYS)?",
    r"LDG\.E{width}\.STRONG\.GPU",
    r"LDG\.E{width}\.CONSTANT(\.SYS)?",
    r"LDG\.E{width}\.STRONG\.SYS",
]
# Loads by the name of the kernel's source. The scope of TLD's registers differs: .SCR is sm_75 to sm_89.
OTHER_LOADS = {
    "AtomicSource": r"ATOMG\.E\.ADD\.64\.STRONG\.GPU",
    "ConstantSource": "LDC",
    "LinearTexture": r"TLD(\.SCR)?(\.B)?\.LZ",
    "TiledTexture": r"TLD(\.SCR)?(\.B)?\.LZ",
}
MEMORY = re.compile(r"^(LD|ST|ATOM|RED|CCTL|MEMBAR|UBLK|TEX|TLD|SUL|SUS)")
LINE = re.compile(r"/\*([0-9a-f]{4,})\*/\s+(@!?U?P\w+\s+)?([A-Z0-9_.]+)\s*([^;]*);")
UPPER_HALF = re.compile(r"^\s*/\* 0x([0-9a-f]{16}) \*/$")


def parse_control(upper_half):
    """Fields of an instruction's upper 64 bits, from sm_70 (Jia et al. 2018, Dissecting Volta, section 2.1)."""
    barriers = [upper_half >> 46 & 7, upper_half >> 49 & 7]
    return Control({b for b in barriers if b != 7}, {b for b in range(6) if upper_half >> (52 + b) & 1},
                   {b for b in barriers[:1] if b != 7})


def parse(text):
    """Functions of a cuobjdump listing: {mangled name: [Instruction]}. Names may come once per target."""
    functions = {}
    current = None
    for line in text.splitlines():
        name = re.search(r"Function : (\S+)", line)
        if name:
            key = name.group(1)
            while key in functions:
                key += "'"
            current = functions.setdefault(key, [])
            continue
        found = LINE.search(line)
        if found and current is not None:
            address, predicate, opcode, operands = found.groups()
            current.append(
                Instruction(int(address, 16), (predicate or "").strip(), opcode, operands.strip()))
            continue
        upper = UPPER_HALF.match(line)
        if upper and current:
            current[-1] = current[-1]._replace(control=parse_control(int(upper.group(1), 16)))
    return functions


def is_clock(instruction):
    return "SR_CLOCK" in instruction.operands


def is_memory(instruction):
    return bool(MEMORY.match(instruction.opcode)) and not instruction.opcode.startswith("LDC")


def is_jump(instruction):
    return instruction.opcode.split(".")[0] in ("BRA", "CALL", "RET", "EXIT", "BRX", "JMP")


def jump_targets(code):
    return {int(m, 16) for i in code if is_jump(i) for m in re.findall(r"0x([0-9a-f]+)", i.operands)}


def windows(code):
    """Pairs of clock reads with no jump, and no jump target, between them, and what they hold."""
    targets = jump_targets(code)
    result = []
    begin = None
    for at, instruction in enumerate(code):
        if begin is not None and (is_jump(instruction) or instruction.address in targets):
            begin = None
        if is_clock(instruction):
            if begin is not None:
                result.append((code[begin], code[begin + 1:at], instruction))
                begin = None
            else:
                begin = at
    return result


def register(operand):
    found = re.search(r"\bR(\d+)", operand)
    return int(found.group(1)) if found else None


def loaded(instruction):
    """The first register: predicates, or an RZ for the upper half, may stand before it."""
    return register(instruction.operands)


def addressed(instruction):
    if instruction.opcode.startswith("TLD"):
        return int(re.findall(r"\bR(\d+)", instruction.operands)[1])
    found = re.search(r"\[R(\d+)", instruction.operands)
    return int(found.group(1)) if found else None


def stored(instruction):
    return register(instruction.operands.rsplit(",", 1)[-1])


def read_faults(code):
    """64-bit reads by CS2R only (sm_120 has a uniform variant): S2R takes some 30 cycles."""
    return [f"clock read by {i.opcode}" for i in code
            if is_clock(i) and i.opcode not in ("CS2R", "CS2UR")]


def clock_faults(code):
    """Both ends of a window are read by the same instruction."""
    return read_faults(code) + [f"window from {begin.opcode} to {end.opcode}"
                     for begin, _, end in windows(code) if begin.opcode != end.opcode]


def window_faults(held, load):
    """A window must hold the load and the store of what it loaded (load None: the store; '' : nothing)."""
    opcodes = [i.opcode for i in held]
    if load == "":
        return [] if not held else [f"holds {opcodes}, should be empty"]
    if load is None:
        return [] if opcodes == ["STS"] else [f"holds {opcodes}, should hold one STS"]
    if len(held) != 2 or not re.fullmatch(load, opcodes[0]) or opcodes[1] != "STS":
        return [f"holds {opcodes}, should hold {load} and STS"]
    if stored(held[1]) != loaded(held[0]):
        return ["the store does not wait for the load"]
    return []


def chain_faults(held):
    """The register that the load fills is the one that addresses the next load."""
    load = held[0] if held else None
    if load is not None and loaded(load) != addressed(load):
        return ["the next address is not the loaded value"]
    return []


def loops_of_windows(code):
    """For each window with a load or store the code from the loop's head to its jump back."""
    at = {i.address: n for n, i in enumerate(code)}
    loops = []
    for begin, held, end in windows(code):
        for i in code[at[end.address]:]:
            target = re.fullmatch(r"`?\(?(0x[0-9a-f]+)\)?", i.operands.strip()) if is_jump(i) else None
            if target and int(target.group(1), 16) <= begin.address and any(map(is_memory, held)):
                loops.append(code[at[int(target.group(1), 16)]:at[i.address]])
                break
    return loops


def wait_faults(code):
    """What was issued before a window must not hold back its load or store, nor be a load still on its way: one
    that is switched off, too, keeps its scoreboard until it has passed the pipe."""
    faults = []
    for loop in loops_of_windows(code):
        if any(i.control is None for i in loop):
            return ["no control words in the listing"]
        begin, held, end = windows(loop)[0]
        pending = {}
        for i in loop[loop.index(end):] + loop[:loop.index(begin) + 1]:
            pending = {b: o for b, o in pending.items() if b not in i.control.waits}
            pending |= {b: i.opcode for b in i.control.sets}
        faults += [f"{i.opcode} waits for {pending[b]} before the window"
                   for i in held for b in i.control.waits if b in pending]
        faults += [f"{o} on its way when the window begins" for o in set(pending.values()) if not o.startswith("ST")]
    return faults


def constant_faults(code):
    """What else a timed loop reads of the constant banks would be in the caches that it measures."""
    loops = loops_of_windows(code)
    faults = [] if len(loops) == 3 else [f"{len(loops)} timed loops, should be 3"]
    return faults + [f"constant read in the timed loop: {i.opcode} {i.operands}"
                     for loop in loops for i in loop
                     if "c[" in i.operands and not (i.opcode == "LDC" and "c[0x3][R" in i.operands)]


def fence_faults(code):
    """One fence, for the rehearsal; none from the first store to memory to the last timed window."""
    fences = [i.address for i in code if i.opcode.startswith("CCTL.IVALL")]
    faults = [] if len(fences) == 1 else [f"{len(fences)} CCTL.IVALL, should be 1"]
    timed = [begin.address for begin, held, _ in windows(code) if any(map(is_memory, held))]
    first = min([i.address for i in code if i.opcode.startswith("STG")], default=0)
    return faults + [f"{i.opcode} between stores and windows" for i in code
                     if re.match(r"(CCTL|MEMBAR|FENCE)", i.opcode)
                     and timed and first < i.address < max(timed)]


def check_timed(code, load, count, chained):
    faults = clock_faults(code)
    found = [held for _, held, _ in windows(code) if load in ("", None) or any(map(is_memory, held))]
    if len(found) != count:
        faults.append(f"{len(found)} timed windows, should be {count}")
    for held in found:
        faults += window_faults(held, load)
        if chained:
            faults += chain_faults(held)
    return faults


def longest_chain(code, load):
    """Most loads in a row, each addressed by what the one before loaded, no other memory access between."""
    best = run = 0
    last = None
    for i in code:
        if re.fullmatch(load, i.opcode) and not i.predicate:
            run = run + 1 if last is not None and addressed(i) == last else 1
            last = loaded(i)
            best = max(best, run)
        elif is_memory(i) or is_jump(i):
            run, last = 0, None
        elif last is not None and re.search(rf"\bR{last}\b", i.operands.split(",")[0]):
            run, last = 0, None
    return best


def check_amortised(code, load):
    best = longest_chain(code, load)
    faults = clock_faults(code)
    return faults if best >= 32 else faults + [f"{best} dependent loads in a row, should be 32 or more"]


def no_local_memory(code):
    return [f"local memory: {i.opcode}" for i in code if re.match(r"(LDL|STL)\b", i.opcode)]


def barrier_faults(code):
    """A clock read behind a plain barrier is made on arrival; only a branch on its result holds it back."""
    faults = []
    after_barrier = False
    for i in code:
        if i.opcode.startswith("BAR.SYNC"):
            after_barrier = True
        elif i.opcode.split(".")[0] in ("BRA", "EXIT", "BAR"):
            after_barrier = False
        elif after_barrier and is_clock(i):
            faults.append("clock read behind a plain barrier")
    return faults


def global_load(load, width):
    return GLOBAL_LOADS[load].replace("{width}", width)


def check_chase(name, code):
    if "CodeChase" in name:
        return check_code_chase(code)
    steps, argument, timed = re.search(
        r"chase_kernelINS0_\d+(ChainChase|ScriptChase|NoChase)I(\w+?)EELb([01])E", name).groups()
    if steps == "NoChase":
        return check_timed(code, "" if "OverheadE0" in argument else None, 3, False)
    flavour = re.search(r"LoadE(\d)", argument)
    load = global_load(int(flavour.group(1)), r"\.64") if flavour else next(
        pattern for source, pattern in OTHER_LOADS.items() if source in argument)
    if timed == "0":
        return check_amortised(code, load)
    faults = check_timed(code, load, 3, steps == "ChainChase") + fence_faults(code) + wait_faults(code)
    return faults + (constant_faults(code) if load == "LDC" else [])


def call_windows(code):
    """What stands between clock reads around a call through a register, without what is called."""
    result = []
    for at, instruction in enumerate(code):
        if not instruction.opcode.startswith("CALL") or not re.match(r"R\d+", instruction.operands):
            continue
        begin = next((n for n in range(at, -1, -1) if is_clock(code[n])), None)
        end = next((n for n in range(at, len(code)) if is_clock(code[n])), None)
        if begin is not None and end is not None and end - begin < 10:
            result.append([i.opcode.split(".")[0] for i in code[begin + 1:end]])
    return result


def code_block_addresses(code):
    """Where runs of seven additions and a return begin."""
    opcodes = [i.opcode.split(".")[0] for i in code]
    return [code[at].address for at in range(len(code) - 7)
            if opcodes[at:at + 8] == ["FADD"] * 7 + ["RET"]]


def check_code_chase(code, blocks=4097):
    faults = clock_faults(code)
    found = call_windows(code)
    if len(found) != 3:
        faults.append(f"{len(found)} windows around a call, should be 3")
    for held in found:
        moves = [opcode for opcode in held if opcode in ("MOV", "IMAD", "HFMA2")]
        rest = [opcode for opcode in held if opcode not in ("MOV", "IMAD", "HFMA2")]
        # sm_75 clears a convergence barrier (BMOV) before each call: a fixed time in every window.
        if rest not in (["BSSY", "CALL", "BSYNC"], ["BMOV", "BSSY", "CALL", "BSYNC"]) or len(moves) != 2:
            faults.append(f"holds {held}, should hold BSSY, two moves of the return address, CALL and BSYNC")
    at = code_block_addresses(code)
    if len(at) != blocks or any(second - first != 128 for first, second in zip(at, at[1:])):
        faults.append(f"{len(at)} blocks of code 128 bytes apart, should be {blocks}")
    elif at[0] % 128 != 0:
        more = (128 - at[0] % 128) // 16
        faults.append(f"blocks of code begin within a line: add {more} (modulo 8) to padding_instructions")
    return faults


def check_shared_chase(name, code):
    load = r"LDS(\.U)?" if "shared_chase_kernelILi4E" in name else r"LDS(\.U)?\.64"
    inner = [(b, held, e) for b, held, e in windows(code) if len(held) == 2]
    faults = clock_faults(code)
    if len(inner) != 1:
        faults.append(f"{len(inner)} timed windows, should be 1")
    for _, held, _ in inner:
        faults += window_faults(held, load) + chain_faults(held)
    return faults + check_amortised(code, load)


def longest_run(code, pattern, breaks=lambda i: is_memory(i) or is_jump(i)):
    """Most instructions of that kind with none between them that breaks the row."""
    best = run = 0
    for i in code:
        if re.fullmatch(pattern, i.opcode):
            run += 1
            best = max(best, run)
        elif breaks(i):
            run = 0
    return best


def row_faults(code, pattern, wanted, what):
    """So many of them in a row, and no more."""
    best = longest_run(code, pattern)
    return [] if best == wanted else [f"{best} {what} in a row, should be {wanted}"]


def in_flight_faults(code, load, ilp):
    best = longest_run(code, load, breaks=lambda i: i.opcode.startswith("STG") or is_jump(i))
    return [] if best >= ilp else [f"{best} loads in flight, should be {ilp}"]


def check_stream(name, code):
    work, load, size, ilp = map(int, re.search(
        r"stream_kernelILNS0_10StreamWorkE(\d)ELNS0_4LoadE(\d)ELi(\d+)ELi(\d+)E", name).groups())
    if work == 1:
        return []
    return in_flight_faults(code, global_load(load, {4: "", 8: r"\.64", 16: r"\.128"}[size]), ilp)


def check_co_runner(name, code):
    """A loop of nothing but reductions that add nothing: neither merged, nor dropped, nor answered."""
    for at, i in enumerate(code):
        if not re.match(r"REDG?\.E\.ADD", i.opcode) or not i.operands.endswith("RZ"):
            continue
        jumps = [j for j in code[at:at + 6] if is_jump(j)]
        if any(target <= i.address for target in jump_targets(jumps[:1])):
            return []
    return ["no loop of reductions that add nothing"]


def has_clusters(code):
    """Kernels of clusters are empty for targets below sm_90."""
    return any(is_memory(i) for i in code)


def check_dsm_chase(_, code):
    """Generic loads of 64 bits: ld.shared::cluster would read SR_SWINHI in the window."""
    if not has_clusters(code):
        return []
    return check_timed(code, r"LD\.E\.64", 1, True) + wait_faults(code)


def loops(code):
    """Pairs of addresses: where a jump goes back to, and where it stands."""
    for jump in code:
        for target in jump_targets([jump]):
            if target < jump.address:
                yield target, jump.address


def loop_codes(code):
    """The code of each loop, from its head to the jump back."""
    return [[i for i in code if begin <= i.address <= end] for begin, end in loops(code)]


def check_dsm_stream(_, code, ilp=4):
    """Every pass of a loop makes its loads, keeps them in flight, and reads nothing but them."""
    if not has_clusters(code):
        return []
    faults = clock_faults(code)
    loads = [i.address for i in code if i.opcode == "LD.E.128"]
    if loads and not any(begin <= loads[0] and loads[-1] < end for begin, end in loops(code)):
        faults.append("the loads are made once, outside of the loop of passes")
    return faults + row_faults(code, r"LD\.E\.128", ilp, "loads")


# Names of kernels, the check of one, and how many there are for each target.
CHECKS = [
    (re.compile(r"\d+chase_kernelINS0_"), check_chase, 27),
    (re.compile(r"shared_chase_kernel"), check_shared_chase, 2),
    (re.compile(r"co_runner_kernel"), check_co_runner, 1),
    (re.compile(r"dsm_chase_kernel"), check_dsm_chase, 1),
    (re.compile(r"dsm_stream_kernel"), check_dsm_stream, 1),
    (re.compile(r"\d+stream_kernelILNS0_10StreamWork"), check_stream, 75),
]
# These are empty for targets below sm_90, but not for all.
NEWER = re.compile(r"dsm_chase_kernel|dsm_stream_kernel|cluster_barrier_kernel|bulk_stream_kernel")
# Times pairs of a plain barrier and a clock read; the reads themselves say nothing.
PAIRS = re.compile(r"barrier_kernelILNS0_12BlockBarrierE2")


def check_functions(functions, checks):
    """Faults of all kernels, and of kernels that should be there and are not."""
    faults = []
    targets = None
    for pattern, check, expected in checks:
        names = [n for n in functions if pattern.search(n)]
        targets = targets or max(1, len(names) // expected)
        if len(names) != expected * targets:
            faults.append(f"{len(names)} kernels match {pattern.pattern}, should be {expected * targets}")
        for name in names:
            faults += [f"{name}: {fault}" for fault in check(name, functions[name])]
    newer = {NEWER.search(name).group(): False for name in functions if NEWER.search(name)}
    for name, code in functions.items():
        faults += [f"{name}: {fault}" for fault in no_local_memory(code)]
        faults += [f"{name}: {fault}" for fault in barrier_faults(code) if not PAIRS.search(name)]
        if NEWER.search(name) and any(map(is_memory, code)):
            newer[NEWER.search(name).group()] = True
    return faults + [f"{name} is empty for every target" for name, there in newer.items() if not there]
