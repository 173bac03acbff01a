#include "base/wire/resource_name.h"

#include <gtest/gtest.h>

#include <string>

namespace trainyard::wire {
namespace {

TEST(JobName, ParsesAndPrints) {
  EXPECT_EQ(JobName::Parse("projects/p/jobs/census_1"), (JobName{"p", "census_1"}));
  EXPECT_EQ((JobName{"p", "j"}).ToString(), "projects/p/jobs/j");
  for (const char* bad : {"", "projects/p", "projects//jobs/j", "projects/p/jobs/", "projects/p/jobs/j/x",
                          "p/p/jobs/j", "projects/p/models/j", "/projects/p/jobs/j"}) {
    EXPECT_EQ(JobName::Parse(bad).error().field, "name") << bad;
  }
}

TEST(ProjectName, Parses) {
  EXPECT_EQ(ParseProjectName("projects/my-project"), "my-project");
  for (const char* bad : {"", "projects", "projects/", "projects/p/x", "project/p"}) {
    EXPECT_EQ(ParseProjectName(bad).error().field, "parent") << bad;
  }
}

struct Row {
  const char* name;
  std::string text;
  const char* bucket;  ///< null: refused
  const char* object;
};
class ObjectUriParse : public testing::TestWithParam<Row> {};
TEST_P(ObjectUriParse, Table) {
  const auto uri = ObjectUri::Parse(GetParam().text);
  if (GetParam().bucket == nullptr) {
    EXPECT_EQ(uri.error().code, Code::kInvalidArgument);
    return;
  }
  ASSERT_TRUE(uri.has_value()) << uri.error().message;
  EXPECT_EQ(*uri, (ObjectUri{GetParam().bucket, GetParam().object}));
}
INSTANTIATE_TEST_SUITE_P(
    Rules, ObjectUriParse,
    testing::Values(
        Row{"plain", "gs://bucket/a/b.tar.gz", "bucket", "a/b.tar.gz"},
        Row{"bucket_only", "gs://abc", "abc", ""}, Row{"bucket_slash", "gs://abc/", "abc", ""},
        Row{"folder", "gs://abc/d/", "abc", "d/"}, Row{"double_slash", "gs://abc//d", "abc", "/d"},
        Row{"dots", "gs://a.b-c_d.com/x", "a.b-c_d.com", "x"},
        Row{"unicode", "gs://abc/\u00e4 b", "abc", "\u00e4 b"},
        Row{"dot_dot_inside", "gs://abc/a/../b", "abc", "a/../b"}, Row{"file", "/tmp/x", nullptr, nullptr},
        Row{"https", "https://abc/x", nullptr, nullptr},
        Row{"upper_case_scheme", "GS://abc/x", nullptr, nullptr},
        Row{"no_bucket", "gs:///x", nullptr, nullptr}, Row{"two_letters", "gs://ab/x", nullptr, nullptr},
        Row{"upper_case", "gs://Abc/x", nullptr, nullptr}, Row{"dash_first", "gs://-abc/x", nullptr, nullptr},
        Row{"empty_part", "gs://a..b/x", nullptr, nullptr},
        Row{"long_part", "gs://" + std::string(64, 'a'), nullptr, nullptr},
        Row{"long_object", "gs://abc/" + std::string(1025, 'a'), nullptr, nullptr},
        Row{"dot", "gs://abc/.", nullptr, nullptr}, Row{"dot_dot", "gs://abc/..", nullptr, nullptr},
        Row{"line_end", "gs://abc/a\nb", nullptr, nullptr},
        Row{"nul", std::string("gs://abc/a\0b", 12), nullptr, nullptr},
        Row{"latin_1", "gs://abc/\xe4", nullptr, nullptr}),
    [](const auto& row) { return row.param.name; });

TEST(ObjectUri, PrintsWhatItParsed) {
  for (const char* text : {"gs://abc", "gs://abc/d/e", "gs://abc/d/", "gs://abc//d"}) {
    EXPECT_EQ(ObjectUri::Parse(text)->ToString(), text);
  }
}

}  // namespace
}  // namespace trainyard::wire
