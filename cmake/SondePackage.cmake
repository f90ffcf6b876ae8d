# What `cmake --install` puts where, and the target package_relocatable: a tarball with the program
# and its Open MPI and HDF5, for machines that have a driver and nothing else.
if(NOT TARGET sonde)
  return()
endif()

set_target_properties(sonde PROPERTIES
  RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin
  INSTALL_RPATH_USE_LINK_PATH ON)  # libraries of modules and of spack lie outside ld.so's paths

install(TARGETS sonde RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
find_program(HELP2MAN_EXECUTABLE help2man)
if(HELP2MAN_EXECUTABLE)
  add_custom_command(
    OUTPUT ${PROJECT_BINARY_DIR}/man/sonde.1
    COMMAND ${PROJECT_SOURCE_DIR}/packaging/man_pages.sh $<TARGET_FILE:sonde> ${PROJECT_BINARY_DIR}/man
    DEPENDS sonde ${PROJECT_SOURCE_DIR}/packaging/man_pages.sh
    VERBATIM)
  add_custom_target(man_pages ALL DEPENDS ${PROJECT_BINARY_DIR}/man/sonde.1)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 OPTIONAL)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/slurm DESTINATION ${CMAKE_INSTALL_DATADIR}/sonde
        USE_SOURCE_PERMISSIONS PATTERN onehost.sh EXCLUDE)
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md
              ${PROJECT_SOURCE_DIR}/NOTICES.md ${PROJECT_SOURCE_DIR}/CITATION.cff
        DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${PROJECT_SOURCE_DIR}/analysis/python/pyproject.toml
        DESTINATION ${CMAKE_INSTALL_DATADIR}/sonde/python)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/analysis/python/sonde
        DESTINATION ${CMAKE_INSTALL_DATADIR}/sonde/python PATTERN __pycache__ EXCLUDE)
install(FILES ${PROJECT_SOURCE_DIR}/examples/run_file.ipynb
        DESTINATION ${CMAKE_INSTALL_DATADIR}/sonde/examples)
install(FILES ${PROJECT_SOURCE_DIR}/packaging/modulefile DESTINATION ${CMAKE_INSTALL_DATADIR}/sonde)

add_custom_target(package_relocatable
  COMMAND ${CMAKE_COMMAND}
          -D BUILD_DIR=${PROJECT_BINARY_DIR}
          -D MPIEXEC=${MPIEXEC_EXECUTABLE}
          -D NAME=sonde-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR}
          -D OUTPUT_DIR=${PROJECT_SOURCE_DIR}/dist
          -P ${CMAKE_CURRENT_LIST_DIR}/package_relocatable.cmake
  DEPENDS sonde
  VERBATIM)
if(TARGET man_pages)
  add_dependencies(package_relocatable man_pages)
endif()
