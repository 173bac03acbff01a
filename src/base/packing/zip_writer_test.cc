#include <gtest/gtest.h>
#include <zlib.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/packing/archive_writer.h"

namespace trainyard::packing {
namespace {

const SysTime kTime{std::chrono::seconds(1'700'000'000)};

template <class Number>
Number At(std::string_view zip, std::size_t place) {
  Number number = 0;
  std::memcpy(&number, zip.data() + place, sizeof number);
  return number;
}

struct Listed {
  std::string name;
  std::string bytes;
};

/// Reads like an unpacker: from the end to the list of entries, and from there to each entry.
std::vector<Listed> Unpack(std::string_view zip) {
  std::vector<Listed> found;
  const std::size_t end = zip.size() - 22;
  EXPECT_EQ(At<std::uint32_t>(zip, end), 0x06054b50U);
  std::size_t place = At<std::uint32_t>(zip, end + 16);
  EXPECT_EQ(place + At<std::uint32_t>(zip, end + 12), end);
  for (int count = At<std::uint16_t>(zip, end + 10); count > 0; --count) {
    EXPECT_EQ(At<std::uint32_t>(zip, place), 0x02014b50U);
    const std::size_t name_bytes = At<std::uint16_t>(zip, place + 28);
    const std::string name(zip.substr(place + 46, name_bytes));
    const std::size_t local = At<std::uint32_t>(zip, place + 42);
    EXPECT_EQ(At<std::uint32_t>(zip, local), 0x04034b50U);
    EXPECT_EQ(zip.substr(local + 30, name_bytes), name);
    EXPECT_EQ(At<std::uint32_t>(zip, place + 12), 0x576eb1aaU);  // 2023-11-14 22:13:20
    const std::size_t packed = At<std::uint32_t>(zip, place + 20);
    std::string bytes(At<std::uint32_t>(zip, place + 24), '\0');
    if (!bytes.empty()) {
      z_stream stream{};
      inflateInit2(&stream, -MAX_WBITS);
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(zip.data())) + local + 30 + name_bytes;
      stream.avail_in = static_cast<uInt>(packed);
      stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
      stream.avail_out = static_cast<uInt>(bytes.size());
      EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
      EXPECT_EQ(stream.avail_in, 0U);
      inflateEnd(&stream);
    }
    EXPECT_EQ(At<std::uint32_t>(zip, place + 16),
              crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
    found.push_back({.name = name, .bytes = bytes});
    place += 46 + name_bytes + At<std::uint16_t>(zip, place + 30);
  }
  EXPECT_EQ(place, end);
  return found;
}

TEST(ZipWriter, UnpacksToWhatWasPacked) {
  std::string random;
  for (std::uint32_t i = 0, x = 1; i < 300'000; ++i, x = x * 1664525 + 1013904223)
    random += static_cast<char>(x >> 24);
  const std::vector<Listed> wanted = {{"t/d/", ""},
                                      {"t/empty", ""},
                                      {"t/\u00fc", "text"},
                                      {"t/long", std::string(1'000'000, 'x')},
                                      {"t/random", random}};
  const std::unique_ptr<ArchiveWriter> writer = MakeZipWriter();
  std::string zip;
  for (const Listed& file : wanted) {
    ASSERT_TRUE(writer->Begin(
        {.name = file.name, .bytes = static_cast<std::int64_t>(file.bytes.size()), .modified = kTime}, zip));
    for (std::size_t i = 0; i < file.bytes.size(); i += 70'000)
      ASSERT_TRUE(writer->Add(std::string_view(file.bytes).substr(i, 70'000), zip));
    ASSERT_TRUE(writer->End(zip));
  }
  ASSERT_EQ(writer->Finish(zip), false);
  const std::vector<Listed> unpacked = Unpack(zip);
  ASSERT_EQ(unpacked.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_EQ(unpacked[i].name, wanted[i].name);
    EXPECT_TRUE(unpacked[i].bytes == wanted[i].bytes) << wanted[i].name;
  }
}

/// More entries than 16 bits count, too: the end of zip64 says how many there are.
TEST(ZipWriter, GivesItsEndInPieces) {
  constexpr std::uint64_t kEntries = 70'000;
  const std::unique_ptr<ArchiveWriter> writer = MakeZipWriter();
  std::string zip;
  for (std::uint64_t i = 0; i < kEntries; ++i) {
    ASSERT_TRUE(writer->Begin({.name = "t/" + std::to_string(i), .bytes = 0, .modified = kTime}, zip));
    ASSERT_TRUE(writer->End(zip));
  }
  const std::size_t directory = zip.size();
  for (bool more = true; more;) {
    const std::size_t before = zip.size();
    const Result<bool> finished = writer->Finish(zip);
    ASSERT_TRUE(finished.has_value());
    more = *finished;
    EXPECT_LE(zip.size() - before, kEndPieceBytes + 200);
  }
  const std::size_t end = zip.size() - 22;
  EXPECT_EQ(At<std::uint16_t>(zip, end + 10), 0xffffU);
  const std::size_t end64 = end - 20 - 56;
  EXPECT_EQ(At<std::uint32_t>(zip, end64), 0x06064b50U);
  EXPECT_EQ(At<std::uint64_t>(zip, end64 + 32), kEntries);
  EXPECT_EQ(At<std::uint64_t>(zip, end64 + 40), end64 - directory);
  EXPECT_EQ(At<std::uint64_t>(zip, end64 + 48), directory);
  EXPECT_EQ(At<std::uint64_t>(zip, end - 20 + 8), end64);
  std::size_t place = directory;
  for (std::uint64_t i = 0; i < kEntries; ++i) {
    ASSERT_EQ(At<std::uint32_t>(zip, place), 0x02014b50U) << i;
    place += 46U + At<std::uint16_t>(zip, place + 28) + At<std::uint16_t>(zip, place + 30);
  }
  EXPECT_EQ(place, end64);
}

TEST(ZipWriter, OfNothingIsAnArchive) {
  std::string zip;
  ASSERT_EQ(MakeZipWriter()->Finish(zip), false);
  EXPECT_TRUE(Unpack(zip).empty());
}

}  // namespace
}  // namespace trainyard::packing
