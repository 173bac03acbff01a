#include "stores/identity/identities.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/sqlite/database.h"
#include "rules/cluster/project_number.h"
#include "stores/identity/jwt.h"
#include "stores/identity/testing/identities_fixture.h"

namespace trainyard::identity {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ServiceAccountsTest : public IdentitiesTest {};

TEST_F(ServiceAccountsTest, AreMadeFoundAndListed) {
  const auto made = Ask(identities_->CreateServiceAccount("p", "trainer", "Trains"));
  ASSERT_TRUE(made);
  EXPECT_EQ(made->email(), "trainer@p.iam.gserviceaccount.com");
  EXPECT_EQ(made->name(), "projects/p/serviceAccounts/trainer@p.iam.gserviceaccount.com");
  EXPECT_EQ(made->unique_id().size(), 21U);
  EXPECT_EQ(identities_->FindServiceAccount(made->unique_id())->email(), made->email());
  EXPECT_EQ(identities_->ServiceAccounts("p").size(), 1U);
  EXPECT_THAT(identities_->ServiceAccounts("q"), IsEmpty());
  EXPECT_EQ(Ask(identities_->CreateServiceAccount("p", "trainer", "")).error().code, Code::kAlreadyExists);
  EXPECT_EQ(Ask(identities_->CreateServiceAccount("p", "X", "")).error().field, "account_id");
  EXPECT_EQ(Ask(identities_->CreateServiceAccount("p", "reader", std::string(101, 'x'))).error().field,
            "service_account.display_name");
  EXPECT_EQ(identities_->FindServiceAccount("nobody@p.iam.gserviceaccount.com").error().code,
            Code::kNotFound);
  EXPECT_EQ(
      Ask(identities_->DescribeServiceAccount(made->email(), {.display_name = "New", .description = {}}))
          ->display_name(),
      "New");
  EXPECT_THAT(identities_->Projects(), ElementsAre("home", "p"));
}

TEST_F(ServiceAccountsTest, AProjectsOwnAccountIsThereUnmade) {
  const std::string email = cluster::ServiceAccount(identities_->NumberOf("home"));
  EXPECT_EQ(identities_->FindServiceAccount(email)->project_id(), "home");
  EXPECT_FALSE(identities_->FindServiceAccount(cluster::ServiceAccount(123'456'789'012)));
  EXPECT_TRUE(Check(Token("serviceAccount:" + email)));
  EXPECT_EQ(Ask(identities_->DeleteServiceAccount(email)).error().code, Code::kNotFound);
  EXPECT_EQ(Ask(identities_->CreateKey(email)).error().code, Code::kNotFound);
}

TEST_F(ServiceAccountsTest, NumbersAreGivenOutOnce) {
  const std::int64_t number = identities_->NumberOf("p");
  EXPECT_EQ(identities_->NumberOf("p"), number);
  EXPECT_NE(number, cluster::HashedNumber("p"));
  EXPECT_NE(identities_->NumberOf(std::to_string(number)), number) << "that is another's";
  Restart();
  EXPECT_EQ(identities_->NumberOf("p"), number);
  EXPECT_EQ(identities_->FindServiceAccount(cluster::ServiceAccount(number))->project_id(), "p");
}

TEST_F(ServiceAccountsTest, OlderDataDirectoriesKeepTheNumbersThatTheyHaveShown) {
  const std::string email = Account("trainer", "p");
  identities_.reset();
  {
    auto database = sqlite::Database::OpenAsItIs(folder_.path() + "/access.db");
    ASSERT_TRUE(database && database->Execute("DROP TABLE project_numbers; DROP TABLE deleted_accounts;"
                                              "DELETE FROM secrets; PRAGMA user_version = 1"));
  }
  projects_of_jobs_ = {"of-a-job", std::to_string(cluster::HashedNumber("p"))};
  Restart();
  for (int i = 0; i < 2; ++i, Restart()) {
    for (const char* project : {"home", "p", "of-a-job"})
      EXPECT_EQ(identities_->NumberOf(project), cluster::HashedNumber(project)) << project;
    EXPECT_NE(identities_->NumberOf(projects_of_jobs_[1]), cluster::HashedNumber("p"));
    EXPECT_NE(identities_->NumberOf("new"), cluster::HashedNumber("new"));
    EXPECT_TRUE(identities_->IsAccount(email, "")) << "of a record from then";
  }
}

TEST_F(ServiceAccountsTest, AnAccountIsNotALaterOneOfItsName) {
  const std::string email = Account();
  const std::string id = identities_->AccountId(email);
  EXPECT_TRUE(identities_->IsAccount(email, id));
  EXPECT_TRUE(identities_->IsAccount(email, ""));
  ASSERT_TRUE(Ask(identities_->DeleteServiceAccount(email)));
  const std::string none = identities_->AccountId(email);
  EXPECT_FALSE(identities_->IsAccount(email, id));
  ASSERT_EQ(Account(), email);
  for (int i = 0; i < 2; ++i, Restart()) {
    for (const std::string& other : {id, none, std::string()})
      EXPECT_FALSE(identities_->IsAccount(email, other)) << other;
    EXPECT_TRUE(identities_->IsAccount(email, identities_->AccountId(email)));
  }
  const std::string agent = cluster::ServiceAccount(identities_->NumberOf("p"));
  EXPECT_TRUE(identities_->IsAccount(agent, identities_->AccountId(agent)));
}

TEST_F(ServiceAccountsTest, ReadersOfNumbersWriteNone) {
  const std::int64_t shown = identities_->ShownNumber("nothing-names-it");
  const std::string agent = cluster::ServiceAccount(shown);
  EXPECT_TRUE(identities_->IsAccount(agent, identities_->AccountId(agent))) << "it can be bound";
  for (int i = 0; i < 20'000; ++i) static_cast<void>(identities_->ShownNumber("random-" + std::to_string(i)));
  EXPECT_EQ(identities_->NumberOf("nothing-names-it"), shown);
  Restart();
  EXPECT_EQ(identities_->ShownNumber("nothing-names-it"), shown);
}

TEST_F(ServiceAccountsTest, KeysAreBounded) {
  const std::string email = Account();
  for (int i = 0; i < Identities::kKeysMax; ++i) ASSERT_TRUE(Ask(identities_->CreateKey(email)));
  EXPECT_EQ(Ask(identities_->CreateKey(email)).error().code, Code::kResourceExhausted);
  const auto keys = identities_->Keys(email);
  ASSERT_EQ(keys->size(), 10U);
  const std::string& name = keys->at(0).name();
  ASSERT_TRUE(Ask(identities_->DeleteKey(email, name.substr(name.rfind('/') + 1))));
  EXPECT_EQ(Ask(identities_->DeleteKey(email, "none")).error().code, Code::kNotFound);
  EXPECT_EQ(identities_->Keys("x").error().code, Code::kNotFound);
  EXPECT_EQ(identities_->Keys(email)->size(), 9U);
}

TEST_F(ServiceAccountsTest, DeletionTakesEverythingWithIt) {
  const std::string email = Account();
  const std::string principal = "serviceAccount:" + email;
  const std::string token = Token(principal);
  ASSERT_TRUE(Ask(identities_->CreateKey(email)));
  const auto project = iam::Resource::Project("p");
  ASSERT_TRUE(Ask(identities_->AddBinding(project, "roles/ml.developer", principal)));
  ASSERT_TRUE(Ask(identities_->AddBinding(project, "roles/ml.developer", "user:ann@example.com")));
  ASSERT_TRUE(Ask(identities_->AddBinding(project, "roles/viewer", principal)));
  const auto account = iam::Resource::ServiceAccount("p", email);
  ASSERT_TRUE(Ask(identities_->AddBinding(account, "roles/iam.serviceAccountUser", "user:ann@example.com")));
  const std::string etag = identities_->Policy(project).etag();

  ASSERT_TRUE(Ask(identities_->DeleteServiceAccount(email)));
  for (int i = 0; i < 2; ++i, Restart()) {
    EXPECT_FALSE(Check(token));
    EXPECT_THAT(identities_->Tokens(""), IsEmpty());
    const iam::v1::Policy policy = identities_->Policy(project);
    ASSERT_EQ(policy.bindings_size(), 1);
    EXPECT_THAT(policy.bindings(0).members(), ElementsAre("user:ann@example.com"));
    EXPECT_NE(policy.etag(), etag);
  }
  Account();  // of the same name: another one
  EXPECT_FALSE(identities_->Grants(principal, "ml.jobs.create", project));
  EXPECT_THAT(identities_->Policy(account).bindings(), IsEmpty());
  EXPECT_THAT(*identities_->Keys(email), IsEmpty());
}

TEST_F(ServiceAccountsTest, ARestartChangesNothing) {
  const std::string email = Account();
  const std::string token = Token("serviceAccount:" + email);
  ASSERT_TRUE(Ask(identities_->CreateKey(email)));
  ASSERT_TRUE(Ask(identities_->SetServiceAccountDisabled(email, true)));
  ASSERT_TRUE(Ask(identities_->SetServiceAccountDisabled(email, false)));
  ASSERT_TRUE(Ask(identities_->SetBucketProject("b", "q")));
  ASSERT_TRUE(
      Ask(identities_->AddBinding(iam::Resource::Bucket("b"), "roles/storage.objectAdmin", "user:b@x.org")));
  const auto account = identities_->FindServiceAccount(email)->SerializeAsString();
  const auto key = identities_->Keys(email)->at(0).SerializeAsString();
  const auto policy = identities_->Policy(iam::Resource::Bucket("b")).SerializeAsString();
  const auto installation = identities_->Policy(iam::Resource::Installation()).SerializeAsString();
  Restart();
  EXPECT_EQ(identities_->FindServiceAccount(email)->SerializeAsString(), account);
  EXPECT_EQ(identities_->Keys(email)->at(0).SerializeAsString(), key);
  EXPECT_EQ(identities_->Policy(iam::Resource::Bucket("b")).SerializeAsString(), policy);
  EXPECT_EQ(identities_->Policy(iam::Resource::Installation()).SerializeAsString(), installation);
  EXPECT_EQ(identities_->ProjectOf("b"), "q");
  EXPECT_TRUE(Check(token));
}

TEST_F(ServiceAccountsTest, TokensAreBounded) {
  const auto make = [this](const std::string& principal, std::optional<std::chrono::seconds> life) {
    return Ask(
        identities_->MakeToken({.principal = principal, .life = life, .description = "", .issuer = ""}));
  };
  EXPECT_EQ(make("ann", {}).error().code, Code::kInvalidArgument);
  EXPECT_EQ(make("group:g@example.com", {}).error().code, Code::kInvalidArgument);
  EXPECT_EQ(make("user:ann@example.com", std::chrono::seconds(0)).error().field, "lifetime");
  EXPECT_EQ(make("serviceAccount:no@p.iam.gserviceaccount.com", {}).error().code, Code::kNotFound);
  for (int i = 0; i < Identities::kTokensMax; ++i)
    ASSERT_TRUE(make("user:ann@example.com", std::chrono::seconds(60)));
  EXPECT_EQ(make("user:ann@example.com", {}).error().code, Code::kResourceExhausted);
  EXPECT_TRUE(make("user:bob@example.com", {}));
  clock_.now += std::chrono::seconds(60);
  EXPECT_TRUE(make("user:ann@example.com", {})) << "expired ones do not count";
}

TEST_F(ServiceAccountsTest, AnIdentityTokenIsTheServers) {
  const std::string email = Account();
  const auto make = [&] {
    return Ask(identities_->MakeIdToken({.email = email,
                                         .audience = "https://service",
                                         .include_email = true,
                                         .issuer = "https://yard.example:8443"}));
  };
  const Result<std::string> token = make();
  ASSERT_TRUE(token) << token.error().message;
  const Result<Jwt> jwt = ParseJwt(*token);
  ASSERT_TRUE(jwt) << jwt.error().message;
  EXPECT_EQ(jwt->issuer, "https://yard.example:8443");
  EXPECT_EQ(jwt->audience, "https://service");
  EXPECT_EQ(*jwt->expires_at - *jwt->issued_at, 3'600);
  Restart();
  EXPECT_EQ(make(), token) << "the key is kept, and RS256 has no chance in it";
  EXPECT_FALSE(Check(*token)) << "it is no credential here";
  EXPECT_EQ(Ask(identities_->MakeIdToken({.email = email})).error().field, "audience");
}

}  // namespace
}  // namespace trainyard::identity
