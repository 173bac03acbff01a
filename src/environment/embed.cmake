# cmake -D RUNTIMES=<data/runtimes> -D PYTHON=<this folder> -D OUT=<file> -P embed.cmake
# Writes OUT: the runtime definitions and the Python files as string literals (embedded.h). A bracket-free delimiter keeps
# the texts as they are; ours are far below the compilers' limit for one literal.
cmake_minimum_required(VERSION 3.25)

function(literal out file)
  file(READ ${file} text)
  set(${out} "R\"__ty__(${text})__ty__\"" PARENT_SCOPE)
endfunction()

file(GLOB files ${RUNTIMES}/*.json)
set(rows "")
foreach(file IN LISTS files)
  get_filename_component(version ${file} NAME)
  string(REGEX REPLACE "\\.json$" "" version ${version})
  literal(text ${file})
  string(APPEND rows "    {\"${version}\", ${text}},\n")
endforeach()
literal(sitecustomize ${PYTHON}/site/sitecustomize.py)
literal(layer_probe ${PYTHON}/layer_probe.py)
file(WRITE ${OUT} "#include \"environment/embedded.h\"\n\nnamespace trainyard::environment {\n\nnamespace {\n\n"
  "constexpr EmbeddedRuntime kRuntimes[] = {\n${rows}};\n\n}  // namespace\n\n"
  "std::span<const EmbeddedRuntime> EmbeddedRuntimes() noexcept { return kRuntimes; }\n\n"
  "std::string_view EmbeddedSiteCustomize() noexcept { return ${sitecustomize}; }\n\n"
  "std::string_view EmbeddedLayerProbe() noexcept { return ${layer_probe}; }\n\n}  // namespace trainyard::environment\n")
