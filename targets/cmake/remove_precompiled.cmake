# cmake -DBUILD=... -P remove_precompiled.cmake: removes gcc's precompiled headers of a build folder. gcc reads the old one while
# it makes the new one, and ccache then takes both for the same: a changed header would go unnoticed.
cmake_policy(SET CMP0009 NEW)  # not behind links: in Wine's folder one leads to /
file(GLOB_RECURSE precompiled ${BUILD}/cmake_pch.hxx.gch)
if(precompiled)
  file(REMOVE ${precompiled})
endif()
