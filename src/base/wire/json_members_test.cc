#include "base/wire/json_members.h"

#include <gtest/gtest.h>

namespace trainyard::wire {
namespace {

using Texts = std::vector<std::string>;

TEST(JsonMembers, AreEmptyIfTheyAreMissingOrOfAnotherKind) {
  const auto object = ParseJsonObject(
      R"({"text": "a", "number": 7, "real": 2.0, "flag": true, "null": null, "list": ["b", 1, "c"],
          "object": {"inner": "d"}})");
  ASSERT_TRUE(object);
  EXPECT_EQ(TextIn(*object, "text"), "a");
  EXPECT_EQ(NumberIn(*object, "number"), 7);
  EXPECT_EQ(NumberIn(*object, "real"), 2);
  EXPECT_TRUE(FlagIn(*object, "flag"));
  EXPECT_EQ(TextsIn(*object, "list"), (Texts{"b", "c"}));
  EXPECT_EQ(ListIn(*object, "list").size(), 3);
  EXPECT_EQ(TextIn(ObjectIn(*object, "object"), "inner"), "d");
  for (const char* other : {"missing", "null", "object", "list", "text"}) {
    EXPECT_EQ(NumberIn(*object, other), 0) << other;
    EXPECT_FALSE(FlagIn(*object, other)) << other;
  }
  EXPECT_EQ(TextIn(*object, "number"), "");
  EXPECT_TRUE(ObjectIn(*object, "list").empty());
  EXPECT_TRUE(ListIn(*object, "object").empty());
}

TEST(JsonMembers, ComeFromOneObjectOrList) {
  EXPECT_FALSE(ParseJsonObject("[]"));
  EXPECT_FALSE(ParseJsonObject("{} {}"));
  EXPECT_FALSE(ParseJsonList("{}"));
  EXPECT_EQ(ParseJsonList("[1, 2]")->size(), 2);
}

}  // namespace
}  // namespace trainyard::wire
