# Script of the target package_relocatable: installs sonde, adds the Open MPI runtime, every shared
# library but glibc's, their licences and wrappers, and packs OUTPUT_DIR/NAME.tar.gz.
cmake_minimum_required(VERSION 3.25)
find_program(PATCHELF patchelf REQUIRED)
find_program(OMPI_INFO ompi_info REQUIRED)

set(stage ${BUILD_DIR}/package/${NAME})
set(libexec ${stage}/libexec/sonde)
file(REMOVE_RECURSE ${stage})

function(ask_open_mpi what result)
  execute_process(COMMAND ${OMPI_INFO} --parsable --path ${what}
                  OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCH "path:${what}:([^\n]*)" text "${text}")
  set(${result} "${CMAKE_MATCH_1}" PARENT_SCOPE)
endfunction()

# Copies what a path stands for, under the name by which the loader asks for it.
function(copy_as_named destination)
  file(MAKE_DIRECTORY ${destination})
  foreach(path ${ARGN})
    cmake_path(GET path FILENAME name)
    file(REAL_PATH ${path} real)
    file(COPY_FILE ${real} ${destination}/${name})
  endforeach()
endfunction()

# --- the programs
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${stage} --strip
                OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(REAL_PATH ${MPIEXEC} mpirun)
cmake_path(GET mpirun PARENT_PATH mpi_bin)
file(MAKE_DIRECTORY ${libexec})
file(RENAME ${stage}/bin/sonde ${libexec}/sonde)
file(COPY_FILE ${mpirun} ${libexec}/mpirun)
file(COPY_FILE ${mpi_bin}/orted ${libexec}/orted)
foreach(name sonde mpirun orted)
  file(COPY_FILE ${CMAKE_CURRENT_LIST_DIR}/relocatable_wrapper.sh ${stage}/bin/${name})
endforeach()

# --- Open MPI's plugins. The ranks talk little (a rendezvous, one file), so TCP and shared memory
# do, and the drivers of special networks, which pull in most of a distribution, stay out.
ask_open_mpi(pkglibdir plugin_dir)
ask_open_mpi(pkgdatadir data_dir)
ask_open_mpi(sysconfdir config_dir)
file(GLOB plugins ${plugin_dir}/mca_*.so)
list(FILTER plugins EXCLUDE REGEX
     "(ofi|openib|psm2?|ucx|usnic|uct|flux|jsm|gridengine|monitoring|pessimist|simulator)\\.so$|mca_(scoll|spml|sshmem|memheap|atomic)_")
copy_as_named(${stage}/lib/openmpi ${plugins})
file(COPY ${data_dir}/ DESTINATION ${stage}/share/openmpi FILES_MATCHING PATTERN help-*.txt)
file(COPY ${config_dir}/openmpi-mca-params.conf DESTINATION ${stage}/etc)

# --- the libraries, without glibc: that must be the host's, like its loader and its driver.
set(host_libraries "^ld-linux" "^lib(c|m|dl|rt|pthread|resolv|util|anl|nsl|mvec)\\.so" "^libcuda\\.so"
    "^libnvidia-")
function(find_libraries result)
  file(GET_RUNTIME_DEPENDENCIES RESOLVED_DEPENDENCIES_VAR found PRE_EXCLUDE_REGEXES ${host_libraries}
       ${ARGN})
  set(${result} ${found} PARENT_SCOPE)
endfunction()
find_libraries(libraries EXECUTABLES ${libexec}/sonde ${mpirun} ${mpi_bin}/orted
               LIBRARIES ${plugins})
set(pmix ${libraries})
list(FILTER pmix INCLUDE REGEX "libpmix\\.so")
if(pmix)
  file(REAL_PATH ${pmix} pmix)
  cmake_path(GET pmix PARENT_PATH pmix_dir)
  file(GLOB pmix_plugins ${pmix_dir}/pmix/pmix_mca_*.so)
  copy_as_named(${stage}/lib/pmix ${pmix_plugins})
  find_libraries(more LIBRARIES ${pmix_plugins})
  list(APPEND libraries ${more})
  file(GLOB pmix_help ${pmix_dir}/../share/pmix/*.txt)
  copy_as_named(${stage}/share/pmix ${pmix_help})
endif()
list(REMOVE_DUPLICATES libraries)
copy_as_named(${stage}/lib ${libraries})

# --- every library is looked for in lib/: DT_RPATH of a program also holds for what its libraries
# and plugins need, unless those bring paths of their own.
foreach(name sonde mpirun orted)
  execute_process(COMMAND ${PATCHELF} --force-rpath --set-rpath "\$ORIGIN/../../lib"
                          ${libexec}/${name} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
file(GLOB_RECURSE shared_objects ${stage}/lib/*.so*)
foreach(object ${shared_objects})
  execute_process(COMMAND ${PATCHELF} --print-rpath ${object} OUTPUT_VARIABLE rpath
                  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  if(rpath)
    execute_process(COMMAND ${PATCHELF} --remove-rpath ${object} COMMAND_ERROR_IS_FATAL ANY)
  endif()
endforeach()

# --- the notices (NOTICES.md): of libraries and plugins, and of the headers and scripts compiled in, by the
# package that each file came from. Where dpkg installed none of them, nothing is known.
find_program(DPKG_QUERY dpkg-query)
if(DPKG_QUERY AND EXISTS /usr/share/doc/nlohmann-json3-dev)
  set(files "")
  foreach(file ${libraries} ${plugins} ${pmix_plugins} ${mpirun} /usr/include/nlohmann/json.hpp
               /usr/include/CLI/CLI.hpp /usr/include/boost/version.hpp
               /usr/share/javascript/vega/vega-view.min.js)
    file(REAL_PATH ${file} real)
    string(REGEX REPLACE "^/usr/lib/" "/lib/" unmerged ${real})  # older packages say /lib
    list(APPEND files ${file} ${real} ${unmerged})
  endforeach()
  list(REMOVE_DUPLICATES files)
  # Complains of the names that no package has; most files have several.
  execute_process(COMMAND ${DPKG_QUERY} --search ${files} OUTPUT_VARIABLE owners ERROR_QUIET)
  string(REGEX MATCHALL "[^\n]+" owners "${owners}")
  list(TRANSFORM owners REPLACE "[:,].*" "")
  list(REMOVE_DUPLICATES owners)
  foreach(package ${owners})
    copy_as_named(${stage}/share/doc/licences/${package} /usr/share/doc/${package}/copyright)
  endforeach()
endif()

file(MAKE_DIRECTORY ${OUTPUT_DIR})
execute_process(COMMAND ${CMAKE_COMMAND} -E tar czf ${OUTPUT_DIR}/${NAME}.tar.gz ${NAME}
                WORKING_DIRECTORY ${BUILD_DIR}/package COMMAND_ERROR_IS_FATAL ANY)
file(SIZE ${OUTPUT_DIR}/${NAME}.tar.gz size_bytes)
math(EXPR size_mib "${size_bytes} / 1048576")
message(STATUS "packed ${OUTPUT_DIR}/${NAME}.tar.gz (${size_mib} MiB)")
