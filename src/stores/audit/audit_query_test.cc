#include "stores/audit/audit_search.h"

#include <gtest/gtest.h>

#include "base/wire/log_filter.h"

namespace trainyard::audit {
namespace {

struct Row {
  const char* name;
  const char* filter;
  bool names;
};

class NamesAuditLogsOf : public testing::TestWithParam<Row> {};

TEST_P(NamesAuditLogsOf, OnlyIfNothingElseCanMatch) {
  EXPECT_EQ(NamesAuditLogs(wire::ParseLogFilter(GetParam().filter).value()), GetParam().names);
}

INSTANTIATE_TEST_SUITE_P(
    Filters, NamesAuditLogsOf,
    testing::Values(
        Row{"whole", R"(logName="projects/p/logs/cloudaudit.googleapis.com%2Factivity")", true},
        Row{"gcloud",
            R"(timestamp>="2026-11-22T00:00:00Z" AND logName="projects/p/logs/cloudaudit.googleapis.com%2Factivity")",
            true},
        Row{"log_id", R"(log_id("cloudaudit.googleapis.com/activity"))", true},
        Row{"has", R"(logName:"cloudaudit.googleapis.com" severity>=ERROR)", true},
        Row{"has_the_whole_prefix", R"(log_name:"projects/p/logs/cloudaudit.googleapis.com")", true},
        Row{"expression", R"(logName=~"cloudaudit\.googleapis\.com")", true},
        Row{"either",
            R"(logName=("projects/p/logs/cloudaudit.googleapis.com%2Factivity" OR "projects/p/logs/cloudaudit.googleapis.com%2Fdata_access"))",
            true},
        Row{"either_or_a_job",
            R"(log_id("cloudaudit.googleapis.com/activity") OR resource.labels.job_id="j")", false},
        Row{"either_log", R"(logName=~"cloudaudit|master")", false},
        Row{"not", R"(NOT logName:"cloudaudit.googleapis.com")", false},
        Row{"unequal", R"(logName!="projects/p/logs/cloudaudit.googleapis.com%2Factivity")", false},
        Row{"text", R"("cloudaudit.googleapis.com")", false},
        Row{"another_field", R"(protoPayload.serviceName="cloudaudit.googleapis.com")", false},
        Row{"a_job", R"(logName="projects/p/logs/ml.googleapis.com%2Fj")", false}, Row{"nothing", "", false}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace trainyard::audit
