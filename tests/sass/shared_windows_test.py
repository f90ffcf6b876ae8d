"""The checks of atomics on shared memory must see what the compiler could do to the kernels."""

import unittest

import shared_windows
from listings import CheckTest, code_of, line


def loops_of(additions):
    """Three loops of such additions, each timed."""
    text = ""
    address = 0
    for _ in range(3):
        text += line(address, "CS2R R2, SR_CLOCKLO")
        head = address + 16
        for n, addition in enumerate(additions):
            text += line(head + 16 * n, addition)
        address = head + 16 * len(additions)
        text += line(address, f"@!P0 BRA 0x{head:x}")
        address += 16
    return text


def loop_of(row):
    inner = "".join(line(16 + 16 * n, instruction) for n, instruction in enumerate(row))
    return line(0, "CS2R R2, SR_CLOCKLO") + inner + line(0x800, "@!P0 BRA 0x10")


def chain(length=16, first=10):
    return [f"ATOMS.ADD R{first + n + 1}, [R11+UR4+0x100], R{first + n}" for n in range(length)]


def faults(additions, form):
    return shared_windows.check_atomics(f"shared_atomic_kernelILNS0_12SharedAtomicE{form}E", code_of(loops_of(additions)))


class SharedWindowsTest(CheckTest):
    def test_loops_hold_the_additions_that_are_meant(self):
        unused = ["ATOMS.ADD RZ, [R0], R9"]
        self.expect(faults, [(chain(), 0), (unused * 16, 1), (["ATOMS.POPC.INC.32 RZ, [R0+URZ]"] * 16, 2)], {
            "additions that do not wait": (["ATOMS.ADD R5, [R0], R9"] * 16, 0),
            "results that nobody uses": (unused * 16, 0),
            "results that are used": (chain(), 1),
            "a dropped link": (chain(15), 0),
            "dropped additions": (unused * 8, 1),
            "another access": (chain(15) + ["LDS R3, [R4]"], 0),
            "a loop of retries": (["ATOMS.CAS R5, [R0], R9, R10"] * 16, 0)})

    def test_loads_are_all_made(self):
        name = "shared_stream_kernelILi8ELi8ELNS1_4WorkE1E"
        right = [([f"{load} R4, [R0]"] * 8,) for load in ("LDS.64", "LDS.U.64")]
        self.expect(lambda row: shared_windows.check_loads(name, code_of(loop_of(row))), right, {
            "merged loads": (["LDS.64 R4, [R0]"],), "half an element": (["LDS R4, [R0]"] * 8,)})


if __name__ == "__main__":
    unittest.main()
