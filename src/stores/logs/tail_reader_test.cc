#include "stores/logs/tail_reader.h"

#include "stores/logs/log_query.h"
#include "stores/logs/testing/log_file_fixture.h"

namespace trainyard::logs {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kFromTheStart = R"( AND timestamp>="1970-01-01T00:00:00Z")";

LogQuery Query(const std::string& filter, const std::vector<std::string>& projects = {"p"}) {
  logging::v2::TailLogEntriesRequest request;
  for (const std::string& project : projects) request.add_resource_names("projects/" + project);
  request.set_filter(filter);
  return ParseTailQuery(request).value();
}

class TailReaderTest : public LogFileTest {
 protected:
  void SetUp() override {
    LogFileTest::SetUp();
    tail_ = TailReader::Open(folder_ + "/logs.db").value();
  }

  /// Returns everything after the position, and moves it.
  std::vector<std::string> Rest(const LogQuery& query, TailPosition& position) {
    std::vector<std::string> texts;
    for (int pages = 0; pages < 10'000; ++pages) {
      TailPage page = tail_->Read(query, position).value();
      position = page.position;
      EXPECT_LE(page.entries.size(), kTailEntriesMax);
      for (std::string& text : Texts(page.entries)) texts.push_back(std::move(text));
      if (page.caught_up) return texts;
    }
    ADD_FAILURE() << "pages without end";
    return texts;
  }

  std::unique_ptr<TailReader> tail_;
};

TEST_F(TailReaderTest, BeginsWithWhatComesUnlessTheFilterSaysSinceWhen) {
  const LogSource source = SampleSource(1, "master-replica-0");
  ASSERT_TRUE(Append(source, {.texts = {"a", "b"}, .first_stamp = 4'000'000'000'000'000'001}));
  for (const std::string& filter : {std::string(), JobFilter(1)}) {
    TailPosition now = tail_->Start(Query(filter), "").value();
    EXPECT_THAT(Rest(Query(filter), now), IsEmpty()) << filter;
  }
  for (const std::string& filter :
       {JobFilter(1) + kFromTheStart, "insertId:0" + std::string(kFromTheStart)}) {
    TailPosition start = tail_->Start(Query(filter), "").value();
    EXPECT_THAT(Rest(Query(filter), start), ElementsAre("a", "b")) << filter;
  }
}

TEST_F(TailReaderTest, SinceATime) {
  const std::uint64_t stamp = 4'000'000'000'000'000'001;
  for (std::uint64_t i = 0; i < 20; ++i) {
    ASSERT_TRUE(Append(SampleSource(1, "master-replica-0"), {.first_line = static_cast<std::int64_t>(i),
                                                             .texts = {std::to_string(i)},
                                                             .first_stamp = stamp + 1000 * i}));
  }
  for (const std::string& job : {std::string("insertId:0"), JobFilter(1)}) {
    const LogQuery query = Query(job + R"( AND timestamp>="2096-10-02T07:06:40.000018Z")");
    TailPosition position = tail_->Start(query, "").value();
    EXPECT_THAT(Rest(query, position), ElementsAre("18", "19")) << job;
    const LogQuery future = Query(job + R"( AND timestamp>="2096-10-02T07:06:40.9Z")");
    position = tail_->Start(future, "").value();
    EXPECT_THAT(Rest(future, position), IsEmpty()) << job;
  }
}

// A line that arrives late with an old stamp still comes last, in another job too.
TEST_F(TailReaderTest, EachLineComesOnceInOrderOfArrival) {
  const LogQuery one = Query(JobFilter(1) + kFromTheStart);
  const LogQuery all = Query("timestamp>=\"1970-01-01T00:00:00Z\"");
  TailPosition of_one = tail_->Start(one, "").value();
  TailPosition of_all = tail_->Start(all, "").value();
  EXPECT_THAT(Rest(one, of_one), IsEmpty()) << "the job has no line yet";
  ASSERT_TRUE(Append(SampleSource(1, "master-replica-0"), {.texts = {"a", "b"}, .first_stamp = 9001}));
  EXPECT_THAT(Rest(one, of_one), ElementsAre("a", "b"));
  ASSERT_TRUE(Append(SampleSource(2, "master-replica-0"), {.texts = {"x"}, .first_stamp = 9101}));
  EXPECT_THAT(Rest(all, of_all), ElementsAre("a", "b", "x"));
  ASSERT_TRUE(Append(SampleSource(1, "worker-replica-0"), {.texts = {"c"}, .first_stamp = 5}));
  ASSERT_TRUE(Append(SampleSource(3, "master-replica-0"), {.texts = {"y"}, .first_stamp = 7}));
  ASSERT_TRUE(
      Append(SampleSource(3, "master-replica-0", "q"), {.texts = {"other project"}, .first_stamp = 7}));
  EXPECT_THAT(Rest(one, of_one), ElementsAre("c"));
  EXPECT_THAT(Rest(all, of_all), testing::UnorderedElementsAre("c", "y"));
  EXPECT_THAT(Rest(one, of_one), IsEmpty());
  EXPECT_THAT(Rest(all, of_all), IsEmpty());
}

TEST_F(TailReaderTest, ACursorGoesOnInTheMiddleOfAChunk) {
  ASSERT_TRUE(Append(SampleSource(1, "master-replica-0"), {.texts = NumberedTexts("t", 1234)}));
  for (const std::string& filter :
       {JobFilter(1) + kFromTheStart, "insertId:0" + std::string(kFromTheStart)}) {
    const LogQuery query = Query(filter);
    std::vector<std::string> texts;
    std::string cursor;
    for (int pages = 0; pages < 3; ++pages) {
      const TailPage page = tail_->Read(query, tail_->Start(query, cursor).value()).value();
      EXPECT_EQ(page.caught_up, pages == 2);
      for (std::string& text : Texts(page.entries)) texts.push_back(std::move(text));
      cursor = tail_->Seal(query, page.position);
    }
    EXPECT_EQ(texts, NumberedTexts("t", 1234));
    EXPECT_EQ(tail_->Start(Query("severity>=ERROR"), cursor).error().field, "cursor");
  }
  EXPECT_EQ(tail_->Start(Query(""), "abc").error().code, Code::kInvalidArgument);
}

TEST_F(TailReaderTest, ACursorGoesOnAfterTheNewestLinesWereErased) {
  const LogQuery all = Query("insertId:0" + std::string(kFromTheStart));
  ASSERT_TRUE(Append(SampleSource(1, "master-replica-0"), {.texts = {"a"}}));
  TailPosition position = tail_->Start(all, "").value();
  ASSERT_THAT(Rest(all, position), ElementsAre("a"));
  const std::vector<std::int64_t> uids = {1};
  ASSERT_TRUE(writer_->Erase(uids, 100).value().done);
  Reopen();
  ASSERT_TRUE(Append(SampleSource(2, "master-replica-0"), {.texts = {"b"}}));
  EXPECT_THAT(Rest(all, position), ElementsAre("b"));
}

TEST_F(TailReaderTest, OneTaskAndAFilter) {
  ASSERT_TRUE(Append(SampleSource(1, "master-replica-0"), {.texts = {"m1", "m2"}}));
  ASSERT_TRUE(Append(SampleSource(1, "worker-replica-0"), {.texts = {"w1", "w2"}}));
  const LogQuery query =
      Query(JobFilter(1) + R"( AND resource.labels.task_name="worker-replica-0" AND "w2")" + kFromTheStart);
  TailPosition position = tail_->Start(query, "").value();
  EXPECT_THAT(Rest(query, position), ElementsAre("w2"));
}

// Two jobs of the same name in two projects: which one is meant is not known, so both are read.
TEST_F(TailReaderTest, TwoProjects) {
  ASSERT_TRUE(Append(SampleSource(1, "master-replica-0", "p"), {.texts = {"p"}}));
  LogSource same = SampleSource(1, "master-replica-0", "q");
  same.job_uid = 2;
  ASSERT_TRUE(Append(same, {.texts = {"q"}}));
  const LogQuery both = Query(JobFilter(1) + kFromTheStart, {"p", "q"});
  TailPosition position = tail_->Start(both, "").value();
  EXPECT_EQ(tail_->Read(both, position)->job, TailJob());
  EXPECT_THAT(Rest(both, position), testing::UnorderedElementsAre("p", "q"));
  const LogQuery one = Query(JobFilter(1) + kFromTheStart, {"q"});
  EXPECT_EQ(tail_->Read(one, {})->job, (TailJob{TailJob::Kind::kOne, 2}));
  EXPECT_EQ(tail_->Read(Query(JobFilter(7)), {})->job.kind, TailJob::Kind::kNotYet);
  EXPECT_THAT(Texts(tail_->Read(one, {})->entries), ElementsAre("q"));
}

TEST_F(TailReaderTest, SearchesAreLookUps) {
  for (const std::string& plan : tail_->QueryPlans().value()) {
    EXPECT_THAT(plan, Not(HasSubstr("TEMP B-TREE")));
  }
  EXPECT_THAT(tail_->QueryPlans().value(),
              testing::Contains(HasSubstr("chunks_by_job (job_uid=? AND first_time>?)")));
  EXPECT_THAT(tail_->QueryPlans().value(), testing::Contains(HasSubstr("INTEGER PRIMARY KEY (rowid>?)")));
}

TEST(ParseTailQuery, ChecksTheWindow) {
  logging::v2::TailLogEntriesRequest request;
  request.add_resource_names("projects/p");
  request.mutable_buffer_window()->set_seconds(60);
  EXPECT_TRUE(ParseTailQuery(request));
  request.mutable_buffer_window()->set_seconds(61);
  EXPECT_EQ(ParseTailQuery(request).error().field, "buffer_window");
  request.clear_buffer_window();
  request.clear_resource_names();
  EXPECT_EQ(ParseTailQuery(request).error().field, "resource_names");
}

TEST_F(TailReaderTest, ReadsNoFurtherThanItIsAsked) {
  const LogSource source = SampleSource(1, "master-replica-0");
  ASSERT_TRUE(Append(source, {.texts = {"a", "b"}}));
  ASSERT_TRUE(Append(source, {.first_line = 2, .texts = {"c", "d"}}));
  const LogQuery query = Query(JobFilter(1) + kFromTheStart);
  const TailPosition end = tail_->Read(query, {}).value().position;
  ASSERT_TRUE(Append(source, {.first_line = 4, .texts = {"e"}}));
  TailPage page = tail_->Read(query, {}, end).value();
  EXPECT_THAT(Texts(page.entries), ElementsAre("a", "b", "c", "d"));
  EXPECT_EQ(page.position, end);
  EXPECT_FALSE(page.caught_up);
  const TailPosition middle{end.chunk, end.first_time, 1};
  page = tail_->Read(query, {}, middle).value();
  EXPECT_THAT(Texts(page.entries), ElementsAre("a", "b", "c"));
  EXPECT_EQ(page.position, middle);
  EXPECT_FALSE(page.caught_up);
  EXPECT_THAT(tail_->Read(query, end, end).value().entries, IsEmpty());
  EXPECT_THAT(Texts(tail_->Read(query, middle).value().entries), ElementsAre("d", "e"));
}

}  // namespace
}  // namespace trainyard::logs
