#include "net/access/gate.h"

#include <gtest/gtest.h>

namespace trainyard::access {
namespace {

constexpr const char* kJobs = "/v1/projects/p/jobs";
constexpr const char* kForm = "application/x-www-form-urlencoded";

struct Row {
  const char* name;
  BodyFacts facts;
  bool allowed;
};

class Body : public testing::TestWithParam<Row> {};

TEST_P(Body, IsChecked) {
  const Status checked = CheckBodyType(GetParam().facts);
  EXPECT_EQ(checked.has_value(), GetParam().allowed);
  if (checked) return;
  EXPECT_EQ(checked.error().code, Code::kInvalidArgument);
  EXPECT_NE(checked.error().message.find("Content-Type"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(
    Rules, Body,
    testing::Values(
        Row{"json", {.path = kJobs, .content_type = "application/json", .has_body = true}, true},
        Row{"charset",
            {.path = kJobs, .content_type = "Application/JSON ; charset=utf-8", .has_body = true},
            true},
        Row{"no_body", {.path = kJobs}, true},
        Row{"no_body_but_a_type", {.path = kJobs, .content_type = kForm}, true},
        Row{"text", {.path = kJobs, .content_type = "text/plain", .has_body = true}, false},
        Row{"form", {.path = kJobs, .content_type = kForm, .has_body = true}, false},
        Row{"multipart",
            {.path = kJobs, .content_type = "multipart/form-data; boundary=b", .has_body = true},
            false},
        Row{"none", {.path = kJobs, .has_body = true}, false},
        Row{"hidden",
            {.path = kJobs, .content_type = "text/plain; application/json", .has_body = true},
            false},
        Row{"longer", {.path = kJobs, .content_type = "application/jsonp", .has_body = true}, false},
        Row{"bucket", {.path = "/storage/v1/b", .content_type = "text/plain", .has_body = true}, false},
        Row{"unknown_path", {.path = "/other", .content_type = "text/plain", .has_body = true}, false},
        Row{"upload",
            {.path = "/upload/storage/v1/b/b/o", .content_type = "text/plain", .has_body = true},
            true},
        Row{"upload_without_type", {.path = "/resumable/upload/storage/v1/b/b/o", .has_body = true}, true},
        Row{"batch",
            {.path = "/batch/ml/v1", .content_type = "multipart/mixed; boundary=b", .has_body = true},
            true},
        Row{"like_batch", {.path = "/batches", .content_type = "text/plain", .has_body = true}, false},
        Row{"exchange", {.path = "/v1/token", .content_type = kForm, .has_body = true}, true},
        Row{"introspection", {.path = "/v1/introspect", .content_type = kForm, .has_body = true}, true},
        Row{"token", {.path = "/token", .content_type = kForm, .has_body = true}, true},
        Row{"long_query",
            {.path = kJobs, .content_type = kForm, .has_body = true, .overrides_get = true},
            true},
        Row{"override_with_text",
            {.path = kJobs, .content_type = "text/plain", .has_body = true, .overrides_get = true},
            false},
        Row{"xml_object",
            {.path = "/bucket/object",
             .content_type = "text/plain",
             .has_body = true,
             .is_xml_storage = true},
            true},
        Row{"json_at_the_storage_host",
            {.path = "/storage/v1/b", .content_type = "text/plain", .has_body = true, .is_xml_storage = true},
            false}),
    [](const auto& row) { return row.param.name; });

TEST(MetadataFlavor, IsWantedForMetadataAlone) {
  const std::string token = "/computeMetadata/v1/instance/service-accounts/default/token";
  EXPECT_TRUE(CheckMetadataFlavor(token, "Google"));
  EXPECT_EQ(CheckMetadataFlavor(token, "").error().code, Code::kPermissionDenied);
  EXPECT_EQ(CheckMetadataFlavor(token, "google").error().code, Code::kPermissionDenied);
  EXPECT_TRUE(CheckMetadataFlavor("/", ""));
  EXPECT_TRUE(CheckMetadataFlavor(kJobs, ""));
}

}  // namespace
}  // namespace trainyard::access
