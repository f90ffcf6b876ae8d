"""The check of arithmetic must see every way in which a loop was found, or could be, wrong."""

import unittest

import arithmetic_windows

TABLE = arithmetic_windows.read_table("""
inline constexpr std::string_view division =
    "MUFU.RCP, 2 FFMA, ...";
    {"float_fma", "FFMA", "FFMA"},
    {"float_sin", "FMUL.RZ, MUFU.SIN", "FMUL.RZ, MUFU.SIN"},
    {"half2_add", "HADD2", "HADD2 / HFMA2.MMA"},
    {"float_divide", division, division},
    {"dpx_max3", "", "VIMNMX3"},
""")

HEAD = "\n        Function : {name}\n"
BEGIN = """
        /*0010*/                   CS2R R4, SR_CLOCKLO ;
        /*0020*/                   STS.64 [R9], R4 ;
"""
END = """
        /*0200*/                   IADD3 R6, R6, 0x1, RZ ;
        /*0210*/                   ISETP.GE.U32.AND P0, PT, R6, R7, PT ;
        /*0220*/              @!P0 BRA 0x100 ;
        /*0230*/                   STS [R8], R0 ;
        /*0240*/                   CS2R R4, SR_CLOCKLO ;
        /*0250*/                   EXIT ;
"""
FMA = """
        /*0100*/                   FFMA R0, R0, R2, R3 ;
        /*0110*/                   FFMA R0, R0, R3, R2 ;
        /*0120*/                   FFMA R0, R0, R2, R3 ;
        /*0130*/                   FFMA R0, R0, R3, R2 ;
"""


def faults_of(body, op="float_fma", ilp=1, steps=4, target=90, begin=BEGIN, end=END):
    name = f"_ZN17arithmetic_kernelINS0_5ChainINS0_3ops{len(op)}{op}EEELi{ilp}ELi{steps}EEEvNS0_6LaunchE"
    code = arithmetic_windows.sass_windows.parse(HEAD.format(name=name) + begin + body + end)[name]
    return arithmetic_windows.check_kernel(name, code, target, TABLE)


class ArithmeticWindowsTest(unittest.TestCase):
    def test_table_is_read(self):
        self.assertEqual(TABLE["float_sin"][80].items, [({"FMUL.RZ"}, 1), ({"MUFU.SIN"}, 1)])
        self.assertEqual(TABLE["half2_add"][90].items, [({"HADD2", "HFMA2.MMA"}, 1)])
        self.assertEqual(TABLE["float_divide"][90].items, [({"MUFU.RCP"}, 1), ({"FFMA"}, 2)])
        self.assertTrue(TABLE["float_divide"][90].open_ended)
        self.assertIsNone(TABLE["dpx_max3"][80])

    def test_right_loop_passes(self):
        self.assertEqual(faults_of(FMA), [])

    def test_folded_steps_fail(self):
        self.assertTrue(faults_of(FMA, steps=8))
        self.assertTrue(faults_of(FMA, ilp=4, steps=4))

    def test_other_instruction_fails(self):
        self.assertTrue(faults_of(FMA.replace("FFMA", "FMUL")))

    def test_steps_that_do_not_wait_fail(self):
        self.assertTrue(faults_of(FMA.replace("FFMA R0, R0, R3, R2", "FFMA R1, R1, R3, R2")))

    def test_memory_access_fails(self):
        self.assertTrue(faults_of(FMA + "        /*0140*/  LDS R9, [R8] ;\n"))

    def test_many_other_instructions_fail(self):
        moves = "".join(f"        /*{0x140 + 4 * i:04x}*/  IMAD.MOV.U32 R9, RZ, RZ, R8 ;\n" for i in range(24))
        self.assertTrue(faults_of(FMA + moves))

    def test_waits_of_long_instructions_pass(self):
        waits = "".join(f"        /*{0x140 + 4 * i:04x}*/  NOP ;\n" for i in range(24))
        self.assertEqual(faults_of(FMA + waits), [])

    def test_clock_that_does_not_wait_fails(self):
        self.assertTrue(faults_of(FMA, end=END.replace("STS [R8], R0 ;", "NOP ;")))

    def test_loop_outside_of_the_clocks_fails(self):
        self.assertTrue(faults_of(FMA, end=END.replace("@!P0 BRA 0x100", "NOP")))
        self.assertTrue(faults_of(FMA, begin=BEGIN.replace("CS2R R4, SR_CLOCKLO", "NOP")))

    def test_sequences_need_all_of_their_instructions(self):
        sine = """
        /*0100*/                   FMUL.RZ R1, R0, 0.15915493667125701904 ;
        /*0110*/                   MUFU.SIN R0, R1 ;
"""
        self.assertEqual(faults_of(sine, op="float_sin", steps=1), [])
        self.assertTrue(faults_of(sine.replace("MUFU.SIN", "MUFU.COS"), op="float_sin", steps=1))

    def test_either_of_two_instructions_counts(self):
        both = FMA.replace("FFMA R0, R0, R2, R3", "HADD2 R0, R0, R2").replace(
            "FFMA R0, R0, R3, R2", "HFMA2.MMA R0, R0, 1, 1, R3")
        self.assertEqual(faults_of(both, op="half2_add"), [])
        self.assertTrue(faults_of(both, op="half2_add", target=80))

    def test_open_sequences_need_at_least_what_they_say(self):
        division = """
        /*0100*/                   MUFU.RCP R1, R0 ;
        /*0110*/                   FFMA R2, R1, R0, -R3 ;
        /*0120*/                   FFMA R0, R2, R1, R1 ;
        /*0130*/                   FSETP.GT.AND P1, PT, R0, R3, PT ;
"""
        self.assertEqual(faults_of(division, op="float_divide", steps=1), [])
        self.assertTrue(faults_of(division, op="float_divide", steps=2))

    def test_kernels_of_other_targets_are_empty(self):
        self.assertTrue(faults_of(FMA, op="dpx_max3", target=80))
        self.assertEqual(faults_of("", op="dpx_max3", target=80, begin="", end="        /*0010*/ EXIT ;\n"), [])

    def test_operations_without_a_row_and_rows_without_a_kernel_fail(self):
        self.assertTrue(faults_of(FMA, op="float_tan"))
        kernels, faults = arithmetic_windows.check_listing("arch = sm_90\n" + HEAD.format(
            name="_ZN17arithmetic_kernelINS0_5ChainINS0_3ops9float_fmaEEELi1ELi4EEEvNS0_6LaunchE"
        ) + BEGIN + FMA + END, TABLE)
        self.assertEqual(kernels, 1)
        self.assertEqual([f for f in faults if "no kernel of" not in f], [])
        self.assertIn("sm_90: no kernel of float_sin", faults)


if __name__ == "__main__":
    unittest.main()
