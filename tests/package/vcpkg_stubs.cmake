# cmake -DPORT_DIR=... -DARCHIVES=... -DWORK=... -P vcpkg_stubs.cmake: runs a portfile with what vcpkg's functions do, for one release
# build: an archive from a folder instead of from its address, checked by its SHA-512; configure, build, install; the CMake package
# moved to share/bantam. What is installed lies in WORK/packages.
set(PORT bantam)
set(CURRENT_PORT_DIR ${PORT_DIR})
set(CURRENT_PACKAGES_DIR ${WORK}/packages)
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${CURRENT_PACKAGES_DIR})

function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
endfunction()

function(vcpkg_download_distfile out)
  cmake_parse_arguments(arg "" "FILENAME;SHA512" "URLS" ${ARGN})
  file(SHA512 ${ARCHIVES}/${arg_FILENAME} sum)
  if(NOT sum STREQUAL arg_SHA512)
    message(FATAL_ERROR "${arg_FILENAME}: SHA-512 is ${sum}, the portfile says ${arg_SHA512}")
  endif()
  if(NOT arg_URLS MATCHES "/${arg_FILENAME}$")
    message(FATAL_ERROR "${arg_URLS} is not of ${arg_FILENAME}")
  endif()
  set(${out} ${ARCHIVES}/${arg_FILENAME} PARENT_SCOPE)
endfunction()

function(vcpkg_extract_source_archive out)
  cmake_parse_arguments(arg "" "ARCHIVE" "" ${ARGN})
  file(ARCHIVE_EXTRACT INPUT ${arg_ARCHIVE} DESTINATION ${WORK}/src)
  file(GLOB top ${WORK}/src/*)
  set(${out} ${top} PARENT_SCOPE)
endfunction()

function(vcpkg_cmake_configure)
  cmake_parse_arguments(arg "" "SOURCE_PATH" "OPTIONS" ${ARGN})
  run(${CMAKE_COMMAND} -G Ninja -S ${arg_SOURCE_PATH} -B ${WORK}/build -DCMAKE_BUILD_TYPE=Release
    -DCMAKE_INSTALL_PREFIX=${CURRENT_PACKAGES_DIR} -DCMAKE_UNITY_BUILD=ON ${arg_OPTIONS})
endfunction()

function(vcpkg_cmake_install)
  run(${CMAKE_COMMAND} --build ${WORK}/build --target install)
endfunction()

function(vcpkg_cmake_config_fixup)
  cmake_parse_arguments(arg "" "PACKAGE_NAME;CONFIG_PATH" "" ${ARGN})
  file(MAKE_DIRECTORY ${CURRENT_PACKAGES_DIR}/share)
  file(RENAME ${CURRENT_PACKAGES_DIR}/${arg_CONFIG_PATH} ${CURRENT_PACKAGES_DIR}/share/${arg_PACKAGE_NAME}-config)
endfunction()

function(vcpkg_fixup_pkgconfig)
endfunction()

function(vcpkg_install_copyright)
  cmake_parse_arguments(arg "" "" "FILE_LIST" ${ARGN})
  file(INSTALL ${arg_FILE_LIST} DESTINATION ${CURRENT_PACKAGES_DIR}/share/${PORT})
  file(RENAME ${CURRENT_PACKAGES_DIR}/share/${PORT}/LICENSE ${CURRENT_PACKAGES_DIR}/share/${PORT}/copyright)
endfunction()

include(${PORT_DIR}/portfile.cmake)
