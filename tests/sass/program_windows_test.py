"""The checks of programs must see what the compiler could do to the kernels."""

import unittest

import program_windows
import sass_windows

NONE = 7


def line(address, text, fills=NONE, waits=()):
    mask = sum(1 << b for b in waits)
    upper = fills << 46 | NONE << 49 | mask << 52
    return f"        /*{address:04x}*/                   {text} ;\n{'':40}/* 0x{upper:016x} */\n"


def listing(instructions):
    """Each a text, or a text, the scoreboard it fills and those it waits for. {head} is the first one's address."""
    text = "Function : f\n"
    for at, i in enumerate(instructions):
        i = (i,) if isinstance(i, str) else i
        text += line(16 * at + 16, i[0].format(head="0x10"), *i[1:])
    return sass_windows.parse(text)["f"]


# A base made of the sum of all values, two addresses, two loads, the sum.
BASE = [("IADD3 R2, P3, R20, UR4, RZ"), ("IMAD.X R3, RZ, RZ, UR5, P3")]
ADDRESSES = ["IMAD.WIDE.U32 R4, R10, 0x4, R2", "IMAD.WIDE.U32 R6, R11, 0x4, R2"]
LOADS = [("@P0 LDG.E R12, desc[UR8][R4.64]", 0), ("@P1 LDG.E R13, desc[UR8][R6.64]", 1)]
SUM = [("IMAD.IADD R20, R12, 0x1, R13", NONE, (0, 1))]
JUMP = ["@P2 BRA {head}"]


def row_faults(instructions, length=2):
    return program_windows.check_row(listing(instructions), program_windows.LOADS[0], length)


class RowTest(unittest.TestCase):
    def test_right_row_passes(self):
        self.assertEqual(row_faults(BASE + ADDRESSES + LOADS + SUM + JUMP), [])
        self.assertEqual(row_faults(BASE + [ADDRESSES[0], LOADS[0], ADDRESSES[1], LOADS[1]] + SUM + JUMP), [])

    def test_load_of_the_launch_itself_is_no_row(self):
        own = ["IMAD.WIDE.U32 R30, R33, 0x4, R34", "LDG.E R33, desc[UR8][R30.64]", "@P4 BRA {head}"]
        self.assertEqual(row_faults(BASE + ADDRESSES + LOADS + SUM + JUMP + own), [])

    def test_wait_for_a_value_within_a_row_fails(self):
        waits = ("IMAD.WIDE.U32 R6, R11, 0x4, R2", NONE, (0,))
        self.assertTrue(row_faults(BASE + [ADDRESSES[0], LOADS[0], waits, LOADS[1]] + SUM + JUMP))

    def test_missing_loads_and_jumps_between_them_fail(self):
        self.assertTrue(row_faults(BASE + ADDRESSES + LOADS[:1] + SUM + JUMP))
        self.assertTrue(row_faults(BASE + ADDRESSES + LOADS[:1] + JUMP + LOADS[1:] + SUM + JUMP))
        self.assertTrue(row_faults(BASE + ADDRESSES + LOADS + SUM + JUMP, 3))

    def test_another_access_in_a_row_fails(self):
        self.assertTrue(row_faults(BASE + ADDRESSES + [LOADS[0], "LDS R9, [R8]", LOADS[1]] + SUM + JUMP))

    def test_addresses_that_wait_for_no_value_fail(self):
        free = ["MOV R2, UR4", "MOV R3, UR5"]
        self.assertTrue(row_faults(free + ADDRESSES + LOADS + SUM + JUMP))

    def test_addresses_that_wait_for_some_values_alone_fail(self):
        self.assertTrue(row_faults(BASE + ADDRESSES + LOADS + [("MOV R20, R12", NONE, (0, 1))] + JUMP))
        one_free = ["IMAD.WIDE.U32 R4, R10, 0x4, R30", ADDRESSES[1]]
        self.assertTrue(row_faults(BASE + one_free + LOADS + SUM + JUMP))

    def test_row_of_one_that_is_jumped_over_passes(self):
        code = ["IADD3 R4, P3, R20, UR4, RZ", "@!P0 BRA 0x40", ("LDG.E R12, desc[UR8][R4.64]", 0), "MOV R20, R12"] + JUMP
        self.assertEqual(row_faults(code, 1), [])
        self.assertTrue(row_faults(["MOV R4, UR4"] + code[1:], 1))
        self.assertTrue(row_faults(["LDG.E R12, desc[UR8][R4.64]"] + JUMP, 1))

    def test_row_that_is_in_no_loop_fails(self):
        self.assertTrue(row_faults(BASE + ADDRESSES + LOADS + SUM))


def timed(load, until_issued=(), behind=("STS [R8], R12",)):
    return ["CS2R R2, SR_CLOCKLO", (f"{load} R12, desc[UR8][R4.64]", 0), *until_issued, "CS2R R14, SR_CLOCKLO", *behind,
            "CS2R R16, SR_CLOCKLO", ("IADD3 R1, R1, R12, RZ", NONE, (0,)), "@P2 BRA {head}"]


def timed_faults(*arguments):
    """Of one loop in place of four."""
    code = listing(timed("LDG.E.NA", *arguments))
    found = program_windows.timed_loads(code)
    return [fault for held in found for fault in program_windows.timed_faults("LDG\\.E\\.NA", *held)] if found else ["none"]


class TimedTest(unittest.TestCase):
    def test_right_window_passes(self):
        self.assertEqual(timed_faults(), [])

    def test_other_instructions_in_a_window_fail(self):
        self.assertTrue(timed_faults(["IADD3 R5, R5, R6, RZ"]))
        self.assertTrue(timed_faults([], ["STS [R8], R12", "IADD3 R5, R5, R6, RZ"]))

    def test_store_of_another_value_fails(self):
        self.assertTrue(timed_faults([], ["STS [R8], R13"]))
        self.assertTrue(timed_faults([], []))

    def test_another_load_fails(self):
        self.assertTrue(program_windows.check_timed(listing(timed("LDG.E.64"))))

    def test_missing_kernels_and_windows_are_told(self):
        self.assertEqual(len(program_windows.check_functions({})), program_windows.MOST_LOADS + 1)
        self.assertTrue(program_windows.check_timed([]))


if __name__ == "__main__":
    unittest.main()
