#include "programs/attempt/spool_record.h"

#include <gtest/gtest.h>

namespace trainyard::replica {
namespace {

TEST(SpoolRecord, ComesBack) {
  const std::string bytes = SpoolRecord("one") + SpoolRecord("") + SpoolRecord(std::string(1000, 'x'));
  std::string_view rest = bytes;
  std::string_view content;
  ASSERT_TRUE(TakeSpoolRecord(rest, content));
  EXPECT_EQ(content, "one");
  ASSERT_TRUE(TakeSpoolRecord(rest, content));
  EXPECT_EQ(content, "");
  ASSERT_TRUE(TakeSpoolRecord(rest, content));
  EXPECT_EQ(content, std::string(1000, 'x'));
  EXPECT_FALSE(TakeSpoolRecord(rest, content));
}

TEST(SpoolRecord, TornAtAnyByteIsNoRecord) {
  const std::string bytes = SpoolRecord("content");
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    std::string_view rest = std::string_view(bytes).substr(0, size);
    std::string_view content = "untouched";
    EXPECT_FALSE(TakeSpoolRecord(rest, content)) << size;
    EXPECT_EQ(content, "untouched");
  }
}

TEST(SpoolRecord, AnyFlippedBitIsNoticed) {
  const std::string bytes = SpoolRecord("content");
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    std::string_view rest = damaged;
    std::string_view content;
    EXPECT_FALSE(TakeSpoolRecord(rest, content)) << bit;
  }
}

}  // namespace
}  // namespace trainyard::replica
