# cmake -DBUILD=... -P remove_precompiled.cmake: removes gcc's precompiled headers of a build folder. gcc reads the old one while
# it makes the new one, and ccache then takes both for the same: a changed header would go unnoticed.
file(GLOB_RECURSE precompiled ${BUILD}/cmake_pch.hxx.gch)
if(precompiled)
  file(REMOVE ${precompiled})
endif()
