# trainyard_embed(TARGET NAMESPACE [BELOW FOLDER] FILES...): compiles files into a target, byte for byte, under their names without
# folders, or under their paths below FOLDER.
# The target's folder can then include "FOLDER/NAMESPACE_files.h" (FOLDER: its path below src/), which has
#   std::span<const EmbeddedFile> trainyard::NAMESPACE::Files();   sorted as given; they live as long as the program
# The assembler copies the bytes (.incbin), so that megabytes cost no compile time.
function(trainyard_embed target namespace)
  cmake_parse_arguments(ARG "" "BELOW" "" ${ARGN})
  set(stem ${CMAKE_CURRENT_BINARY_DIR}/${namespace}_files)
  set(blobs "")
  set(rows "")
  set(paths "")
  set(index 0)
  foreach(file ${ARG_UNPARSED_ARGUMENTS})
    get_filename_component(path ${file} ABSOLUTE)
    get_filename_component(name ${file} NAME)
    if(ARG_BELOW)
      file(RELATIVE_PATH name ${ARG_BELOW} ${path})
    endif()
    set(symbol trainyard_${namespace}_${index})
    string(APPEND blobs "__asm__(\".section .rodata,\\\"a\\\"\\n${symbol}:\\n.incbin \\\"${path}\\\"\\n${symbol}_end:\\n.previous\\n\"\n"
                        "        \".globl ${symbol}\\n.globl ${symbol}_end\\n\");\n"
                        "extern \"C\" const char ${symbol}[];\nextern \"C\" const char ${symbol}_end[];\n")
    string(APPEND rows "      EmbeddedFile{\"${name}\", {${symbol}, static_cast<std::size_t>(${symbol}_end - ${symbol})}},\n")
    list(APPEND paths ${path})
    math(EXPR index "${index} + 1")
  endforeach()
  file(CONFIGURE OUTPUT ${stem}.h @ONLY CONTENT [=[
#pragma once

#include <span>
#include <string_view>

namespace trainyard::@namespace@ {

struct EmbeddedFile {
  std::string_view name;
  std::string_view bytes;
};

[[nodiscard]] std::span<const EmbeddedFile> Files() noexcept;

}  // namespace trainyard::@namespace@
]=])
  file(CONFIGURE OUTPUT ${stem}.cc @ONLY CONTENT [=[
#include "@namespace@_files.h"

#include <array>
#include <cstddef>

@blobs@
namespace trainyard::@namespace@ {

std::span<const EmbeddedFile> Files() noexcept {
  static const std::array kFiles{
@rows@  };
  return kFiles;
}

}  // namespace trainyard::@namespace@
]=])
  # A unit of several sources knows nothing of what one of them depends on: a changed file would not be embedded again.
  set_source_files_properties(${stem}.cc PROPERTIES OBJECT_DEPENDS "${paths}" SKIP_UNITY_BUILD_INCLUSION ON)
  target_sources(${target} PRIVATE ${stem}.cc)
endfunction()
