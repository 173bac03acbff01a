#include "net/access/session_cookie.h"

#include <gtest/gtest.h>

namespace trainyard::access::session_cookie_test {
namespace {

http::Request RequestOf(std::string host, std::string cookie, http::Method method = http::Method::kGet) {
  http::Request request;
  request.method = method;
  request.host = std::move(host);
  request.scheme = "http";
  if (!cookie.empty()) request.headers.Set("Cookie", std::move(cookie));
  return request;
}

struct Row {
  const char* name;
  const char* host;
  const char* cookie;
  const char* token;
};
class SessionTokenTest : public testing::TestWithParam<Row> {};

TEST_P(SessionTokenTest, IsThatOfThisServer) {
  EXPECT_EQ(SessionToken(RequestOf(GetParam().host, GetParam().cookie)), GetParam().token);
}

INSTANTIATE_TEST_SUITE_P(
    Cookies, SessionTokenTest,
    testing::Values(Row{"none", "h:8470", "", ""},
                    Row{"own", "h:8470", "trainyard-session-8470=ty_a", "ty_a"},
                    Row{"among_others", "h:8470", "a=b; trainyard-session-8470=ty_a;c=d", "ty_a"},
                    Row{"of_another_port", "h:8470", "trainyard-session-8471=ty_a", ""},
                    Row{"of_a_longer_port", "h:847", "trainyard-session-8470=ty_a", ""},
                    Row{"without_a_port", "yard.example", "trainyard-session=ty_a", "ty_a"},
                    Row{"ipv6", "[::1]:8470", "trainyard-session-8470=ty_a", "ty_a"},
                    Row{"ipv6_without_a_port", "[::1]", "trainyard-session=ty_a", "ty_a"},
                    Row{"empty", "h:8470", "trainyard-session-8470=", ""},
                    Row{"malformed", "h:8470", ";;=;trainyard-session-8470", ""}),
    [](const auto& row) { return row.param.name; });

TEST(SessionCookieTest, OfAnEncryptedServerIsNoOther) {
  http::Request request = RequestOf("h:8443", "trainyard-session-8443=ty_a");
  request.scheme = "https";
  EXPECT_EQ(SessionToken(request), "") << "a page by http can set this one";
  request.headers.Set("Cookie", "trainyard-session-8443=ty_a; __Host-trainyard-session-8443=ty_b");
  EXPECT_EQ(SessionToken(request), "ty_b");
}

TEST(SessionCookieTest, TwoOfItsNameAreRefused) {
  const auto twice =
      SessionToken(RequestOf("h:8470", "trainyard-session-8470=ty_a; b=c; trainyard-session-8470=ty_b"));
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().code, Code::kUnauthenticated);
}

TEST(SessionCookieTest, IsEnoughForReadsAlone) {
  EXPECT_TRUE(IsPlainRead(RequestOf("h", "", http::Method::kGet)));
  EXPECT_TRUE(IsPlainRead(RequestOf("h", "", http::Method::kHead)));
  for (const http::Method method :
       {http::Method::kPost, http::Method::kPut, http::Method::kPatch, http::Method::kDelete})
    EXPECT_FALSE(IsPlainRead(RequestOf("h", "", method)));
  http::Request shell = RequestOf("h", "", http::Method::kGet);
  shell.headers.Set("Upgrade", "websocket");
  EXPECT_FALSE(IsPlainRead(shell));
}

TEST(SessionCookieTest, IsSentToThisServerAlone) {
  http::Request request = RequestOf("yard.example", "");
  EXPECT_EQ(PrintSessionCookie(request, "ty_a", std::chrono::seconds(60)),
            "trainyard-session=ty_a; Path=/; HttpOnly; SameSite=Strict; Max-Age=60");
  request.scheme = "https";
  EXPECT_EQ(PrintSessionCookie(request, "ty_a", std::chrono::seconds(60)),
            "__Host-trainyard-session=ty_a; Path=/; HttpOnly; SameSite=Strict; Max-Age=60; Secure");
  EXPECT_EQ(PrintNoSessionCookie(request),
            "__Host-trainyard-session=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0; Secure");
}

}  // namespace
}  // namespace trainyard::access::session_cookie_test
