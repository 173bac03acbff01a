#include "programs/image/reference.h"

#include <gtest/gtest.h>

#include <string>

namespace trainyard::image::reference_test {
namespace {

const std::string kDigest = "sha256:" + std::string(64, 'a');

struct Row {
  const char* name;
  std::string text;
  std::string printed;
  std::string skopeo;
};
class ParsesReference : public testing::TestWithParam<Row> {};

TEST_P(ParsesReference, AsDockerDoes) {
  const Result<Reference> reference = ParseReference(GetParam().text);
  ASSERT_TRUE(reference) << reference.error().message;
  EXPECT_EQ(reference->Print(), GetParam().printed);
  EXPECT_EQ(reference->ForSkopeo(), GetParam().skopeo);
  const Result<Reference> again = ParseReference(reference->Print());
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, *reference);
}

INSTANTIATE_TEST_SUITE_P(
    Forms, ParsesReference,
    testing::Values(
        Row{"short_name", "busybox", "docker.io/library/busybox:latest",
            "docker://docker.io/library/busybox:latest"},
        Row{"hub_user", "me/trainer:v1", "docker.io/me/trainer:v1", "docker://docker.io/me/trainer:v1"},
        Row{"hub_index", "index.docker.io/busybox", "docker.io/library/busybox:latest",
            "docker://docker.io/library/busybox:latest"},
        Row{"hub_short", "docker.io/busybox:1", "docker.io/library/busybox:1",
            "docker://docker.io/library/busybox:1"},
        Row{"short_registry", "r.io/x", "r.io/x:latest", "docker://r.io/x:latest"},
        Row{"gcr", "gcr.io/p/a/b:c", "gcr.io/p/a/b:c", "docker://gcr.io/p/a/b:c"},
        Row{"port", "localhost:5000/x", "localhost:5000/x:latest", "docker://localhost:5000/x:latest"},
        Row{"scheme", "docker://gcr.io/p/a:c", "gcr.io/p/a:c", "docker://gcr.io/p/a:c"},
        Row{"digest", "busybox@" + kDigest, "docker.io/library/busybox@" + kDigest,
            "docker://docker.io/library/busybox@" + kDigest},
        Row{"tag_and_digest", "gcr.io/p/a:c@" + kDigest, "gcr.io/p/a@" + kDigest,
            "docker://gcr.io/p/a@" + kDigest},
        Row{"layout", "oci:/a/b:v1", "oci:/a/b:v1", "oci:/a/b:v1"},
        Row{"layout_without_name", "oci:/a/b", "oci:/a/b", "oci:/a/b"},
        Row{"layout_pinned", "oci:/a/b:v1@" + kDigest, "oci:/a/b:v1@" + kDigest, "oci:/a/b:v1"},
        Row{"archive_with_reference", "docker-archive:/a.tar:localhost/x:v1",
            "docker-archive:/a.tar:localhost/x:v1", "docker-archive:/a.tar:localhost/x:v1"},
        Row{"daemon", "docker-daemon:me/x", "docker-daemon:me/x:latest", "docker-daemon:me/x:latest"},
        Row{"store", "containers-storage:localhost/x:v1", "containers-storage:localhost/x:v1",
            "containers-storage:localhost/x:v1"}),
    [](const auto& row) { return row.param.name; });

TEST(ParseReference, RefusesWhatIsNone) {
  for (const char* text :
       {"", "UPPER/lower x", "oci:relative/path", "docker-daemon:", "x@sha256:12", "-x", "oci:/a\nb"})
    EXPECT_FALSE(ParseReference(text)) << text;
}

TEST(ParseReference, KnowsTheRegistry) {
  EXPECT_EQ(ParseReference("127.0.0.1:5000/a/b")->Registry(), "127.0.0.1:5000");
  EXPECT_EQ(ParseReference("oci:/a/b")->Registry(), "");
  EXPECT_TRUE(IsLoopbackRegistry("127.0.0.1:5000"));
  EXPECT_TRUE(IsLoopbackRegistry("localhost"));
  EXPECT_TRUE(IsLoopbackRegistry("registry.localhost:5000"));
  EXPECT_TRUE(IsLoopbackRegistry("[::1]:5000"));
  EXPECT_FALSE(IsLoopbackRegistry("localhost.example.com"));
  EXPECT_FALSE(IsLoopbackRegistry("127.evil.example:5000"));
  EXPECT_FALSE(IsLoopbackRegistry("[::1].evil.example"));
  EXPECT_FALSE(IsLoopbackRegistry("gcr.io"));
}

TEST(IsSha256, TakesWhatMayBeAPath) {
  EXPECT_TRUE(IsSha256(kDigest));
  EXPECT_FALSE(IsSha256("sha256:" + std::string(63, 'a')));
  EXPECT_FALSE(IsSha256("sha256:../" + std::string(61, 'a')));
  EXPECT_FALSE(IsSha256("sha512:" + std::string(64, 'a')));
  EXPECT_FALSE(IsSha256("sha256:" + std::string(64, 'A')));
}

}  // namespace
}  // namespace trainyard::image::reference_test
