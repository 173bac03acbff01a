# Third-party libraries, all from Debian 12. They are linked statically where an archive exists: one binary to copy,
# and a supervisor that starts without loading a dozen shared libraries.
set(Boost_USE_STATIC_LIBS ON)
set(OPENSSL_USE_STATIC_LIBS ON)
set(Protobuf_USE_STATIC_LIBS ON)
set(ZLIB_USE_STATIC_LIBS ON)

find_package(Threads REQUIRED)
find_package(Boost 1.81 REQUIRED COMPONENTS json)
find_package(OpenSSL REQUIRED)
find_package(Protobuf REQUIRED)
find_package(ZLIB REQUIRED)
find_package(GTest REQUIRED)
find_package(benchmark REQUIRED)
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_library(ARCHIVE_ARCHIVE libarchive.a REQUIRED)
find_library(ZSTD_ARCHIVE libzstd.a REQUIRED)
find_library(SQLITE3_ARCHIVE libsqlite3.a REQUIRED)
find_library(RE2_ARCHIVE libre2.a REQUIRED)
find_library(NGHTTP2_ARCHIVE libnghttp2.a REQUIRED)
find_library(YAML_CPP_ARCHIVE libyaml-cpp.a REQUIRED)

add_library(trainyard_archive INTERFACE)  # of libarchive only reading tar, gzip and zstd: no other library of its long list
target_link_libraries(trainyard_archive INTERFACE ${ARCHIVE_ARCHIVE} ${ZSTD_ARCHIVE} ZLIB::ZLIB)
add_library(trainyard_sqlite3 INTERFACE)
target_link_libraries(trainyard_sqlite3 INTERFACE ${SQLITE3_ARCHIVE} ${CMAKE_DL_LIBS} Threads::Threads m)
add_library(trainyard_re2 INTERFACE)
target_link_libraries(trainyard_re2 INTERFACE ${RE2_ARCHIVE} Threads::Threads)
add_library(trainyard_nghttp2 INTERFACE)
target_link_libraries(trainyard_nghttp2 INTERFACE ${NGHTTP2_ARCHIVE})
add_library(yaml-cpp INTERFACE)  # its own CMake package names the shared library
target_link_libraries(yaml-cpp INTERFACE ${YAML_CPP_ARCHIVE})
