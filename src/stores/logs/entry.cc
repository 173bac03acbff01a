#include "stores/logs/entry.h"

#include <algorithm>
#include <chrono>

#include "base/wire/time.h"

namespace trainyard::logs {

namespace {

using logging::v2::LogEntry;

constexpr std::string_view kServiceTask = "service";

/// The service's own lines have their own log name.
std::string LogName(const LogSource& source) {
  const std::string prefix = "projects/" + source.project + "/logs/";
  if (source.task_name == kServiceTask) return prefix + "ml.googleapis.com%2F" + source.job_id;
  return prefix + source.task_name;
}

}  // namespace

LogEntry EntryTemplate(const LogSource& source) {
  LogEntry entry;
  entry.set_log_name(LogName(source));
  entry.mutable_resource()->set_type("ml_job");
  auto& resource = *entry.mutable_resource()->mutable_labels();
  resource["job_id"] = source.job_id;
  resource["project_id"] = source.project;
  resource["task_name"] = source.task_name;
  auto& labels = *entry.mutable_labels();
  labels["ml.googleapis.com/job_id"] = source.job_id;
  labels["ml.googleapis.com/job_id/log_area"] = "root";
  labels["ml.googleapis.com/task_name"] = source.task_name;
  labels["ml.googleapis.com/trial_id"] = source.trial_id;  // present, but empty, without tuning
  if (!source.host_name.empty()) labels["compute.googleapis.com/resource_name"] = source.host_name;
  return entry;
}

std::string InsertId(std::int64_t job_line) {
  constexpr std::size_t kDigits = 16;
  const std::string number = std::to_string(job_line);
  return std::string(kDigits - std::min(kDigits, number.size()), '0') + number;
}

void FillEntry(const replica::v1::LogLine& line, std::int64_t shown_time, std::int64_t job_line,
               LogEntry& entry) {
  *entry.mutable_json_payload() = line.json();
  auto& fields = *entry.mutable_json_payload()->mutable_fields();
  if (!line.text().empty() || !fields.contains("message")) fields["message"].set_string_value(line.text());
  if (line.severity() != LogEntry::DEFAULT && !fields.contains("levelname")) {
    fields["levelname"].set_string_value(LogEntry::Severity_Name(line.severity()));
  }
  if (!fields.contains("created"))
    fields["created"].set_number_value(static_cast<double>(line.stamp()) / std::nano::den);
  entry.set_severity(line.severity());
  entry.set_insert_id(InsertId(job_line));
  *entry.mutable_timestamp() = wire::ToProto(SysTime(std::chrono::nanoseconds(shown_time)));
}

LogEntry MakeEntry(const LogEntry& common, std::string_view bytes, std::int64_t shown_time,
                   std::int64_t job_line) {
  replica::v1::LogLine line;
  if (!line.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    line.set_text("(this line cannot be read)");
    line.set_severity(LogEntry::ERROR);
  }
  LogEntry entry = common;
  FillEntry(line, shown_time, job_line, entry);
  return entry;
}

}  // namespace trainyard::logs
