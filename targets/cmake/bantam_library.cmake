# bantam_library(NAME LIBRARY HEADER): finds libLIBRARY and HEADER, declares the imported target bantam::NAME and sets
# NAME_FOUND in the caller. Also part of the installed CMake package.
function(bantam_library name library header)
  string(TOUPPER ${name} upper)
  find_library(BANTAM_${upper}_LIBRARY ${library})
  find_path(BANTAM_${upper}_INCLUDE ${header})
  mark_as_advanced(BANTAM_${upper}_LIBRARY BANTAM_${upper}_INCLUDE)
  if(BANTAM_${upper}_LIBRARY AND BANTAM_${upper}_INCLUDE)
    if(NOT TARGET bantam::${name})
      add_library(bantam::${name} UNKNOWN IMPORTED GLOBAL)
      set_target_properties(bantam::${name} PROPERTIES
        IMPORTED_LOCATION "${BANTAM_${upper}_LIBRARY}"
        INTERFACE_INCLUDE_DIRECTORIES "${BANTAM_${upper}_INCLUDE}")
    endif()
    set(${name}_FOUND TRUE PARENT_SCOPE)
  else()
    set(${name}_FOUND FALSE PARENT_SCOPE)
  endif()
endfunction()
