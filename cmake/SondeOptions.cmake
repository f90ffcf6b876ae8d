# The language, the warnings, and the one place that knows whether CUDA is there.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()

set(SONDE_HAS_CUDA OFF)
if(NOT SONDE_CUDA STREQUAL "OFF")
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    if(NOT CMAKE_CUDA_ARCHITECTURES)
      set(CMAKE_CUDA_ARCHITECTURES "80-real;90-real;90-virtual")
    endif()
    enable_language(CUDA)
    set(CMAKE_CUDA_STANDARD 17)  # CMake 3.25.1 knows no later one for nvcc; kernels need none
    set(CMAKE_CUDA_STANDARD_REQUIRED ON)
    if(NOT TARGET CUDA::nvToolsExt)  # CMake 3.25.1 stumbles over its absence, as in CUDA 13
      add_library(CUDA::nvToolsExt INTERFACE IMPORTED)
    endif()
    find_package(CUDAToolkit REQUIRED)
    set(SONDE_HAS_CUDA ON)
  elseif(SONDE_CUDA STREQUAL "ON")
    message(FATAL_ERROR "SONDE_CUDA=ON but nvcc was not found (the CUDA backend needs it). "
                        "Load a CUDA module or set CMAKE_CUDA_COMPILER.")
  endif()
endif()
message(STATUS "CUDA backend: ${SONDE_HAS_CUDA}")

add_library(sonde_warnings INTERFACE)
target_compile_options(sonde_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wconversion>
  # Sources that are compiled together (CMAKE_UNITY_BUILD) would shadow each other's names.
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<NOT:$<BOOL:${CMAKE_UNITY_BUILD}>>>:-Wshadow>
  # GCC 13 takes references to what a container holds for dangling, and fmt 9 for out of bounds; GCC
  # 12 takes a vector for an address within one.
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-dangling-reference -Wno-free-nonheap-object>
  $<$<AND:$<BOOL:${SONDE_WERROR}>,$<COMPILE_LANGUAGE:CXX>>:-Werror -Wno-error=array-bounds>
  $<$<AND:$<BOOL:${SONDE_WERROR}>,$<COMPILE_LANGUAGE:CUDA>>:-Werror=all-warnings>)

# sonde_library(<name> [FOLDERS ...] [SOURCES ...] [LINK <public libraries> ...])
# Every .cpp of the FOLDERS belongs to it ("." is the folder of the call), so that a new file needs
# no line here, and two branches do not conflict; SOURCES are named one by one.
function(sonde_library name)
  cmake_parse_arguments(arg "" "" "FOLDERS;SOURCES;LINK" ${ARGN})
  list(TRANSFORM arg_FOLDERS APPEND "/*.cpp" OUTPUT_VARIABLE patterns)
  set(sources "")
  if(patterns)
    file(GLOB sources CONFIGURE_DEPENDS ${patterns})
  endif()
  add_library(${name} STATIC ${sources} ${arg_SOURCES})
  add_library(sonde::${name} ALIAS ${name})
  target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR})
  target_link_libraries(${name} PUBLIC ${arg_LINK} PRIVATE sonde_warnings)
endfunction()
