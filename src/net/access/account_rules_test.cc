#include "net/access/account_rules.h"

#include <gtest/gtest.h>

namespace trainyard::access {
namespace {

TEST(AllowedAccounts, AnsweredAreTheOwnAndRoot) {
  const AllowedAccounts accounts{.own_uid = 1000};
  EXPECT_TRUE(IsAnswered(1000, accounts));
  EXPECT_TRUE(IsAnswered(0, accounts));
  EXPECT_FALSE(IsAnswered(1001, accounts));
  EXPECT_FALSE(IsAnswered(65534, accounts));
}

TEST(AllowedAccounts, AnsweredAreThoseOfJobsWhereTheyAreGiven) {
  const AllowedAccounts accounts{.own_uid = 0, .job_uids = UidRange{.first = 2000, .count = 10}};
  EXPECT_TRUE(IsAnswered(2000, accounts));
  EXPECT_TRUE(IsAnswered(2009, accounts));
  EXPECT_FALSE(IsAnswered(1999, accounts));
  EXPECT_FALSE(IsAnswered(2010, accounts));
  EXPECT_TRUE((UidRange{.first = 0xfffffff0, .count = 0x20}).Has(0xffffffff));
  EXPECT_FALSE((UidRange{.first = 0xfffffff0, .count = 0x20}).Has(1));
}

TEST(AllowedAccounts, ARefusalSaysWhoAndTheWayOut) {
  const AllowedAccounts accounts{.own_uid = 1000, .own_name = "ada"};
  const Error error = AccountRefusal(65534, accounts);
  EXPECT_EQ(error.code, Code::kPermissionDenied);
  for (const char* part :
       {"ada (uid 1000), and of root", "uid 65534", "--allow-local-users", "authentication"})
    EXPECT_NE(error.message.find(part), std::string::npos) << part << ": " << error.message;
  EXPECT_NE(AccountRefusal(std::nullopt, accounts).message.find("does not know"), std::string::npos);
}

}  // namespace
}  // namespace trainyard::access
