#include "rules/jobs/images.h"

#include <gtest/gtest.h>

#include <string>

namespace trainyard::jobs {
namespace {

struct Row {
  const char* name;
  std::string text;
  bool ok;
};
class ImageReference : public testing::TestWithParam<Row> {};

TEST_P(ImageReference, FollowsTheGrammar) {
  const Status status = CheckImageReference(GetParam().text);
  EXPECT_EQ(status.has_value(), GetParam().ok) << GetParam().text;
  if (!status) EXPECT_TRUE(status.error().message.starts_with("'" + GetParam().text + "' is not the name"));
}

INSTANTIATE_TEST_SUITE_P(
    Rules, ImageReference,
    testing::Values(
        Row{"name", "trainer", true}, Row{"tag", "trainer:v1", true}, Row{"user", "me/trainer:1.0-gpu", true},
        Row{"registry", "gcr.io/my-project/trainer", true},
        Row{"registry_tag", "gcr.io/cloud-ml-algos/boosted_trees:latest", true},
        Row{"region", "us-central1-docker.pkg.dev/p/repo/image:tag", true},
        Row{"domain_project", "gcr.io/example.com/my-project/image", true},
        Row{"port", "localhost:5000/a/b", true}, Row{"upper_domain", "Registry.Local:80/a", true},
        Row{"digest", "gcr.io/p/i@sha256:" + std::string(64, 'a'), true},
        Row{"tag_and_digest", "gcr.io/p/i:v1@sha256:" + std::string(64, '0'), true},
        Row{"separators", "x/a.b_c__d---e/f", true}, Row{"long_tag", "a:" + std::string(128, 't'), true},
        Row{"empty", "", false}, Row{"upper_name", "gcr.io/p/Trainer", false},
        Row{"upper_alone", "Trainer", false}, Row{"space", "gcr.io/p/my image", false},
        Row{"scheme", "https://gcr.io/p/i", false}, Row{"docker_scheme", "docker://gcr.io/p/i", false},
        Row{"bucket", "gs://bucket/image", false}, Row{"no_name", "gcr.io/", false},
        Row{"empty_part", "gcr.io//i", false}, Row{"slash", "/i", false}, Row{"empty_tag", "a:", false},
        Row{"tag_dash", "a:-1", false}, Row{"longer_tag", "a:" + std::string(129, 't'), false},
        Row{"port_name", "host:port/a", false}, Row{"empty_digest", "a@", false},
        Row{"short_digest", "a@sha256:abc", false}, Row{"digest_form", "a@" + std::string(64, 'a'), false},
        Row{"two_dots", "a..b", false}, Row{"three_underscores", "a___b", false},
        Row{"end_dash", "a-", false}, Row{"mixed", "a.-b", false},
        Row{"dollar", "gcr.io/$PROJECT_ID/i", false}, Row{"newline", "a\n", false},
        Row{"long_name", std::string(256, 'n'), false}, Row{"domain_dash", "-a.b/c", false},
        Row{"domain_dots", "a..b/c", false}, Row{"nul", std::string("a\0b", 3), false},
        Row{"bytes", "\xff\xfe", false}, Row{"layout", "oci:/srv/layouts/trainer:v1", true},
        Row{"archive", "oci-archive:/srv/Trainer 1.tar", true},
        Row{"saved", "docker-archive:/t.tar:a:b", true},
        Row{"stored", "containers-storage:localhost/t:v1", true}, Row{"daemon", "docker-daemon:t:v1", true},
        Row{"relative_layout", "oci:layouts/trainer", false}, Row{"named_oci", "oci:v1", true},
        Row{"daemon_no_name", "docker-daemon:", false}, Row{"daemon_upper", "docker-daemon:T", false},
        Row{"path_control", "oci:/a\nb", false}, Row{"path_nul", std::string("oci:/a\0b", 8), false},
        Row{"long_path", "oci:/" + std::string(4096, 'p'), false}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace trainyard::jobs
