"""Checks the machine code of the kernels of arithmetic: what stands in the loops that they time.

A latency or a rate of an operation is right only if the loop holds that operation, as often as the kernel says,
each on what the one before made, and hardly anything else. What a step is in machine code stands in
kernels/arithmetic/arithmetic_code.hpp.
"""

import os
import re
from collections import Counter, namedtuple

import sass_windows

CODE_TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "kernels", "arithmetic",
                          "arithmetic_code.hpp")
KERNEL = re.compile(r"arithmetic_kernelI(?P<program>\w+?)ELi(?P<ilp>\d+)ELi(?P<steps>\d+)EE")
# Part of the loop itself: counter, comparison, jump, and operands that ptxas makes anew in each round.
MOST_OTHERS = 20
# What ptxas fills the wait for a long instruction with, from sm_90 and before.
WAITS = ("NOP", "UIADD3")
TABLE_TARGETS = (80, 90)  # columns of arithmetic_code.hpp
SHAPE = r"x\d[\dx]*[A-Z0-9.]*"

# Instructions of a step: [({opcodes, any of them}, how many)], and whether there are others.
Code = namedtuple("Code", "items open_ended")


def parse_code(text):
    items = []
    for item in text.split(", "):
        if item == "...":
            continue
        number = re.match(r"(\d+) ", item)
        opcodes = set(item[number.end() if number else 0:].split(" / "))
        items.append((opcodes, int(number.group(1)) if number else 1))
    return Code(items, text.endswith("..."))


def read_table(text):
    """{operation: {target: Code, or None if there is no kernel}} of arithmetic_code.hpp."""
    names = dict(re.findall(r'string_view (\w+) =\s*"([^"]*)";', text))
    table = {}
    for op, first, second in re.findall(r'\{"(\w+)",\s*("[^"]*"|\w+),\s*("[^"]*"|\w+)\}', text):
        codes = [c.strip('"') if c.startswith('"') else names[c] for c in (first, second)]
        table[op] = {target: parse_code(c) if c else None for target, c in zip(TABLE_TARGETS, codes)}
    return table


def operations_of(program, table):
    """Names in a mangled list of types that are operations."""
    found = []
    for at in re.finditer(r"\d+", program):
        name = program[at.end():at.end() + int(at.group())]
        if name in table:
            found.append(name)
    return found


def full_opcode(instruction):
    """Shapes such as .8x8x4 hold a letter that the opcodes of other instructions do not."""
    rest = re.match(SHAPE, instruction.operands)
    return instruction.opcode + (rest.group() if rest else "")


def timed_loop(code):
    """Instructions of the loop between the clock reads, and those from its end to the second read."""
    clocks = [i.address for i in code if sass_windows.is_clock(i)]
    if len(clocks) != 2:
        return None, f"{len(clocks)} clock reads, should be 2"
    inner = [(b, e) for b, e in sass_windows.loops(code) if clocks[0] < b and e < clocks[1]]
    if len(inner) != 1:
        return None, f"{len(inner)} loops between the clock reads, should be 1"
    begin, end = inner[0]
    if not any(i.opcode == "STS" for i in code if end < i.address < clocks[1]):
        return None, "nothing waits for the last step before the second clock read"
    return [i for i in code if begin <= i.address <= end], None


def count_faults(loop, codes, chain_steps):
    counts = Counter(full_opcode(i) for i in loop)
    wanted = Counter()  # two items of one opcode are counted together
    for code in codes:
        for opcodes, number in code.items:
            wanted[frozenset(opcodes)] += number * chain_steps
    open_ended = any(code.open_ended for code in codes)
    faults = []
    listed = 0
    for opcodes, number in wanted.items():
        there = sum(counts[o] for o in opcodes)
        listed += there
        if there < number or (not open_ended and there > number + MOST_OTHERS):
            faults.append(f"{there} {' / '.join(sorted(opcodes))} in the loop, should be {number}")
    others = len(loop) - listed - sum(counts[o] for o in WAITS if not any(o in w for w in wanted))
    if not open_ended and others > MOST_OTHERS:
        faults.append(f"{others} other instructions in the loop, should be {MOST_OTHERS} at most")
    memory = {i.opcode for i in loop if sass_windows.is_memory(i) and not i.opcode.startswith("REDUX")}
    return faults + [f"memory access in the loop: {opcode}" for opcode in sorted(memory)]


def registers(operand):
    return set(re.findall(r"\bU?[RP]\d+\b", operand))


def made_and_read(instruction):
    """Registers that an instruction writes, and those that it reads."""
    operands = [o.strip() for o in re.sub(rf"^{SHAPE}\s*", "", instruction.operands).split(",")]
    written = 1
    if "SETP" in instruction.opcode or operands[0] == "PT":
        written = 2  # two predicates, or one and what a shuffle brings
    elif len(operands) > 1 and re.fullmatch(r"PT|P\d+", operands[1]):
        written = 2  # a carry
    return registers(",".join(operands[:written])), registers(
        ",".join(operands[written:]) + instruction.predicate)


def chain_faults(loop, code, steps):
    """With one chain, some path from instruction to instruction goes through all steps of a round."""
    listed = set().union(*(opcodes for opcodes, _ in code.items))
    depth = {}  # of what a register holds: instructions of steps that it took, one after the other
    for i in loop:
        makes, reads = made_and_read(i)
        reached = max([depth.get(r, 0) for r in reads], default=0) + (full_opcode(i) in listed)
        depth.update({register: reached for register in makes})
    longest = max(depth.values(), default=0)
    return [] if longest >= steps else [f"{longest} steps wait for each other, should be {steps}"]


def check_kernel(name, code, target, table):
    found = KERNEL.search(name)
    operations = operations_of(found.group("program"), table)
    if not operations:
        return ["its operation is not in arithmetic_code.hpp"]
    codes = [table[op].get(target) for op in operations]
    if None in codes:
        return [] if not any(map(sass_windows.is_clock, code)) else ["should be empty for this target"]
    loop, fault = timed_loop(code)
    if fault:
        return [fault]
    ilp, steps = int(found.group("ilp")), int(found.group("steps"))
    faults = sass_windows.clock_faults(code) + count_faults(loop, codes, ilp * steps)
    if ilp == 1 and len(codes) == 1 and not codes[0].open_ended:
        faults += chain_faults(loop, codes[0], steps)
    return faults


def split_targets(listing):
    """[(target, listing of its functions)] of the output of cuobjdump."""
    parts = re.split(r"^arch = sm_(\d+)\w*$", listing, flags=re.MULTILINE)
    return [(int(target), text) for target, text in zip(parts[1::2], parts[2::2])]


def check_listing(listing, table):
    faults = []
    kernels = 0
    seen = {}
    for target, text in split_targets(listing):
        if target not in TABLE_TARGETS:
            print(f"sm_{target}: not in arithmetic_code.hpp, its loops are not checked")
            continue
        for name, code in sass_windows.parse(text).items():
            if not KERNEL.search(name):
                continue
            kernels += 1
            seen.setdefault(target, set()).update(operations_of(name, table))
            faults += [f"sm_{target} {name}: {f}" for f in check_kernel(name, code, target, table)]
    for target, operations in seen.items():
        faults += [f"sm_{target}: no kernel of {op}" for op in sorted(set(table) - operations)
                   if table[op].get(target)]
    return kernels, faults


def check(listing):
    """@return kernels of arithmetic, faults"""
    with open(CODE_TABLE, encoding="utf-8") as table:
        return check_listing(listing, read_table(table.read()))
