"""The checks of atomics on shared memory must see what the compiler could do to the kernels."""

import unittest

import sass_windows
import shared_windows


def line(address, text):
    return f"        /*{address:04x}*/                   {text} ;\n"


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


def chain(length=16, first=10):
    return [f"ATOMS.ADD R{first + n + 1}, [R11+UR4+0x100], R{first + n}" for n in range(length)]


def faults(additions, form):
    name = f"shared_atomic_kernelILNS0_12SharedAtomicE{form}E"
    return shared_windows.check_atomics(name, sass_windows.parse("Function : f\n" + loops_of(additions))["f"])


class SharedWindowsTest(unittest.TestCase):
    def test_right_rows_pass(self):
        self.assertEqual(faults(chain(), 0), [])
        self.assertEqual(faults(["ATOMS.ADD RZ, [R0], R9"] * 16, 1), [])
        self.assertEqual(faults(["ATOMS.POPC.INC.32 RZ, [R0+URZ]"] * 16, 2), [])

    def test_additions_that_do_not_wait_fail(self):
        self.assertTrue(faults(["ATOMS.ADD R5, [R0], R9"] * 16, 0))

    def test_results_that_are_not_meant_fail(self):
        self.assertTrue(faults(["ATOMS.ADD RZ, [R0], R9"] * 16, 0))
        self.assertTrue(faults(chain(), 1))

    def test_dropped_additions_fail(self):
        self.assertTrue(faults(chain(15), 0))
        self.assertTrue(faults(["ATOMS.ADD RZ, [R0], R9"] * 8, 1))

    def test_other_accesses_and_loops_of_retries_fail(self):
        self.assertTrue(faults(chain(15) + ["LDS R3, [R4]"], 0))
        self.assertTrue(faults(["ATOMS.CAS R5, [R0], R9, R10"] * 16, 0))

    def test_missing_kernels_are_told(self):
        self.assertTrue(shared_windows.check_functions({}))


if __name__ == "__main__":
    unittest.main()
