#include "net/http/uri.h"

#include <gtest/gtest.h>

#include <string>

namespace trainyard::http {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

TEST(PercentDecode, Table) {
  EXPECT_EQ(PercentDecode("a%2Fb%20c+d%c3%A9"), "a/b c+d\xc3\xa9");
  EXPECT_EQ(PercentDecode(""), "");
  for (const char* bad : {"%", "%1", "%zz", "a%0", "%00", "%-1"}) {
    const auto decoded = PercentDecode(bad);
    ASSERT_FALSE(decoded) << bad;
    EXPECT_EQ(decoded.error().code, Code::kInvalidArgument);
  }
}

TEST(ParseQuery, Table) {
  EXPECT_EQ(ParseQuery(""), Pairs());
  EXPECT_EQ(ParseQuery("a=1&b=x%26y+z&&c&d==&a=2"),
            (Pairs{{"a", "1"}, {"b", "x&y z"}, {"c", ""}, {"d", "="}, {"a", "2"}}));
  EXPECT_FALSE(ParseQuery("a=%"));
}

TEST(SplitTarget, Table) {
  EXPECT_EQ(SplitTarget("/a?b=c?d").path, "/a");
  EXPECT_EQ(SplitTarget("/a?b=c?d").query, "b=c?d");
  EXPECT_EQ(SplitTarget("http://host:1/a?b").path, "/a");
  EXPECT_EQ(SplitTarget("http://host").path, "/");
  EXPECT_EQ(SplitTarget("HTTPS://host/a").authority, "host");
  for (const char* text : {"a/b://host/x", "://host/x", "#://host/x", "ftp://host/x"})
    EXPECT_EQ(SplitTarget(text).authority, "") << text;
  EXPECT_EQ(SplitTarget("/a?u=http://x/y").path, "/a");
  EXPECT_EQ(SplitTarget("/a?u=http://x/y").authority, "");
  EXPECT_EQ(SplitTarget("http://host:1/a?b").authority, "host:1");
  EXPECT_EQ(SplitTarget("http://host").authority, "host");
  EXPECT_EQ(SplitTarget("http://host?b").authority, "host");
}

}  // namespace
}  // namespace trainyard::http
