#include "stores/audit/audit_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard::audit {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::chrono::sys_days kToday{std::chrono::year(2026) / 11 / 23};
constexpr AuditFile kCurrent{.day = kToday};

TEST(AuditFile, HasOneName) {
  const AuditFile file{.day = kToday, .number = 12};
  EXPECT_EQ(file.Name(), "audit-20261123-12.jsonl");
  EXPECT_EQ(AuditFile::Parse(file.Name()), file);
  for (const char* name :
       {"audit-20261123-012.jsonl", "audit-20261123-.jsonl", "audit-20261323-1.jsonl",
        "audit-20261123-1.json", "audit-20261123--1.jsonl", "audit-2026112-1.jsonl", "page-token-key",
        "audit-.jsonl", "audit-20261123-1.jsonl~", "audit-20261123-99999999999999999999.jsonl", ""}) {
    EXPECT_FALSE(AuditFile::Parse(name)) << name;
  }
}

TEST(AuditFile, IsOrderedByNumbersNotByText) {
  EXPECT_LT((AuditFile{.day = kToday, .number = 2}), (AuditFile{.day = kToday, .number = 10}));
  EXPECT_LT((AuditFile{.day = kToday, .number = 10}), (AuditFile{.day = kToday + std::chrono::days(1)}));
}

TEST(ListAuditFiles, FindsNothingWithoutAFolder) {
  EXPECT_THAT(ListAuditFiles("/nonexistent/audit").value(), IsEmpty());
}

std::vector<AuditFile> Files(int days, std::int64_t bytes) {
  std::vector<AuditFile> files;
  for (int age = days - 1; age >= 0; --age)
    files.push_back({.day = kToday - std::chrono::days(age), .number = 1, .bytes = bytes});
  return files;
}

std::vector<std::string> Names(const std::vector<Removal>& removals) {
  std::vector<std::string> names;
  for (const Removal& removal : removals) names.push_back(removal.file.Name() + ": " + removal.reason);
  return names;
}

TEST(FilesToRemove, RemovesWhatIsTooOld) {
  const Retention retention{.days_max = std::chrono::days(2), .bytes_max = 1'000};
  EXPECT_THAT(Names(FilesToRemove(Files(4, 10), kCurrent, kToday, retention)),
              ElementsAre("audit-20261120-1.jsonl: older than 2 days (--audit-days)"));
  EXPECT_THAT(FilesToRemove(Files(3, 10), kCurrent, kToday, retention), IsEmpty());
}

TEST(FilesToRemove, RemovesTheOldestBeyondTheBytes) {
  const Retention retention{.days_max = std::chrono::days(400), .bytes_max = 25};
  EXPECT_THAT(Names(FilesToRemove(Files(4, 10), kCurrent, kToday, retention)),
              ElementsAre("audit-20261120-1.jsonl: the audit log has more than 25 bytes (--audit-bytes)",
                          "audit-20261121-1.jsonl: the audit log has more than 25 bytes (--audit-bytes)"));
}

TEST(FilesToRemove, KeepsTheCurrentOneWhateverItIs) {
  const Retention retention{.days_max = std::chrono::days(1), .bytes_max = 1};
  EXPECT_THAT(FilesToRemove(Files(1, 1'000), kCurrent, kToday + std::chrono::days(9), retention), IsEmpty());
  EXPECT_THAT(FilesToRemove({}, kCurrent, kToday, retention), IsEmpty());
}

}  // namespace
}  // namespace trainyard::audit
