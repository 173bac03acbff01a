#include "replica/keeper/keeper_message.h"

#include <gtest/gtest.h>

namespace trainyard::keeper {
namespace {

using std::string_literals::operator""s;

const replica::LimitSupport kSupport{
    .version = 2, .group = "/g", .missing = {{.what = "CPUs", .absent = true, .why = "no"}}};

Request Start() {
  StartRequest start;
  start.set_name("a-1");
  start.set_program("/bin/p");
  start.add_arguments("p");
  start.add_arguments("x");
  start.add_environment("A=b\xFF");
  start.add_numbers(1);
  start.add_numbers(3);
  return AsRequest(std::move(start));
}

Answer Limits() {
  Answer answer;
  *answer.mutable_limits() = AsAnswer(kSupport, "do");
  return answer;
}

/// Servers and keepers of other versions send and expect exactly these bytes: they are never changed.
TEST(KeeperMessage, RequestsAreTheseBytes) {
  Hello hello = Greeting();
  hello.set_version_max(2);
  EXPECT_EQ(AsRequest(hello).SerializeAsString(), "\x0A\4\x08\1\x10\2"s);
  LimitsRequest limits;
  limits.set_installation("ty");
  EXPECT_EQ(AsRequest(limits).SerializeAsString(), "\x12\4\x0A\2ty"s);
  EXPECT_EQ(Start().SerializeAsString(),
            "\x1A\x1D\x0A\3a-1\x12\6/bin/p"
            "\x1A\1p\x1A\1x\"\4A=b\xFF"
            "*\2\1\3"s);
}

TEST(KeeperMessage, AnswersAreTheseBytes) {
  Answer answer;
  answer.mutable_hello()->set_version(1);
  answer.mutable_hello()->set_instance(0x0102030405060708);
  EXPECT_EQ(answer.SerializeAsString(), "\x0A\x0B\x08\1\x11\x08\x07\x06\x05\x04\x03\x02\x01"s);
  EXPECT_EQ(Limits().SerializeAsString(),
            "\x12\x18\x08\2\x12\2/g"
            "\x1A\x0C\x0A\4CPUs\x10\1\x1A\2no"
            "\"\2do"s);
  answer.mutable_started()->set_pid(300);
  EXPECT_EQ(answer.SerializeAsString(), "\x1A\3\x08\xAC\2"s);
  answer.mutable_refused()->set_code(14);
  answer.mutable_refused()->set_message("no");
  EXPECT_EQ(answer.SerializeAsString(), "\"\6\x08\x0E\x12\2no"s);
}

TEST(KeeperMessage, WhatIsPrintedIsParsed) {
  EXPECT_EQ(ParseRequest(Start().SerializeAsString())->SerializeAsString(), Start().SerializeAsString());
  EXPECT_EQ(SupportOf(ParseAnswer(Limits().SerializeAsString())->limits()), kSupport);
}

TEST(KeeperMessage, WhatALaterVersionAddsIsIgnored) {
  EXPECT_EQ(ParseRequest(Start().SerializeAsString() + "\x7A\4more")->start().name(), "a-1");
  EXPECT_EQ(ParseAnswer(Limits().SerializeAsString() + "\x7A\4more")->limits().advice(), "do");
}

TEST(KeeperMessage, EveryMessageThatIsCutShortIsRefused) {
  for (const std::string& bytes : {Start().SerializeAsString(), AsRequest(Greeting()).SerializeAsString(),
                                   Limits().SerializeAsString()}) {
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_FALSE(ParseRequest(bytes.substr(0, size))) << size;
      EXPECT_FALSE(ParseAnswer(bytes.substr(0, size))) << size;
    }
  }
}

TEST(KeeperMessage, GarbageIsRefused) {
  EXPECT_EQ(ParseRequest("").error().code, Code::kUnimplemented);
  EXPECT_EQ(ParseRequest("GET / HTTP/1.1\r\n\r\n").error().code, Code::kInvalidArgument);
  EXPECT_EQ(ParseRequest("\x1A\x7F").error().code, Code::kInvalidArgument);
  EXPECT_EQ(ParseRequest("\x7A\x05later").error().code, Code::kUnimplemented);
  EXPECT_EQ(ParseAnswer("\x7A\x05later").error().code, Code::kUnimplemented);
}

TEST(KeeperMessage, GroupNames) {
  for (const char* good : {"a", "trainyard-01.7-master-replica-0-1", "A_b"})
    EXPECT_TRUE(IsGroupName(good)) << good;
  for (const char* bad : {"", ".", "..", ".a", "a/b", "a b", "a\n"}) EXPECT_FALSE(IsGroupName(bad)) << bad;
  EXPECT_FALSE(IsGroupName(std::string(201, 'a')));
}

}  // namespace
}  // namespace trainyard::keeper
