#include "stores/logs/log_lines.h"

#include <gmock/gmock.h>

#include <sstream>

#include "base/wire/json.h"
#include "stores/logs/testing/line_log_fixture.h"

namespace trainyard::logs {
namespace {

using logging::v2::LogEntry;

class LineFile : public LineLogTest {
 protected:
  std::string All(PieceQuery query) {
    query.job_uid = 1;
    query.end = chunks_->Total(1).value();
    std::string text;
    for (int pieces = 0; pieces < 1000 && query.from < query.end; ++pieces) {
      const Piece piece = PrintLines(*chunks_, query).value();
      EXPECT_GT(piece.next, query.from);
      EXPECT_LT(piece.text.size(), 2 * kPieceBytesMin);
      text += piece.text;
      query.from = piece.next;
    }
    return text;
  }
};

TEST_F(LineFile, IsAsItSays) {
  Write("master-replica-0", kStart, {{"careful", LogEntry::WARNING}, {"a\nb\nc", LogEntry::DEFAULT}});
  Write("service", kStart + 1'000'000'000, {{"done"}});
  EXPECT_EQ(All({}),
            "2023-11-14T22:13:20.000000001Z WARNING master-replica-0 careful\n"
            "2023-11-14T22:13:20.000000003Z DEFAULT master-replica-0 a\n\tb\n\tc\n"
            "2023-11-14T22:13:21.000000001Z INFO service done\n");
  EXPECT_EQ(
      All({.filter = {.replica = "service"}, .form = DownloadForm::kJson}),
      R"({"number":"2","time":"2023-11-14T22:13:21.000000001Z","severity":"INFO","replica":"service","text":"done"})"
      "\n");
  EXPECT_EQ(All({.filter = {.severity_min = LogEntry::NOTICE}}),
            "2023-11-14T22:13:20.000000001Z WARNING master-replica-0 careful\n");
}

/// The fast printer's output equals that of the message.
TEST_F(LineFile, PrintsJsonAsMessages) {
  const std::vector<SampleLine> lines = {
      {"", LogEntry::DEFAULT},
      {"\"quoted\" \\ \x1b[31m \t \r\n \x7f \u20ac </script>", LogEntry::ERROR},
      {"of stderr", LogEntry::ERROR, true},
      {"plain"}};
  Write("master-replica-0", kStart, lines, "3");
  std::istringstream all(All({.form = DownloadForm::kJson}));
  const auto window = ReadWindow(*chunks_, {.job_uid = 1}).value();
  for (const control::v1::LogLineShown& expected : window.lines()) {
    std::string line;
    std::getline(all, line);
    control::v1::LogLineShown read;
    ASSERT_TRUE(wire::ParseJson(line, read)) << line;
    EXPECT_EQ(wire::PrintJson(read), wire::PrintJson(expected));
  }
}

TEST_F(LineFile, HasEveryLineWhole) {
  for (std::uint64_t i = 0; i < 30; ++i) {
    std::vector<SampleLine> lines;
    for (int j = 0; j < 100; ++j)
      lines.push_back({.text = std::string(static_cast<std::size_t>(1000 + j), '#')});
    Write("master-replica-0", kStart + i * 1000, lines);
  }
  for (const DownloadForm form : {DownloadForm::kText, DownloadForm::kJson}) {
    std::istringstream all(All({.form = form}));
    int lines = 0;
    for (std::string line; std::getline(all, line); ++lines)
      EXPECT_EQ(std::ranges::count(line, '#'), 1000 + lines % 100);
    EXPECT_EQ(lines, 3000);
  }
}

TEST_F(LineFile, SaysThatTheLogWasDeleted) {
  WriteMany(100, 10);
  EXPECT_EQ(PrintLines(*chunks_, {.job_uid = 1, .from = 50, .end = 101}).error().code, Code::kAborted);
  const std::vector<std::int64_t> uids = {1};
  EXPECT_FALSE(writer_->Erase(uids, 3).value().done);
  EXPECT_TRUE(PrintLines(*chunks_, {.job_uid = 1, .from = 50, .end = 100}).has_value());
  EXPECT_TRUE(writer_->Erase(uids, 100).value().done);
  EXPECT_EQ(PrintLines(*chunks_, {.job_uid = 1, .from = 50, .end = 100}).error().code, Code::kAborted);
}

}  // namespace
}  // namespace trainyard::logs
