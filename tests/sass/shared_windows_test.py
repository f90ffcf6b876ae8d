"""The checks of atomics on shared memory must see what the compiler could do to the kernels."""

import unittest

import shared_windows
from listings import CheckTest, code_of, loops_of


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
        self.expect(lambda row: shared_windows.check_loads(name, code_of(loops_of(row, 1))), right, {
            "merged loads": (["LDS.64 R4, [R0]"],), "half an element": (["LDS R4, [R0]"] * 8,)})


if __name__ == "__main__":
    unittest.main()
