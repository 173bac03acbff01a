#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "stores/logs/log_query.h"
#include "stores/logs/log_reader.h"
#include "stores/logs/log_writer.h"
#include "stores/logs/sample_chunk.h"

/// A writer and a reader of one logs.db in a temporary directory, for tests.
namespace trainyard::logs {

class FixedClock final : public Clock {
 public:
  [[nodiscard]] SysTime Now() const override { return SysTime(std::chrono::seconds(1'700'000'000)); }
};

/// One attempt of a replica (or the service) of "jobUID" in a project.
inline LogSource SampleSource(std::int64_t job_uid, const std::string& task_name,
                              const std::string& project = "p") {
  return {.job_uid = job_uid,
          .project = project,
          .job_id = "job" + std::to_string(job_uid),
          .source = std::to_string(job_uid) + "-" + task_name + "-1",
          .task_name = task_name,
          .trial_id = "",
          .host_name = ""};
}

inline std::string JobFilter(std::int64_t job_uid) {
  return "(resource.type=\"ml_job\" OR resource.type=\"cloudml_job\") AND resource.labels.job_id=\"job" +
         std::to_string(job_uid) + "\"";
}

class LogFileTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "log_file_test.XXXXXX";
    ASSERT_NE(mkdtemp(folder_.data()), nullptr) << strerror(errno);
    Reopen();
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void Reopen() {
    reader_.reset();
    writer_.reset();
    writer_ = LogWriter::Open(folder_ + "/logs.db", clock_).value();
    reader_ = LogReader::Open(folder_ + "/logs.db").value();
  }

  Result<Appended> Append(const LogSource& source, const SampleLines& lines) {
    const AppendRequest request{source, SampleChunk(lines)};
    return writer_->Append({&request, 1}).at(0);
  }

  [[nodiscard]] static logging::v2::ListLogEntriesRequest Request(const std::string& filter,
                                                                  const std::string& order = "timestamp asc",
                                                                  int page_size = kPageSizeMax) {
    logging::v2::ListLogEntriesRequest request;
    request.add_resource_names("projects/p");
    request.set_filter(filter);
    request.set_order_by(order);
    request.set_page_size(page_size);
    return request;
  }

  Result<LogPage> Read(const logging::v2::ListLogEntriesRequest& request) {
    TY_TRY(const LogQuery query, ParseLogQuery(request));
    return reader_->Read(query);
  }

  /// All pages.
  std::vector<logging::v2::LogEntry> ReadAll(logging::v2::ListLogEntriesRequest request) {
    std::vector<logging::v2::LogEntry> entries;
    for (int pages = 0; pages < 100'000; ++pages) {
      Result<LogPage> page = Read(request);
      if (!page) {
        ADD_FAILURE() << page.error().message;
        return entries;
      }
      EXPECT_LE(page->entries.size(), static_cast<std::size_t>(request.page_size()));
      for (auto& entry : page->entries) entries.push_back(std::move(entry));
      if (page->next_page_token.empty()) return entries;
      request.set_page_token(page->next_page_token);
    }
    ADD_FAILURE() << "pages without end";
    return entries;
  }

  static std::vector<std::string> Texts(const std::vector<logging::v2::LogEntry>& entries) {
    std::vector<std::string> texts;
    for (const auto& entry : entries)
      texts.push_back(entry.json_payload().fields().at("message").string_value());
    return texts;
  }

  static std::int64_t Time(const logging::v2::LogEntry& entry) {
    return entry.timestamp().seconds() * 1'000'000'000 + entry.timestamp().nanos();
  }

  std::string folder_;
  FixedClock clock_;
  std::unique_ptr<LogWriter> writer_;
  std::unique_ptr<LogReader> reader_;
};

}  // namespace trainyard::logs
