#include "stores/logs/line_view.h"

#include <google/protobuf/text_format.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

namespace trainyard::logs {
namespace {

using logging::v2::LogEntry;

LogEntry Parse(const std::string& text) {
  LogEntry entry;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &entry));
  return entry;
}

std::string Difference(const LogEntry& a, const LogEntry& b) {
  google::protobuf::util::MessageDifferencer differencer;
  std::string text;
  differencer.ReportDifferencesToString(&text);
  return differencer.Compare(a, b) ? "" : text;
}

const LogSource kWorker{.job_uid = 7,
                        .project = "p",
                        .job_id = "j",
                        .source = "7-worker-replica-0-1",
                        .task_name = "worker-replica-0",
                        .trial_id = "",
                        .host_name = "cmle-training-worker-0123456789-0"};

TEST(Entry, LooksAsTheOriginals) {
  replica::v1::LogLine line;
  line.set_stamp(1'700'000'000'500'000'001);
  line.set_severity(LogEntry::WARNING);
  line.set_text("loss is nan");
  LogEntry entry = EntryTemplate(kWorker);
  FillEntry(line, 1'700'000'000'500'000'003, 42, entry);
  EXPECT_EQ(Difference(Parse(R"(
      log_name: "projects/p/logs/worker-replica-0"
      resource {
        type: "ml_job"
        labels { key: "job_id" value: "j" }
        labels { key: "project_id" value: "p" }
        labels { key: "task_name" value: "worker-replica-0" }
      }
      labels { key: "ml.googleapis.com/job_id" value: "j" }
      labels { key: "ml.googleapis.com/job_id/log_area" value: "root" }
      labels { key: "ml.googleapis.com/task_name" value: "worker-replica-0" }
      labels { key: "ml.googleapis.com/trial_id" value: "" }
      labels { key: "compute.googleapis.com/resource_name" value: "cmle-training-worker-0123456789-0" }
      severity: WARNING
      insert_id: "0000000000000042"
      timestamp { seconds: 1700000000 nanos: 500000003 }
      json_payload {
        fields { key: "message" value { string_value: "loss is nan" } }
        fields { key: "levelname" value { string_value: "WARNING" } }
        fields { key: "created" value { number_value: 1700000000.5 } }
      })"),
                       entry),
            "");
}

TEST(Entry, KeepsTheFieldsOfAStructuredLine) {
  replica::v1::LogLine line;
  line.set_stamp(1);
  line.set_text("from text");
  auto& fields = *line.mutable_json()->mutable_fields();
  fields["created"].set_number_value(12.5);
  fields["levelname"].set_string_value("CUSTOM");
  fields["lineno"].set_number_value(3);
  line.set_severity(LogEntry::INFO);
  LogEntry entry = EntryTemplate(kWorker);
  FillEntry(line, 1, 0, entry);
  const auto& payload = entry.json_payload().fields();
  EXPECT_EQ(payload.at("created").number_value(), 12.5);
  EXPECT_EQ(payload.at("levelname").string_value(), "CUSTOM");
  EXPECT_EQ(payload.at("lineno").number_value(), 3);
  EXPECT_EQ(payload.at("message").string_value(), "from text");
}

TEST(Entry, TheServiceHasALogPerJob) {
  LogSource service = kWorker;
  service.task_name = "service";
  service.host_name = "";
  const LogEntry entry = EntryTemplate(service);
  EXPECT_EQ(entry.log_name(), "projects/p/logs/ml.googleapis.com%2Fj");
  EXPECT_FALSE(entry.labels().contains("compute.googleapis.com/resource_name"));
}

TEST(InsertId, SortsAsTextLikeTheNumber) {
  EXPECT_EQ(InsertId(0), "0000000000000000");
  EXPECT_LT(InsertId(9), InsertId(10));
  EXPECT_LT(InsertId(999'999'999'999), InsertId(1'000'000'000'000));
}

}  // namespace
}  // namespace trainyard::logs
