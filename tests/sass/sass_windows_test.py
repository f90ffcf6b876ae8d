"""The machine code check must see every way in which a window was found, or could be, wrong."""

import re
import unittest

import check_kernels
import sass_windows
from listings import CheckTest, code_of, faults_by, moved

WINDOW = """
        /*0100*/                   CS2R R4, SR_CLOCKLO ;      /* 0x0000000000047805 */
        /*0110*/                   LDG.E.64 R2, desc[UR6][R2.64] ;
        /*0120*/                   STS [R8], R2 ;
        /*0130*/                   CS2R R6, SR_CLOCKLO ;
        /*0140*/                   IADD3 R4, P0, -R4, R6, RZ ;
        /*0150*/                   STS.U16 [R9], R4 ;
        /*0160*/               @P0 BRA 0x100 ;
        /*0170*/                   CCTL.IVALL ;
"""


def faults_of(listing, load=r"LDG\.E\.64", count=1, chained=True):
    return sass_windows.check_timed(code_of(listing), load, count, chained)


class SassWindowsTest(CheckTest):
    def test_windows_hold_the_load_and_the_store_that_waits_for_it(self):
        def window(old, new):
            return (WINDOW.replace(old, new),)
        broken = WINDOW.replace("[R2.64]", "[R12.64]")
        self.expect(faults_of, [(WINDOW,), (broken, r"LDG\.E\.64", 1, False)], {
            "a load before the clock": (moved(WINDOW, 1, 0),),
            "a clock read before the store": (moved(WINDOW, 0, 1, 3, 2),),
            "a second memory access": window("STS [R8], R2 ;", "STS [R8], R2 ;\n /*0128*/ LDS R9, [R8] ;"),
            "arithmetic": window("LDG.E", "IMAD.MOV.U32 R3, RZ, RZ, R1 ;\n /*0118*/ LDG.E"),
            "a slow clock read": window("CS2R R4, SR_CLOCKLO", "S2UR UR4, SR_CLOCKLO"),
            "clock reads of different width": window("CS2R R6, SR_CLOCKLO", "CS2R.32 R6, SR_CLOCKLO"),
            "a clock read into a uniform register": window("CS2R R6, SR_CLOCKLO", "CS2UR UR6, SR_CLOCKLO"),
            "another path": window("LDG.E.64", "LDG.E.64.STRONG.GPU"),
            "a path that is not meant": (WINDOW, r"LDG\.E\.64\.CONSTANT"),
            "a store of another register": window("[R8], R2", "[R8], R7"),
            "a broken chain": (broken,),
            "a jump into the window": window("BRA 0x100", "BRA 0x120")})

    def test_loads_of_every_kind_are_told_from_their_address(self):
        for load, kind in (("ATOMG.E.ADD.64.STRONG.GPU PT, R2, desc[UR6][R2.64], RZ", "AtomicSource"),
                           ("LDC R2, c[0x3][R2]", "ConstantSource"),
                           ("TLD.LZ RZ, R2, R2, UR4, 0x0, 1D, 0x1", "LinearTexture"),
                           ("TLD.SCR.B.LZ RZ, R2, R2, R12, 2D, 0x3", "TiledTexture")):
            window = WINDOW.replace("LDG.E.64 R2, desc[UR6][R2.64]", load)
            pattern = sass_windows.OTHER_LOADS[kind]

            self.assertEqual(faults_of(window, load=pattern), [])
            self.assertTrue(faults_of(window.replace("R2, c[0x3][R2]", "R2, c[0x3][R7]")
                                      .replace("R2, R2", "R2, R7").replace("[R2.64]", "[R7.64]"), load=pattern))

    def test_constants_in_the_loop_of_a_constant_chase_fail(self):
        window = WINDOW.replace("LDG.E.64 R2, desc[UR6][R2.64]", "LDC R2, c[0x3][R2]")
        three = "".join(re.sub(r"/\*0", f"/*{n}", window).replace("0x1", f"0x{n}1") for n in (1, 2, 3))
        code = code_of(three)
        spoilt = code_of(three.replace("R4, P0, -R4, R6, RZ", "R4, P0, -R4, R6, c[0x0][0x210]"))

        self.assertEqual(sass_windows.constant_faults(code), [])
        self.assertEqual(len(sass_windows.constant_faults(spoilt)), 3)
        self.assertTrue(sass_windows.constant_faults(code[:-20]))

    def test_load_held_back_by_what_came_before_the_window_fails(self):
        free = "000fe20000000000"
        sets_5, waits_5, waits_5_sets_5 = "000f620000000000", "020fe20000000000", "020f640000000000"

        def faults(before, load, store=waits_5, clock=free):
            words = [free, before, clock, load, store, free, free]
            lines = ["@P1 TLD.LZ RZ, R0, R0, UR4, 0x0, 1D, 0x1", "IADD3 R0, R0, R7, RZ", "CS2R R4, SR_CLOCKLO",
                     "TLD.LZ RZ, R0, R0, UR4, 0x0, 1D, 0x1", "STS [R8], R0", "CS2R R6, SR_CLOCKLO", "@P0 BRA 0x0"]
            words[0] = sets_5
            listing = "".join(f"/*{n * 16:04x}*/ {line} ; /* 0x0000000000000000 */\n /* 0x{word} */\n"
                              for n, (line, word) in enumerate(zip(lines, words)))
            return sass_windows.wait_faults(code_of(listing))

        self.assertEqual(faults(before=waits_5, load=sets_5), [])
        self.assertEqual(faults(before=free, clock=waits_5, load=sets_5), [])
        self.assertIn("TLD.LZ waits for TLD.LZ", faults(before=free, load=waits_5_sets_5)[0])
        self.assertIn("STS waits for TLD.LZ", faults(before=free, load=sets_5)[0])
        self.assertIn("on its way", faults(before=free, load=free, store=free)[0])
        self.assertTrue(sass_windows.wait_faults(code_of(WINDOW)))

    def test_code_chase_is_seen_through(self):
        call = """
        /*0000*/                   CS2R R78, SR_CLOCKLO ;
        /*0010*/                   BSSY B6, 0x60 ;
        /*0020*/                   MOV R20, 0x50 ;
        /*0030*/                   HFMA2.MMA R21, -RZ, RZ, 0, 0 ;
        /*0040*/                   CALL.REL.NOINC R6 0x0 ;
        /*0050*/                   BSYNC B6 ;
        /*0060*/                   CS2R R6, SR_CLOCKLO ;
        /*0070*/               @P0 BRA 0x0 ;
"""
        calls = "".join(call.replace("/*00", f"/*0{n}") for n in range(3)) + "/*0378*/ EXIT ;\n"

        def faults(start, step=128, before=calls):
            blocks = "".join(f"/*{start + n * step + i * 16:04x}*/ " +
                             ("FADD R4, R4, 1 ;\n" if i < 7 else "RET.REL.NODEC R20 0x0 ;\n")
                             for n in range(5) for i in range(8))
            return sass_windows.check_code_chase(
                code_of(before + blocks), blocks=5)

        self.assertEqual(faults(0x400), [])
        self.assertIn("add 6", faults(0x420)[0])
        self.assertTrue(faults(0x400, step=144))
        self.assertTrue(faults(0x400, before=calls.replace("MOV R20", "LDC R20")))
        self.assertTrue(faults(0x400, before=call))

    def test_fence_between_stores_and_windows_fails(self):
        store = "/*0080*/ STG.E.64 desc[UR6][R10.64], R12 ;\n"
        fence = "/*0090*/ MEMBAR.SC.GPU ;\n"
        flush = "/*0098*/ CCTL.IVALL ;\n"

        self.expect(lambda listing: sass_windows.fence_faults(code_of(listing)), [(store + WINDOW,)], {
            "a fence": (store + fence + WINDOW,), "an empty L1": (store + flush + WINDOW,),
            "no fence at all": (store + WINDOW.replace("CCTL.IVALL", "NOP"),)})

    def test_kernels_that_are_missing_or_empty_for_every_target_or_spill_fail(self):
        def faults(listing):
            return " ".join(sass_windows.check_functions(sass_windows.parse(listing), check_kernels.CHECKS))
        for pattern, _, expected in check_kernels.CHECKS:
            self.assertIn(f"0 kernels match {pattern.pattern}, should be {expected}", faults("Function : other"))
        self.assertIn("dsm_chase_kernel is empty for every target", faults("Function : dsm_chase_kernel\n/*0010*/ EXIT ;"))
        self.assertIn("local memory", faults("Function : f\n/*0010*/ LDL R1, [R2] ;"))

    def test_short_or_independent_loops_fail(self):
        chain = "\n".join(f"/*{i * 16:04x}*/ LDG.E.64 R2, desc[UR6][R2.64] ;" for i in range(40))
        code = code_of(chain)

        self.assertEqual(sass_windows.longest_chain(code, r"LDG\.E\.64"), 40)
        self.assertEqual(sass_windows.check_amortised(code, r"LDG\.E\.64"), [])
        self.assertTrue(sass_windows.check_amortised(code[:20], r"LDG\.E\.64"))
        self.assertEqual(sass_windows.longest_chain(
            [i._replace(operands="R4, desc[UR6][R2.64]") for i in code], r"LDG\.E\.64"), 1)

    def test_clock_behind_a_plain_barrier_fails(self):
        plain = "/*0010*/ BAR.SYNC.DEFER_BLOCKING 0x0 ;\n/*0020*/ CS2R R2, SR_CLOCKLO ;"
        asked = ("/*0010*/ BAR.RED.OR.DEFER_BLOCKING 0x0, PT ;\n/*0020*/ B2R.RESULT RZ, P0 ;\n"
                 "/*0030*/ @!P0 EXIT ;\n/*0040*/ CS2R R2, SR_CLOCKLO ;")

        self.expect(lambda listing: sass_windows.barrier_faults(code_of(listing)), [(asked,)], {"plain": (plain,)})

    def test_co_runners_without_a_loop_of_reductions_fail(self):
        loop = ("/*0010*/ REDG.E.ADD.STRONG.GPU desc[UR8][R4.64], RZ ;\n/*0020*/ ISETP.NE.AND P0, PT, R0, 0x40, PT ;\n"
                "/*0030*/ @P0 BRA 0x10 ;")
        self.expect(faults_by(sass_windows.check_co_runner), [(loop,)], {
            "something to add": (loop.replace("RZ", "R5"),), "an answer": (loop.replace("REDG.E", "ATOMG.E"),),
            "no loop": (loop.replace("BRA 0x10", "BRA 0x40"),)})

    def test_loads_between_blocks_of_a_cluster_are_generic_and_alone(self):
        window = WINDOW.replace("LDG.E.64 R2", "LD.E.64 R2").replace("/*0170*/                   CCTL.IVALL ;", "")
        wide = "".join(f"/*0{i}00*/ LD.E.128 R{4 * i}, desc[UR6][R2.64] ;\n" for i in range(1, 5))
        wide += "/*0500*/ @!P0 BRA 0x100 ;\n"

        self.expect(lambda listing: faults_of(listing, r"LD\.E\.64"), [(window,)], {
            "a special register": (window.replace("LD.E.64", "S2R R11, SR_SWINHI ;\n/*0118*/ LD.E.64"),),
            "a load of the own block": (window.replace("LD.E.64", "LDS.64"),)})
        self.expect(faults_by(sass_windows.check_dsm_stream), [(wide,), ("/*0010*/ EXIT ;",)], {
            "a store between": (wide.replace("LD.E.128 R8", "STS [R5], R8 ;\n/*0208*/ LD.E.128 R8"),),
            "loads before the loop": (wide.replace("BRA 0x100", "BRA 0x480"),)})


if __name__ == "__main__":
    unittest.main()
