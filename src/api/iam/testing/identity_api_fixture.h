#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <memory>
#include <string>
#include <variant>

#include "api/iam/identity_handlers.h"
#include "base/async/testing/temporary_folder.h"
#include "base/wire/error_body.h"
#include "net/access/caller.h"
#include "net/http/uri.h"
#include "rules/iam/refusal.h"

namespace trainyard::api {

class SettableClock final : public Clock {
 public:
  [[nodiscard]] SysTime Now() const override { return now; }
  SysTime now{std::chrono::seconds{1'700'000'000}};
};

class TextBody final : public http::BodyReader {
 public:
  explicit TextBody(std::string text) : text_(std::move(text)) {}
  http::asio::awaitable<Result<std::size_t>> ReadSome(std::span<std::byte> buffer) override {
    const std::size_t size = std::min(buffer.size(), text_.size());
    std::ranges::copy_n(reinterpret_cast<const std::byte*>(text_.data()), static_cast<std::ptrdiff_t>(size),
                        buffer.begin());
    text_.erase(0, size);
    co_return size;
  }

 private:
  std::string text_;
};

/// A logged-in caller, with the rights that policies give it.
class TestCaller final : public access::Caller {
 public:
  TestCaller(const identity::Identities& identities, iam::Login login)
      : identities_(identities), login_(std::move(login)) {}
  [[nodiscard]] const iam::Login& login() const noexcept override { return login_; }
  [[nodiscard]] boost::asio::awaitable<bool> StillMay() const override {
    co_return identities_.StillHolds(login_);
  }
  boost::asio::awaitable<Status> Require(std::string permission, iam::Resource resource) const override {
    if (identities_.Grants(principal(), permission, resource)) co_return Status{};
    co_return std::unexpected(iam::Refusal(principal(), permission, resource, true));
  }

 private:
  const identity::Identities& identities_;
  iam::Login login_;
};

/// The routes of identities on a temporary file, called without a server.
class IdentityApiTest : public testing::Test {
 protected:
  struct Answer {
    int status = 0;
    boost::json::value json;
    std::string text;

    /// A member by its JSON pointer; null: there is none.
    [[nodiscard]] const boost::json::value* At(const std::string& pointer) const {
      boost::system::error_code error;
      return json.find_pointer(pointer, error);
    }
    [[nodiscard]] std::string Text(const std::string& pointer) const {
      const boost::json::value* value = At(pointer);
      return value != nullptr && value->is_string() ? std::string(value->get_string()) : "(no text)";
    }
  };

  IdentityApiTest() {
    auto opened = identity::Identities::Open(
        loop_.get_executor(), clock_, {.path = folder_.path() + "/access.db", .default_project = "home"});
    TY_CHECK(opened.has_value());
    identities_ = *std::move(opened);
    const TokenNames names{.own_audiences = {"https://yard:8443"}, .server = "https://yard:8443"};
    AddRoutes(router_, IamRoutes(), kOutside | Where::kLogin,
              {Lend(*identities_), Lend<Clock>(clock_), Give(names), Give<MoreProjects>(More),
               Give(identity::KeyFileServer{.url = "https://yard:8443", .universe_domain = ""}),
               Give(TokenEndpoint{.identities = *identities_, .clock = clock_, .names = names})});
  }

  static boost::asio::awaitable<Result<std::vector<std::string>>> More() {
    co_return std::vector<std::string>{"of-a-job"};
  }

  template <class T>
  T Ask(boost::asio::awaitable<T> question) {
    std::optional<T> answer;
    boost::asio::co_spawn(loop_, std::move(question), [&answer](std::exception_ptr error, T value) {
      if (error) std::rethrow_exception(error);
      answer = std::move(value);
    });
    loop_.restart();
    loop_.run();
    return *std::move(answer);
  }

  /// Calls as `principal`; empty: without authentication.
  Answer Call(http::Method method, const std::string& target, const std::string& body = "",
              const std::string& principal = "", const std::string& token = "") {
    TextBody reader(body);
    http::Request request;
    request.method = method;
    request.target = target;
    request.scheme = "https";
    request.host = "asked:1";
    request.path = std::string(http::SplitTarget(target).path);
    request.query = http::ParseQuery(http::SplitTarget(target).query).value();
    request.body = &reader;
    if (!principal.empty())
      request.caller = std::make_shared<TestCaller>(
          *identities_, iam::Login{.principal = principal, .credential = "local account", .expires = {}});
    if (!token.empty()) request.headers.Set("Authorization", "Bearer " + token);
    const Result<const http::Handler*> handler = router_.Find(request);
    if (!handler) return Printed(handler.error());
    Result<http::Response> response = Ask((**handler)(request));
    if (!response) return Printed(response.error());
    const std::string text = std::get<std::string>(response->body);
    return {.status = response->status, .json = boost::json::parse(text), .text = text};
  }
  Answer Get(const std::string& target, const std::string& principal = "", const std::string& token = "") {
    return Call(http::Method::kGet, target, "", principal, token);
  }
  Answer Post(const std::string& target, const std::string& body, const std::string& principal = "") {
    return Call(http::Method::kPost, target, body, principal);
  }
  static Answer Printed(const Error& error) {
    const std::string text = wire::PrintErrorBody(error);
    return {.status = wire::HttpStatus(error.code), .json = boost::json::parse(text), .text = text};
  }

  void Bind(const iam::Resource& resource, const std::string& role, const std::string& member) {
    const Status bound = Ask(identities_->AddBinding(resource, role, member));
    ASSERT_TRUE(bound) << bound.error().message;
  }

  const TemporaryFolder folder_;
  SettableClock clock_;
  boost::asio::io_context loop_{1};
  std::unique_ptr<identity::Identities> identities_;
  http::Router router_;
};

}  // namespace trainyard::api
