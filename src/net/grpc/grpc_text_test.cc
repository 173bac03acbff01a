#include "net/grpc/grpc_text.h"

#include <gmock/gmock.h>

namespace trainyard::grpc::grpc_text_test {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;

struct TimeoutRow {
  const char* text;
  std::optional<std::chrono::nanoseconds> expected;
};

TEST(GrpcTimeout, HasDigitsAndAUnit) {
  const std::vector<TimeoutRow> rows{{"1H", 1h},
                                     {"2M", 2min},
                                     {"60S", 60s},
                                     {"0n", 0ns},
                                     {"100m", 100ms},
                                     {"7u", 7us},
                                     {"99999999n", 99'999'999ns},
                                     {"99999999H", kTimeoutMax},
                                     {"", std::nullopt},
                                     {"S", std::nullopt},
                                     {"1", std::nullopt},
                                     {"1s", std::nullopt},
                                     {"-1S", std::nullopt},
                                     {"+1S", std::nullopt},
                                     {"1.5S", std::nullopt},
                                     {" 1S", std::nullopt},
                                     {"123456789S", std::nullopt}};
  for (const TimeoutRow& row : rows) EXPECT_EQ(ParseTimeout(row.text), row.expected) << row.text;
}

TEST(GrpcPrefix, IsAFlagAndASize) {
  EXPECT_EQ(ParsePrefix("\0\0\0\0\0"s), (MessagePrefix{.is_compressed = false, .size = 0}));
  EXPECT_EQ(ParsePrefix("\1\1\2\3\4rest"s), (MessagePrefix{.is_compressed = true, .size = 0x01020304}));
  EXPECT_EQ(ParsePrefix("\0\xff\xff\xff\xff"s), (MessagePrefix{.is_compressed = false, .size = 0xffffffff}));
  EXPECT_EQ(ParsePrefix("\2\0\0\0\0"s), std::nullopt);
  EXPECT_EQ(ParsePrefix("\0\0\0\0"s), std::nullopt);
  EXPECT_EQ(PrintMessage("abc"), "\0\0\0\0\3abc"s);
  EXPECT_EQ(PrintMessage(std::string(70'000, 'x')).substr(0, 6), "\0\0\1\x11\x70x"s);
}

TEST(GrpcStatusText, IsPercentCoded) {
  const std::string text = "100 % of \xc3\xa9 ~\n\t\x7f\xff";
  EXPECT_EQ(PrintStatusText(text), "100 %25 of %C3%A9 ~%0A%09%7F%FF");
  EXPECT_EQ(ParseStatusText(PrintStatusText(text)), text);
  EXPECT_EQ(ParseStatusText("50% of it, %4, %zz%41"), "50% of it, %4, %zzA");
}

TEST(GrpcStatusText, IsCutBetweenCharacters) {
  std::string text(kStatusFieldBytesMax - 5, 'a');
  text += "\xe2\x82\xac";  // needs nine bytes
  EXPECT_EQ(PrintStatusText(text), std::string(kStatusFieldBytesMax - 5, 'a'));
  EXPECT_EQ(PrintStatusText(std::string(100'000, 'a')).size(), kStatusFieldBytesMax);
}

TEST(GrpcBinary, HasNoPaddingAndAcceptsIt) {
  for (const auto& [bytes, printed] : std::vector<std::pair<std::string, std::string>>{
           {"", ""}, {"f", "Zg"}, {"fo", "Zm8"}, {"foo", "Zm9v"}, {"\0\xff"s, "AP8"}}) {
    EXPECT_EQ(PrintBinary(bytes), printed);
    EXPECT_EQ(ParseBinary(printed), bytes);
  }
  EXPECT_EQ(ParseBinary("Zg=="), "f");
  EXPECT_EQ(ParseBinary("Z"), std::nullopt);
  EXPECT_EQ(ParseBinary("Zm9v!"), std::nullopt);
}

TEST(GrpcContentType, IsThatOfProtobuf) {
  for (const char* type : {"application/grpc", "application/grpc+proto", "Application/GRPC;charset=utf-8"})
    EXPECT_TRUE(IsGrpc(type)) << type;
  for (const char* type : {"", "application/json", "application/grpc-web", "application/grpc+json", "grpc"})
    EXPECT_FALSE(IsGrpc(type)) << type;
}

}  // namespace
}  // namespace trainyard::grpc::grpc_text_test
