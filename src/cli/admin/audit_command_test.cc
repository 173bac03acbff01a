#include "cli/admin/audit_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/wire/json_tree.h"
#include "base/wire/log_filter.h"

namespace trainyard::cli {
namespace {

using testing::ElementsAre;

TEST(ParseAge, ReadsANumberAndAUnit) {
  EXPECT_EQ(ParseAge("90s").value(), std::chrono::seconds(90));
  EXPECT_EQ(ParseAge("30m").value(), std::chrono::minutes(30));
  EXPECT_EQ(ParseAge("12h").value(), std::chrono::hours(12));
  EXPECT_EQ(ParseAge("7d").value(), std::chrono::days(7));
  for (const char* text :
       {"", "h", "1", "1w", "-1h", "0h", "1.5h", "1h ", "99999999999999999999d", "999999d"})
    EXPECT_FALSE(ParseAge(text)) << text;
}

TEST(AuditFilter, IsOneThatTheServerReads) {
  AuditWanted wanted{.since = SysTime(std::chrono::seconds(1'700'000'000))};
  EXPECT_EQ(AuditFilter(wanted),
            R"(logName:"cloudaudit.googleapis.com" AND timestamp>="2023-11-14T22:13:20Z")");
  wanted.principal = R"(user:a"n\n@example.com)";
  wanted.denied = true;
  const std::string filter = AuditFilter(wanted);
  EXPECT_TRUE(filter.ends_with(
      R"( AND protoPayload.authenticationInfo.principalEmail="a\"n\\n@example.com" AND protoPayload.status.code=(7 OR 16))"))
      << filter;
  EXPECT_TRUE(wire::ParseLogFilter(filter)) << filter;
}

TEST(AuditCells, SayWhoDidWhatAndHowItEnded) {
  const auto cells = [](const std::string& text) { return AuditCells(wire::ParseJsonTree(text).value()); };
  std::vector<std::string> denied = cells(
      R"({"timestamp": "2026-11-23T09:00:00Z", "protoPayload": {"methodName": "m", "resourceName": "projects/p",
          "authenticationInfo": {"principalEmail": "ann@example.com"}, "requestMetadata": {"callerIp": "192.0.2.1"},
          "status": {"code": 7}}})");
  denied.erase(denied.begin());
  EXPECT_THAT(denied, ElementsAre("ann@example.com", "192.0.2.1", "m", "projects/p", "PERMISSION_DENIED"));
  EXPECT_EQ(cells(R"({"protoPayload": {}})").back(), "OK");
  EXPECT_EQ(cells(R"({"protoPayload": {}})")[1], "-");
}

}  // namespace
}  // namespace trainyard::cli
