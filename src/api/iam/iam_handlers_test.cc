#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/iam/testing/identity_api_fixture.h"
#include "base/text/base64.h"
#include "rules/cluster/project_number.h"

namespace trainyard::api::iam_handlers_test {
namespace {

using http::Method;
using iam::Resource;
using testing::HasSubstr;

constexpr char kEmail[] = "trainer@p.iam.gserviceaccount.com";
constexpr char kAnn[] = "user:ann@example.com";
const std::string kAccounts = "/v1/projects/p/serviceAccounts";
const std::string kAccount = std::string("/v1/projects/-/serviceAccounts/") + kEmail;

class IamHandlers : public IdentityApiTest {
 protected:
  Answer CreateAccount() {
    return Post(
        kAccounts,
        R"({"accountId": "trainer", "serviceAccount": {"displayName": "Trains", "description": "d"}})");
  }
};

TEST_F(IamHandlers, AccountsAsGcloudAsksForThem) {
  const Answer made = CreateAccount();
  EXPECT_EQ(made.status, 200) << made.text;
  EXPECT_EQ(made.Text("/name"), std::string("projects/p/serviceAccounts/") + kEmail);
  EXPECT_EQ(made.Text("/email"), kEmail);
  EXPECT_EQ(made.Text("/projectId"), "p");
  EXPECT_EQ(made.Text("/displayName"), "Trains");
  EXPECT_EQ(made.Text("/uniqueId").size(), 21U);
  EXPECT_EQ(CreateAccount().status, 409);
  EXPECT_EQ(Get(kAccounts + "?pageSize=100").Text("/accounts/0/email"), kEmail);
  EXPECT_EQ(Get(kAccount).json, made.json);
  EXPECT_EQ(Get("/v1/projects/p/serviceAccounts/" + made.Text("/uniqueId")).json, made.json);
  EXPECT_EQ(Get("/v1/projects/q/serviceAccounts/" + std::string(kEmail)).status, 404);
  EXPECT_EQ(Get("/v1/projects/-/serviceAccounts").status, 400) << "a list is of one project";
  EXPECT_EQ(Call(Method::kDelete, kAccount).text, "{}\n");
  EXPECT_EQ(Get(kAccount).status, 404);
}

TEST_F(IamHandlers, AccountsAreChanged) {
  CreateAccount();
  EXPECT_EQ(
      Call(Method::kPatch, kAccount,
           R"({"serviceAccount": {"displayName": "New", "description": "x"}, "updateMask": "displayName"})")
          .Text("/displayName"),
      "New");
  EXPECT_EQ(Get(kAccount).Text("/description"), "d");
  EXPECT_EQ(Call(Method::kPatch, kAccount, R"({"serviceAccount": {}, "updateMask": "email"})").status, 400);
  EXPECT_EQ(Call(Method::kPatch, kAccount, R"({"serviceAccount": {}})").status, 400);
  EXPECT_EQ(Call(Method::kPut, kAccount, R"({"displayName": "Newer"})").Text("/displayName"), "Newer");
  EXPECT_EQ(Post(kAccount + ":disable", "{}").status, 200);
  EXPECT_EQ(Get(kAccount).At("/disabled")->as_bool(), true);
  EXPECT_EQ(Post(kAccount + ":enable", "").status, 200);
  EXPECT_EQ(Get(kAccount).At("/disabled"), nullptr);
}

TEST_F(IamHandlers, KeysComeWithTheirFileOnce) {
  CreateAccount();
  const Answer made = Post(kAccount + "/keys", R"({"privateKeyType": "TYPE_GOOGLE_CREDENTIALS_FILE"})");
  ASSERT_EQ(made.status, 200) << made.text;
  const auto file = boost::json::parse(text::FromBase64(made.Text("/privateKeyData")).value());
  EXPECT_EQ(file.at("client_email"), kEmail);
  EXPECT_EQ(file.at("token_uri"), "https://yard:8443/token");
  const std::string id(file.at("private_key_id").as_string());
  EXPECT_EQ(made.Text("/name"), std::string("projects/p/serviceAccounts/") + kEmail + "/keys/" + id);
  const Answer list = Get(kAccount + "/keys?keyTypes=USER_MANAGED");
  EXPECT_EQ(list.Text("/keys/0/name"), made.Text("/name"));
  EXPECT_THAT(list.text, testing::Not(HasSubstr("privateKeyData")));
  EXPECT_EQ(Get(kAccount + "/keys?keyTypes=SYSTEM_MANAGED").text, "{}\n");
  EXPECT_EQ(Post(kAccount + "/keys/" + id + ":disable", "{}").status, 200);
  EXPECT_EQ(Get(kAccount + "/keys/" + id).At("/disabled")->as_bool(), true);
  EXPECT_EQ(Call(Method::kDelete, kAccount + "/keys/" + id).status, 200);
  EXPECT_EQ(Get(kAccount + "/keys/" + id).status, 404);
  EXPECT_EQ(Post(kAccount + "/keys", R"({"privateKeyType": "TYPE_PKCS12_FILE"})").status, 400);
  EXPECT_EQ(Post(kAccount + "/keys", R"({"keyAlgorithm": "KEY_ALG_RSA_1024"})").status, 400);
}

TEST_F(IamHandlers, PoliciesOfAccountsAndProjects) {
  CreateAccount();
  for (const std::string& resource : {kAccount, std::string("/v1/projects/p")}) {
    const Answer before = Post(resource + ":getIamPolicy?options.requestedPolicyVersion=3", "");
    EXPECT_EQ(before.Text("/etag"), "ACAB");
    const std::string set =
        R"({"policy": {"version": 3, "etag": ")" + before.Text("/etag") +
        R"(", "bindings": [{"role": "roles/viewer", "members": ["user:ann@example.com"]}]}})";
    const Answer after = Post(resource + ":setIamPolicy", set);
    EXPECT_EQ(after.status, 200) << after.text;
    EXPECT_EQ(Post(resource + ":setIamPolicy", set).status, 409) << "the etag is the old one";
    EXPECT_EQ(Post(resource + ":getIamPolicy", R"({"options": {"requestedPolicyVersion": 3}})").json,
              after.json);
    EXPECT_EQ(after.Text("/bindings/0/members/0"), kAnn);
  }
  EXPECT_EQ(Get(kAccount + ":getIamPolicy?options.requestedPolicyVersion=3").status, 200);
  EXPECT_EQ(Post("/v1/projects/-:getIamPolicy", "").status, 400);
  EXPECT_EQ(Post("/v1/projects/p:setIamPolicy", "{}").status, 400);
}

TEST_F(IamHandlers, PermissionsAreTheCallersOwn) {
  const std::string asked = R"({"permissions": ["ml.jobs.create", "ml.jobs.cancel"]})";
  const std::string path = "/v1/projects/p:testIamPermissions";
  EXPECT_EQ(Post(path, asked).At("/permissions")->as_array().size(), 2U) << "authentication is off";
  EXPECT_EQ(Post(path, asked, kAnn).text, "{}\n");
  Bind(Resource::Project("p"), "roles/ml.developer", kAnn);
  EXPECT_EQ(Post(path, asked, kAnn).json, boost::json::parse(R"({"permissions": ["ml.jobs.create"]})"));
  EXPECT_EQ(Post(kAccount + ":testIamPermissions", asked, kAnn).text, "{}\n") << "there is no such account";
  EXPECT_EQ(Post(path, R"({"permissions": ["ml.jobs.*"]})", kAnn).status, 400);
}

TEST_F(IamHandlers, RolesAreShown) {
  const Answer role = Get("/v1/roles/ml.developer");
  EXPECT_EQ(role.Text("/name"), "roles/ml.developer");
  EXPECT_THAT(role.text, HasSubstr("\"ml.jobs.create\""));
  EXPECT_EQ(Get("/v1/roles/none").status, 404);
  EXPECT_EQ(Get("/v1/roles?pageSize=1000").At("/roles/0/includedPermissions"), nullptr);
  EXPECT_NE(Get("/v1/roles?view=FULL").At("/roles/0/includedPermissions"), nullptr);
  const std::string name = R"({"fullResourceName": "//cloudresourcemanager.googleapis.com/projects/p"})";
  EXPECT_THAT(Post("/v1/permissions:queryTestablePermissions", name).text, HasSubstr("ml.jobs.create"));
}

TEST_F(IamHandlers, ProjectsAreThoseThatTheCallerSees) {
  Bind(Resource::Project("p"), "roles/ml.developer", kAnn);
  Bind(Resource::Project("q"), "roles/viewer", "user:bob@example.com");
  Bind(Resource::Project("owned"), "roles/ml.jobOwner", "user:cid@example.com");
  EXPECT_EQ(Get("/v1/projects").At("/projects")->as_array().size(), 5U) << "home, of-a-job, owned, p, q";
  EXPECT_EQ(Get("/v1/projects", "user:cid@example.com").Text("/projects/0/projectId"), "owned")
      << "its role does not let it get the project, but create jobs in it";
  const Answer own = Get("/v1/projects?filter=lifecycleState:ACTIVE&pageSize=500", kAnn);
  ASSERT_EQ(own.At("/projects")->as_array().size(), 1U) << own.text;
  EXPECT_EQ(own.Text("/projects/0/projectId"), "p");
  EXPECT_EQ(own.Text("/projects/0/projectNumber"), std::to_string(identities_->NumberOf("p")));
  EXPECT_EQ(own.Text("/projects/0/lifecycleState"), "ACTIVE");
  EXPECT_EQ(Get("/v1/projects/p").json, *own.At("/projects/0"));
  const Answer first = Get("/v1/projects?pageSize=4");
  EXPECT_EQ(first.Text("/nextPageToken"), "p");
  EXPECT_EQ(Get("/v1/projects?pageSize=4&pageToken=p").Text("/projects/0/projectId"), "q");
  EXPECT_EQ(Get("/v1/projects?filter=(").status, 400);
}

TEST_F(IamHandlers, ServicesAreOn) {
  const Answer enabled = Post("/v1/projects/p/services/ml.googleapis.com:enable", "{}");
  EXPECT_EQ(enabled.At("/done")->as_bool(), true);
  EXPECT_EQ(Get("/v1/" + enabled.Text("/name")).At("/done")->as_bool(), true);
  EXPECT_EQ(Get("/v1/operations/other").status, 404);
  const Answer batch = Post("/v1/projects/p/services:batchEnable",
                            R"({"serviceIds": ["ml.googleapis.com", "compute.googleapis.com"]})");
  EXPECT_EQ(batch.Text("/response/services/1/state"), "ENABLED");
  EXPECT_EQ(Post("/v1/projects/p/services/bigquery.googleapis.com:enable", "").status, 404);
  EXPECT_EQ(Post("/v1/projects/p/services:batchEnable", "{}").status, 400);
  EXPECT_EQ(Get("/v1/projects/p/services/ml.googleapis.com").Text("/config/name"), "ml.googleapis.com");
  EXPECT_EQ(Get("/v1/projects/p/services?filter=state:ENABLED").Text("/services/0/state"), "ENABLED");
  EXPECT_EQ(Get("/v1/projects/p/services?filter=state:DISABLED").text, "{}\n");
  const Answer identity =
      Post("/v1beta1/projects/p/services/ml.googleapis.com:generateServiceIdentity", "{}");
  EXPECT_EQ(identity.Text("/response/email"), cluster::ServiceAccount(identities_->NumberOf("p")));
  EXPECT_EQ(identity.Text("/response/@type"),
            "type.googleapis.com/google.api.serviceusage.v1beta1.ServiceIdentity");
}

TEST_F(IamHandlers, TokensOfAccounts) {
  CreateAccount();
  Bind(Resource::ServiceAccount("p", kEmail), "roles/iam.serviceAccountTokenCreator", kAnn);
  const std::string path = kAccount + ":generateAccessToken";
  const Answer made = Post(path, R"({"delegates": null, "scope": ["x"], "lifetime": "3600s"})", kAnn);
  ASSERT_EQ(made.status, 200) << made.text;
  EXPECT_EQ(made.Text("/expireTime"), "2023-11-14T23:13:20Z") << "no fraction";
  EXPECT_EQ(identities_->CheckToken(made.Text("/accessToken"))->principal,
            std::string("serviceAccount:") + kEmail);
  EXPECT_EQ(identities_->Tokens("")[0].issuer(), kAnn);
  EXPECT_EQ(Post(path, R"({"lifetime": "3601s"})").status, 400);
  EXPECT_EQ(Post(path, R"({"lifetime": "0s"})").status, 400);
  EXPECT_EQ(Post(path, R"({"delegates": ["x"]})").status, 400);
  EXPECT_EQ(
      Post("/v1/projects/-/serviceAccounts/no@p.iam.gserviceaccount.com:generateAccessToken", "{}").status,
      404);
  const Answer id = Post(kAccount + ":generateIdToken", R"({"audience": "https://x", "includeEmail": true})");
  ASSERT_EQ(id.status, 200) << id.text;
  const std::string token = id.Text("/token");
  const std::size_t dot = token.find('.');
  const auto claims = boost::json::parse(
      text::FromBase64(token.substr(dot + 1, token.rfind('.') - dot - 1), text::Base64Form::kUrlBare)
          .value());
  EXPECT_EQ(claims.at("email"), kEmail);
  EXPECT_EQ(claims.at("iss"), "https://yard:8443");
  EXPECT_EQ(Post(kAccount + ":generateIdToken", "{}").status, 400);
}

}  // namespace
}  // namespace trainyard::api::iam_handlers_test
