"""The check of streams must see a hint that is lost, a window that does not wait, and a loop that loads by itself."""

import unittest

import sass_windows
import stream_windows

HINTED = """
        /*0010*/                   LDG.E.NA.128 R4, desc[UR4][R2.64] ;
        /*0020*/                   LDG.E.NA.128 R8, desc[UR4][R20.64] ;
        /*0030*/                   STG.E.128 desc[UR4][R22.64], R4 ;
        /*0040*/                   STG.E.128 desc[UR4][R24.64], R8 ;
"""
COPY_NO_ALLOCATE = "20hinted_stream_kernelILNS0_10StreamWorkE2ELNS0_10StreamHintE1ELi2EE"

TIMED = """
        /*0010*/                   CS2R R40, SR_CLOCKLO ;
        /*0020*/                   LDG.E.128 R4, desc[UR4][R2.64] ;
        /*0030*/                   LDG.E.128 R8, desc[UR4][R20.64] ;
        /*0040*/                   LOP3.LUT R43, R8, R4, RZ, 0x3c, !PT ;
        /*0050*/                   STS [UR4], R43 ;
        /*0060*/                   CS2R R38, SR_CLOCKLO ;
"""
TIMED_NAME = "19timed_stream_kernelILi2EE"

BULK = """
        /*0010*/                   UBLKCP.S.G [UR18], [UR10], UR9 ;
        /*0020*/                   SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R5+UR7], R0 ;
        /*0030*/               @!P0 BRA 0x20 ;
        /*0040*/                   UBLKCP.G.S [UR12], [UR14], UR9 ;
        /*0050*/                   UBLKCP.S.G [UR18], [UR10], UR9 ;
        /*0060*/               @P1 BRA 0x20 ;
"""
BULK_COPY = "18bulk_stream_kernelILNS0_10StreamWorkE2EE"

ADDING = """
        /*0010*/                   REDG.E.ADD.STRONG.GPU desc[UR8][R2.64], R25 ;
        /*0020*/                   REDG.E.ADD.STRONG.GPU desc[UR8][R4.64], R25 ;
        /*0030*/               @P0 BRA 0x10 ;
"""
GROUPED = """
        /*0010*/                   LDG.E R4, desc[UR6][R28.64] ;
        /*0020*/                   LDG.E.128.STRONG.GPU R4, desc[UR6][R36.64] ;
        /*0030*/                   LDG.E.128.STRONG.GPU R8, desc[UR6][R36.64+0x200] ;
        /*0040*/               @P0 BRA 0x20 ;
        /*0050*/               @P1 BRA 0x10 ;
        /*0060*/                   EXIT ;
"""


def grouped(work, ilp):
    return f"21grouped_stream_kernelINS0_6AccessILNS0_10StreamWorkE{work}ELNS0_4LoadE1ELi16EEELi{ilp}EEEvNS0_12StreamLaunchE"


def faults(check, name, listing):
    return check(name, sass_windows.parse("Function : f\n" + listing)["f"])


class StreamWindowsTest(unittest.TestCase):
    def test_right_hints_pass(self):
        self.assertEqual(faults(stream_windows.check_hinted, COPY_NO_ALLOCATE, HINTED), [])

    def test_lost_hint_fails(self):
        lost = HINTED.replace("LDG.E.NA.128 R8", "LDG.E.128 R8")
        self.assertTrue(faults(stream_windows.check_hinted, COPY_NO_ALLOCATE, lost))

    def test_hint_at_the_wrong_access_fails(self):
        wrong = HINTED.replace("STG.E.128", "STG.E.EF.128")
        self.assertTrue(faults(stream_windows.check_hinted, COPY_NO_ALLOCATE, wrong))

    def test_loads_that_wait_for_each_other_fail(self):
        lines = HINTED.strip("\n").split("\n")
        in_turn = "\n".join([lines[0], lines[2], lines[1], lines[3]])
        self.assertTrue(faults(stream_windows.check_hinted, COPY_NO_ALLOCATE, in_turn))

    def test_right_window_passes(self):
        self.assertEqual(faults(stream_windows.check_timed, TIMED_NAME, TIMED), [])

    def test_window_that_waits_for_one_load_fails(self):
        self.assertTrue(faults(stream_windows.check_timed, TIMED_NAME, TIMED.replace("R8, R4, RZ", "R4, R3, RZ")))

    def test_load_outside_of_the_window_fails(self):
        lines = TIMED.strip("\n").split("\n")
        before = "\n".join([lines[1], lines[0]] + lines[2:])
        self.assertTrue(faults(stream_windows.check_timed, TIMED_NAME, before))

    def test_other_access_in_the_window_fails(self):
        other = TIMED.replace("LOP3.LUT R43", "STG.E desc[UR4][R30.64], R31 ;\n        /*0044*/  LOP3.LUT R43")
        self.assertTrue(faults(stream_windows.check_timed, TIMED_NAME, other))

    def test_right_bulk_copy_passes(self):
        self.assertEqual(faults(stream_windows.check_bulk, BULK_COPY, BULK), [])

    def test_bulk_copy_without_stores_fails(self):
        self.assertTrue(faults(stream_windows.check_bulk, BULK_COPY, BULK.replace("UBLKCP.G.S", "UBLKPF.L2")))

    def test_bulk_copy_that_asks_once_fails(self):
        once = BULK.replace("/*0050*/                   UBLKCP.S.G", "/*0050*/                   UMOV")
        self.assertTrue(faults(stream_windows.check_bulk, BULK_COPY, once))

    def test_load_by_a_thread_in_the_loop_fails(self):
        loads = BULK.replace("/*0040*/", "/*0038*/                   LDG.E R4, desc[UR4][R2.64] ;\n        /*0040*/")
        self.assertTrue(faults(stream_windows.check_bulk, BULK_COPY, loads))

    def test_right_additions_pass(self):
        self.assertEqual(faults(stream_windows.check_adding, "20adding_stream_kernelILi2EE", ADDING), [])

    def test_additions_that_are_answered_or_missing_fail(self):
        answered = ADDING.replace("REDG.E.ADD.STRONG.GPU desc[UR8][R4", "ATOMG.E.ADD.STRONG.GPU PT, R3, desc[UR8][R4")
        self.assertTrue(faults(stream_windows.check_adding, "20adding_stream_kernelILi2EE", answered))
        self.assertTrue(faults(stream_windows.check_adding, "20adding_stream_kernelILi4EE", ADDING))

    def test_right_chunks_pass(self):
        self.assertEqual(faults(stream_windows.check_grouped, grouped("0", 2), GROUPED), [])
        stores = GROUPED.replace("LDG.E.128.STRONG.GPU", "STG.E.128")
        self.assertEqual(faults(stream_windows.check_grouped, grouped("1", 2), stores), [])

    def test_chunks_through_the_l1_or_unrolled_or_of_other_work_fail(self):
        cached = GROUPED.replace("LDG.E.128.STRONG.GPU", "LDG.E.128")
        self.assertTrue(faults(stream_windows.check_grouped, grouped("0", 2), cached))
        self.assertTrue(faults(stream_windows.check_grouped, grouped("0", 1), GROUPED))
        self.assertTrue(faults(stream_windows.check_grouped, grouped("3", 2), GROUPED))


if __name__ == "__main__":
    unittest.main()
