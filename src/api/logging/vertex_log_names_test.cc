#include "api/logging/vertex_log_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <utility>

namespace trainyard::api::vertex_log_names_test {
namespace {

namespace asio = boost::asio;
using testing::ElementsAre;
using testing::IsEmpty;
using vertex::NumberedJob;

constexpr std::int64_t kCensus = 9'000'000'000'000'000'012;

asio::awaitable<Result<std::string>> OnlyCensus(std::string project, std::int64_t number) {
  if (project == "broken") co_return std::unexpected(Unavailable("The disk is full"));
  if (project == "q" && number == kCensus) co_return "census";
  co_return std::unexpected(NotFound("none"));
}

Result<VertexLogNames> Find(std::string filter, std::vector<std::string> projects, MlJobOfNumber of) {
  asio::io_context loop;
  std::optional<Result<VertexLogNames>> names;
  asio::co_spawn(loop, FindVertexNames(std::move(of), std::move(filter), std::move(projects)),
                 [&](std::exception_ptr exception, Result<VertexLogNames> found) {
                   EXPECT_FALSE(exception);
                   names = std::move(found);
                 });
  loop.run();
  return *std::move(names);
}

TEST(VertexLogNamesOfQueries, NumbersOfBothKindsOfJobs) {
  const auto names = Find(
      "resource.labels.job_id=(9000000000000000012 OR 7110512376444053982) AND "
      "resource.labels.task_name=workerpool1-0",
      {"p", "q"}, OnlyCensus);
  ASSERT_TRUE(names);
  EXPECT_THAT(names->jobs, ElementsAre(NumberedJob{kCensus, "census"},
                                       NumberedJob{7110512376444053982, "vertex_7110512376444053982"}));
  EXPECT_EQ(names->filter,
            "resource.labels.job_id=(\"census\" OR \"vertex_7110512376444053982\") AND "
            "resource.labels.task_name=\"worker-replica-0\"");
}

TEST(VertexLogNamesOfQueries, ANumberThatNoJobHasStays) {
  const std::string filter = "resource.labels.job_id=9000000000000000012";
  for (const auto& names :
       {Find(filter, {"p"}, OnlyCensus), Find(filter, {}, OnlyCensus), Find(filter, {"q"}, {})}) {
    ASSERT_TRUE(names);
    EXPECT_EQ(names->filter, std::nullopt);
    EXPECT_THAT(names->jobs, IsEmpty());
  }
}

TEST(VertexLogNamesOfQueries, MoreNumbersThanAreLookedUpAreRefused) {
  const auto with = [](std::ptrdiff_t count, const std::string& begin) {
    std::string filter;
    for (std::ptrdiff_t i = 0; i < count; ++i) {
      filter += filter.empty() ? "resource.labels.job_id=(" : " OR ";
      filter += begin + std::to_string(10 + i);
    }
    return filter + ")";
  };
  const auto many = Find(with(kMlNumbersMax + 1, "90000000000000000"), {"p"}, OnlyCensus);
  ASSERT_FALSE(many);
  EXPECT_EQ(many.error().code, Code::kInvalidArgument);
  EXPECT_EQ(many.error().field, "filter");
  EXPECT_TRUE(Find(with(kMlNumbersMax, "90000000000000000"), {"p"}, OnlyCensus));
  const auto of_vertex = Find(with(kMlNumbersMax + 1, "71105123764440539"), {"p"}, OnlyCensus);
  ASSERT_TRUE(of_vertex) << "these are not looked up";
  EXPECT_EQ(of_vertex->jobs.size(), static_cast<std::size_t>(kMlNumbersMax) + 1);
}

TEST(VertexLogNamesOfQueries, AnErrorOfTheStoreIsTheAnswer) {
  const std::string filter = "resource.labels.job_id=9000000000000000012";
  EXPECT_EQ(Find(filter, {"broken", "q"}, OnlyCensus).error().message, "The disk is full");
  EXPECT_TRUE(Find("severity=ERROR", {"broken"}, OnlyCensus));
}

}  // namespace
}  // namespace trainyard::api::vertex_log_names_test
