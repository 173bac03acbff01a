#include "base/wire/field_selector.h"

#include <gtest/gtest.h>

#include <array>

namespace trainyard::wire {
namespace {

using Names = std::vector<std::string>;
constexpr std::array<std::string_view, 3> kAllowed{"labels", "etag", "audit_configs"};

struct Row {
  const char* name;
  const char* text;
  Names names;
  const char* refused = "";  ///< the name in the message
};

class FieldMask : public testing::TestWithParam<Row> {};

TEST_P(FieldMask, Parses) {
  const Row& row = GetParam();
  const Result<Names> names = ParseFieldMask(row.text, kAllowed);
  if (row.refused[0] == '\0') {
    ASSERT_TRUE(names) << names.error().message;
    EXPECT_EQ(*names, row.names);
  } else {
    ASSERT_FALSE(names);
    EXPECT_EQ(names.error(),
              InvalidArgument("update_mask", "Only labels, etag and audit_configs can be updated, not '" +
                                                 std::string(row.refused) + "'"));
  }
}

INSTANTIATE_TEST_SUITE_P(Rules, FieldMask,
                         testing::Values(Row{"one", "labels", {"labels"}},
                                         Row{"two", "labels,etag", {"labels", "etag"}},
                                         Row{"blanks", " bindings", {}, "bindings"},
                                         Row{"blank_after", "etag, labels", {"etag", "labels"}},
                                         Row{"doubled", "labels,labels", {"labels"}},
                                         Row{"camel", "auditConfigs", {"audit_configs"}},
                                         Row{"snake", "audit_configs", {"audit_configs"}},
                                         Row{"both_cases", "audit_configs,auditConfigs", {"audit_configs"}},
                                         Row{"comma_at_end", "labels,", {"labels"}}, Row{"nothing", "", {}},
                                         Row{"commas", ",,", {}}, Row{"wildcard", "*", {}, "*"},
                                         Row{"nested", "labels.team", {}, "labels.team"},
                                         Row{"unknown", "labels,jobId", {}, "jobId"},
                                         Row{"wrong_case", "Labels", {}, "Labels"},
                                         Row{"malformed", "\xff", {}, "\xEF\xBF\xBD"}),
                         [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace trainyard::wire
