#include "stores/audit/audit_search.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/wire/time.h"
#include "stores/audit/line_reader.h"
#include "stores/audit/testing/audit_fixture.h"

namespace trainyard::audit {
namespace {

using std::chrono::minutes;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::IsEmpty;

class AuditSearchTest : public AuditFolder {
 protected:
  static constexpr minutes kStep{5};
  /// Entries "0" to "N-1", five minutes apart, from 9:00 on.
  void Fill(int count, AuditLog::Options options) {
    const auto log = OpenLog(std::move(options));
    for (int i = 0; i < count; ++i, clock_.Pass(kStep)) {
      log->Add(Line(std::to_string(i)), "p");
      if (i % 100 == 0) log->Flush();
    }
  }
  void Fill(int count) { Fill(count, LogOptions()); }
  [[nodiscard]] static std::string TimeAt(int step) {
    return "\"" + wire::PrintTime(SysTime(kToday) + std::chrono::hours(9) + step * kStep) + "\"";
  }
  [[nodiscard]] static std::vector<std::string> Numbers(int from, int to) {
    std::vector<std::string> numbers;
    for (int i = from; i < to; ++i) numbers.push_back(std::to_string(i));
    return numbers;
  }
  [[nodiscard]] std::vector<std::string> AllPages(const std::string& filter, const std::string& order,
                                                  int page_size) const {
    std::vector<std::string> jobs;
    std::string token;
    do {
      const logs::LogPage page = List(filter, order, page_size, token);
      std::ranges::copy(Jobs(page), std::back_inserter(jobs));
      token = page.next_page_token;
    } while (!token.empty());
    return jobs;
  }
};

TEST_F(AuditSearchTest, FindsNothingInAnEmptyLog) {
  EXPECT_THAT(List("").entries, IsEmpty());
  EXPECT_EQ(List("").next_page_token, "");
}

TEST_F(AuditSearchTest, PagesBothWaysOverAllFiles) {
  AuditLog::Options options = LogOptions();
  options.files.file_bytes_max = 10'000;
  Fill(100, options);
  ASSERT_GT(Names().size(), 5U);
  std::vector<std::string> numbers = Numbers(0, 100);
  EXPECT_THAT(AllPages("", "timestamp asc", 7), ElementsAreArray(numbers));
  std::ranges::reverse(numbers);
  EXPECT_THAT(AllPages("", "timestamp desc", 7), ElementsAreArray(numbers));
}

TEST_F(AuditSearchTest, BeginsAndEndsAtTheFiltersTimes) {
  Fill(400);  // more than a block of the reader; and the day ends within them
  ASSERT_EQ(Names().size(), 2U);
  for (const AuditFile& file : ListAuditFiles(folder()).value())
    ASSERT_GT(file.bytes, 2 * LineReader::kLineBytesMax);
  for (const auto& [from, to] : {std::pair{0, 3}, {100, 105}, {178, 182}, {395, 400}}) {
    const std::string filter = "timestamp>=" + TimeAt(from) + " AND timestamp<" + TimeAt(to);
    std::vector<std::string> numbers = Numbers(from, to);
    EXPECT_THAT(Jobs(List(filter)), ElementsAreArray(numbers));
    std::ranges::reverse(numbers);
    EXPECT_THAT(Jobs(List(filter, "timestamp desc")), ElementsAreArray(numbers));
  }
  EXPECT_THAT(Jobs(List("timestamp>=\"2031-01-01T00:00:00Z\"")), IsEmpty());
  EXPECT_THAT(Jobs(List("timestamp<\"2020-01-01T00:00:00Z\"", "timestamp desc")), IsEmpty());
}

TEST_F(AuditSearchTest, FiltersByWhatEntriesSay) {
  {
    const auto log = OpenLog();
    log->Add(Line("a"), "p");
    log->Add(Line("b", false, 403), "p");
    access::AuditLine bobs = Line("c");
    bobs.principal = "user:bob@example.com";
    log->Add(bobs, "p");
    log->Add(Line("d"), "q");
  }
  EXPECT_THAT(Jobs(List("protoPayload.authenticationInfo.principalEmail=\"bob@example.com\"")),
              ElementsAre("c"));
  EXPECT_THAT(Jobs(List("protoPayload.authorizationInfo.granted=false")), ElementsAre("b"));
  EXPECT_THAT(Jobs(List("log_id(\"cloudaudit.googleapis.com/activity\") severity>=ERROR")), ElementsAre("b"));
  EXPECT_THAT(Jobs(List("log_id(\"cloudaudit.googleapis.com/data_access\")")), IsEmpty());
  EXPECT_THAT(Jobs(List("", "timestamp asc", 10, "", "q")), ElementsAre("d")) << "another project's";
}

TEST_F(AuditSearchTest, APageOfASearchThatFindsLittleIsShortAndHasAToken) {
  Fill(30);
  const std::string filter = "protoPayload.resourceName:\"jobs/25\"";
  const auto page = [&](const std::string& token) {
    return List(filter, "timestamp asc", 1'000, token, "p", 20);
  };
  const logs::LogPage first = page("");
  EXPECT_THAT(first.entries, IsEmpty());
  ASSERT_NE(first.next_page_token, "");
  const logs::LogPage second = page(first.next_page_token);
  EXPECT_THAT(Jobs(second), ElementsAre("25"));
  EXPECT_EQ(second.next_page_token, "");
}

TEST_F(AuditSearchTest, GoesOnBehindAFileThatWasRemoved) {
  AuditLog::Options options = LogOptions();
  options.files.file_bytes_max = 5'000;
  Fill(30, options);
  const logs::LogPage page = List("", "timestamp asc", 2);
  std::filesystem::remove(folder() + "/" + Names().front());
  const std::vector<std::string> rest = Jobs(List("", "timestamp asc", 1'000, page.next_page_token));
  EXPECT_EQ(rest.back(), "29");
  const logs::LogPage last = List("", "timestamp desc", 2);
  std::filesystem::remove(folder() + "/" + Names().back());
  const std::vector<std::string> before = Jobs(List("", "timestamp desc", 1'000, last.next_page_token));
  EXPECT_EQ(before.back(), rest.front());
}

TEST_F(AuditSearchTest, TokensAreForTheSameListOnly) {
  Fill(3);
  const std::string token = List("", "timestamp asc", 1).next_page_token;
  logging::v2::ListLogEntriesRequest request;
  request.add_resource_names("projects/q");
  request.set_page_token(token);
  const auto refused = AuditSearch::Open(folder()).value()->Read(logs::ParseLogQuery(request).value());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().field, "page_token");
}

TEST_F(AuditSearchTest, ADamagedKeyOfPageTokensIsMadeAnew) {
  ASSERT_TRUE(AuditSearch::Open(folder()));
  const std::string key = folder() + "/page-token-key";
  std::ofstream(key) << "half";
  EXPECT_TRUE(AuditSearch::Open(folder()));
  EXPECT_EQ(std::filesystem::file_size(key), store::PageTokenKey().size());
  std::filesystem::remove(key);
  std::filesystem::create_directory(key);
  const auto refused = AuditSearch::Open(folder());
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("Remove " + key), std::string::npos) << refused.error().message;
}

TEST_F(AuditSearchTest, PassesRubbishBy) {
  Fill(3);
  const std::string path = folder() + "/" + Names().front();
  std::ofstream(path, std::ios::app) << "{}\n\n"
                                     << std::string(200'000, '\0')
                                     << "\n[1]\n{\"logName\":\"projects/p/logs/x\"}\n";
  {
    const auto log = OpenLog();
    log->Add(Line("3"), "p");
  }
  EXPECT_THAT(Jobs(List("")), ElementsAre("0", "1", "2", "3"));
  EXPECT_THAT(Jobs(List("", "timestamp desc")), ElementsAre("3", "2", "1", "0"));
}

}  // namespace
}  // namespace trainyard::audit
