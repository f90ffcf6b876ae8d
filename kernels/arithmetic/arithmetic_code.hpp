// Machine code of a step of each operation, by target: shown in findings, and compared by
// tests/sass with the loops of the kernels.
#pragma once

#include <string_view>

namespace sonde::kernels {

/// Instructions of a step, with their number if it is not one. "A / B": one of both. "...": also
/// others, such as paths for numbers out of range, which the chains never take. Empty: no kernel.
struct MachineCode {
  std::string_view op;
  std::string_view sm_80;
  std::string_view sm_90;
};

inline constexpr std::string_view integer_division =
    "I2F.U32.RP, MUFU.RCP, F2I.FTZ.U32.TRUNC.NTZ, 2 IMAD.HI.U32, 2 IMAD, ...";
inline constexpr std::string_view long_product = "IMAD.WIDE.U32, IMAD, IMAD.IADD, ...";
inline constexpr std::string_view single_division = "MUFU.RCP, 5 FFMA, FCHK, ...";
inline constexpr std::string_view single_root = "MUFU.RSQ, 2 FMUL.FTZ, 2 FFMA, ...";
inline constexpr std::string_view double_division = "MUFU.RCP64H, DMUL, 7 DFMA, ...";

inline constexpr MachineCode machine_codes[] = {
    {"int_add", "IADD3", "IADD3"},
    {"int_mul", "IMAD", "IMAD"},
    {"int_mad", "IMAD", "IMAD"},
    {"int_mul_high", "IMAD.HI.U32", "IMAD.HI.U32"},
    {"int_mul24", "PRMT, IMAD", "PRMT, IMAD"},
    {"int_min", "IMNMX", "VIMNMX"},
    {"int_logic", "LOP3.LUT", "LOP3.LUT"},
    {"int_shift", "SHF.L.W.U32.HI", "SHF.L.W.U32.HI"},
    {"int_compare", "ISETP.GE.AND, SEL", "ISETP.GE.AND, SEL"},
    {"int_popcount", "POPC", "POPC"},
    {"int_find_first", "FLO.U32", "FLO.U32"},
    {"int_reverse", "BREV", "BREV"},
    {"int_bit_field", "2 PRMT, SHF.R.U32.HI, SGXT.U32", "2 PRMT, SHF.R.U32.HI, SGXT.U32"},
    {"int_permute", "PRMT", "PRMT"},
    {"int_dot4", "IDP.4A.U8.U8", "IDP.4A.U8.U8"},
    {"int64_add", "IADD3, IMAD.X", "IADD3, IMAD.X"},
    {"int64_mul", long_product, long_product},
    {"int_divide", integer_division, integer_division},
    {"float_add", "FADD", "FADD"},
    {"float_mul", "FMUL", "FMUL"},
    {"float_fma", "FFMA", "FFMA"},
    {"float_min", "FMNMX", "FMNMX"},
    {"float_reciprocal", "MUFU.RCP", "MUFU.RCP"},
    {"float_rsqrt", "MUFU.RSQ", "MUFU.RSQ"},
    {"float_sqrt_fast", "MUFU.SQRT", "MUFU.SQRT"},
    {"float_sin", "FMUL.RZ, MUFU.SIN", "FMUL.RZ, MUFU.SIN"},
    {"float_cos", "FMUL.RZ, MUFU.COS", "FMUL.RZ, MUFU.COS"},
    {"float_exp2", "MUFU.EX2", "MUFU.EX2"},
    {"float_log2", "MUFU.LG2", "MUFU.LG2"},
    {"float_tanh", "MUFU.TANH", "MUFU.TANH"},
    {"float_divide_fast", "MUFU.RCP, FMUL.FTZ", "MUFU.RCP, FMUL.FTZ"},
    {"float_divide", single_division, single_division},
    {"float_sqrt", single_root, single_root},
    {"double_add", "DADD", "DADD"},
    {"double_mul", "DMUL", "DMUL"},
    {"double_fma", "DFMA", "DFMA"},
    {"double_fma_three", "DFMA", "DFMA"},
    {"double_divide", double_division, double_division},
    {"half2_add", "HADD2 / HFMA2.MMA", "HADD2 / HFMA2.MMA"},
    {"half2_mul", "HMUL2 / HFMA2.MMA", "HMUL2 / HFMA2.MMA"},
    {"half2_fma", "HFMA2 / HFMA2.MMA", "HFMA2 / HFMA2.MMA"},
    {"bfloat2_add", "", "HADD2.BF16_V2 / HFMA2.MMA.BF16_V2"},
    {"bfloat2_mul", "", "HMUL2.BF16_V2 / HFMA2.MMA.BF16_V2"},
    {"bfloat2_fma", "HFMA2.BF16_V2", "HFMA2.BF16_V2 / HFMA2.MMA.BF16_V2"},
    {"convert_int_float", "I2F, F2I.TRUNC.NTZ", "I2FP.F32.S32, F2I.TRUNC.NTZ"},
    {"convert_float_half", "F2FP.PACK_AB, HADD2.F32", "F2FP.F16.F32.PACK_AB, HADD2.F32"},
    {"convert_float_double", "F2F.F64.F32, F2F.F32.F64", "F2F.F64.F32, F2F.F32.F64"},
    {"warp_shuffle", "SHFL.BFLY", "SHFL.BFLY"},
    {"warp_ballot", "ISETP.NE.U32.AND, VOTE.ANY", "ISETP.NE.U32.AND, VOTE.ANY"},
    {"warp_sum", "REDUX.SUM.S32, MOV / IMAD.U32", "REDUX.SUM.S32, MOV / IMAD.U32"},
    {"warp_match", "MATCH.ANY", "MATCH.ANY"},
    {"mma_f16", "HMMA.16816.F32", "HMMA.16816.F32"},
    {"mma_f16_half", "HMMA.16816.F16", "HMMA.16816.F16"},
    {"mma_bf16", "HMMA.16816.F32.BF16", "HMMA.16816.F32.BF16"},
    {"mma_tf32", "HMMA.1688.F32.TF32", "HMMA.1688.F32.TF32"},
    {"mma_s8", "IMMA.16832.S8.S8", "IMMA.16832.S8.S8"},
    {"mma_f64", "DMMA.884", "DMMA.8x8x4"},
    {"mma_f64_wide", "", "DMMA.16x8x4"},
    {"wgmma_f16", "", "HGMMA.64x128x16.F32"},
    {"wgmma_bf16", "", "HGMMA.64x128x16.F32.BF16"},
    {"wgmma_tf32", "", "HGMMA.64x128x8.F32.TF32"},
    {"wgmma_fp8", "", "QGMMA.64x128x32.F32.E4M3.E4M3"},
    {"wgmma_s8", "", "IGMMA.64x128x32.S8.S8"},
    {"dpx_max3", "", "VIMNMX3"},
    {"dpx_add_max", "", "VIADDMNMX"},
    {"dpx_add_max_16x2", "", "VIADDMNMX.S16x2"},
};

}  // namespace sonde::kernels
