#include "control/tuning/insight_thread.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

namespace trainyard::control {
namespace {

namespace asio = boost::asio;
using Subject = InsightThread::Subject;

class InsightThreadTest : public testing::Test {
 protected:
  /// The stopped trial shows which read a result comes from.
  static asio::awaitable<Result<InsightThread::Study>> Read(int& reads) {
    ++reads;
    InsightThread::Study study;
    study.stopped.push_back({.trial = reads, .reason = ""});
    co_return study;
  }
  InsightThread::Question Question(Subject subject, InsightThread::Revision revision) {
    return {.subject = subject, .revision = revision, .read = [this] { return Read(reads_); }};
  }
  /// Sends all requests together; returns what each is told.
  std::vector<int> Ask(const std::vector<InsightThread::Question>& questions) {
    std::vector<int> told(questions.size());
    for (std::size_t i = 0; i < questions.size(); ++i)
      asio::co_spawn(loop_, thread_.Explain(questions[i]),
                     [&told, i](const std::exception_ptr&, const Result<tuning::Insight>& insight) {
                       if (insight) told[i] = insight->stopped.front().trial;
                     });
    loop_.restart();
    loop_.run();
    return told;
  }

  asio::io_context loop_;
  InsightThread thread_;
  int reads_ = 0;
};

constexpr Subject kJob{.kind = Subject::Kind::kJob, .uid = 1};
constexpr Subject kStudy{.kind = Subject::Kind::kStudy, .uid = 1};

TEST_F(InsightThreadTest, IsComputedOnceForAllWhoAsk) {
  const auto question = Question(kStudy, {.changes = 7});
  EXPECT_EQ(Ask({question, question, question}), (std::vector<int>{1, 1, 1}));
  EXPECT_EQ(Ask({question}), std::vector<int>{1}) << "it is kept";
  EXPECT_EQ(reads_, 1);
}

TEST_F(InsightThreadTest, IsComputedAnewWhenTheSubjectChanges) {
  Ask({Question(kStudy, {.changes = 7})});
  EXPECT_EQ(Ask({Question(kStudy, {.changes = 8})}), std::vector<int>{2});
  EXPECT_EQ(Ask({Question(kStudy, {.changes = 8, .deletions = 1})}), std::vector<int>{3});
}

TEST_F(InsightThreadTest, KeepsJobsAndStudiesApart) {
  Ask({Question(kStudy, {})});
  EXPECT_EQ(Ask({Question(kJob, {})}), std::vector<int>{2});
  EXPECT_EQ(Ask({Question(kStudy, {})}), std::vector<int>{1});
}

}  // namespace
}  // namespace trainyard::control
