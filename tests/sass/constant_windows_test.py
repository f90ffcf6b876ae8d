"""The check of streams of constants must see every way in which their loop could be wrong."""

import unittest

import constant_windows
import sass_windows

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


def code_of(listing):
    return sass_windows.parse("Function : f\n" + listing)["f"]


def stream_faults(listing):
    return constant_windows.check_constant_stream("f", code_of(listing), ilp=2)


class ConstantWindowsTest(unittest.TestCase):
    def test_right_rows_pass(self):
        self.assertEqual(stream_faults(UNTIMED + ROW), [])

    def test_one_loop_alone_fails(self):
        self.assertTrue(stream_faults(ROW))

    def test_row_with_fewer_loads_fails(self):
        self.assertTrue(stream_faults(UNTIMED + ROW.replace("LDC R11, c[0x3][R26]", "MOV R11, R26")))

    def test_load_hoisted_out_of_the_loop_fails(self):
        hoisted = "        /*0090*/                   LDC R30, c[0x3][R31] ;\n"
        self.assertTrue(stream_faults(UNTIMED + hoisted + ROW))

    def test_parameter_read_in_the_loop_fails(self):
        self.assertTrue(stream_faults(UNTIMED + ROW.replace("R2, 0x40", "R2, c[0x0][0x1a4]")))
        self.assertTrue(stream_faults(UNTIMED + ROW.replace("VIADD R21, R2, 0x40", "ULDC UR4, c[0x0][0x228]")))

    def test_other_memory_access_in_the_loop_fails(self):
        self.assertTrue(stream_faults(UNTIMED + ROW.replace("VIADD R21, R2, 0x40", "LDS R21, [R2]")))

    def test_wide_load_fails(self):
        self.assertTrue(stream_faults(UNTIMED + ROW.replace("LDC R22", "LDC.64 R22")))

    def test_value_used_before_the_last_load_fails(self):
        early = ROW.replace("LDC R11, c[0x3][R26]", "IADD3 R9, R22, R9, RZ ;\n /*0128*/ LDC R11, c[0x3][R26]")
        self.assertTrue(stream_faults(UNTIMED + early))

    def test_slow_clock_read_fails(self):
        clock = "        /*0080*/                   S2UR UR4, SR_CLOCKLO ;\n"
        self.assertTrue(stream_faults(UNTIMED + clock + ROW))


class LoadTest(unittest.TestCase):
    def check(self, listing):
        return constant_windows.check_pace("f", code_of(listing), least=2)

    def test_right_load_passes(self):
        self.assertEqual(self.check(LOAD), [])

    def test_arithmetic_that_was_left_out_fails(self):
        self.assertTrue(self.check(LOAD.replace("FFMA R7, R7, R3, 0.7", "MOV R7, R3")))

    def test_memory_access_or_clock_in_the_load_fails(self):
        self.assertTrue(self.check(LOAD.replace("FFMA R7, R7, R3, 0.7 ;",
                                                "FFMA R7, R7, R3, 0.7 ;\n /*0128*/ STG.E [R8.64], R7 ;")))
        self.assertTrue(self.check(LOAD.replace("FFMA R7, R7, R3, 0.7 ;",
                                                "FFMA R7, R7, R3, 0.7 ;\n /*0128*/ CS2R R8, SR_CLOCKLO ;")))

    def test_load_that_looks_for_no_end_fails(self):
        self.assertTrue(self.check(LOAD.replace("LDS R5, [R2]", "MOV R5, R2")))


class BusyTest(unittest.TestCase):
    def test_right_wait_passes(self):
        self.assertEqual(constant_windows.check_busy("f", code_of(BUSY)), [])

    def test_clock_read_that_was_left_out_fails(self):
        self.assertTrue(constant_windows.check_busy("f", code_of(BUSY.replace("R10, SR_CLOCKLO", "R10, R8"))))

    def test_store_within_the_wait_fails(self):
        moved = BUSY.replace("/*0060*/", "/*0028*/").replace("CS2R R2, SR", "STG.E [R4.64], R6 ;\n /*0038*/ CS2R R2, SR")
        self.assertTrue(constant_windows.check_busy("f", code_of(moved)))

    def test_kernel_that_is_not_empty_fails(self):
        self.assertEqual(constant_windows.check_empty("f", code_of("        /*0000*/  EXIT ;\n")), [])
        self.assertTrue(constant_windows.check_empty("f", code_of(BUSY)))


if __name__ == "__main__":
    unittest.main()
