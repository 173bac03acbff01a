#pragma once

#include <zlib.h>
#include <zstd.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

namespace trainyard::image {

/// One file of a tar that a test makes by hand, since normal tools would not make it. Source: POSIX ustar.
struct TarEntry {
  std::string name;
  char type =
      '0';  ///< '0' file, '1' hard link, '2' symbolic link, '3' character device, '5' directory, '6' FIFO
  std::string content{};
  std::string link{};
  unsigned mode = 0644;
  unsigned uid = 0;
  unsigned gid = 0;
  unsigned major = 0;
  unsigned minor = 0;
};

inline std::string TarHeader(const TarEntry& entry, std::size_t size) {
  std::array<char, 512> header{};
  const auto octal = [&](std::size_t at, int digits, unsigned long long value) {
    std::snprintf(&header[at], static_cast<std::size_t>(digits) + 1, "%0*llo", digits, value);
  };
  std::memcpy(header.data(), entry.name.data(), std::min<std::size_t>(entry.name.size(), 100));
  octal(100, 7, entry.mode);
  octal(108, 7, entry.uid);
  octal(116, 7, entry.gid);
  octal(124, 11, size);
  octal(136, 11, 1'000'000'000);
  header[156] = entry.type;
  std::memcpy(&header[157], entry.link.data(), std::min<std::size_t>(entry.link.size(), 100));
  std::memcpy(&header[257], "ustar\00000", 8);
  octal(329, 7, entry.major);
  octal(337, 7, entry.minor);
  std::memset(&header[148], ' ', 8);
  unsigned sum = 0;
  for (const char byte : header) sum += static_cast<unsigned char>(byte);
  octal(148, 6, sum);
  return {header.data(), header.size()};
}

/// "LENGTH name=value\n" of a pax header.
inline std::string PaxRecord(std::string_view name, std::string_view value) {
  const std::string rest = " " + std::string(name) + "=" + std::string(value) + "\n";
  std::size_t length = rest.size();
  while (std::to_string(length).size() + rest.size() != length)
    length = std::to_string(length).size() + rest.size();
  return std::to_string(length) + rest;
}

inline std::string Padded(std::string bytes) {
  bytes.resize((bytes.size() + 511) / 512 * 512);
  return bytes;
}

inline std::string Tar(std::initializer_list<TarEntry> entries) {
  std::string tar;
  for (const TarEntry& entry : entries) tar += TarHeader(entry, entry.content.size()) + Padded(entry.content);
  return tar + std::string(1024, '\0');
}

inline std::string Gzip(const std::string& bytes) {
  z_stream stream{};
  ::deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string packed(::deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  ::deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  ::deflateEnd(&stream);
  return packed;
}

inline std::string Zstd(const std::string& bytes) {
  std::string packed(::ZSTD_compressBound(bytes.size()), '\0');
  packed.resize(::ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), 1));
  return packed;
}

}  // namespace trainyard::image
