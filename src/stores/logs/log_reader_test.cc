#include "stores/logs/log_reader.h"

#include <algorithm>
#include <random>
#include <set>

#include "stores/logs/testing/log_file_fixture.h"

namespace trainyard::logs {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class LogReaderTest : public LogFileTest {};

TEST_F(LogReaderTest, PagesAreTheSameForEverySizeAndBothOrders) {
  // Three sources of two jobs whose chunks overlap in time; stamps from a fixed seed.
  std::mt19937 random(5);
  std::vector<std::int64_t> next(3, 0);
  const LogSource sources[] = {SampleSource(1, "master-replica-0"), SampleSource(1, "worker-replica-0"),
                               SampleSource(2, "master-replica-0")};
  for (int i = 0; i < 40; ++i) {
    const std::size_t s = random() % 3;
    const int count = 1 + static_cast<int>(random() % 6);
    const std::uint64_t stamp = 1001 + 10 * static_cast<std::uint64_t>(i) + 2 * (random() % 30);
    ASSERT_TRUE(Append(sources[s], {.first_line = next[s],
                                    .texts = NumberedTexts(std::to_string(i) + "_", count),
                                    .first_stamp = stamp,
                                    .step = 2 * (1 + random() % 9)}));
    next[s] += count;
  }
  for (const std::string& filter : {std::string(), JobFilter(1), JobFilter(2)}) {
    const auto oldest_first = ReadAll(Request(filter));
    EXPECT_TRUE(std::ranges::is_sorted(oldest_first, {}, [](const auto& entry) {
      return std::tuple(Time(entry), entry.insert_id(), entry.resource().labels().at("job_id"));
    }));
    auto backwards = Texts(oldest_first);
    std::ranges::reverse(backwards);
    for (const int page_size : {1, 2, 3, 7, 50, 1000}) {
      EXPECT_EQ(Texts(ReadAll(Request(filter, "timestamp asc", page_size))), Texts(oldest_first))
          << page_size;
      EXPECT_EQ(Texts(ReadAll(Request(filter, "timestamp desc", page_size))), backwards) << page_size;
    }
  }
  EXPECT_EQ(ReadAll(Request("")).size(), static_cast<std::size_t>(next[0] + next[1] + next[2]));
}

TEST_F(LogReaderTest, APageMayBeSmallerThanTheOneItsTokenCameFrom) {
  ASSERT_TRUE(Append(SampleSource(1, "service"), {.texts = NumberedTexts("t", 10)}));
  auto request = Request(JobFilter(1), "timestamp asc", 4);
  request.set_page_token(Read(request)->next_page_token);
  request.set_page_size(2);
  const LogPage page = Read(request).value();
  EXPECT_THAT(Texts(page.entries), ElementsAre("t4", "t5"));
  request.set_page_token(page.next_page_token);
  request.set_page_size(1000);
  EXPECT_THAT(Texts(Read(request)->entries), ElementsAre("t6", "t7", "t8", "t9"));
}

TEST_F(LogReaderTest, PagesAreStableWhileLinesArrive) {
  const LogSource source = SampleSource(1, "master-replica-0");
  ASSERT_TRUE(Append(source, {.texts = NumberedTexts("t", 4)}));
  auto forward = Request(JobFilter(1), "timestamp asc", 3);
  auto backward = Request(JobFilter(1), "timestamp desc", 3);
  forward.set_page_token(Read(forward)->next_page_token);
  const LogPage newest = Read(backward).value();
  EXPECT_THAT(Texts(newest.entries), ElementsAre("t3", "t2", "t1"));
  backward.set_page_token(newest.next_page_token);
  ASSERT_TRUE(Append(source, {.first_line = 4, .texts = {"t4"}, .first_stamp = 9}));
  EXPECT_THAT(Texts(ReadAll(forward)), ElementsAre("t3", "t4"));
  EXPECT_THAT(Texts(ReadAll(backward)), ElementsAre("t0"));
}

TEST_F(LogReaderTest, TheLastPageHasNoToken) {
  ASSERT_TRUE(Append(SampleSource(1, "service"), {.texts = NumberedTexts("t", 4)}));
  EXPECT_THAT(Read(Request(JobFilter(1), "timestamp asc", 4))->next_page_token, IsEmpty());
  EXPECT_THAT(Read(Request(JobFilter(1), "timestamp asc", 3))->next_page_token, testing::Not(IsEmpty()));
}

TEST_F(LogReaderTest, RefusesForeignTokens) {
  ASSERT_TRUE(Append(SampleSource(1, "service"), {.texts = NumberedTexts("t", 4)}));
  auto request = Request(JobFilter(1), "timestamp asc", 2);
  const std::string token = Read(request)->next_page_token;
  auto other = Request(JobFilter(2), "timestamp asc", 2);
  other.set_page_token(token);
  request.set_page_token(token + "A");
  for (const auto& bad : {request, other}) {
    const Result<LogPage> page = Read(bad);
    ASSERT_FALSE(page);
    EXPECT_EQ(page.error().code, Code::kInvalidArgument);
    EXPECT_EQ(page.error().field, "page_token");
  }
}

TEST_F(LogReaderTest, ShowsOnlyTheProjectsAskedFor) {
  ASSERT_TRUE(Append(SampleSource(1, "service", "p"), {.texts = {"mine"}}));
  ASSERT_TRUE(Append(SampleSource(2, "service", "q"), {.texts = {"theirs"}}));
  EXPECT_THAT(Texts(ReadAll(Request(""))), ElementsAre("mine"));
  EXPECT_THAT(Texts(ReadAll(Request(JobFilter(2)))), IsEmpty());
  auto both = Request("");
  both.add_resource_names("projects/q");
  EXPECT_THAT(Texts(ReadAll(both)), ElementsAre("mine", "theirs"));
}

struct FilterRow {
  const char* name;
  std::string filter;
  std::vector<std::string> texts;
};

class LogReaderFilters : public LogFileTest, public testing::WithParamInterface<FilterRow> {};

TEST_P(LogReaderFilters, Select) {
  ASSERT_TRUE(Append(SampleSource(1, "service"), {.texts = {"queued"}, .first_stamp = 1'000'000'001}));
  ASSERT_TRUE(
      Append(SampleSource(1, "master-replica-0"), {.texts = {"m0", "m1"}, .first_stamp = 2'000'000'001}));
  ASSERT_TRUE(Append(SampleSource(1, "worker-replica-0"), {.texts = {"w0"}, .first_stamp = 3'000'000'001}));
  const std::string filter = GetParam().filter.empty() ? "" : JobFilter(1) + " AND " + GetParam().filter;
  EXPECT_EQ(Texts(ReadAll(Request(filter))), GetParam().texts);
  std::vector<std::string> backwards = GetParam().texts;
  std::ranges::reverse(backwards);
  EXPECT_EQ(Texts(ReadAll(Request(filter, "timestamp desc"))), backwards);
}

INSTANTIATE_TEST_SUITE_P(
    AsGcloudSendsThem, LogReaderFilters,
    testing::Values(
        FilterRow{"none", "", {"queued", "m0", "m1", "w0"}},
        FilterRow{"all", "timestamp>=\"1970-01-01T00:00:00Z\"", {"queued", "m0", "m1", "w0"}},
        FilterRow{"from", "timestamp>=\"1970-01-01T00:00:02.000000003Z\"", {"m1", "w0"}},
        FilterRow{"until", "timestamp<\"1970-01-01T00:00:02.000000003Z\"", {"queued", "m0"}},
        FilterRow{
            "empty_range", "timestamp>\"1970-01-01T00:00:05Z\" AND timestamp<\"1970-01-01T00:00:04Z\"", {}},
        FilterRow{"after_the_last_one",
                  "((timestamp=\"1970-01-01T00:00:02.000000001Z\" AND insertId>\"0000000000000001\") OR "
                  "timestamp>\"1970-01-01T00:00:02.000000001Z\")",
                  {"m1", "w0"}},
        FilterRow{"task",
                  "(resource.labels.task_name=\"master-replica-0\" OR labels.task_name=\"master-replica-0\")",
                  {"m0", "m1"}},
        FilterRow{"severity", "severity>=ERROR", {}},
        FilterRow{"text", "jsonPayload.message=\"w0\"", {"w0"}}),
    [](const auto& row) { return row.param.name; });

TEST_F(LogReaderTest, BoundsOneSearchAndGoesOn) {
  std::vector<AppendRequest> requests;
  const LogSource source = SampleSource(1, "master-replica-0");
  constexpr int kChunks = 21;
  constexpr int kLines = 1000;
  for (int i = 0; i < kChunks; ++i) {
    requests.push_back(
        {source, SampleChunk({.first_line = i * kLines,
                              .texts = NumberedTexts("t", kLines),
                              .first_stamp = static_cast<std::uint64_t>(2 * i * kLines + 1)})});
  }
  for (const auto& result : writer_->Append(requests)) ASSERT_TRUE(result);
  const auto request = Request(JobFilter(1) + " AND jsonPayload.message=\"t999\"");
  const LogPage page = Read(request).value();
  EXPECT_LT(page.entries.size(), kChunks);
  EXPECT_THAT(page.next_page_token, testing::Not(IsEmpty()));
  EXPECT_EQ(ReadAll(request).size(), kChunks);
}

TEST_F(LogReaderTest, BoundsTheChunksPassedOver) {
  // 12,000 chunks of another job, then one of ours at each end of time.
  std::vector<AppendRequest> requests;
  requests.push_back({SampleSource(1, "service"), SampleChunk({.texts = {"first"}, .first_stamp = 1})});
  for (int i = 0; i < 12'000; ++i) {
    requests.push_back(
        {SampleSource(2, "service", "q"),
         SampleChunk(
             {.first_line = i, .texts = {"x"}, .first_stamp = static_cast<std::uint64_t>(2 * i + 3)})});
  }
  requests.push_back({SampleSource(3, "service"), SampleChunk({.texts = {"last"}, .first_stamp = 90'001})});
  for (const auto& result : writer_->Append(requests)) ASSERT_TRUE(result);
  EXPECT_THAT(Texts(Read(Request(""))->entries), ElementsAre("first"));
  EXPECT_THAT(Texts(ReadAll(Request(""))), ElementsAre("first", "last"));
  EXPECT_THAT(Texts(ReadAll(Request("", "timestamp desc"))), ElementsAre("last", "first"));
}

TEST_F(LogReaderTest, FindsItsChunksThroughAnIndex) {
  const std::vector<std::string> plans = reader_->QueryPlans().value();
  ASSERT_FALSE(plans.empty());
  for (const std::string& plan : plans) {
    EXPECT_THAT(plan, testing::Not(testing::StartsWith("SCAN")));
    EXPECT_THAT(plan, testing::Not(testing::HasSubstr("TEMP B-TREE")));
  }
}

}  // namespace
}  // namespace trainyard::logs
