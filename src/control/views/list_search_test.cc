#include "control/views/job_listing.h"

#include <gtest/gtest.h>

#include "base/wire/time.h"

namespace trainyard::control {
namespace {

using namespace std::chrono_literals;

TEST(BindPageTokenTest, IsGoodForItsFilterOnly) {
  const std::string token = BindPageToken("AbC-_9", "state:FAILED");
  EXPECT_EQ(UnbindPageToken(token, "state:FAILED").value(), "AbC-_9");
  for (const char* other : {"", "state:RUNNING", "state:FAILED "}) {
    const auto refused = UnbindPageToken(token, other);
    ASSERT_FALSE(refused) << other;
    EXPECT_EQ(refused.error().field, "page_token");
  }
  EXPECT_FALSE(UnbindPageToken("AbC-_9", "state:FAILED")) << "of a list without a filter";
  EXPECT_FALSE(UnbindPageToken("AbC-_9.", ""));
  EXPECT_EQ(UnbindPageToken(BindPageToken("AbC-_9", ""), "").value(), "AbC-_9");
  EXPECT_EQ(BindPageToken("", "x"), "") << "no next page";
  EXPECT_EQ(UnbindPageToken("", "x").value(), "") << "the first page";
}

v1::JobRecord Job(SysTime created, bool ended) {
  v1::JobRecord record;
  record.set_revision(7);
  *record.mutable_job()->mutable_create_time() = wire::ToProto(created);
  if (ended) *record.mutable_job()->mutable_end_time() = wire::ToProto(created + 1s);
  return record;
}

TEST(ListSearchTest, EndsAtTheWindow) {
  const SysTime oldest{1'000'000s};
  auto search = std::make_shared<ListSearch>(wire::ParseFilter("etag:*").value(), oldest);
  const auto wanted = ListSearch::EndedJobs(search);
  v1::JobRecord young = Job(oldest, true);
  EXPECT_TRUE(wanted(young));
  EXPECT_EQ(young.job().etag(), "7");
  v1::JobRecord living = Job(oldest, false);
  EXPECT_TRUE(wanted(living));
  EXPECT_FALSE(search->past_window());
  v1::JobRecord old = Job(oldest - 1ns, false);
  EXPECT_FALSE(wanted(old));
  EXPECT_TRUE(search->past_window());
  EXPECT_FALSE(wanted(young)) << "none after it";
}

}  // namespace
}  // namespace trainyard::control
