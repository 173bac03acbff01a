#include "programs/attempt/spool_record.h"

#include <zlib.h>

#include <cstdint>

namespace trainyard::replica {

namespace {

std::uint32_t Checksum(std::string_view content) noexcept {
  return static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size()));
}

void AppendWord(std::uint32_t word, std::string& out) {
  for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(word >> shift);
}

std::uint32_t Word(std::string_view bytes, std::size_t at) noexcept {
  std::uint32_t word = 0;
  for (std::size_t i = 0; i < 4; ++i)
    word |= std::uint32_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
  return word;
}

}  // namespace

std::string SpoolRecord(std::string_view content) {
  std::string record;
  record.reserve(kSpoolHeaderBytes + content.size());
  AppendWord(static_cast<std::uint32_t>(content.size()), record);
  AppendWord(Checksum(content), record);
  return record.append(content);
}

std::size_t SpoolContentSize(std::string_view header) noexcept { return Word(header, 0); }

bool SpoolContentIntact(std::string_view header, std::string_view content) noexcept {
  return content.size() == Word(header, 0) && Checksum(content) == Word(header, 4);
}

bool TakeSpoolRecord(std::string_view& bytes, std::string_view& content) noexcept {
  if (bytes.size() < kSpoolHeaderBytes) return false;
  const std::size_t size = SpoolContentSize(bytes);
  if (bytes.size() - kSpoolHeaderBytes < size) return false;
  const std::string_view found = bytes.substr(kSpoolHeaderBytes, size);
  if (!SpoolContentIntact(bytes, found)) return false;
  content = found;
  bytes.remove_prefix(kSpoolHeaderBytes + size);
  return true;
}

}  // namespace trainyard::replica
