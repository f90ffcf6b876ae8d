# sonde_test(<name> SOURCES ... or FOLDERS ... LINK ... [LABELS ...] [NP 1 2 4] [TIMEOUT s])
# One executable; with NP it has its own main and runs once under mpiexec for each count.
include(GoogleTest)

function(sonde_test name)
  cmake_parse_arguments(arg "" "TIMEOUT" "FOLDERS;SOURCES;LINK;LABELS;NP" ${ARGN})
  list(TRANSFORM arg_FOLDERS APPEND "/*.cpp")
  if(arg_FOLDERS)
    file(GLOB arg_SOURCES CONFIGURE_DEPENDS ${arg_FOLDERS})
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}
                                             ${CMAKE_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE ${arg_LINK} sonde_warnings GTest::gmock)
  if(arg_NP)
    foreach(np ${arg_NP})
      add_test(NAME ${name}.np${np}
               COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${np} ${MPIEXEC_PREFLAGS}
                       $<TARGET_FILE:${name}>)
      set_tests_properties(${name}.np${np} PROPERTIES
        PROCESSORS ${np} TIMEOUT ${arg_TIMEOUT} LABELS "mpi;${arg_LABELS}"
        # Leaks: tests/sanitize/lsan.supp.
        ENVIRONMENT "OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1;OMPI_MCA_mpi_yield_when_idle=1;OMPI_MCA_rmaps_base_oversubscribe=1;OMPI_MCA_sharedfp=^lockedfile;ASAN_OPTIONS=detect_leaks=0")
    endforeach()
  else()
    target_link_libraries(${name} PRIVATE GTest::gtest_main)
    gtest_discover_tests(${name} TEST_PREFIX "${name}." DISCOVERY_MODE PRE_TEST
                         PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT})
  endif()
endfunction()
