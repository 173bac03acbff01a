#include "stores/audit/audit_log.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <future>
#include <map>

#include "base/wire/time.h"
#include "stores/audit/audit_entry.h"
#include "stores/audit/testing/audit_fixture.h"

namespace trainyard::audit {
namespace {

using std::chrono::days;
using std::chrono::hours;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

class AuditLogTest : public AuditFolder {
 protected:
  [[nodiscard]] static mode_t ModeOf(const std::string& path) {
    struct stat status{};
    EXPECT_EQ(::stat(path.c_str(), &status), 0);
    return status.st_mode & 0777;
  }
  [[nodiscard]] std::vector<logging::v2::LogEntry> LeftOutEntries() const {
    const logs::LogPage page =
        List(R"(logName:"cloudaudit" protoPayload.methodName="trainyard.audit.LinesLeftOut")",
             "timestamp asc", 1'000, "", "default");
    return {page.entries.begin(), page.entries.end()};
  }
};

TEST_F(AuditLogTest, KeepsALineForItsOwnerAlone) {
  OpenLog()->Add(Line("iris"), "p");
  EXPECT_THAT(Names(), ElementsAre("audit-20261123-1.jsonl"));
  const std::string text = Text("audit-20261123-1.jsonl");
  EXPECT_THAT(text, HasSubstr("ann@example.com"));
  EXPECT_EQ(std::ranges::count(text, '\n'), 1);
  EXPECT_EQ(ModeOf(folder()), 0700);
  EXPECT_EQ(ModeOf(folder() + "/audit-20261123-1.jsonl"), 0600);
}

TEST_F(AuditLogTest, GivesEachEntryATimeOfItsOwnInOrder) {
  {
    const auto log = OpenLog();
    for (const char* job : {"a", "b", "c"}) log->Add(Line(job), "p");
    clock_.Pass(-std::chrono::minutes(5));
    log->Add(Line("d"), "p");
  }
  OpenLog()->Add(Line("e"), "p");  // the clock is still behind
  const logs::LogPage page = List("");
  EXPECT_THAT(Jobs(page), ElementsAre("a", "b", "c", "d", "e"));
  for (std::size_t i = 1; i < page.entries.size(); ++i) {
    EXPECT_GT(wire::FromProto(page.entries[i].timestamp()), wire::FromProto(page.entries[i - 1].timestamp()));
    EXPECT_GT(page.entries[i].insert_id(), page.entries[i - 1].insert_id());
  }
  EXPECT_LT(wire::FromProto(page.entries[3].receive_timestamp()),
            wire::FromProto(page.entries[3].timestamp()))
      << "the clock's own time is kept";
}

TEST_F(AuditLogTest, BelievesAClockThatIsTurnedBackALot) {
  {
    const auto log = OpenLog();
    clock_.Pass(days(30'000));
    log->Add(Line("far"), "p");
    log->Flush();
    clock_.Pass(-days(30'000));
    log->Add(Line("now"), "p");
  }
  OpenLog()->Add(Line("again"), "p");
  // The moment in the year 2109 has not removed what was "older" than --audit-days then, either.
  EXPECT_THAT(Names(),
              ElementsAre("audit-20261123-1.jsonl", "audit-20261123-2.jsonl", "audit-21090112-1.jsonl"));
}

TEST_F(AuditLogTest, BeginsAFileADayAndGoesOnWithTodays) {
  for (int i = 0; i < 4; ++i) {
    const auto log = OpenLog();
    log->Add(Line(std::to_string(i)), "p");
    log->Flush();
    if (i == 1) clock_.Pass(hours(24));
  }
  EXPECT_THAT(Names(), ElementsAre("audit-20261123-1.jsonl", "audit-20261124-1.jsonl"));
  EXPECT_THAT(Jobs(List("")), ElementsAre("0", "1", "2", "3"));
}

TEST_F(AuditLogTest, BeginsAFileWhenOneIsFull) {
  AuditLog::Options options = LogOptions();
  options.files.file_bytes_max = 3'000;
  {
    const auto log = OpenLog(options);
    for (int i = 0; i < 10; ++i) log->Add(Line(std::to_string(i)), "p");
  }
  EXPECT_GT(Names().size(), 2U);
  for (const AuditFile& file : ListAuditFiles(folder()).value()) EXPECT_LE(file.bytes, 3'000);
  EXPECT_THAT(Jobs(List("")), ElementsAre("0", "1", "2", "3", "4", "5", "6", "7", "8", "9"));
}

TEST_F(AuditLogTest, RemovesWhatIsTooOldWhenADayBegins) {
  AuditLog::Options options = LogOptions();
  options.files.retention.days_max = days(1);
  const auto log = OpenLog(options);
  for (int i = 0; i < 4; ++i, clock_.Pass(hours(24))) {
    log->Add(Line(std::to_string(i)), "p");
    log->Flush();
  }
  EXPECT_THAT(Names(), ElementsAre("audit-20261125-1.jsonl", "audit-20261126-1.jsonl"));
}

TEST_F(AuditLogTest, RemovesTheOldestBeyondItsBytes) {
  AuditLog::Options options = LogOptions();
  options.files.file_bytes_max = 1'500;
  options.files.retention.bytes_max = 6'000;
  {
    const auto log = OpenLog(options);
    for (int i = 0; i < 50; ++i) log->Add(Line(std::to_string(i)), "p");
  }
  std::int64_t bytes = 0;
  for (const AuditFile& file : ListAuditFiles(folder()).value()) bytes += file.bytes;
  EXPECT_LE(bytes, 6'000 + 1'500);
  EXPECT_THAT(Jobs(List("")), Contains("49"));
}

TEST_F(AuditLogTest, CountsWhatADiskThatStandsStillDidNotTake) {
  AuditLog::Options options = LogOptions();
  options.waiting_max = 5;
  std::promise<void> stands, go_on;
  std::shared_future<void> goes_on = go_on.get_future().share();
  bool is_first = true;
  options.files.before_write = [&]() -> Status {
    if (std::exchange(is_first, false)) {
      stands.set_value();
      goes_on.wait();
    }
    return {};
  };
  {
    const auto log = OpenLog(options);
    log->Add(Line("first"), "p");
    stands.get_future().wait();
    for (int i = 0; i < 12; ++i) log->Add(Line(std::to_string(i)), "p");  // none of these waits
    go_on.set_value();
  }
  EXPECT_THAT(Jobs(List("logName:cloudaudit")), ElementsAre("first", "0", "1", "2", "3", "4"));
  const auto entries = LeftOutEntries();
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0].severity(), logging::v2::LogEntry::ERROR);
  EXPECT_EQ(
      entries[0].proto_payload().fields().at("status").struct_value().fields().at("message").string_value(),
      "7 decisions are not in this log: the disk was too slow");
}

TEST_F(AuditLogTest, WritesLaterWhatTheDiskRefused) {
  AuditLog::Options options = LogOptions();
  int refusals = 2;
  options.files.before_write = [&refusals]() -> Status {
    if (--refusals < 0) return {};
    return std::unexpected(ErrnoError(ENOSPC, "write"));
  };
  const auto log = OpenLog(options);
  log->Add(Line("a"), "p");
  log->Flush();
  log->Add(Line("b"), "p");
  for (int i = 0; i < 3; ++i) log->Flush();
  EXPECT_THAT(Jobs(List("")), ElementsAre("a", "b"));
}

TEST_F(AuditLogTest, BoundsRefusalsOfNobody) {
  {
    const auto log = OpenLog();
    access::AuditLine nobody = Line("j", false, 401);
    nobody.principal = "";
    for (int i = 0; i < AuditLog::kNobodyAtOnce + 50; ++i) log->Add(nobody, "default");
    log->Add(Line("ann"), "default");
    clock_.Pass(AuditLog::kNobodyEvery);
    log->Add(nobody, "default");
  }
  const logs::LogPage page = List("protoPayload.status.code=16", "timestamp asc", 1'000, "", "default");
  EXPECT_EQ(page.entries.size(), static_cast<std::size_t>(AuditLog::kNobodyAtOnce) + 1);
  double count = 0;
  for (const auto& entry : LeftOutEntries())
    count +=
        entry.proto_payload().fields().at("metadata").struct_value().fields().at("leftOut").number_value();
  EXPECT_EQ(count, 50);
  EXPECT_EQ(List("protoPayload.authenticationInfo.principalEmail:ann", "timestamp asc", 10, "", "default")
                .entries.size(),
            1U)
      << "who is known is kept";
}

TEST_F(AuditLogTest, GoesOnBehindALineThatACrashCut) {
  OpenLog()->Add(Line("a"), "p");
  const std::string path = folder() + "/" + Names().front();
  std::ofstream(path, std::ios::app) << R"({"logName":"projects/p/logs/cloudau)";
  OpenLog()->Add(Line("b"), "p");
  EXPECT_THAT(Jobs(List("")), ElementsAre("a", "b"));
  EXPECT_THAT(Jobs(List("", "timestamp desc")), ElementsAre("b", "a"));
}

// A process that is killed at any point leaves what it had flushed, in order, and nothing that readers fail
// on.
TEST_F(AuditLogTest, SurvivesAKill) {
  for (int round = 0; round < 5; ++round) {
    std::array<int, 2> pipe{};
    ASSERT_EQ(::pipe(pipe.data()), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      const auto log = OpenLog();
      for (int i = 0;; ++i) {
        log->Add(Line(std::to_string(round) + "_" + std::to_string(i)), "p");
        if (i % 10 != 9) continue;
        log->Flush();
        if (::write(pipe[1], &i, sizeof i) != sizeof i) ::_exit(1);
      }
    }
    ::close(pipe[1]);
    int flushed = 0;
    while (flushed < 100) ASSERT_EQ(::read(pipe[0], &flushed, sizeof flushed), ssize_t{sizeof flushed});
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
    ::close(pipe[0]);
    clock_.Pass(std::chrono::seconds(1));

    std::map<int, int> counts;
    int last_round = 0;
    std::string token;
    do {
      const logs::LogPage page = List("", "timestamp asc", 1'000, token);
      for (const std::string& job : Jobs(page)) {
        const int of_round = std::stoi(job);
        const int number = std::stoi(job.substr(job.find('_') + 1));
        ASSERT_GE(of_round, last_round);
        last_round = of_round;
        ASSERT_EQ(number, counts[of_round]++) << "none is missing, none twice";
      }
      token = page.next_page_token;
    } while (!token.empty());
    EXPECT_GT(counts[round], flushed);
  }
}

}  // namespace
}  // namespace trainyard::audit
