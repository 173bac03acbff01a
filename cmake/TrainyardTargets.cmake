# One target per folder: trainyard_library(jobs PURE SOURCES ... DEPS ... TESTS ...) makes trainyard_jobs and, from
# TESTS, the test program jobs_test, which is one test of ctest. A PURE target is compiled with cmake/layering first on its
# include path: there the headers that a pure folder must not see (sockets, threads, files, databases) are an #error.
# Headers that the libraries of pure folders include themselves (<mutex>, <unistd.h>) cannot be; tools/layers.py finds them.
set(TRAINYARD_SANITIZE "" CACHE STRING "comma separated list for -fsanitize=")
option(TRAINYARD_FUZZ "build the libFuzzer targets" OFF)

add_library(trainyard_flags INTERFACE)
target_include_directories(trainyard_flags INTERFACE ${CMAKE_SOURCE_DIR}/src ${CMAKE_BINARY_DIR}/src)
target_compile_options(trainyard_flags INTERFACE -Wall -Wextra -Wshadow -Wconversion -Wswitch -Werror
  -Wno-missing-field-initializers)
add_compile_options(-ffunction-sections -fdata-sections)
add_link_options(-fuse-ld=mold -Wl,--gc-sections)
if(TRAINYARD_SANITIZE)
  add_compile_options(-fsanitize=${TRAINYARD_SANITIZE} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${TRAINYARD_SANITIZE})
  # clang 19 against archives that Debian built without -fsanitize=vptr/function: those two checks see false mismatches.
  add_compile_options(-fno-sanitize=vptr,function)
endif()
if(TRAINYARD_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# What nearly all include, compiled once: reading it takes a compiler as long as the rest of a usual file.
set(TRAINYARD_COMMON_HEADERS
  <algorithm> <chrono> <functional> <map> <memory> <optional> <span> <string> <variant> <vector>
  <google/protobuf/map_field.h> <google/protobuf/message.h> <google/protobuf/repeated_field.h>)
# And what nearly all outside the rules include: most of them has a coroutine, and a third one of the large messages.
set(TRAINYARD_EDGE_HEADERS
  <array> <expected> <filesystem> <set> <unordered_map>
  <boost/asio/any_io_executor.hpp> <boost/asio/awaitable.hpp> <boost/asio/co_spawn.hpp> <boost/asio/io_context.hpp>
  <boost/asio/post.hpp> <boost/asio/steady_timer.hpp> <boost/asio/this_coro.hpp> <boost/asio/thread_pool.hpp>
  <boost/asio/use_awaitable.hpp>
  <trainyard/control/v1/record.pb.h> <trainyard/iam/v1/policy.pb.h> <trainyard/logging/v2/logging.pb.h>
  <trainyard/ml/v1/ml.pb.h> <trainyard/replica/v1/replica.pb.h>)

# trainyard_headers(NAME [QUICK] [LIBRARIES ...] [HEADERS ...]): precompiled for targets with the same options.
function(trainyard_headers name)
  cmake_parse_arguments(ARG "QUICK" "" "LIBRARIES;HEADERS" ${ARGN})
  file(WRITE ${CMAKE_BINARY_DIR}/${name}.cc "")
  add_library(${name} OBJECT EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/${name}.cc)
  trainyard_options_of_headers(${name} "${ARG_QUICK}")
  target_link_libraries(${name} PRIVATE trainyard_flags protobuf::libprotobuf ${ARG_LIBRARIES})
  target_precompile_headers(${name} PRIVATE ${TRAINYARD_COMMON_HEADERS} ${ARG_HEADERS})
endfunction()

function(trainyard_options_of_headers target quick)
  target_compile_options(${target} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")  # so that ccache knows it again
  if(TRAINYARD_SANITIZE AND quick)
    target_compile_options(${target} PRIVATE -O0)
  endif()
endfunction()

# Libraries have them in every build but `dev`, which finds out who forgot to include something.
set(TRAINYARD_PRECOMPILE ON)
if(CMAKE_BUILD_TYPE STREQUAL "Debug" AND NOT TRAINYARD_SANITIZE)
  set(TRAINYARD_PRECOMPILE OFF)
endif()
function(trainyard_all_headers)
  if(NOT TRAINYARD_FUZZ)
    trainyard_headers(trainyard_test_headers QUICK LIBRARIES GTest::gmock HEADERS <filesystem> <gmock/gmock.h> <gtest/gtest.h>)
    trainyard_headers(trainyard_edge_test_headers QUICK LIBRARIES GTest::gmock trainyard_asio trainyard_proto
      HEADERS ${TRAINYARD_EDGE_HEADERS} <gmock/gmock.h> <gtest/gtest.h>)
  endif()
  trainyard_headers(trainyard_pure_headers)
  trainyard_headers(trainyard_edge_headers LIBRARIES trainyard_asio trainyard_proto HEADERS ${TRAINYARD_EDGE_HEADERS})
  trainyard_headers(trainyard_quick_edge_headers QUICK LIBRARIES trainyard_asio trainyard_proto HEADERS ${TRAINYARD_EDGE_HEADERS})
endfunction()

# Eight neighbours are one unit of the compiler, in every build but `dev`: most of its time goes to what all of them include
# and to the templates that all of them use (docs/ci-durations.md). So the names in anonymous namespaces are those of the
# room: if two files use one name, they do not compile. A room whose files have much of that says APART. A test file
# takes a namespace of its own, like trainyard::http::gzip_test.
function(trainyard_unity target)
  if(TRAINYARD_PRECOMPILE)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  endif()
endfunction()

# trainyard_has_asio(VAR TARGETS...): whether asio is linked with one of them. Its headers refer to it even where they are not used.
function(trainyard_has_asio var)
  set(${var} FALSE PARENT_SCOPE)
  foreach(target ${ARGN})
    if(TARGET ${target})
      get_target_property(has ${target} TRAINYARD_ASIO)
      if(target STREQUAL "trainyard_asio" OR has)
        set(${var} TRUE PARENT_SCOPE)
      endif()
    endif()
  endforeach()
endfunction()

# trainyard_test_program(TARGET SOURCES DEPS...): a program of GoogleTest.
function(trainyard_test_program target sources)
  add_executable(${target} ${sources})
  target_link_libraries(${target} PRIVATE ${ARGN} trainyard_flags GTest::gmock GTest::gtest_main)
  trainyard_options_of_headers(${target} TRUE)  # tables of cases take the optimizer as long as all the rest
  if(TRAINYARD_SANITIZE)
    target_compile_options(${target} PRIVATE -g0)  # a fifth of the time; GoogleTest names the lines of tests itself
  endif()
  trainyard_has_asio(asio ${ARGN})
  if(asio)
    trainyard_unity(${target})
    target_precompile_headers(${target} REUSE_FROM trainyard_edge_test_headers)
  else()
    target_precompile_headers(${target} REUSE_FROM trainyard_test_headers)
  endif()
endfunction()

# trainyard_test(NAME SOURCES DEPS...): one that is a test of ctest. It is one test: a process for each case
# would build the fixtures that its cases share (a Python environment, certificates) once for each of them.
function(trainyard_test name sources)
  trainyard_test_program(${name}_test "${sources}" ${ARGN})
  add_test(NAME ${name} COMMAND ${name}_test --gtest_brief=1
           --gtest_output=xml:${CMAKE_BINARY_DIR}/results/unit/${name}_test.xml)
  set_tests_properties(${name} PROPERTIES TIMEOUT 1200)
endfunction()

set(TRAINYARD_LAYERING ${CMAKE_SOURCE_DIR}/cmake/layering)

# Coroutines and what includes everything: with a sanitizer the optimizer takes half of their compile time, and they wait
# for others most of their time.
set(TRAINYARD_SLOW_TO_OPTIMIZE
  access api audit backup cli control curves engine environment identity image keeper runtimes sandbox server shell studies)

function(trainyard_library name)
  cmake_parse_arguments(ARG "PURE;APART" "" "SOURCES;DEPS;TESTS;TEST_DEPS" ${ARGN})
  set(target trainyard_${name})
  if(ARG_SOURCES)
    add_library(${target} STATIC ${ARG_SOURCES})
    target_link_libraries(${target} PUBLIC ${ARG_DEPS} PRIVATE trainyard_flags)
    target_include_directories(${target} PUBLIC ${CMAKE_SOURCE_DIR}/src)
    trainyard_has_asio(asio ${ARG_DEPS})
    set_target_properties(${target} PROPERTIES TRAINYARD_ASIO ${asio})
    set(quick FALSE)
    set(headers trainyard_pure_headers)
    if(TRAINYARD_SANITIZE AND name IN_LIST TRAINYARD_SLOW_TO_OPTIMIZE)
      set(quick TRUE)
      set(headers trainyard_quick_edge_headers)
    elseif(asio)
      set(headers trainyard_edge_headers)
    endif()
    if(asio AND NOT ARG_APART)
      trainyard_unity(${target})
    endif()
    if(TRAINYARD_PRECOMPILE)
      trainyard_options_of_headers(${target} ${quick})
      target_precompile_headers(${target} REUSE_FROM ${headers})
    endif()
    if(ARG_PURE)
      target_include_directories(${target} BEFORE PRIVATE ${TRAINYARD_LAYERING})
      set_property(GLOBAL APPEND PROPERTY TRAINYARD_PURE ${name})
    endif()
  else()
    add_library(${target} INTERFACE)
    target_link_libraries(${target} INTERFACE ${ARG_DEPS})
    target_include_directories(${target} INTERFACE ${CMAKE_SOURCE_DIR}/src)
  endif()
  if(ARG_TESTS AND NOT TRAINYARD_FUZZ)
    trainyard_test(${name} "${ARG_TESTS}" ${target} ${ARG_TEST_DEPS})
  endif()
endfunction()
