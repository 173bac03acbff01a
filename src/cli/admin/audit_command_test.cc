#include "cli/admin/audit_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/wire/json_tree.h"
#include "base/wire/log_filter.h"

namespace trainyard::cli {
namespace {

using testing::ElementsAre;

TEST(AuditFilter, IsOneThatTheServerReads) {
  AuditQuery wanted{.since = SysTime(std::chrono::seconds(1'700'000'000))};
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
