#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/async/file.h"
#include "base/async/guarded.h"
#include "stores/audit/audit_log.h"
#include "stores/audit/audit_search.h"

/// Helpers for the tests of the audit log.
namespace trainyard::audit {

inline constexpr std::chrono::sys_days kToday{std::chrono::year(2026) / 11 / 23};

class TestClock final : public Clock {
 public:
  [[nodiscard]] SysTime Now() const override {
    return now_.With([](const SysTime& now) { return now; });
  }
  void Set(SysTime time) {
    now_.With([time](SysTime& now) { now = time; });
  }
  void Pass(std::chrono::nanoseconds time) {
    now_.With([time](SysTime& now) { now += time; });
  }

 private:
  Guarded<SysTime> now_{SysTime(kToday) + std::chrono::hours(9)};
};

inline access::AuditLine Line(std::string job, bool is_granted = true, int status = 200) {
  return {.kind = iam::AuditKind::kAdminActivity,
          .principal = "user:ann@example.com",
          .credential = "token 7",
          .address = "203.0.113.9",
          .agent = "gcloud/1",
          .method_name = "google.cloud.ml.v1.JobService.CreateJob",
          .permission = "ml.jobs.create",
          .resource = iam::Resource::Job("p", std::move(job)),
          .is_granted = is_granted,
          .status = status};
}

/// A temporary directory, removed with the test.
class AuditFolder : public testing::Test {
 protected:
  AuditFolder() {
    std::string folder = testing::TempDir() + "audit_test.XXXXXX";
    EXPECT_NE(::mkdtemp(folder.data()), nullptr);
    folder_ = std::move(folder);
  }
  ~AuditFolder() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  [[nodiscard]] std::string folder() const { return folder_ + "/audit"; }
  [[nodiscard]] std::string Text(const std::string& name) const {
    return ReadFile(folder() + "/" + name).value_or("");
  }
  [[nodiscard]] std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const AuditFile& file : ListAuditFiles(folder()).value()) names.push_back(file.Name());
    return names;
  }
  [[nodiscard]] AuditLog::Options LogOptions() const {
    return {.files = {.folder = folder()}, .default_project = "default"};
  }
  [[nodiscard]] std::unique_ptr<AuditLog> OpenLog(AuditLog::Options options) {
    return AuditLog::Open(clock_, std::move(options)).value();
  }
  [[nodiscard]] std::unique_ptr<AuditLog> OpenLog() { return OpenLog(LogOptions()); }

  /// What entries:list answers.
  [[nodiscard]] logs::LogPage List(const std::string& filter, const std::string& order = "timestamp asc",
                                   int page_size = 1'000, const std::string& token = "",
                                   const std::string& project = "p",
                                   int lines_max = AuditSearch::kLinesMax) const {
    logging::v2::ListLogEntriesRequest request;
    request.add_resource_names("projects/" + project);
    request.set_filter(filter);
    request.set_order_by(order);
    request.set_page_size(page_size);
    request.set_page_token(token);
    return AuditSearch::Open(folder(), lines_max).value()->Read(logs::ParseLogQuery(request).value()).value();
  }
  /// The last part of each entry's resource name.
  [[nodiscard]] static std::vector<std::string> Jobs(const logs::LogPage& page) {
    std::vector<std::string> jobs;
    for (const logging::v2::LogEntry& entry : page.entries) {
      const std::string name = entry.proto_payload().fields().at("resourceName").string_value();
      jobs.push_back(name.substr(name.rfind('/') + 1));
    }
    return jobs;
  }

  TestClock clock_;

 private:
  std::string folder_;
};

}  // namespace trainyard::audit
