#include "rules/notices/destination.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard::notices {
namespace {

using testing::HasSubstr;
using Kind = Destination::Kind;

TEST(ParseDestination, ReadsAWebhookWithItsConditions) {
  EXPECT_EQ(
      ParseDestination("ops=https://hooks.example.com:8443/in?k=1 projects=vision,nlp events=failed,waiting"
                       " jobs=named"),
      (Destination{.name = "ops",
                   .server = "https://hooks.example.com:8443",
                   .target = "/in?k=1",
                   .projects = {"vision", "nlp"},
                   .named_only = true,
                   .events = {Event::kFailed, Event::kWaiting}}));
  EXPECT_EQ(ParseDestination("ops=http://127.0.0.1:9"),
            (Destination{.name = "ops", .server = "http://127.0.0.1:9", .target = "/"}));
}

TEST(ParseDestination, ReadsAnAddressForMail) {
  EXPECT_EQ(ParseDestination("team=mailto:team@example.com"),
            (Destination{.name = "team", .kind = Kind::kMail, .target = "team@example.com"}));
}

struct Wrong {
  const char* name;
  const char* text;
  const char* why;
};
class WrongDestination : public testing::TestWithParam<Wrong> {};
TEST_P(WrongDestination, SaysWhy) {
  const Result<Destination> read = ParseDestination(GetParam().text);
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message, HasSubstr(GetParam().why));
}
INSTANTIATE_TEST_SUITE_P(Rules, WrongDestination,
                         testing::Values(Wrong{"empty", "", "NAME=URL"},
                                         Wrong{"no_name", "https://h/", "NAME=URL"},
                                         Wrong{"upper_case", "Ops=https://h/", "no name of a destination"},
                                         Wrong{"scheme", "a=ftp://h/", "does not begin with"},
                                         Wrong{"no_host", "a=https:///x", "names no host"},
                                         Wrong{"password", "a=https://u:p@h/", "user name or password"},
                                         Wrong{"two_addresses", "a=mailto:a@b,c@d", "one address"},
                                         Wrong{"no_domain", "a=mailto:a@", "one address"},
                                         Wrong{"line_end", "a=mailto:a@b\r\nBcc:c@d", "no URL may have"},
                                         Wrong{"event", "a=https://h/ events=ended", "unknown event 'ended'"},
                                         Wrong{"no_project", "a=https://h/ projects=", "names no project"},
                                         Wrong{"word", "a=https://h/ failed", "'failed' is not"}),
                         [](const auto& row) { return row.param.name; });

TEST(AddDestination, RefusesANameTwice) {
  std::vector<Destination> list;
  EXPECT_TRUE(AddDestination("a=https://h/", list));
  EXPECT_FALSE(AddDestination("a=mailto:a@b", list));
  EXPECT_EQ(list.size(), 1U);
}

control::v1::JobRecord JobOf(const std::string& project, const std::string& label) {
  control::v1::JobRecord record;
  record.set_project(project);
  if (!label.empty()) (*record.mutable_job()->mutable_labels())[std::string(kLabel)] = label;
  return record;
}

TEST(IsWanted, GoesByEventProjectAndLabel) {
  const Destination all = *ParseDestination("all=https://h/ events=failed projects=vision");
  EXPECT_TRUE(IsWanted(all, JobOf("vision", ""), Event::kFailed));
  EXPECT_FALSE(IsWanted(all, JobOf("vision", ""), Event::kSucceeded));
  EXPECT_FALSE(IsWanted(all, JobOf("nlp", "all"), Event::kFailed));
  const Destination named = *ParseDestination("named=https://h/ jobs=named");
  EXPECT_FALSE(IsWanted(named, JobOf("vision", ""), Event::kFailed));
  EXPECT_TRUE(IsWanted(named, JobOf("vision", "named"), Event::kWaiting));
}

TEST(CheckLabel, NamesTheDestinationsOfTheProject) {
  std::vector<Destination> list;
  ASSERT_TRUE(AddDestination("ops=https://h/ projects=vision", list));
  ASSERT_TRUE(AddDestination("team=mailto:a@b", list));
  EXPECT_TRUE(CheckLabel(list, "nlp", JobOf("nlp", "").job()));
  EXPECT_TRUE(CheckLabel(list, "nlp", JobOf("nlp", "team").job()));
  const Status other = CheckLabel(list, "nlp", JobOf("nlp", "ops").job());
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().field, "job.labels");
  EXPECT_THAT(other.error().message, HasSubstr("Destinations of the project: team."));
}

TEST(CheckNewLabel, LetsALabelStay) {
  std::vector<Destination> list;
  ASSERT_TRUE(AddDestination("ops=https://h/", list));
  const ml::v1::Job none = JobOf("p", "").job();
  const ml::v1::Job ops = JobOf("p", "ops").job();
  const ml::v1::Job removed = JobOf("p", "removed").job();
  EXPECT_TRUE(CheckNewLabel(list, "p", none, ops));
  EXPECT_TRUE(CheckNewLabel(list, "p", removed, removed));
  EXPECT_TRUE(CheckNewLabel(list, "p", removed, none));
  EXPECT_FALSE(CheckNewLabel(list, "p", ops, removed));
}

}  // namespace
}  // namespace trainyard::notices
