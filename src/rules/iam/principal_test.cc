#include "rules/iam/principal.h"

#include <gtest/gtest.h>

#include <string>

namespace trainyard::iam {
namespace {

struct Row {
  const char* name;
  std::string text;
  std::string principal;  ///< empty: refused
};

class PrincipalParse : public testing::TestWithParam<Row> {};

TEST_P(PrincipalParse, Decides) {
  const Result<std::string> principal = ParsePrincipal(GetParam().text);
  if (!GetParam().principal.empty()) {
    ASSERT_TRUE(principal) << principal.error().message;
    EXPECT_EQ(*principal, GetParam().principal);
    EXPECT_EQ(ParsePrincipal(*principal), principal) << "parsed again it is the same";
  } else {
    ASSERT_FALSE(principal) << *principal;
    EXPECT_EQ(principal.error().code, Code::kInvalidArgument);
    EXPECT_EQ(principal.error().field, "principal");
  }
}

const std::string kLongest = std::string(242, 'a') + "@example.com";

INSTANTIATE_TEST_SUITE_P(
    Rules, PrincipalParse,
    testing::Values(
        Row{"user", "user:ann@example.com", "user:ann@example.com"},
        Row{"upper_case", "user:Ann.Lee+x%y_z-1@Example.COM", "user:ann.lee+x%y_z-1@example.com"},
        Row{"service_account", "serviceAccount:t@p-1.iam.gserviceaccount.com",
            "serviceAccount:t@p-1.iam.gserviceaccount.com"},
        Row{"project_with_underscore", "serviceAccount:t@p_1.iam.gserviceaccount.com",
            "serviceAccount:t@p_1.iam.gserviceaccount.com"},
        Row{"one_label", "user:ann@lab", "user:ann@lab"},
        Row{"administrator", std::string(kAdministrator), std::string(kAdministrator)},
        Row{"longest", "user:" + kLongest, "user:" + kLongest}, Row{"too_long", "user:a" + kLongest, ""},
        Row{"empty", "", ""}, Row{"no_kind", "ann@example.com", ""},
        Row{"kind_of_other_case", "User:ann@example.com", ""}, Row{"group", "group:all@example.com", ""},
        Row{"domain", "domain:example.com", ""}, Row{"everybody", "allUsers", ""},
        Row{"no_email", "user:", ""}, Row{"no_domain", "user:ann", ""}, Row{"empty_domain", "user:ann@", ""},
        Row{"empty_local", "user:@example.com", ""}, Row{"two_ats", "user:a@b@c", ""},
        Row{"dot_at_end", "user:ann@example.com.", ""}, Row{"two_dots", "user:ann@a..b", ""},
        Row{"dash_in_front", "user:ann@-a.b", ""}, Row{"a_flag", "user:--all@example.com", ""},
        Row{"blank", "user:ann lee@example.com", ""}, Row{"line_end", "user:ann\n@example.com", ""},
        Row{"shell", "user:$(id)@example.com", ""}, Row{"quote", "user:o'neil@example.com", ""},
        Row{"nul", std::string("user:a\0b@c", 10), ""}, Row{"umlaut", "user:j\xC3\xB6rg@b.de", ""}),
    [](const auto& row) { return row.param.name; });

TEST(Principal, HasAnEmail) {
  EXPECT_EQ(EmailOf("user:ann@example.com"), "ann@example.com");
  EXPECT_EQ(EmailOf(ServiceAccountPrincipal("T@p.iam.gserviceaccount.com")), "t@p.iam.gserviceaccount.com");
  EXPECT_EQ(ServiceAccountPrincipal("t@p.x"), "serviceAccount:t@p.x");
}

struct AccountRow {
  const char* name;
  std::string account_id;
  std::string project;
  std::string email;  ///< or the field of the error
  bool ok = true;
};

class AccountEmail : public testing::TestWithParam<AccountRow> {};

TEST_P(AccountEmail, Decides) {
  const AccountRow& row = GetParam();
  const Result<std::string> email = ServiceAccountEmail(row.account_id, row.project);
  if (row.ok) {
    ASSERT_TRUE(email) << email.error().message;
    EXPECT_EQ(*email, row.email);
    EXPECT_EQ(ParsePrincipal(ServiceAccountPrincipal(*email)), ServiceAccountPrincipal(*email));
  } else {
    ASSERT_FALSE(email) << *email;
    EXPECT_EQ(email.error().code, Code::kInvalidArgument);
    EXPECT_EQ(email.error().field, row.email);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Rules, AccountEmail,
    testing::Values(
        AccountRow{"plain", "trainer", "p", "trainer@p.iam.gserviceaccount.com"},
        AccountRow{"shortest", "abcde1", "my-project_1", "abcde1@my-project_1.iam.gserviceaccount.com"},
        AccountRow{"longest", std::string(30, 'a'), "p", std::string(30, 'a') + "@p.iam.gserviceaccount.com"},
        AccountRow{"too_short", "abcde", "p", "account_id", false},
        AccountRow{"too_long", std::string(31, 'a'), "p", "account_id", false},
        AccountRow{"upper_case", "Trainer", "p", "account_id", false},
        AccountRow{"digit_first", "1trainer", "p", "account_id", false},
        AccountRow{"dash_last", "trainer-", "p", "account_id", false},
        AccountRow{"an_email", "trainer@p", "p", "account_id", false},
        AccountRow{"services_own", "service-123456789012", "cloud-tpu", "account_id", false},
        AccountRow{"like_the_services", "service-x1", "p", "service-x1@p.iam.gserviceaccount.com"},
        // "cloud-ml.google.com" is the domain of the service's own accounts.
        AccountRow{"project_with_dot", "trainer", "cloud-ml.google.com", "project", false},
        AccountRow{"project_of_a_domain", "trainer", "example.com:p", "project", false},
        AccountRow{"project_upper_case", "trainer", "P", "project", false},
        AccountRow{"no_project", "trainer", "", "project", false},
        AccountRow{"dash_project", "trainer", "-p", "project", false},
        AccountRow{"long_project", "trainer", std::string(250, 'p'), "project", false}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace trainyard::iam
