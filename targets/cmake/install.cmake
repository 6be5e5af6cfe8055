# cmake --install: a tree that can be moved: lib/, include/bantam/, bin/bantam, share/bantam/bantam.fbs, the CMake package
# bantam (targets bantam::runtime, bantam::host, bantam::converter) and pkg-config files (bantam, bantam-host, bantam-converter).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

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
if(TARGET bantam_command)
  install(TARGETS bantam_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  if(TARGET bantam_app)
    install(TARGETS bantam_app RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
  if(TARGET bantam_train)
    install(TARGETS bantam_train RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
  if(TARGET bantam_serve)
    install(TARGETS bantam_serve RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
  # The command writes its own manual pages and completions, where it can run.
  if(NOT CMAKE_CROSSCOMPILING)
    install(CODE "
      set(prefix \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}\")
      set(command \"$<TARGET_FILE:bantam_command>\")
      execute_process(COMMAND \${command} man \${prefix}/${CMAKE_INSTALL_MANDIR}/man1 --quiet COMMAND_ERROR_IS_FATAL ANY)
      foreach(file bash:bash-completion/completions/bantam zsh:zsh/site-functions/_bantam
          fish:fish/vendor_completions.d/bantam.fish)
        string(REPLACE \":\" \";\" file \${file})
        list(GET file 0 shell)
        list(GET file 1 path)
        get_filename_component(folder \${prefix}/${CMAKE_INSTALL_DATADIR}/\${path} DIRECTORY)
        file(MAKE_DIRECTORY \${folder})
        execute_process(COMMAND \${command} completion \${shell} COMMAND_ERROR_IS_FATAL ANY
          OUTPUT_FILE \${prefix}/${CMAKE_INSTALL_DATADIR}/\${path})
      endforeach()")
  endif()
endif()

# What the installed bantam::host links.
set(BANTAM_IMAGE_LIBRARIES "")
set(bantam_pc_image_libs "")
foreach(library png:png:png.h jpeg:turbojpeg:turbojpeg.h)
  string(REPLACE ":" ";" parts ${library})
  list(GET parts 0 name)
  list(GET parts 1 file)
  if(TARGET bantam::${name})
    string(APPEND BANTAM_IMAGE_LIBRARIES " ${library}")
    string(APPEND bantam_pc_image_libs " -l${file}")
  endif()
endforeach()
set(BANTAM_NEEDS_XNNPACK OFF)
set(bantam_pc_host_libs "")
if(BANTAM_XNNPACK)
  set(BANTAM_NEEDS_XNNPACK ON)
  string(APPEND bantam_pc_host_libs " -lXNNPACK -lpthreadpool")
endif()

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
