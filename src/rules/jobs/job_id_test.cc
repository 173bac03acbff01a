#include "rules/jobs/job_id.h"

#include <gtest/gtest.h>

namespace trainyard::jobs {
namespace {

struct Row {
  const char* name;
  std::string text;
  bool ok;
};
class Parse : public testing::TestWithParam<Row> {};

TEST_P(Parse, AcceptsExactlyTheDocumentedForm) {
  const auto id = JobId::Parse(GetParam().text);
  ASSERT_EQ(id.has_value(), GetParam().ok);
  if (id) EXPECT_EQ(id->value(), GetParam().text);
  if (!id) EXPECT_EQ(id.error().field, "job.job_id");
  if (!id) EXPECT_EQ(id.error().code, Code::kInvalidArgument);
}

INSTANTIATE_TEST_SUITE_P(
    Rules, Parse,
    testing::Values(Row{"plain", "census_1", true}, Row{"one_letter", "A", true},
                    Row{"upper", "Job_X9_", true}, Row{"longest", std::string(128, 'a'), true},
                    Row{"too_long", std::string(129, 'a'), false}, Row{"digit_first", "9bad", false},
                    Row{"underscore_first", "_a", false}, Row{"dash", "a-b", false}, Row{"empty", "", false},
                    Row{"slash", "a/b", false}, Row{"space", "a b", false}, Row{"umlaut", "j\xc3\xa4", false},
                    Row{"nul", std::string("a\0b", 3), false}),
    [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace trainyard::jobs
