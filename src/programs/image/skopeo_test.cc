#include "programs/image/skopeo.h"

#include <gtest/gtest.h>

#include <string>

namespace trainyard::image::skopeo_test {
namespace {

/// What skopeo 1.9.3 printed when it was provoked: a registry without the image, with a password, stopped,
/// with a damaged or removed blob; files that are none; a full disk.
struct Row {
  const char* name;
  const char* printed;
  const char* registry;
  Code code;
  const char* part;
};
class ReadsSkopeo : public testing::TestWithParam<Row> {};

TEST_P(ReadsSkopeo, IntoASentence) {
  const std::string line =
      R"(time="2026-11-21T14:49:24Z" level=fatal msg=")" + std::string(GetParam().printed) + '"';
  const Error error = SkopeoFailure({"Getting image source signatures", line}, GetParam().registry);
  EXPECT_EQ(error.code, GetParam().code) << error.message;
  EXPECT_NE(error.message.find(GetParam().part), std::string::npos) << error.message;
  EXPECT_EQ(error.message.find('{'), std::string::npos) << error.message;
}

constexpr const char* kR = "127.0.0.1:5000";

INSTANTIATE_TEST_SUITE_P(
    Provoked, ReadsSkopeo,
    testing::Values(
        Row{"no_tag",
            R"(Error parsing image name \"docker://127.0.0.1:5000/p/x:v1\": reading manifest v1 in 127.0.0.1:5000/p/x: manifest unknown: manifest unknown)",
            kR, Code::kNotFound, "there is no such image or tag in 127.0.0.1:5000"},
        Row{"no_credentials",
            R"(Error parsing image name \"docker://127.0.0.1:5000/p/x:v1\": reading manifest v1 in 127.0.0.1:5000/p/x: unauthorized: authentication required)",
            kR, Code::kPermissionDenied, "trainyard registries login 127.0.0.1:5000"},
        Row{"push_without_credentials",
            R"(trying to reuse blob sha256:c1 at destination: checking whether a blob sha256:c1 exists in 127.0.0.1:5000/p/x: unauthorized: authentication required)",
            kR, Code::kPermissionDenied, "trainyard registries login 127.0.0.1:5000"},
        Row{"wrong_password", R"(logging into \"127.0.0.1:5000\": invalid username/password)", kR,
            Code::kPermissionDenied, "rejects this user name and password"},
        Row{"no_host",
            R"(Error parsing image name \"docker://nowhere.invalid/p/x:v1\": pinging container registry nowhere.invalid: Get \"https://nowhere.invalid/v2/\": dial tcp: lookup nowhere.invalid on 127.0.0.53:53: no such host)",
            "nowhere.invalid", Code::kUnavailable, "there is no host named nowhere.invalid"},
        Row{"stopped",
            R"(Error parsing image name \"docker://127.0.0.1:1/p/x:v1\": pinging container registry 127.0.0.1:1: Get \"https://127.0.0.1:1/v2/\": dial tcp 127.0.0.1:1: connect: connection refused)",
            "127.0.0.1:1", Code::kUnavailable, "127.0.0.1:1 does not answer"},
        Row{"died_in_a_blob", "writing blob: happened during read: unexpected EOF", kR, Code::kUnavailable,
            "closed the connection too early"},
        Row{"plain_http",
            R"(Error parsing image name \"docker://r:1/p/x:v1\": pinging container registry r:1: Get \"https://r:1/v2/\": http: server gave HTTP response to HTTPS client)",
            "r:1", Code::kFailedPrecondition, "--insecure-registry r:1"},
        Row{"certificate",
            R"(Error parsing image name \"docker://r:1/p/x:v1\": pinging container registry r:1: Get \"https://r:1/v2/\": x509: cannot validate certificate for 127.0.0.1 because it doesn't contain any IP SANs)",
            "r:1", Code::kFailedPrecondition, "/etc/containers/certs.d/r:1/ca.crt"},
        Row{"damaged_blob",
            "writing blob: happened during read: Digest did not match, expected sha256:c1, got sha256:16", kR,
            Code::kDataLoss, "data that does not match its digest"},
        Row{"removed_blob",
            "reading blob sha256:c1: Error fetching blob: invalid status code from registry 404 (Not Found)",
            kR, Code::kDataLoss, "has lost a layer"},
        Row{"full_disk",
            "writing blob: write /i/pulls/x/layout/oci-put-blob937883280: no space left on device", kR,
            Code::kResourceExhausted, "the disk is full"},
        Row{"no_layout",
            R"(Error parsing image name \"oci:/nope:x\": open /nope/index.json: no such file or directory)",
            "", Code::kNotFound, "no such file or directory"},
        Row{"not_in_layout",
            R"(Error parsing image name \"oci:/l:zzz\": no descriptor found for reference \"zzz\")", "",
            Code::kNotFound, "no image of that name in it"},
        Row{"not_in_archive", R"(Error retrieving manifest for image: Tag \"localhost/nope:v1\" not found)",
            "", Code::kNotFound, "no image of that name in it"},
        Row{"garbage",
            R"(Error parsing image name \"oci-archive:/g.tar\": creating temp directory: untarring file \"/var/tmp/oci41\": unexpected EOF)",
            "", Code::kInvalidArgument, "the image archive is incomplete"},
        Row{"docker_garbage",
            R"(Error parsing image name \"docker-archive:/g.tar\": loading tar component manifest.json: unexpected EOF)",
            "", Code::kInvalidArgument, "the image archive is incomplete"},
        Row{"no_daemon",
            R"(Error parsing image name \"docker-daemon:busybox:latest\": loading image from docker engine: Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?)",
            "", Code::kUnavailable, "no Docker daemon answers"},
        Row{"not_in_store",
            R"(Error parsing image name \"containers-storage:busybox\": reference \"[overlay@/a+/b]docker.io/library/busybox:latest\" does not resolve to an image ID: identifier is not an image)",
            "", Code::kNotFound, "podman's store has no such image"},
        Row{"upper_case",
            R"(Error parsing image name \"docker://UPPER/x\": invalid reference format: repository name must be lowercase)",
            "", Code::kInvalidArgument, "not the name of an image"}),
    [](const auto& row) { return row.param.name; });

TEST(SkopeoFailure, PassesOnWhatItDoesNotKnow) {
  EXPECT_EQ(SkopeoFailure({R"(time="t" level=fatal msg="something \"new\" happened")"}, "r"),
            Internal("skopeo: something \"new\" happened"));
  EXPECT_EQ(SkopeoFailure({}, "r"), Internal("skopeo: skopeo printed no message"));
}

}  // namespace
}  // namespace trainyard::image::skopeo_test
