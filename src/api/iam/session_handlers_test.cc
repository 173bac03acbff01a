#include "api/iam/identity_handlers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "api/iam/testing/identity_api_fixture.h"
#include "net/access/failed_logins.h"

namespace trainyard::api {
namespace {

using std::chrono::seconds;

class SessionTest : public IdentityApiTest {
 protected:
  SessionTest() { Serve(router_, true); }

  void Serve(http::Router& router, bool auth) {
    std::vector<Route> rows;
    std::ranges::copy_if(IamRoutes(), std::back_inserter(rows),
                         [](const Route& row) { return row.rule.route.ends_with("/session"); });
    AddRoutes(router, rows, kOutside,
              {Give(Sessions{
                  .identities = *identities_,
                  .clock = clock_,
                  .auth = auth,
                  .own_audiences = {"https://yard:8443"},
                  .version = "1.2",
                  .secret_of = [](std::string_view token) { return "of " + std::string(token); },
                  .audit = [this](const access::AuditLine& line) { Audit(line); },
                  .newest_project = [](std::string principal) { return Newest(std::move(principal)); }})});
  }
  static boost::asio::awaitable<std::string> Newest(std::string principal) {
    co_return principal.empty() ? "everybodys" : "anns";
  }
  std::string TokenOf(std::optional<seconds> life = std::nullopt) {
    return Ask(identities_->MakeToken(
                   {.principal = "user:ann@example.com", .life = life, .description = "", .issuer = ""}))
        ->text;
  }
  /// "Create granted", "Get refused".
  std::vector<std::string> audited_;
  void Audit(const access::AuditLine& line) {
    const std::string method = line.method_name.substr(line.method_name.rfind('.') + 1);
    EXPECT_EQ(line.principal, line.is_granted ? "user:ann@example.com" : "");
    EXPECT_EQ(line.status, line.is_granted ? 200 : 401);
    audited_.push_back(method + (line.is_granted ? " granted" : " refused"));
  }
  /// The browser's request: its cookie, and the secret if it comes from the console's page.
  Result<http::Response> Send(http::Method method, const std::string& body, const std::string& cookie,
                              bool ours = true, const std::string& authorization = "") {
    TextBody reader(body);
    http::Request request;
    request.method = method;
    request.path = "/trainyard/v1/session";
    request.scheme = "https";
    request.host = "yard:8443";
    request.body = &reader;
    if (!authorization.empty()) request.headers.Set("Authorization", authorization);
    if (!cookie.empty()) request.headers.Set("Cookie", cookie);
    if (ours) request.headers.Set("X-Trainyard-Console", "of " + TokenIn(cookie));
    return Ask((**router_.Find(request))(request));
  }
  static std::string TokenIn(const std::string& cookie) { return cookie.substr(cookie.find('=') + 1); }
  static std::string CookieOf(const http::Response& response) {
    const std::string_view field = response.headers.Get("Set-Cookie");
    return std::string(field.substr(0, field.find(';')));
  }
  Answer Who(const std::string& cookie) {
    const Result<http::Response> response = Send(http::Method::kGet, "", cookie);
    const std::string text = std::get<std::string>(response->body);
    return {.status = response->status, .json = boost::json::parse(text), .text = text};
  }
  Result<http::Response> LogIn(const std::string& token) {
    return Send(http::Method::kPost, R"({"token": ")" + token + R"("})", "");
  }
};

TEST_F(SessionTest, BeginsWithATokenAndEnds) {
  EXPECT_EQ(Who("").Text("/principal"), "(no text)");
  EXPECT_EQ(Who("").Text("/defaultProject"), "(no text)") << "nobody is told anything";
  const std::string token = TokenOf();
  const Result<http::Response> in = LogIn(token);
  ASSERT_TRUE(in);
  EXPECT_TRUE(
      in->headers.Get("Set-Cookie").ends_with("; Path=/; HttpOnly; SameSite=Strict; Max-Age=604800; Secure"))
      << in->headers.Get("Set-Cookie");
  const std::string cookie = CookieOf(*in);
  EXPECT_EQ(cookie.find(token), std::string::npos) << "the browser has a token of its own";
  EXPECT_EQ(Who(cookie).Text("/principal"), "user:ann@example.com");
  EXPECT_EQ(Who(cookie).Text("/defaultProject"), "anns");
  EXPECT_FALSE(Send(http::Method::kDelete, "", cookie, false))
      << "no page of another origin logs anybody out";
  const Result<http::Response> out = Send(http::Method::kDelete, "", cookie);
  ASSERT_TRUE(out);
  EXPECT_NE(out->headers.Get("Set-Cookie").find("Max-Age=0"), std::string::npos);
  EXPECT_EQ(Who(cookie).Text("/principal"), "(no text)") << "the cookie is worth nothing now";
  EXPECT_TRUE(identities_->CheckToken(token)) << "the token that was shown is as good as before";
}

TEST_F(SessionTest, EndsWithTheTokenThatWasShown) {
  const std::string token = TokenOf(seconds(100));
  const std::string cookie = CookieOf(*LogIn(token));
  EXPECT_EQ(Who(cookie).Text("/principal"), "user:ann@example.com");
  const std::string id = identities_->CheckToken(token)->token_id;
  ASSERT_TRUE(Ask(identities_->RevokeToken(id)));
  EXPECT_EQ(Who(cookie).Text("/principal"), "(no text)");

  const std::string other = CookieOf(*LogIn(TokenOf(seconds(100))));
  clock_.now += seconds(101);
  EXPECT_EQ(Who(other).Text("/principal"), "(no text)");
}

TEST_F(SessionTest, IsGoodAsItsCookieAlone) {
  const std::string token = TokenOf();
  const Result<http::Response> in = LogIn(token);
  const std::string own = TokenIn(CookieOf(*in));
  EXPECT_EQ(boost::json::parse(std::get<std::string>(in->body)).at("secret").as_string(), "of " + own);
  EXPECT_EQ(Who(CookieOf(*in)).Text("/secret"), "(no text)") << "who only has the cookie is not told";
  EXPECT_FALSE(identities_->CheckToken(own)) << "it is no Bearer token";
  EXPECT_FALSE(LogIn(own)) << "nor good for another session, with a secret that one is told";
  EXPECT_EQ(Who("__Host-trainyard-session-8443=" + token).Text("/principal"), "(no text)")
      << "no other token is a cookie";
}

TEST_F(SessionTest, LeavesLinesOfLoginsAndOfRefusals) {
  const std::string cookie = CookieOf(*LogIn(TokenOf()));
  EXPECT_FALSE(LogIn("ty_nonsense"));
  Who(cookie);
  ASSERT_TRUE(Send(http::Method::kDelete, "", cookie));
  Who(cookie);
  Who("");
  const std::vector<std::string> expected{"Create granted", "Create refused", "Delete granted"};
  EXPECT_EQ(audited_, expected);
}

TEST_F(SessionTest, SlowsDownWhoTriesTokensByGet) {
  const auto begin = std::chrono::steady_clock::now();
  const auto asked = [this] { return Send(http::Method::kGet, "", "", true, "Bearer ty_nonsense"); };
  for (int i = 0; i <= access::FailedLogins::kFree; ++i) EXPECT_TRUE(asked());
  EXPECT_GE(std::chrono::steady_clock::now() - begin, access::FailedLogins::kPause);
  EXPECT_EQ(audited_.front(), "Get refused");
}

TEST_F(SessionTest, OfABrowserWithTwoCookiesSaysSo) {
  const std::string name = "__Host-trainyard-session-8443=";
  const auto refused =
      Send(http::Method::kPost, R"({"token": ")" + TokenOf() + R"("})", name + "a; " + name + "b");
  ASSERT_FALSE(refused) << "the cookie that it would get is one of three";
  EXPECT_EQ(refused.error().code, Code::kUnauthenticated);
}

TEST_F(SessionTest, RefusesWhatIsNoToken) {
  EXPECT_EQ(LogIn("").error(), InvalidArgument("token", "This field is required."));
  for (const char* token : {"ty_0123456789", "nonsense"}) {
    const Result<http::Response> refused = LogIn(token);
    ASSERT_FALSE(refused) << token;
    EXPECT_EQ(refused.error().code, Code::kUnauthenticated);
  }
}

TEST_F(SessionTest, IsNothingWhereNobodyIsAsked) {
  router_ = http::Router();
  Serve(router_, false);
  const Answer who = Who("");
  EXPECT_EQ(who.At("/authentication"), nullptr) << who.text;
  EXPECT_EQ(who.Text("/defaultProject"), "everybodys");
  EXPECT_EQ(who.Text("/version"), "1.2");
  EXPECT_FALSE(LogIn("whatever")->headers.Has("Set-Cookie"));
}

}  // namespace
}  // namespace trainyard::api
