# Writes bantam.spdx.json into the build folder: what the programs and libraries of this build are made of, as SPDX 2.3
# (https://spdx.github.io/spdx-spec/v2.3/). Same options and same versions: same bytes; its date is SOURCE_DATE_EPOCH, or that of
# the last commit.

# bantam_version_in(OUT HEADER REGEX FOLDERS...): what REGEX's group finds in a header; NOASSERTION: nothing.
function(bantam_version_in out header regex)
  set(version NOASSERTION)
  find_file(found ${header} PATHS ${ARGN} NO_CACHE)
  if(found)
    file(STRINGS ${found} lines REGEX "${regex}" LIMIT_COUNT 1)
    if(lines MATCHES "${regex}")
      set(version "${CMAKE_MATCH_1}")
    endif()
  endif()
  set(${out} "${version}" PARENT_SCOPE)
endfunction()

set(bantam_sbom_packages "")
set(bantam_sbom_relations "")

# bantam_component(NAME VERSION LICENSE HOME RELATION): RELATION is STATIC_LINK (headers count) or DYNAMIC_LINK.
macro(bantam_component name version license home relation)
  set(component_version "${version}")
  if(component_version STREQUAL "")
    set(component_version NOASSERTION)
  endif()
  list(APPEND bantam_sbom_packages "    {
      \"SPDXID\": \"SPDXRef-${name}\",
      \"name\": \"${name}\",
      \"versionInfo\": \"${component_version}\",
      \"downloadLocation\": \"${home}\",
      \"licenseConcluded\": \"${license}\",
      \"licenseDeclared\": \"${license}\",
      \"copyrightText\": \"NOASSERTION\",
      \"filesAnalyzed\": false
    }")
  list(APPEND bantam_sbom_relations "    {
      \"spdxElementId\": \"SPDXRef-bantam\",
      \"relationshipType\": \"${relation}\",
      \"relatedSpdxElement\": \"SPDXRef-${name}\"
    }")
endmacro()

execute_process(COMMAND ${BANTAM_FLATC} --version OUTPUT_VARIABLE flatbuffers_version ERROR_QUIET)
string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" flatbuffers_version "${flatbuffers_version}")
bantam_component(flatbuffers "${flatbuffers_version}" Apache-2.0 "https://github.com/google/flatbuffers" STATIC_LINK)
if(BANTAM_CONVERTER)
  bantam_component(fmt "${fmt_VERSION}" MIT "https://github.com/fmtlib/fmt" DYNAMIC_LINK)
  bantam_component(nlohmann-json "${nlohmann_json_VERSION}" MIT "https://github.com/nlohmann/json" STATIC_LINK)
  bantam_version_in(version protozero/version.hpp "PROTOZERO_VERSION_STRING \"([0-9.]+)\"" ${BANTAM_PROTOZERO_INCLUDE})
  bantam_component(protozero "${version}" BSD-2-Clause "https://github.com/mapbox/protozero" STATIC_LINK)
  if(BANTAM_COMMAND)
    bantam_component(CLI11 "${CLI11_VERSION}" BSD-3-Clause "https://github.com/CLIUtils/CLI11" STATIC_LINK)
  endif()
endif()
if(TARGET bantam::zlib)
  bantam_version_in(version zlib.h "define ZLIB_VERSION \"([0-9.]+)\"" ${BANTAM_ZLIB_INCLUDE})
  bantam_component(zlib "${version}" Zlib "https://zlib.net" DYNAMIC_LINK)
endif()
if(TARGET bantam::png)
  bantam_version_in(version png.h "PNG_LIBPNG_VER_STRING \"([0-9.]+)\"" ${BANTAM_PNG_INCLUDE})
  bantam_component(libpng "${version}" libpng-2.0 "http://www.libpng.org/pub/png/libpng.html" DYNAMIC_LINK)
endif()
if(TARGET bantam::jpeg)
  bantam_version_in(version jconfig.h "LIBJPEG_TURBO_VERSION +([0-9.]+)" ${BANTAM_JPEG_INCLUDE}
    ${BANTAM_JPEG_INCLUDE}/${CMAKE_LIBRARY_ARCHITECTURE})
  bantam_component(libjpeg-turbo "${version}" "IJG AND BSD-3-Clause" "https://libjpeg-turbo.org" DYNAMIC_LINK)
endif()
if(TARGET bantam::sodium)
  bantam_version_in(version sodium/version.h "SODIUM_VERSION_STRING \"([0-9.]+)\"" ${BANTAM_SODIUM_INCLUDE})
  set(relation DYNAMIC_LINK)
  if(BANTAM_SODIUM_LIBRARY MATCHES "[.]a$")
    set(relation STATIC_LINK)
  endif()
  bantam_component(libsodium "${version}" ISC "https://libsodium.org" ${relation})
endif()
if(BANTAM_XNNPACK)
  bantam_component(XNNPACK "" BSD-3-Clause "https://github.com/google/XNNPACK" DYNAMIC_LINK)
  bantam_component(pthreadpool "" BSD-2-Clause "https://github.com/Maratyszcza/pthreadpool" DYNAMIC_LINK)
endif()
if(BANTAM_TRAIN)
  set(parts "")
  foreach(part MAJOR MINOR PATCH)
    bantam_version_in(version torch/version.h "define TORCH_VERSION_${part} ([0-9]+)" ${BANTAM_TORCH_INCLUDE}
      ${BANTAM_TORCH_INCLUDE}/torch/csrc/api/include)
    list(APPEND parts ${version})
  endforeach()
  list(JOIN parts . version)
  if(version MATCHES NOASSERTION)
    set(version NOASSERTION)
  endif()
  bantam_component(libtorch "${version}" BSD-3-Clause "https://github.com/pytorch/pytorch" DYNAMIC_LINK)
endif()

set(bantam_sbom_date "$ENV{SOURCE_DATE_EPOCH}")
if(bantam_sbom_date STREQUAL "")
  execute_process(COMMAND git log -1 --format=%ct WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    OUTPUT_VARIABLE bantam_sbom_date OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(bantam_sbom_date STREQUAL "")
  set(bantam_sbom_date 0)
endif()
set(epoch "$ENV{SOURCE_DATE_EPOCH}")
set(ENV{SOURCE_DATE_EPOCH} ${bantam_sbom_date})
string(TIMESTAMP bantam_sbom_created "%Y-%m-%dT%H:%M:%SZ" UTC)
if(epoch STREQUAL "")
  unset(ENV{SOURCE_DATE_EPOCH})
endif()
list(JOIN bantam_sbom_packages ",\n" bantam_sbom_packages)
list(JOIN bantam_sbom_relations ",\n" bantam_sbom_relations)
string(SHA256 bantam_sbom_id "${PROJECT_VERSION}${bantam_sbom_packages}${bantam_sbom_created}")
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/bantam.spdx.json @ONLY CONTENT "{
  \"spdxVersion\": \"SPDX-2.3\",
  \"dataLicense\": \"CC0-1.0\",
  \"SPDXID\": \"SPDXRef-DOCUMENT\",
  \"name\": \"bantam-${PROJECT_VERSION}\",
  \"documentNamespace\": \"https://bantam.invalid/spdx/bantam-${PROJECT_VERSION}-${bantam_sbom_id}\",
  \"creationInfo\": {\"created\": \"${bantam_sbom_created}\", \"creators\": [\"Tool: bantam's build\"]},
  \"documentDescribes\": [\"SPDXRef-bantam\"],
  \"packages\": [
    {
      \"SPDXID\": \"SPDXRef-bantam\",
      \"name\": \"bantam\",
      \"versionInfo\": \"${PROJECT_VERSION}\",
      \"downloadLocation\": \"NOASSERTION\",
      \"licenseConcluded\": \"Apache-2.0\",
      \"licenseDeclared\": \"Apache-2.0\",
      \"copyrightText\": \"NOASSERTION\",
      \"filesAnalyzed\": false
    },
${bantam_sbom_packages}
  ],
  \"relationships\": [
    {
      \"spdxElementId\": \"SPDXRef-DOCUMENT\",
      \"relationshipType\": \"DESCRIBES\",
      \"relatedSpdxElement\": \"SPDXRef-bantam\"
    },
${bantam_sbom_relations}
  ]
}
")
