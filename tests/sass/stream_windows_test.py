"""The check of streams must see a hint that is lost, a window that does not wait, and a loop that loads by itself."""

import unittest

import stream_windows
from listings import CheckTest, faults_by, moved

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


class StreamWindowsTest(CheckTest):
    def test_every_access_carries_its_hint(self):
        self.expect(faults_by(stream_windows.check_hinted), [(HINTED, COPY_NO_ALLOCATE)], {
            "a lost hint": (HINTED.replace("LDG.E.NA.128 R8", "LDG.E.128 R8"), COPY_NO_ALLOCATE),
            "a hint at the wrong access": (HINTED.replace("STG.E.128", "STG.E.EF.128"), COPY_NO_ALLOCATE),
            "loads that wait for each other": (moved(HINTED, 0, 2, 1), COPY_NO_ALLOCATE)})

    def test_windows_of_tiles_hold_all_loads_and_one_store(self):
        other = TIMED.replace("LOP3.LUT R43", "STG.E desc[UR4][R30.64], R31 ;\n /*0044*/  LOP3.LUT R43")
        self.expect(faults_by(stream_windows.check_timed), [(TIMED, TIMED_NAME)], {
            "a store that waits for one load": (TIMED.replace("R8, R4, RZ", "R4, R3, RZ"), TIMED_NAME),
            "a load outside of the window": (moved(TIMED, 1, 0), TIMED_NAME),
            "another access": (other, TIMED_NAME)})

    def test_tiles_go_by_the_engine_alone(self):
        once = BULK.replace("/*0050*/                   UBLKCP.S.G", "/*0050*/                   UMOV")
        loads = BULK.replace("/*0040*/", "/*0038*/ LDG.E R4, desc[UR4][R2.64] ;\n        /*0040*/")
        self.expect(faults_by(stream_windows.check_bulk), [(BULK, BULK_COPY)], {
            "no stores": (BULK.replace("UBLKCP.G.S", "UBLKPF.L2"), BULK_COPY),
            "one tile": (once, BULK_COPY), "a load by a thread": (loads, BULK_COPY)})

    def test_additions_are_not_answered(self):
        answered = ADDING.replace("REDG.E.ADD.STRONG.GPU desc[UR8][R4", "ATOMG.E.ADD.STRONG.GPU PT, R3, desc[UR8][R4")
        name = "20adding_stream_kernelILi{}EE"
        self.expect(faults_by(stream_windows.check_adding), [(ADDING, name.format(2))], {
            "an answer": (answered, name.format(2)), "missing additions": (ADDING, name.format(4))})

    def test_chunks_are_accessed_in_rows_and_nothing_besides(self):
        stores = GROUPED.replace("LDG.E.128.STRONG.GPU", "STG.E.128")
        self.expect(faults_by(stream_windows.check_grouped), [(GROUPED, grouped("0", 2)), (stores, grouped("1", 2))], {
            "loads through the L1": (GROUPED.replace("LDG.E.128.STRONG.GPU", "LDG.E.128"), grouped("0", 2)),
            "an unrolled row": (GROUPED, grouped("0", 1)), "other work": (GROUPED, grouped("3", 2))})


if __name__ == "__main__":
    unittest.main()
