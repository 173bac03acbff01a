#include "programs/image/manifest.h"

#include <gtest/gtest.h>

#include <string>

namespace trainyard::image {
namespace {

const std::string kA = "sha256:" + std::string(64, 'a');
const std::string kB = "sha256:" + std::string(64, 'b');

std::string Index(const std::string& platforms) {
  return R"({"schemaVersion":2,"manifests":[)" + platforms + "]}";
}
std::string Member(const std::string& digest, const std::string& platform) {
  return R"({"mediaType":"application/vnd.oci.image.manifest.v1+json","size":7,"digest":")" + digest +
         R"(","platform":)" + platform + "}";
}

TEST(ChooseManifest, TakesThisArchitecture) {
  const std::string index = Index(Member(kA, R"({"os":"linux","architecture":"arm64","variant":"v8"})") +
                                  "," + Member(kB, R"({"os":"linux","architecture":"amd64"})"));
  EXPECT_TRUE(IsIndex(index));
  EXPECT_EQ(ChooseManifest(index, "amd64"), (Descriptor{kB, 7}));
  EXPECT_EQ(ChooseManifest(index, "arm64"), (Descriptor{kA, 7}));
}

TEST(ChooseManifest, NamesWhatThereIs) {
  const std::string index = Index(Member(kA, R"({"os":"linux","architecture":"arm64","variant":"v8"})") +
                                  "," + Member(kB, R"({"os":"windows","architecture":"amd64"})") + "," +
                                  Member(kB, R"({"os":"unknown","architecture":"unknown"})"));
  const Result<Descriptor> chosen = ChooseManifest(index, "amd64");
  ASSERT_FALSE(chosen);
  EXPECT_EQ(chosen.error(),
            FailedPrecondition("it is not made for linux/amd64 (there is: linux/arm64/v8, windows/amd64); "
                               "build it for this machine, with --platform linux/amd64 for example"));
}

TEST(ParseManifest, ReadsBothForms) {
  const std::string layers = R"("layers":[{"mediaType":"x","size":3,"digest":")" + kB + R"("}])";
  for (const char* kind :
       {"application/vnd.oci.image.config.v1+json", "application/vnd.docker.container.image.v1+json"}) {
    const Result<Manifest> manifest =
        ParseManifest(R"({"schemaVersion":2,"config":{"mediaType":")" + std::string(kind) +
                      R"(","size":2,"digest":")" + kA + "\"}," + layers + "}");
    ASSERT_TRUE(manifest) << manifest.error().message;
    EXPECT_EQ(*manifest, (Manifest{.config = {kA, 2}, .layers = {{kB, 3}}}));
    EXPECT_EQ(manifest->LayerBytes(), 3);
  }
}

struct Bad {
  const char* name;
  std::string text;
  Code code;
  std::string part;
};
class RefusesManifest : public testing::TestWithParam<Bad> {};

TEST_P(RefusesManifest, SaysWhy) {
  const Result<Manifest> manifest = ParseManifest(GetParam().text);
  ASSERT_FALSE(manifest);
  EXPECT_EQ(manifest.error().code, GetParam().code);
  EXPECT_NE(manifest.error().message.find(GetParam().part), std::string::npos) << manifest.error().message;
}

std::string ManyLayers() {
  std::string layers;
  for (int i = 0; i < 128; ++i)
    layers += std::string(i == 0 ? "" : ",") + R"({"size":1,"digest":")" + kB + "\"}";
  return R"({"config":{"size":1,"digest":")" + kA + R"("},"layers":[)" + layers + "]}";
}

INSTANTIATE_TEST_SUITE_P(
    Forms, RefusesManifest,
    testing::Values(
        Bad{"no_json", "{", Code::kDataLoss, "manifest cannot be read"},
        Bad{"no_object", "[]", Code::kDataLoss, "no JSON object"},
        Bad{"schema_1", R"({"schemaVersion":1,"fsLayers":[]})", Code::kFailedPrecondition, "schema 1"},
        Bad{"chart", R"({"config":{"mediaType":"application/vnd.cncf.helm.config.v1+json"},"layers":[]})",
            Code::kFailedPrecondition, "not a container image but application/vnd.cncf.helm.config.v1+json"},
        Bad{"digest_as_path", R"({"config":{"digest":"sha256:../../etc/passwd","size":1},"layers":[]})",
            Code::kDataLoss, "is not a sha256 digest"},
        Bad{"negative_size", R"({"config":{"digest":")" + kA + R"(","size":-1},"layers":[]})",
            Code::kDataLoss, "size"},
        Bad{"encrypted",
            R"({"config":{"digest":")" + kA + R"(","size":1},"layers":[{"mediaType":"x+encrypted"}]})",
            Code::kFailedPrecondition, "encrypted"},
        Bad{"layers", ManyLayers(), Code::kFailedPrecondition, "128 layers"}),
    [](const auto& row) { return row.param.name; });

TEST(ParseConfig, ReadsTheProgram) {
  const Result<Config> config =
      ParseConfig(R"({"os":"linux","architecture":"amd64","rootfs":{"diff_ids":[")" + kA +
                  R"("]},"config":{"Entrypoint":["/e","x"],"Cmd":null,"Env":["A=b","C=d=e"],
      "WorkingDir":"/w","User":"1:2","StopSignal":"SIGINT","Labels":{"a":"b"}}})");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->diff_ids, std::vector<std::string>{kA});
  EXPECT_EQ(config->program.entrypoint, (std::vector<std::string>{"/e", "x"}));
  EXPECT_TRUE(config->program.command.empty());
  EXPECT_EQ(config->program.environment, (std::vector<std::string>{"A=b", "C=d=e"}));
  EXPECT_EQ(config->program.working_dir, "/w");
  EXPECT_EQ(config->program.user, "1:2");
  EXPECT_EQ(config->program.stop_signal, "SIGINT");
  EXPECT_EQ(config->program.labels, (std::map<std::string, std::string>{{"a", "b"}}));
  EXPECT_TRUE(CheckArchitecture(*config, "amd64"));
  const Status other = CheckArchitecture(*config, "arm64");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, Code::kFailedPrecondition);
}

TEST(ParseConfig, RefusesDiffIdsThatArePaths) {
  EXPECT_FALSE(ParseConfig(R"({"rootfs":{"diff_ids":["../../x"]}})"));
  EXPECT_FALSE(ParseConfig("nothing"));
}

}  // namespace
}  // namespace trainyard::image
