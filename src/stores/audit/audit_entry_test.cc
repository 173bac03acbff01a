#include "stores/audit/audit_entry.h"

#include <gtest/gtest.h>

#include "base/wire/json.h"
#include "stores/audit/testing/audit_fixture.h"

namespace trainyard::audit {
namespace {

using access::AuditLine;
using iam::Resource;

const SysTime kTime = SysTime(kToday) + std::chrono::hours(9) + std::chrono::nanoseconds(1);

TEST(LineOf, IsWhatCloudAuditLogsShows) {
  const AuditEvent event{.line = Line("iris"), .project = "p", .time = kTime, .received = kTime};
  EXPECT_EQ(wire::PrintJson(*ParseEntry(LineOf(event))), R"({
  "insertId": "1795424400000000001",
  "labels": {
    "trainyard/credential": "token 7"
  },
  "logName": "projects/p/logs/cloudaudit.googleapis.com%2Factivity",
  "protoPayload": {
    "@type": "type.googleapis.com/google.cloud.audit.AuditLog",
    "authenticationInfo": {
      "principalEmail": "ann@example.com",
      "principalSubject": "user:ann@example.com"
    },
    "authorizationInfo": [
      {
        "granted": true,
        "permission": "ml.jobs.create",
        "resource": "projects/p/jobs/iris"
      }
    ],
    "methodName": "google.cloud.ml.v1.JobService.CreateJob",
    "requestMetadata": {
      "callerIp": "203.0.113.9",
      "callerSuppliedUserAgent": "gcloud/1"
    },
    "resourceName": "projects/p/jobs/iris",
    "serviceName": "ml.googleapis.com"
  },
  "receiveTimestamp": "2026-11-23T09:00:00.000000001Z",
  "resource": {
    "labels": {
      "method": "google.cloud.ml.v1.JobService.CreateJob",
      "project_id": "p",
      "service": "ml.googleapis.com"
    },
    "type": "audited_resource"
  },
  "severity": "NOTICE",
  "timestamp": "2026-11-23T09:00:00.000000001Z"
}
)");
}

logging::v2::LogEntry Entry(AuditLine line) {
  return *ParseEntry(LineOf({.line = std::move(line), .project = "p", .time = kTime, .received = kTime}));
}

TEST(LineOf, SaysARefusalInTheLogOfItsMethod) {
  const logging::v2::LogEntry entry = Entry(Line("iris", false, 403));
  EXPECT_EQ(entry.severity(), logging::v2::LogEntry::ERROR);
  EXPECT_EQ(entry.log_name(), "projects/p/logs/cloudaudit.googleapis.com%2Factivity");
  const auto& status = entry.proto_payload().fields().at("status").struct_value().fields();
  EXPECT_EQ(status.at("code").number_value(), 7);
  EXPECT_EQ(status.at("message").string_value(),
            "Permission 'ml.jobs.create' denied on resource 'projects/p/jobs/iris'.");
}

struct KindRow {
  iam::AuditKind kind;
  int status;
  const char* log;
  logging::v2::LogEntry::Severity severity;
};

TEST(LineOf, ChoosesLogAndSeverityByKindAndStatus) {
  using logging::v2::LogEntry;
  for (const KindRow& row : {KindRow{iam::AuditKind::kAdminActivity, 200, "activity", LogEntry::NOTICE},
                             KindRow{iam::AuditKind::kAdminActivity, 409, "activity", LogEntry::ERROR},
                             KindRow{iam::AuditKind::kDataWrite, 200, "data_access", LogEntry::INFO},
                             KindRow{iam::AuditKind::kDataRead, 404, "data_access", LogEntry::ERROR},
                             KindRow{iam::AuditKind::kNone, 200, "data_access", LogEntry::INFO}}) {
    AuditLine line = Line("iris", true, row.status);
    line.kind = row.kind;
    const LogEntry entry = Entry(line);
    EXPECT_TRUE(entry.log_name().ends_with(std::string("%2F") + row.log)) << entry.log_name();
    EXPECT_EQ(entry.severity(), row.severity) << row.status;
  }
}

TEST(LineOf, NamesTheServiceOfThePermission) {
  for (const auto& [permission, service] :
       {std::pair{"storage.objects.create", "storage.googleapis.com"},
        std::pair{"resourcemanager.projects.setIamPolicy", "cloudresourcemanager.googleapis.com"},
        std::pair{"iam.serviceAccounts.create", "iam.googleapis.com"},
        std::pair{"trainyard.tokens.create", "trainyard"}, std::pair{"", "trainyard"}}) {
    AuditLine line = Line("iris");
    line.permission = permission;
    EXPECT_EQ(Entry(line).proto_payload().fields().at("serviceName").string_value(), service) << permission;
  }
}

TEST(LineOf, SaysNothingOfWhoIsNobody) {
  AuditLine line = Line("iris", false, 401);
  line.principal = line.credential = line.permission = "";
  const logging::v2::LogEntry entry = Entry(line);
  const auto& payload = entry.proto_payload().fields();
  EXPECT_TRUE(payload.at("authenticationInfo").struct_value().fields().empty());
  EXPECT_FALSE(payload.contains("authorizationInfo"));
  EXPECT_EQ(payload.at("status").struct_value().fields().at("code").number_value(), 16);
  EXPECT_TRUE(entry.labels().empty());
}

TEST(Tidied, MakesControlCharactersVisible) {
  AuditLine line = Line("iris");
  line.agent = "a\nb\r\nc\td\x1b[31m\x7f\xff\xe2\x80\xae";
  EXPECT_EQ(Tidied(line).agent, R"(a\nb\r\nc\td\033[31m\177\377\342\200\256)");
}

TEST(Bounded, ChangesNothingOfWhatIsTidied) {
  for (const std::size_t bytes : {0UL, 511UL, 512UL, 513UL, 1'024UL, 1'025UL, 1'026UL, 100'000UL}) {
    for (const std::string part : {"a", "\x01", "\xc3\xa4"}) {
      AuditLine line = Line("iris");
      while (line.agent.size() < bytes) line.agent += part;
      line.principal = line.resource.name = line.agent;
      const AuditLine tidied = Tidied(line);
      const AuditLine after = Tidied(Bounded(line));
      EXPECT_EQ(after.agent, tidied.agent) << bytes;
      EXPECT_EQ(after.principal, tidied.principal) << bytes;
      EXPECT_EQ(after.resource.name, tidied.resource.name) << bytes;
    }
  }
}

TEST(Tidied, CutsWhatClientsChoose) {
  AuditLine line = Line(std::string(1'000'000, 'j'));
  line.agent = std::string(65'536, '\x01');
  const AuditLine tidied = Tidied(line);
  EXPECT_LE(tidied.agent.size(), kAgentBytesMax);
  EXPECT_TRUE(tidied.agent.ends_with(kCut));
  EXPECT_EQ(tidied.resource.name.size(), kNameBytesMax);
  line.agent = std::string(kAgentBytesMax, 'a');
  EXPECT_EQ(Tidied(line).agent, line.agent) << "as long as it may be";
  line.agent = std::string(kAgentBytesMax - 1, 'a') + "\xc3\xa4";
  const std::string cut = Tidied(line).agent;
  EXPECT_EQ(cut, std::string(kAgentBytesMax - kCut.size(), 'a') + std::string(kCut));
}

struct ProjectRow {
  Resource resource;
  const char* bucket_project;
  const char* project;
};

TEST(ProjectOf, IsThatOfTheResourceIfItCanBeOne) {
  for (const ProjectRow& row :
       {ProjectRow{Resource::Installation(), "", "default"}, ProjectRow{Resource::Project("p"), "", "p"},
        ProjectRow{Resource::Job("p", "j"), "", "p"}, ProjectRow{Resource::Bucket("b"), "q", "q"},
        ProjectRow{Resource::Bucket("b"), "", "default"},
        ProjectRow{Resource::Project("a/b%2F"), "", "default"},
        ProjectRow{Resource::Project(std::string(200, 'p')), "", "default"},
        ProjectRow{Resource::ServiceAccount("-", "t@q.iam.gserviceaccount.com"), "", "q"},
        ProjectRow{Resource::ServiceAccount("-", "@.iam.gserviceaccount.com"), "", "default"},
        ProjectRow{Resource::ServiceAccount("-", ".iam.gserviceaccount.com@"), "", "default"},
        ProjectRow{Resource::ServiceAccount("-", "ann@example.com"), "", "default"}}) {
    AuditLine line = Line("iris");
    line.resource = row.resource;
    EXPECT_EQ(ProjectOf(line, row.bucket_project, "default"), row.project) << iam::NameOf(row.resource);
  }
}

TEST(ParseEntry, ReadsWhatWasPrintedAndRefusesWhatWasCut) {
  const logging::v2::LogEntry entry = Entry(Line("iris"));
  const std::string text = wire::PrintJsonCompact(entry);
  const auto parsed = ParseEntry(text);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->SerializeAsString().size(), entry.SerializeAsString().size());
  EXPECT_EQ(wire::PrintJsonCompact(*parsed), text);
  for (std::size_t size = 0; size < text.size(); ++size)
    EXPECT_FALSE(ParseEntry(text.substr(0, size))) << size;
  EXPECT_FALSE(ParseEntry("{}"));
  EXPECT_FALSE(ParseEntry(std::string(100, '\0')));
}

}  // namespace
}  // namespace trainyard::audit
