#include "base/crc32c.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace trainyard {
namespace {

struct Row {
  const char* name;
  std::string bytes;
  std::uint32_t crc;
};

std::string Counting(int first, int step) {
  std::string bytes(32, '\0');
  for (int i = 0; i < 32; ++i) bytes[static_cast<std::size_t>(i)] = static_cast<char>(first + i * step);
  return bytes;
}

/// An iSCSI read command.
std::string ReadCommand() {
  std::string bytes(48, '\0');
  bytes[0] = '\x01', bytes[1] = '\xc0';
  bytes[16] = '\x14', bytes[22] = '\x04', bytes[27] = '\x14', bytes[31] = '\x18';
  bytes[32] = '\x28', bytes[40] = '\x02';
  return bytes;
}

class Crc32cOf : public testing::TestWithParam<Row> {};
TEST_P(Crc32cOf, EveryWay) {
  const Row& row = GetParam();
  EXPECT_EQ(Crc32c(row.bytes), row.crc);
  EXPECT_EQ(Crc32cByTable(row.bytes), row.crc);
}
// RFC 3720, B.4, whose CRCs are written with the least byte first; the check value of the CRC catalogues.
INSTANTIATE_TEST_SUITE_P(Known, Crc32cOf,
                         testing::Values(Row{"nothing", "", 0},                              //
                                         Row{"zeros", std::string(32, '\0'), 0x8a9136aa},    //
                                         Row{"ones", std::string(32, '\xff'), 0x62a8ab43},   //
                                         Row{"incrementing", Counting(0, 1), 0x46dd794e},    //
                                         Row{"decrementing", Counting(31, -1), 0x113fdb5c},  //
                                         Row{"read_command", ReadCommand(), 0xd9963a56},     //
                                         Row{"digits", "123456789", 0xe3069283}),
                         [](const auto& row) { return row.param.name; });

/// The definition: bit by bit.
std::uint32_t Bitwise(std::string_view bytes) {
  std::uint32_t state = ~0U;
  for (const char byte : bytes) {
    state ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) state = (state >> 1U) ^ ((state & 1U) != 0 ? 0x82F63B78U : 0U);
  }
  return ~state;
}

/// Lengths around a word and around one and two turns of the three lanes, at every alignment, in two pieces.
TEST(Crc32c, IsTheBitwiseOneOfAnyBytesHoweverCut) {
  std::mt19937 random(7);
  std::string bytes(10'000, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  const std::string_view all = bytes;
  for (const std::size_t around : {0U, 8U, 1024U, 3072U, 6144U}) {
    for (std::size_t length = around < 9 ? 0 : around - 9; length < around + 9; ++length) {
      const std::string_view piece = all.substr(random() % 64, length);
      const std::size_t cut = random() % (length + 1);
      const std::uint32_t expected = Bitwise(piece);
      EXPECT_EQ(Crc32c(piece), expected) << length;
      EXPECT_EQ(Crc32c(piece.substr(cut), Crc32c(piece.substr(0, cut))), expected) << length << " " << cut;
      EXPECT_EQ(Crc32cByTable(piece.substr(cut), Crc32cByTable(piece.substr(0, cut))), expected) << length;
    }
  }
}

}  // namespace
}  // namespace trainyard
