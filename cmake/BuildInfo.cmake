# trainyard_build_info(TARGET): adds a source file to the target that says what is built (src/cli/help/print_version.h). Each build looks at the
# commit again, and writes the file only if it says something else: a commit costs one file and the links.
#
# Also the script of that look: cmake -DSOURCE=DIR -DOUT=FILE -DVERSION=V -DBUILD_TYPE=T -P BuildInfo.cmake
function(trainyard_build_info target)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/build_info.cc)
  add_custom_target(${target}_build_info
    COMMAND ${CMAKE_COMMAND} -DSOURCE=${CMAKE_SOURCE_DIR} -DOUT=${out} -DVERSION=${PROJECT_VERSION} -DBUILD_TYPE=${CMAKE_BUILD_TYPE}
            -P ${CMAKE_SOURCE_DIR}/cmake/BuildInfo.cmake
    BYPRODUCTS ${out} VERBATIM COMMENT "Looking at the commit")
  target_sources(${target} PRIVATE ${out})
  add_dependencies(${target} ${target}_build_info)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  execute_process(COMMAND git describe --always --abbrev=40 --dirty --exclude=* WORKING_DIRECTORY ${SOURCE}
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(NOT commit)
    set(commit unknown)  # sources without a repository
  endif()
  file(CONFIGURE OUTPUT ${OUT} @ONLY CONTENT [=[
#include "cli/help/print_version.h"

namespace trainyard::cli {

BuildInfo ThisBuild() noexcept { return {.version = "@VERSION@", .commit = "@commit@", .build_type = "@BUILD_TYPE@"}; }

}  // namespace trainyard::cli
]=])
endif()
