"""The check of arithmetic must see every way in which a loop was found, or could be, wrong."""

import unittest

import arithmetic_windows
from listings import CheckTest, line

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


SINE = """
        /*0100*/                   FMUL.RZ R1, R0, 0.15915493667125701904 ;
        /*0110*/                   MUFU.SIN R0, R1 ;
"""
DIVISION = """
        /*0100*/                   MUFU.RCP R1, R0 ;
        /*0110*/                   FFMA R2, R1, R0, -R3 ;
        /*0120*/                   FFMA R0, R2, R1, R1 ;
        /*0130*/                   FSETP.GT.AND P1, PT, R0, R3, PT ;
"""


def faults_of(body, op="float_fma", ilp=1, steps=4, target=90, begin=BEGIN, end=END):
    name = f"_ZN17arithmetic_kernelINS0_5ChainINS0_3ops{len(op)}{op}EEELi{ilp}ELi{steps}EEEvNS0_6LaunchE"
    code = arithmetic_windows.sass_windows.parse(HEAD.format(name=name) + begin + body + end)[name]
    return arithmetic_windows.check_kernel(name, code, target, TABLE)


class ArithmeticWindowsTest(CheckTest):
    def test_table_is_read(self):
        self.assertEqual(TABLE["float_sin"][80].items, [({"FMUL.RZ"}, 1), ({"MUFU.SIN"}, 1)])
        self.assertEqual(TABLE["half2_add"][90].items, [({"HADD2", "HFMA2.MMA"}, 1)])
        self.assertEqual(TABLE["float_divide"][90].items, [({"MUFU.RCP"}, 1), ({"FFMA"}, 2)])
        self.assertTrue(TABLE["float_divide"][90].open_ended)
        self.assertIsNone(TABLE["dpx_max3"][80])

    def test_loops_hold_the_steps_and_hardly_anything_else(self):
        def others(instruction):
            return (FMA + "".join(line(0x140 + 4 * i, instruction) for i in range(24)),)
        op, both = "float_fma", FMA.replace("FFMA R0, R0, R2, R3", "HADD2 R0, R0, R2").replace(
            "FFMA R0, R0, R3, R2", "HFMA2.MMA R0, R0, 1, 1, R3")
        self.expect(faults_of, [
            (FMA,), others("NOP"), (SINE, "float_sin", 1, 1), (both, "half2_add"), (DIVISION, "float_divide", 1, 1),
            ("", "dpx_max3", 1, 4, 80, "", "        /*0010*/ EXIT ;\n")
        ], {
            "folded steps": (FMA, op, 1, 8), "folded chains": (FMA, op, 4),
            "another instruction": (FMA.replace("FFMA", "FMUL"),),
            "steps that do not wait": (FMA.replace("FFMA R0, R0, R3, R2", "FFMA R1, R1, R3, R2"),),
            "a memory access": (FMA + "        /*0140*/  LDS R9, [R8] ;\n",),
            "many others": others("IMAD.MOV.U32 R9, RZ, RZ, R8"),
            "a clock that does not wait": (FMA, op, 1, 4, 90, BEGIN, END.replace("STS [R8], R0 ;", "NOP ;")),
            "no loop": (FMA, op, 1, 4, 90, BEGIN, END.replace("@!P0 BRA 0x100", "NOP")),
            "a clock read left out": (FMA, op, 1, 4, 90, BEGIN.replace("CS2R R4, SR_CLOCKLO", "NOP")),
            "half of a sequence": (SINE.replace("MUFU.SIN", "MUFU.COS"), "float_sin", 1, 1),
            "an instruction of another target": (both, "half2_add", 1, 4, 80),
            "an open sequence for two steps": (DIVISION, "float_divide", 1, 2),
            "a kernel where there should be none": (FMA, "dpx_max3", 1, 4, 80),
            "an operation without a row": (FMA, "float_tan")})

    def test_rows_without_a_kernel_fail(self):
        kernels, faults = arithmetic_windows.check_listing("arch = sm_90\n" + HEAD.format(
            name="_ZN17arithmetic_kernelINS0_5ChainINS0_3ops9float_fmaEEELi1ELi4EEEvNS0_6LaunchE"
        ) + BEGIN + FMA + END, TABLE)
        self.assertEqual(kernels, 1)
        self.assertEqual([f for f in faults if "no kernel of" not in f], [])
        self.assertIn("sm_90: no kernel of float_sin", faults)


if __name__ == "__main__":
    unittest.main()
