#include "stores/logs/log_query.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard::logs::log_query_test {
namespace {

using logging::v2::ListLogEntriesRequest;

ListLogEntriesRequest Request() {
  ListLogEntriesRequest request;
  request.add_resource_names("projects/p");
  return request;
}

TEST(ParseLogQuery, HasTheDefaultsOfTheApi) {
  const LogQuery query = ParseLogQuery(Request()).value();
  EXPECT_THAT(query.projects, testing::ElementsAre("p"));
  EXPECT_EQ(query.order, Order::kOldestFirst);
  EXPECT_EQ(query.page_size, 50);
}

TEST(ParseLogQuery, CollectsProjectsOnce) {
  ListLogEntriesRequest request = Request();
  request.add_resource_names("projects/b");
  request.add_project_ids("p");
  EXPECT_THAT(ParseLogQuery(request).value().projects, testing::ElementsAre("b", "p"));
}

TEST(ParseLogQuery, TheTokenDoesNotDependOnThePageSize) {
  ListLogEntriesRequest request = Request();
  const std::string context = ParseLogQuery(request).value().page_token_context;
  request.set_page_size(7);
  request.set_page_token("x");
  EXPECT_EQ(ParseLogQuery(request).value().page_token_context, context);
  request.set_order_by("timestamp desc");
  EXPECT_NE(ParseLogQuery(request).value().page_token_context, context);
  request = Request();
  request.set_filter("severity>=ERROR");
  EXPECT_NE(ParseLogQuery(request).value().page_token_context, context);
}

struct Row {
  const char* name;
  ListLogEntriesRequest request;
  const char* field;
};

class ParseLogQueryRefuses : public testing::TestWithParam<Row> {};

TEST_P(ParseLogQueryRefuses, NamingTheField) {
  const Result<LogQuery> query = ParseLogQuery(GetParam().request);
  ASSERT_FALSE(query);
  EXPECT_EQ(query.error().code, Code::kInvalidArgument);
  EXPECT_EQ(query.error().field, GetParam().field);
}

template <class Change>
Row Refused(const char* name, const char* field, Change change) {
  Row row{name, Request(), field};
  change(row.request);
  return row;
}

INSTANTIATE_TEST_SUITE_P(
    Rules, ParseLogQueryRefuses,
    testing::Values(Refused("no_parent", "resource_names", [](auto& r) { r.clear_resource_names(); }),
                    Refused("organization", "resource_names",
                            [](auto& r) { r.add_resource_names("organizations/1"); }),
                    Refused("bare", "resource_names", [](auto& r) { r.add_resource_names("p"); }),
                    Refused("too_many", "resource_names",
                            [](auto& r) {
                              for (int i = 0; i < 100; ++i)
                                r.add_resource_names("projects/p" + std::to_string(i));
                            }),
                    Refused("filter", "filter", [](auto& r) { r.set_filter("resource.type=("); }),
                    Refused("unknown_field", "filter", [](auto& r) { r.set_filter("nonsense=1"); }),
                    Refused("order", "order_by", [](auto& r) { r.set_order_by("severity"); }),
                    Refused("page_size", "page_size", [](auto& r) { r.set_page_size(-1); })),
    [](const auto& row) { return row.param.name; });

TEST(ParseLogQuery, BoundsThePageSize) {
  ListLogEntriesRequest request = Request();
  request.set_page_size(5000);
  EXPECT_EQ(ParseLogQuery(request).value().page_size, 1000);
}

}  // namespace
}  // namespace trainyard::logs::log_query_test
