// Filters of log entries and of jobs: parsing ends, matching never fails, NOT inverts, and what matches is
// within the bounds that an index would use.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/wire/json.h"
#include "base/wire/log_filter.h"
#include "base/wire/time.h"
#include "trainyard/logging/v2/logging.pb.h"
#include "trainyard/ml/v1/ml.pb.h"

namespace {

using trainyard::logging::v2::LogEntry;
using trainyard::ml::v1::Job;

constexpr std::string_view kEntry = R"({
  "timestamp": "2026-11-20T18:02:42.000000001Z", "insertId": "0005", "severity": "WARNING", "textPayload": "Loss 0.25",
  "resource": {"type": "ml_job", "labels": {"job_id": "J", "task_name": "T"}},
  "labels": {"ml.googleapis.com/trial_id": "7", "task_name": "T"},
  "jsonPayload": {"epoch": 3, "done": false, "deep": {"list": ["x", {"y": "z"}]}}, "httpRequest": {"latency": "1.5s"}})";

template <class Message>
Message Read(std::string_view text) {
  Message message;
  TY_CHECK(trainyard::wire::ParseJson(text, message).has_value());
  return message;
}

bool Within(const trainyard::wire::LogBounds& bounds, const LogEntry& entry) {
  const auto time = trainyard::wire::FromProto(entry.timestamp());
  return !bounds.nothing && bounds.job_id.value_or("J") == "J" && bounds.task_name.value_or("T") == "T" &&
         time >= bounds.earliest && time <= bounds.latest &&
         (!bounds.insert_id_above || time != bounds.earliest || entry.insert_id() > *bounds.insert_id_above);
}

void CheckLogFilter(std::string_view text, const LogEntry& entry) {
  const auto filter = trainyard::wire::ParseLogFilter(text);
  if (!filter) {
    TY_CHECK(filter.error().field == "filter");
    return;
  }
  const bool matches = trainyard::wire::Matches(*filter, entry);
  if (matches) TY_CHECK(Within(trainyard::wire::ExtractBounds(*filter), entry));
  // A comment may be last, hence the line end; beyond the limits the inverse is refused.
  const auto inverse = trainyard::wire::ParseLogFilter("NOT (" + std::string(text) + "\n)");
  if (inverse) TY_CHECK(trainyard::wire::Matches(*inverse, entry) != matches);
}

void CheckJobFilter(std::string_view text, const Job& job) {
  const auto filter = trainyard::wire::ParseFilter(text);
  if (!filter) return;
  static_cast<void>(trainyard::wire::CheckFilter(*filter, *Job::descriptor()));
  const bool matches = trainyard::wire::Matches(*filter, job);
  const auto twice = trainyard::wire::ParseFilter("NOT NOT (" + std::string(text) + "\n)");
  if (twice) TY_CHECK(trainyard::wire::Matches(*twice, job) == matches);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto entry = Read<LogEntry>(kEntry);
  static const auto job = Read<Job>(R"({"jobId": "rnn_5", "state": "FAILED", "labels": {"a": "b"}})");
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  CheckLogFilter(text, entry);
  CheckJobFilter(text, job);
  return 0;
}
