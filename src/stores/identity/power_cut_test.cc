#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "base/sqlite/testing/simulated_disk.h"
#include "stores/identity/identities.h"

/// Accounts, tokens and policies on a disk that loses what was not synced: after a power cut at any write, a
/// change that was answered is there. A right that was taken away does not come back.
namespace trainyard::identity::power_cut_test {
namespace {

constexpr char kAnn[] = "user:ann@example.com";

class FixedClock final : public Clock {
 public:
  [[nodiscard]] SysTime Now() const override { return SysTime(std::chrono::seconds(1'700'000'000)); }
};

class History {
 public:
  explicit History(unsigned seed) : disk_(seed) {}

  /// Changes until the disk is gone, after so many writes; then what was answered must be there.
  void Run(std::int64_t operations) {
    Open();
    disk_.FailAfter(operations);
    Change();
    identities_.reset();
    disk_.PowerCut();
    Open();
    Check();
  }

 private:
  void Open() {
    auto opened = Identities::Open(loop_.get_executor(), clock_,
                                   {.path = std::string(sqlite::SimulatedDisk::kFolder) + "access.db",
                                    .default_project = "home",
                                    .projects_of_jobs = [] { return Result<std::vector<std::string>>(); }});
    ASSERT_TRUE(opened) << opened.error().message;
    identities_ = *std::move(opened);
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

  void Change() {
    auto token =
        Ask(identities_->MakeToken({.principal = kAnn, .life = {}, .description = "", .issuer = ""}));
    if (!token) return;
    made_ = token->text;
    bound_ = Ask(identities_->AddBinding(project_, "roles/viewer", kAnn)).has_value();
    asked_to_revoke_ = true;
    revoked_ = Ask(identities_->RevokeToken(token->token.id())).has_value();
    if (!revoked_) return;
    iam::v1::SetIamPolicyRequest nobody;
    asked_to_unbind_ = true;
    unbound_ = Ask(identities_->SetPolicy(project_, nobody)).has_value();
  }

  void Check() {
    if (!made_.empty() && !asked_to_revoke_)
      EXPECT_TRUE(identities_->CheckToken(made_)) << "the token is lost";
    if (revoked_) EXPECT_FALSE(identities_->CheckToken(made_)) << "the token is back";
    const bool may = identities_->Grants(kAnn, "ml.jobs.get", project_);
    if (bound_ && !asked_to_unbind_) EXPECT_TRUE(may) << "the role is lost";
    if (unbound_) EXPECT_FALSE(may) << "the role is back";
  }

  const iam::Resource project_ = iam::Resource::Project("p");
  sqlite::SimulatedDisk disk_;
  FixedClock clock_;
  boost::asio::io_context loop_{1};
  std::unique_ptr<Identities> identities_;
  std::string made_;
  bool bound_ = false, asked_to_revoke_ = false, revoked_ = false, asked_to_unbind_ = false, unbound_ = false;
};

TEST(PowerCut, LosesNoChangeOfRightsThatWasAnswered) {
  constexpr int kOperationsMax = 60;  // more than all changes take
  for (int operations = 0; operations < kOperationsMax; ++operations) {
    SCOPED_TRACE(std::to_string(operations) + " operations of the disk");
    History(static_cast<unsigned>(operations)).Run(operations);
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace trainyard::identity::power_cut_test
