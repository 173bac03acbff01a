#include "net/front/real_bucket_rules.h"

#include <gtest/gtest.h>

namespace trainyard::front {
namespace {

TEST(BucketOfPath, ReadsBothApis) {
  struct Row {
    const char* path;
    bool with_xml;
    std::optional<std::string> bucket;
  };
  const Row rows[] = {{"/storage/v1/b/models", false, "models"},
                      {"/storage/v1/b/models/o/a%2Fb", false, "models"},
                      {"/upload/storage/v1/b/models/o", false, "models"},
                      {"/resumable/upload/storage/v1/b/models/o", true, "models"},
                      {"/download/storage/v1/b/mod%65ls/o/a", false, "models"},
                      {"/models/a/b", true, "models"},
                      {"/models/a/b", false, std::nullopt},
                      {"/models", true, "models"},
                      {"/storage/v1/b", false, std::nullopt},
                      {"/storage/v1/b/", true, std::nullopt},
                      {"/", true, std::nullopt},
                      {"", true, std::nullopt},
                      {"/%zz/a", true, std::nullopt},
                      {"/storage/v1/b", true, std::nullopt},
                      {"/batch/storage/v1", true, std::nullopt},
                      {"/%62atch", true, std::nullopt},
                      {"/upload/storage/v1/b", true, std::nullopt},
                      {"/storage/v1/b/batch/o", true, "batch"},
                      {"/storage/v1/b/models%2F..%2Fother/o", false, "models/../other"}};
  for (const Row& row : rows) EXPECT_EQ(BucketOfPath(row.path, row.with_xml), row.bucket) << row.path;
}

struct Row {
  const char* name;
  const char* path;
  const char* source;  ///< x-goog-copy-source; "" for none
  std::optional<Code> refused;
};
class Reach : public testing::TestWithParam<Row> {};
TEST_P(Reach, StaysInTheNamedBuckets) {
  http::Request request;
  request.path = GetParam().path;
  if (*GetParam().source != 0) request.headers.Add("X-Goog-Copy-Source", GetParam().source);
  const Status checked = CheckReach(request, {"theirs", "also"});
  EXPECT_EQ(checked.has_value(), !GetParam().refused) << (checked ? "" : checked.error().message);
  if (!checked && GetParam().refused) EXPECT_EQ(checked.error().code, *GetParam().refused);
}
constexpr Code kDenied = Code::kPermissionDenied;
constexpr Code kMalformed = Code::kInvalidArgument;
INSTANTIATE_TEST_SUITE_P(
    Rows, Reach,
    testing::Values(Row{"read", "/storage/v1/b/theirs/o/a%2Fb", "", {}}, Row{"xml", "/theirs/a/b", "", {}},
                    Row{"percent_in_a_name", "/storage/v1/b/theirs/o/100%25zz", "", {}},
                    Row{"dots_in_a_name", "/storage/v1/b/theirs/o/a..b%2F...", "", {}},
                    Row{"rewrite", "/storage/v1/b/theirs/o/a/rewriteTo/b/also/o/b", "", {}},
                    Row{"rewrite_elsewhere", "/storage/v1/b/theirs/o/a/rewriteTo/b/other/o/b", "", kDenied},
                    Row{"copy_elsewhere", "/storage/v1/b/theirs/o/a/copyTo/b/other/o/b", "", kDenied},
                    Row{"case", "/storage/v1/b/theirs/o/a/REWRITETO/b/other/o/b", "", kDenied},
                    Row{"encoded_verb", "/storage/v1/b/theirs/o/a/rewrite%54o/b/other/o/b", "", kDenied},
                    Row{"encoded_bucket", "/storage/v1/b/theirs/o/a/rewriteTo/b/%6fther/o/b", "", kDenied},
                    Row{"two_destinations", "/storage/v1/b/theirs/o/a/rewriteTo/b/also/rewriteTo/b/other/o/b",
                        "", kDenied},
                    Row{"slashes_in_the_name", "/storage/v1/b/theirs/o/a/b/rewriteTo/b/other/o/b", "",
                        kDenied},
                    Row{"name_of_the_verb_in_xml", "/theirs/rewriteTo/b/c", "", {}},
                    Row{"up", "/storage/v1/b/theirs/../other/o/a", "", kMalformed},
                    Row{"up_encoded", "/storage/v1/b/theirs/%2e%2E/other/o/a", "", kMalformed},
                    Row{"up_in_the_name", "/storage/v1/b/theirs/o/a%2F..%2F..%2Fother", "", kMalformed},
                    Row{"up_twice_encoded", "/storage/v1/b/theirs/o/%252e%252e%252Fother", "", kMalformed},
                    Row{"up_backslash", "/storage/v1/b/theirs/o/a%5C..%5Cb", "", kMalformed},
                    Row{"up_xml", "/theirs/../other/a", "", kMalformed},
                    Row{"encoded_for_ever", "/theirs/%2525252525252e", "", kMalformed},
                    Row{"malformed", "/theirs/%zz", "", kMalformed},
                    Row{"source", "/theirs/b", "/also/a", {}},
                    Row{"source_bare", "/theirs/b", "also/a?generation=1", {}},
                    Row{"source_elsewhere", "/theirs/b", "/other/a", kDenied},
                    Row{"source_encoded", "/theirs/b", "%2Fother%2Fa", kDenied},
                    Row{"source_up", "/theirs/b", "/theirs/../other/a", kMalformed},
                    Row{"source_up_encoded", "/theirs/b", "/theirs%2F%2e%2e%2Fother/a", kMalformed}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace trainyard::front
