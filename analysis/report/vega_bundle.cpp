#include "analysis/report/vega_bundle.hpp"

// SONDE_VEGA_BUNDLE: path of the script that bundle_vega.cmake made. The assembler copies it; a
// literal of 450 KB would cost seconds to compile.
__asm__(
    ".pushsection .rodata\n"
    ".global sonde_vega_begin\n"
    ".global sonde_vega_end\n"
    "sonde_vega_begin:\n"
    ".incbin \"" SONDE_VEGA_BUNDLE
    "\"\n"
    "sonde_vega_end:\n"
    ".byte 0\n"
    ".popsection\n");

extern "C" const char sonde_vega_begin[];
extern "C" const char sonde_vega_end[];

namespace sonde {

std::string_view vega_bundle() {
  return {sonde_vega_begin, static_cast<std::size_t>(sonde_vega_end - sonde_vega_begin)};
}

}  // namespace sonde
