#pragma once

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/async/testing/temporary_folder.h"
#include "stores/identity/identities.h"

namespace trainyard::identity {

class SettableClock final : public Clock {
 public:
  [[nodiscard]] SysTime Now() const override { return now; }
  [[nodiscard]] std::int64_t Seconds() const {
    return std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count();
  }
  SysTime now{std::chrono::seconds{1'700'000'000}};
};

/// Identities on a temporary file.
class IdentitiesTest : public testing::Test {
 protected:
  IdentitiesTest() { Restart(); }

  /// Opens them again from the file.
  void Restart() {
    identities_.reset();
    auto opened = Identities::Open(loop_.get_executor(), clock_,
                                   {.path = folder_.path() + "/access.db",
                                    .default_project = "home",
                                    .projects_of_jobs = [this] { return Jobs(projects_of_jobs_); }});
    ASSERT_TRUE(opened) << opened.error().message;
    identities_ = *std::move(opened);
  }

  /// Runs the loop until the answer is there.
  template <class T>
  T Ask(boost::asio::awaitable<T> question) {
    std::optional<T> answer;
    auto keep = [&answer](std::exception_ptr error, T value) {
      if (error) std::rethrow_exception(error);
      answer = std::move(value);
    };
    boost::asio::co_spawn(loop_, std::move(question), std::move(keep));
    loop_.restart();
    loop_.run();
    return *std::move(answer);
  }

  std::string Account(const std::string& id = "trainer", const std::string& project = "p") {
    auto made = Ask(identities_->CreateServiceAccount(project, id, "Trainer"));
    EXPECT_TRUE(made) << made.error().message;
    return made ? made->email() : "";
  }
  std::string Token(const std::string& principal, std::optional<std::chrono::seconds> life = {}) {
    auto made =
        Ask(identities_->MakeToken({.principal = principal, .life = life, .description = "", .issuer = ""}));
    EXPECT_TRUE(made) << made.error().message;
    return made ? made->text : "";
  }
  Result<Login> Check(const std::string& token) { return Ask(identities_->Check(token, own_)); }
  /// Why a credential is refused; empty: it is accepted.
  std::string Refusal(const std::string& token) {
    const Result<Login> login = Check(token);
    if (login) return "";
    EXPECT_EQ(login.error().code, Code::kUnauthenticated);
    return login.error().message;
  }

  using Jobs = Result<std::vector<std::string>>;

  std::vector<std::string> projects_of_jobs_;
  const TemporaryFolder folder_;
  SettableClock clock_;
  boost::asio::io_context loop_{1};
  std::vector<std::string> own_{"https://yard.example:8443"};
  std::unique_ptr<Identities> identities_;
};

}  // namespace trainyard::identity
