#include "replica/keeper/keeper_message.h"

#include <gtest/gtest.h>

namespace trainyard::keeper {
namespace {

using std::string_literals::operator""s;

const LimitsAnswer kLimits{
    .support = {.version = 2, .group = "/g", .missing = {{.what = "CPUs", .absent = true, .why = "no"}}},
    .advice = "do"};
const StartRequest kStart{
    .name = "a-1", .program = "/bin/p", .arguments = {"p", "x"}, .environment = {"A=b"}, .numbers = {1, 3}};

/// These bytes are what servers and keepers of other versions send and expect: they are never changed.
TEST(KeeperMessage, RequestsAreTheseBytes) {
  EXPECT_EQ(PrintRequest(Hello{.version_min = 1, .version_max = 2}), "\1\0TYKP\1\0\2\0"s);
  EXPECT_EQ(PrintRequest(LimitsRequest{.installation = "ty"}), "\2\0\2\0\0\0ty"s);
  EXPECT_EQ(PrintRequest(kStart),
            "\3\0\3\0\0\0a-1\6\0\0\0/bin/p"
            "\2\0\0\0\1\0\0\0p\1\0\0\0x"
            "\1\0\0\0\3\0\0\0A=b"
            "\2\0\0\0\1\3"s);
}

TEST(KeeperMessage, AnswersAreTheseBytes) {
  EXPECT_EQ(PrintAnswer(HelloAnswer{.version = 1, .instance = 0x0102030405060708}),
            "\x81\0\1\0\x08\x07\x06\x05\x04\x03\x02\x01"s);
  EXPECT_EQ(PrintAnswer(kLimits),
            "\x82\0\2\2\0\0\0/g"
            "\1\0\0\0\4\0\0\0CPUs\1\2\0\0\0no"
            "\2\0\0\0do"s);
  EXPECT_EQ(PrintAnswer(Started{.pid = 0x01020304}), "\x83\0\x04\x03\x02\x01"s);
  EXPECT_EQ(PrintAnswer(Refused{.code = 14, .message = "no"}), "\xFF\0\x0E\0\0\0\2\0\0\0no"s);
}

TEST(KeeperMessage, WhatIsPrintedIsParsed) {
  for (const Request& request : {Request(Hello{.version_min = 1, .version_max = 7}),
                                 Request(LimitsRequest{.installation = "trainyard-01"}), Request(kStart)})
    EXPECT_EQ(ParseRequest(PrintRequest(request)), request);
  for (const Answer& answer :
       {Answer(HelloAnswer{.version = 1, .instance = ~std::uint64_t{0}}), Answer(kLimits),
        Answer(Started{.pid = 7}), Answer(Refused{.code = 7, .message = "why"})})
    EXPECT_EQ(ParseAnswer(PrintAnswer(answer)), answer);
}

TEST(KeeperMessage, WhatALaterVersionAddsIsIgnored) {
  EXPECT_EQ(ParseRequest(PrintRequest(kStart) + "more"), Request(kStart));
  EXPECT_EQ(ParseAnswer(PrintAnswer(kLimits) + "more"), Answer(kLimits));
}

TEST(KeeperMessage, EveryMessageThatIsCutShortIsRefused) {
  for (const std::string& bytes : {PrintRequest(kStart), PrintRequest(Hello()), PrintAnswer(kLimits)}) {
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_FALSE(ParseRequest(bytes.substr(0, size))) << size;
      EXPECT_FALSE(ParseAnswer(bytes.substr(0, size))) << size;
    }
  }
}

TEST(KeeperMessage, GarbageIsRefused) {
  EXPECT_EQ(ParseRequest("").error().code, Code::kInvalidArgument);
  EXPECT_EQ(ParseRequest("GET / HTTP/1.1\r\n\r\n").error().code, Code::kUnimplemented);
  EXPECT_EQ(ParseRequest("\1\0TYKQ\1\0\1\0"s).error().code, Code::kInvalidArgument) << "another's Hello";
  EXPECT_EQ(ParseRequest("\3\0\xFF\xFF\xFF\xFF"s).error().code, Code::kInvalidArgument);
  EXPECT_EQ(ParseRequest("\3\0\0\0\0\0\0\0\0\0\xFF\xFF\xFF\xFF"s).error().code, Code::kInvalidArgument);
  EXPECT_EQ(ParseAnswer("\x84\0"s).error().code, Code::kUnimplemented);
}

TEST(KeeperMessage, GroupNames) {
  for (const char* good : {"a", "trainyard-01.7-master-replica-0-1", "A_b"})
    EXPECT_TRUE(IsGroupName(good)) << good;
  for (const char* bad : {"", ".", "..", ".a", "a/b", "a b", "a\n"}) EXPECT_FALSE(IsGroupName(bad)) << bad;
  EXPECT_FALSE(IsGroupName(std::string(201, 'a')));
}

}  // namespace
}  // namespace trainyard::keeper
