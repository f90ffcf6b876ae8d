"""The checks of programs must see what the compiler could do to the kernels."""

import unittest

import program_windows
import sass_windows
from listings import CheckTest

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


class RowTest(CheckTest):
    def test_rows_are_in_flight_together_and_the_next_one_waits_for_all(self):
        own = ["IMAD.WIDE.U32 R30, R33, 0x4, R34", "LDG.E R33, desc[UR8][R30.64]", "@P4 BRA {head}"]
        waits = ("IMAD.WIDE.U32 R6, R11, 0x4, R2", NONE, (0,))
        end = SUM + JUMP
        one = ["IADD3 R4, P3, R20, UR4, RZ", "@!P0 BRA 0x40", ("LDG.E R12, desc[UR8][R4.64]", 0), "MOV R20, R12"] + JUMP
        self.expect(row_faults, [
            (BASE + ADDRESSES + LOADS + end,), (BASE + [ADDRESSES[0], LOADS[0], ADDRESSES[1], LOADS[1]] + end,),
            (BASE + ADDRESSES + LOADS + end + own,), (one, 1)
        ], {
            "a wait within a row": (BASE + [ADDRESSES[0], LOADS[0], waits, LOADS[1]] + end,),
            "a missing load": (BASE + ADDRESSES + LOADS[:1] + end,),
            "a jump between loads": (BASE + ADDRESSES + LOADS[:1] + JUMP + LOADS[1:] + end,),
            "a shorter row": (BASE + ADDRESSES + LOADS + end, 3),
            "another access": (BASE + ADDRESSES + [LOADS[0], "LDS R9, [R8]", LOADS[1]] + end,),
            "addresses that wait for nothing": (["MOV R2, UR4", "MOV R3, UR5"] + ADDRESSES + LOADS + end,),
            "addresses that wait for one": (BASE + ADDRESSES + LOADS + [("MOV R20, R12", NONE, (0, 1))] + JUMP,),
            "one address that does not wait": (
                BASE + ["IMAD.WIDE.U32 R4, R10, 0x4, R30", ADDRESSES[1]] + LOADS + end,),
            "one load that does not wait": (["MOV R4, UR4"] + one[1:], 1),
            "one load alone": (["LDG.E R12, desc[UR8][R4.64]"] + JUMP, 1),
            "no loop": (BASE + ADDRESSES + LOADS + SUM,)})


def timed(load, until_issued=(), behind=("STS [R8], R12",)):
    return ["CS2R R2, SR_CLOCKLO", (f"{load} R12, desc[UR8][R4.64]", 0), *until_issued, "CS2R R14, SR_CLOCKLO", *behind,
            "CS2R R16, SR_CLOCKLO", ("IADD3 R1, R1, R12, RZ", NONE, (0,)), "@P2 BRA {head}"]


def timed_faults(*arguments):
    """Of one loop in place of four."""
    code = listing(timed("LDG.E.NA", *arguments))
    found = program_windows.timed_loads(code)
    return [fault for held in found for fault in program_windows.timed_faults("LDG\\.E\\.NA", *held)] if found else ["none"]


class TimedTest(CheckTest):
    def test_windows_hold_a_load_and_the_store_of_what_it_loaded(self):
        other = "IADD3 R5, R5, R6, RZ"
        self.expect(timed_faults, [()], {
            "another instruction before the issue": ([other],),
            "another instruction behind it": ([], ["STS [R8], R12", other]),
            "a store of another value": ([], ["STS [R8], R13"]), "no store": ([], [])})
        self.assertTrue(program_windows.check_timed(listing(timed("LDG.E.64"))))
        self.assertTrue(program_windows.check_timed([]))


if __name__ == "__main__":
    unittest.main()
