# cmake --install: a tree that can be moved: lib/, include/bantam/, bin/bantam, share/bantam/bantam.fbs, the CMake package
# bantam (targets bantam::runtime, bantam::host, bantam::converter) pkg-config files (bantam, bantam-host, bantam-converter) and bantam.cps.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# Of what has no component of its own: all but the command.
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME development)

set_target_properties(bantam_runtime PROPERTIES EXPORT_NAME runtime)
set_target_properties(bantam_host PROPERTIES EXPORT_NAME host)
install(TARGETS bantam_runtime bantam_host EXPORT bantamTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
set(bantam_headers runtime/include/)
set(BANTAM_HAS_CONVERTER OFF)
set(bantam_pc_files bantam bantam-host)
if(TARGET bantam_converter)
  set(BANTAM_HAS_CONVERTER ON)
  set(bantam_pc_internal "")
  set(converter_parts bantam_converter)
  set_target_properties(bantam_converter PROPERTIES EXPORT_NAME converter)
  if(BUILD_SHARED_LIBS)
    # What a shared libbantam hides and the converter uses.
    list(APPEND converter_parts bantam_internal)
    set_target_properties(bantam_internal PROPERTIES EXPORT_NAME internal)
    set(bantam_pc_internal " -lbantam_internal")
  endif()
  install(TARGETS ${converter_parts} EXPORT bantamTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  list(APPEND bantam_headers converter/include/)
  list(APPEND bantam_pc_files bantam-converter)
endif()
install(DIRECTORY ${bantam_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(FILES schemas/bantam.fbs DESTINATION ${CMAKE_INSTALL_DATADIR}/bantam)
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(PROJECT_IS_TOP_LEVEL)
  install(FILES ${PROJECT_BINARY_DIR}/bantam.spdx.json DESTINATION ${CMAKE_INSTALL_DOCDIR})
endif()
if(TARGET bantam_command)
  install(TARGETS bantam_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT command)
  if(TARGET bantam_app)
    install(TARGETS bantam_app RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT command)
  endif()
  if(TARGET bantam_train)
    install(TARGETS bantam_train RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT command)
  endif()
  # The command writes its own manual pages and completions, where it can run.
  if(NOT CMAKE_CROSSCOMPILING)
    install(CODE "
      set(prefix \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}\")
      set(program \"$<TARGET_FILE:bantam_command>\")
      execute_process(COMMAND \${program} man \${prefix}/${CMAKE_INSTALL_MANDIR}/man1 --quiet COMMAND_ERROR_IS_FATAL ANY)
      foreach(file bash:bash-completion/completions/bantam zsh:zsh/site-functions/_bantam
          fish:fish/vendor_completions.d/bantam.fish)
        string(REPLACE \":\" \";\" file \${file})
        list(GET file 0 shell)
        list(GET file 1 path)
        get_filename_component(folder \${prefix}/${CMAKE_INSTALL_DATADIR}/\${path} DIRECTORY)
        file(MAKE_DIRECTORY \${folder})
        execute_process(COMMAND \${program} completion \${shell} COMMAND_ERROR_IS_FATAL ANY
          OUTPUT_FILE \${prefix}/${CMAKE_INSTALL_DATADIR}/\${path})
      endforeach()" COMPONENT command)
  endif()
endif()

# What the installed bantam::host links.
set(BANTAM_IMAGE_LIBRARIES "")
set(bantam_pc_image_libs "")
foreach(library zlib:z:zlib.h png:png:png.h jpeg:turbojpeg:turbojpeg.h sodium:sodium:sodium.h)
  string(REPLACE ":" ";" parts ${library})
  list(GET parts 0 name)
  list(GET parts 1 file)
  if(TARGET bantam::${name})
    string(APPEND BANTAM_IMAGE_LIBRARIES " ${library}")
    string(APPEND bantam_pc_image_libs " -l${file}")
  endif()
endforeach()
set(BANTAM_NEEDS_XNNPACK OFF)
set(host_libraries stdc++ pthread)
if(BANTAM_XNNPACK)
  set(BANTAM_NEEDS_XNNPACK ON)
  list(PREPEND host_libraries XNNPACK pthreadpool)
endif()
list(JOIN host_libraries " -l" bantam_pc_host_libs)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/bantam)
set(package_build ${PROJECT_BINARY_DIR}/package)
install(EXPORT bantamTargets NAMESPACE bantam:: DESTINATION ${package_dir})
configure_package_config_file(targets/cmake/bantamConfig.cmake.in ${package_build}/bantamConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${package_build}/bantamConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${package_build}/bantamConfig.cmake ${package_build}/bantamConfigVersion.cmake
  targets/cmake/bantam_library.cmake DESTINATION ${package_dir})

# pkg-config finds the tree from the place of its own file.
file(RELATIVE_PATH bantam_pc_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" bantam_pc_prefix "${bantam_pc_prefix}")
foreach(name ${bantam_pc_files})
  configure_file(targets/cmake/${name}.pc.in ${package_build}/${name}.pc @ONLY)
  install(FILES ${package_build}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

# The same for tools that read the Common Package Specification (cps-org.github.io/cps).
set(bantam_at "@prefix@")
file(READ ${PROJECT_SOURCE_DIR}/targets/packages/facts.json facts)
string(JSON bantam_summary GET "${facts}" summary)
string(JSON bantam_licence GET "${facts}" license)
set(bantam_cps_type archive)
set(bantam_cps_file ${CMAKE_STATIC_LIBRARY_PREFIX}bantam${CMAKE_STATIC_LIBRARY_SUFFIX})
if(BUILD_SHARED_LIBS)
  set(bantam_cps_type dylib)
  set(bantam_cps_file ${CMAKE_SHARED_LIBRARY_PREFIX}bantam${CMAKE_SHARED_LIBRARY_SUFFIX})
endif()
list(TRANSFORM host_libraries REPLACE "(.+)" "\"\\1\"")
list(JOIN host_libraries ", " bantam_cps_host_libraries)
configure_file(targets/cmake/bantam.cps.in ${package_build}/bantam.cps @ONLY)
install(FILES ${package_build}/bantam.cps DESTINATION ${CMAKE_INSTALL_LIBDIR}/cps)

if(PROJECT_IS_TOP_LEVEL)
  include(${CMAKE_CURRENT_LIST_DIR}/cpack.cmake)
endif()
