# Text files built into a library.
#   sonde_embed(<target> <header> <function> <file>...)
# defines `std::span<const EmbeddedFile> sonde::<function>()`, which <header> declares, with the files
# in their order (base/embedded_file.hpp). The assembler copies them: string literals are limited in
# length, and half a megabyte of them costs seconds to compile.
function(sonde_embed target header function)
  string(MAKE_C_IDENTIFIER "sonde_embedded_${function}" symbol)
  set(number 0)
  foreach(file ${ARGN})
    get_filename_component(path "${file}" ABSOLUTE)
    get_filename_component(name "${file}" NAME)
    list(APPEND paths "${path}")
    set(part "${symbol}_${number}")
    string(APPEND copies "    \".global ${part}, ${part}_end\\n\"\n"
                         "    \"${part}: .incbin \\\"${path}\\\"\\n${part}_end: .byte 0\\n\"\n")
    string(APPEND declarations "extern \"C\" const char ${part}[], ${part}_end[];\n")
    string(APPEND rows "      EmbeddedFile{\"${name}\", {${part}, ${part}_end}},\n")
    math(EXPR number "${number} + 1")
  endforeach()
  set(source "${CMAKE_CURRENT_BINARY_DIR}/${symbol}.cpp")
  file(CONFIGURE OUTPUT "${source}" @ONLY CONTENT
"// Made by cmake/SondeEmbed.cmake.
#include \"${header}\"

__asm__(
    \".pushsection .rodata\\n\"
${copies}    \".popsection\\n\");

${declarations}
namespace sonde {

std::span<const EmbeddedFile> ${function}() {
  static const EmbeddedFile files[] = {
${rows}  };
  return files;
}

}  // namespace sonde
")
  set_source_files_properties("${source}" PROPERTIES OBJECT_DEPENDS "${paths}")
  target_sources(${target} PRIVATE "${source}")
endfunction()
