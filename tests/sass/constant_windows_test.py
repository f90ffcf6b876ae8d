"""The check of streams of constants must see every way in which their loop could be wrong."""

import unittest

import constant_windows
from listings import CheckTest, code_of

ROW = """
        /*0100*/                   VIADD R21, R2, 0x40 ;
        /*0110*/                   LDC R22, c[0x3][R22] ;
        /*0120*/                   LDC R11, c[0x3][R26] ;
        /*0130*/                   IADD3 R12, R19, R12, R15 ;
        /*0140*/               @!P0 BRA 0x100 ;
"""
UNTIMED = ROW.replace("/*01", "/*00").replace("0x100", "0x0")

LOAD = """
        /*0100*/                   LDS R5, [R2] ;
        /*0110*/                   FFMA R6, R6, R3, 0.7 ;
        /*0120*/                   FFMA R7, R7, R3, 0.7 ;
        /*0130*/               @!P0 BRA 0x100 ;
"""

BUSY = """
        /*0010*/                   CS2R R6, SR_GLOBALTIMERLO ;
        /*0020*/                   CS2R R8, SR_CLOCKLO ;
        /*0030*/                   CS2R R2, SR_GLOBALTIMERLO ;
        /*0040*/              @!P0 BRA 0x30 ;
        /*0050*/                   CS2R R10, SR_CLOCKLO ;
        /*0060*/                   STG.E.64 desc[UR4][R4.64], R6 ;
"""


def stream_faults(listing):
    return constant_windows.check_constant_stream("f", code_of(listing), ilp=2)


class ConstantWindowsTest(CheckTest):
    def test_rows_hold_their_loads_alone(self):
        def row(old, new):
            return (UNTIMED + ROW.replace(old, new),)
        second = "LDC R11, c[0x3][R26]"
        self.expect(stream_faults, [(UNTIMED + ROW,)], {
            "one loop alone": (ROW,),
            "fewer loads": row(second, "MOV R11, R26"),
            "a load hoisted out of the loop": (UNTIMED + "/*0090*/ LDC R30, c[0x3][R31] ;\n" + ROW,),
            "a parameter": row("R2, 0x40", "R2, c[0x0][0x1a4]"),
            "a uniform parameter": row("VIADD R21, R2, 0x40", "ULDC UR4, c[0x0][0x228]"),
            "another memory access": row("VIADD R21, R2, 0x40", "LDS R21, [R2]"),
            "a wide load": row("LDC R22", "LDC.64 R22"),
            "a value used before the last load": row(second, f"IADD3 R9, R22, R9, RZ ;\n /*0128*/ {second}"),
            "a slow clock read": (UNTIMED + "/*0080*/ S2UR UR4, SR_CLOCKLO ;\n" + ROW,)})

    def test_load_of_the_sms_is_arithmetic_until_it_is_told_to_end(self):
        def with_last(new):
            return (LOAD.replace("FFMA R7, R7, R3, 0.7", new),)
        last = "FFMA R7, R7, R3, 0.7 ;\n /*0128*/ "
        self.expect(lambda listing: constant_windows.check_pace("f", code_of(listing), least=2), [(LOAD,)], {
            "arithmetic left out": with_last("MOV R7, R3"),
            "a memory access": with_last(last + "STG.E [R8.64], R7"),
            "a clock read": with_last(last + "CS2R R8, SR_CLOCKLO"),
            "no look for the end": (LOAD.replace("LDS R5, [R2]", "MOV R5, R2"),)})

    def test_waits_lie_between_clock_reads_alone(self):
        stored = BUSY.replace("/*0060*/", "/*0028*/").replace("CS2R R2, SR", "STG.E [R4.64], R6 ;\n /*0038*/ CS2R R2, SR")
        self.expect(lambda listing: constant_windows.check_busy("f", code_of(listing)), [(BUSY,)], {
            "a clock read left out": (BUSY.replace("R10, SR_CLOCKLO", "R10, R8"),), "a store in the wait": (stored,)})

    def test_empty_kernels_do_nothing(self):
        self.expect(lambda listing: constant_windows.check_empty("f", code_of(listing)), [("/*0000*/  EXIT ;\n",)],
                    {"work": (BUSY,)})


if __name__ == "__main__":
    unittest.main()
