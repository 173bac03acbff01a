#include "stores/notices/outbox.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/async/testing/temporary_folder.h"

namespace trainyard::notices {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

constexpr SysTime kNoon{hours(12)};

Letter To(const std::string& destination, const std::string& id, SysTime due = kNoon) {
  return {.destination = destination,
          .notice_id = id,
          .job = "projects/p/jobs/j",
          .subject = "s",
          .text = "t",
          .json = "{}",
          .created = kNoon,
          .due = due};
}

TEST(Outbox, KeepsLettersAndItsPlaceOverARestart) {
  TemporaryFolder folder;
  const std::string path = folder.path() + "/notices.db";
  {
    const auto outbox = Outbox::Open(path).value();
    EXPECT_EQ(outbox->LastRead(), std::nullopt);
    EXPECT_EQ(outbox->Post({{"1-failed", kNoon, {To("a", "1-failed"), To("b", "1-failed")}}}, 7), 0);
  }
  const auto outbox = Outbox::Open(path).value();
  EXPECT_EQ(outbox->LastRead(), 7);
  EXPECT_EQ(outbox->Next("a").value()->notice_id, "1-failed");
  EXPECT_EQ(outbox->Next("c").value(), std::nullopt);
}

TEST(Outbox, PostsANoticeOnce) {
  const auto outbox = Outbox::Open(":memory:").value();
  EXPECT_EQ(outbox->Post({{"1-failed", kNoon, {To("a", "1-failed")}}}, {}), 0);
  ASSERT_TRUE(outbox->Remove(outbox->Next("a").value()->number));
  EXPECT_EQ(outbox->Post({{"1-failed", kNoon, {To("a", "1-failed")}}}, 3), 0);
  EXPECT_EQ(outbox->Next("a").value(), std::nullopt);
  EXPECT_EQ(outbox->LastRead(), 3);
  const SysTime later = kNoon + Outbox::kRememberFor + seconds(1);
  EXPECT_EQ(outbox->Post({{"2-failed", later, {}}}, {}), 0);
  EXPECT_EQ(outbox->Post({{"1-failed", later, {To("a", "1-failed")}}}, {}), 0);
  EXPECT_TRUE(outbox->Next("a").value());
}

TEST(Outbox, AnOlderHistoryMayHaveTheNumbersOfKnownNotices) {
  const auto outbox = Outbox::Open(":memory:").value();
  EXPECT_EQ(outbox->Post({{"1-failed", kNoon, {To("a", "1-failed")}}}, 7), 0);
  ASSERT_TRUE(outbox->BeginAt(3));
  EXPECT_EQ(outbox->LastRead(), 3);
  EXPECT_TRUE(outbox->Next("a").value()) << "what was not delivered stays";
  ASSERT_TRUE(outbox->Remove(outbox->Next("a").value()->number));
  EXPECT_EQ(outbox->Post({{"1-failed", kNoon, {To("a", "1-failed")}}}, 4), 0);
  EXPECT_TRUE(outbox->Next("a").value()) << "another job";
}

TEST(Outbox, TheLetterThatIsDueFirstIsNext) {
  const auto outbox = Outbox::Open(":memory:").value();
  EXPECT_EQ(outbox->Post({{"1-failed", kNoon, {To("a", "1-failed")}},
                          {"2-failed", kNoon, {To("a", "2-failed", kNoon + seconds(5))}}},
                         {}),
            0);
  const Letter first = *outbox->Next("a").value();
  EXPECT_EQ(first.notice_id, "1-failed");
  ASSERT_TRUE(outbox->Postpone(first.number, kNoon + seconds(9)));
  EXPECT_EQ(outbox->Next("a").value()->notice_id, "2-failed");
  ASSERT_TRUE(outbox->Remove(outbox->Next("a").value()->number));
  EXPECT_EQ(outbox->Next("a").value()->tries, 1);
}

TEST(Outbox, HasALimit) {
  const auto outbox = Outbox::Open(":memory:").value();
  Posting many{"1-failed", kNoon, std::vector<Letter>(Outbox::kLettersMax + 2, To("a", "1-failed"))};
  EXPECT_EQ(outbox->Post({many}, {}), 2);
}

TEST(Outbox, RemovesLettersOfDestinationsThatAreGone) {
  const auto outbox = Outbox::Open(":memory:").value();
  EXPECT_EQ(outbox->Post({{"1-failed", kNoon, {To("a", "1-failed"), To("b", "1-failed")}}}, {}), 0);
  EXPECT_EQ(outbox->RemoveOthers({"b"}), 1);
  EXPECT_EQ(outbox->Next("a").value(), std::nullopt);
  EXPECT_TRUE(outbox->Next("b").value());
}

}  // namespace
}  // namespace trainyard::notices
