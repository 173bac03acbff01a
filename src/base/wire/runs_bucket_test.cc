#include "base/wire/runs_bucket.h"

#include <gtest/gtest.h>

namespace trainyard::wire {
namespace {

TEST(CheckRunsBucket, IsOneProjectsAlone) {
  struct Row {
    const char* bucket;
    const char* project;
    bool may;
  };
  for (const Row& row :
       {Row{"a-runs", "a", true}, Row{"a-runs", "b", false}, Row{"a-runs", "a-runs", false},
        Row{"a-runs-runs", "a-runs", true}, Row{"a-runs-runs", "a", false}, Row{"a-runs", "", false},
        Row{"-runs", "", true}, Row{"a-data", "b", true}, Row{"a-runs2", "b", true}, Row{"runs", "b", true}})
    EXPECT_EQ(CheckRunsBucket(row.bucket, row.project).has_value(), row.may)
        << row.bucket << " " << row.project;
  EXPECT_EQ(
      CheckRunsBucket("a-runs", "b").error(),
      InvalidArgument("name",
                      "gs://a-runs is where `trainyard run` keeps what project a runs, so it can be made for "
                      "that project only: name another bucket"));
}

}  // namespace
}  // namespace trainyard::wire
