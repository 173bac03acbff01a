#include "programs/image/credentials.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/async/file.h"
#include "programs/environment/temporary_folder_for_test.h"
#include "programs/image/image.h"
#include "programs/image/reference.h"
#include "programs/image/skopeo.h"

namespace trainyard::image {
namespace {

namespace fs = std::filesystem;

/// Saves and clears variables of this process.
class Credentials : public testing::Test {
 protected:
  Credentials() {
    for (const char* name : {"HOME", "DOCKER_CONFIG", "REGISTRY_AUTH_FILE", "XDG_RUNTIME_DIR"}) {
      if (const char* value = ::getenv(name)) former_[name] = value;
      ::unsetenv(name);
    }
    ::setenv("HOME", (folder_.path() / "home").c_str(), 1);
  }
  ~Credentials() override {
    for (const char* name : {"HOME", "DOCKER_CONFIG", "REGISTRY_AUTH_FILE", "XDG_RUNTIME_DIR"})
      ::unsetenv(name);
    for (const auto& [name, value] : former_) ::setenv(name.c_str(), value.c_str(), 1);
  }
  std::string Write(const std::string& path, const std::string& text) {
    const fs::path file = folder_.path() / path;
    fs::create_directories(file.parent_path());
    EXPECT_TRUE(WriteFileAtomically(file, text));
    return file;
  }
  [[nodiscard]] std::string Find(const std::string& name) const {
    return FindAuthFile(folder_.path() / "registries", name);
  }

  environment::TemporaryFolder folder_;
  std::map<std::string, std::string> former_;
};

TEST_F(Credentials, AnImageUsesThoseOfTheRegistryItIsMappedTo) {
  Write("registries/auth.json", R"({"auths":{"own.io":{"auth":"dXNlcjpwYXNz"}}})");
  const Sources sources{.mapped = {{"gcr.io/*", "own.io/x:1"}},
                        .registries_dir = folder_.path() / "registries"};
  EXPECT_TRUE(UsesCredentials(sources, "own.io/x:1"));
  EXPECT_TRUE(UsesCredentials(sources, "gcr.io/p/y:2"));
  EXPECT_FALSE(UsesCredentials(sources, "r.io/x:1"));
  EXPECT_FALSE(UsesCredentials(sources, "docker-archive:/own.io/x.tar"));
  EXPECT_FALSE(UsesCredentials(sources, "no reference at all"));
}

TEST_F(Credentials, TheFirstFileThatKnowsTheRegistry) {
  EXPECT_EQ(Find("r.io/x"), "");
  const std::string docker =
      Write("home/.docker/config.json", R"({"auths":{"r.io":{"auth":"dXNlcjpwYXNz"}}})");
  EXPECT_EQ(Find("r.io/x"), docker);
  const std::string own = Write("registries/auth.json", R"({"auths":{"other.io":{"auth":"dXNlcjpwYXNz"}}})");
  EXPECT_EQ(Find("r.io/x"), docker);
  EXPECT_EQ(Find("other.io/x"), own);
  const std::string run = Write("run/containers/auth.json", R"({"auths":{"third.io/project":{}}})");
  ::setenv("XDG_RUNTIME_DIR", (folder_.path() / "run").c_str(), 1);
  EXPECT_EQ(Find("third.io/project/x"), run);
  EXPECT_EQ(Find("third.io/projects/x"), "");
  ::setenv("DOCKER_CONFIG", (folder_.path() / "docker").c_str(), 1);
  EXPECT_EQ(Find("r.io/x"), "");  // instead of ~/.docker
}

TEST_F(Credentials, DockersNamesAndHelpers) {
  const std::string docker = Write(
      "home/.docker/config.json",
      R"({"auths":{"https://index.docker.io/v1/":{"auth":"bWU6c2VjcmV0"}},"credHelpers":{"gcr.io":"gcloud"}})");
  EXPECT_EQ(Find("docker.io/library/busybox"), docker);
  EXPECT_EQ(Find("gcr.io/p/x"), docker);
  EXPECT_EQ(Find("gcr.io.example.com/p/x"), "");
  const std::vector<KnownRegistry> known = KnownRegistries("");
  ASSERT_EQ(known.size(), 2U);
  EXPECT_EQ(known[0].registry, "docker.io");
  EXPECT_EQ(known[0].user, "me");
  EXPECT_EQ(known[1].registry, "gcr.io");
  EXPECT_EQ(known[1].user, "");
  Write("home/.docker/config.json", R"({"credsStore":"desktop"})");
  EXPECT_EQ(Find("any.io/x"), docker);
}

TEST_F(Credentials, AStoreOfThemNamesNoRegistry) {
  const Sources sources{.registries_dir = folder_.path() / "registries", .guarded = true};
  const auto named = [&sources](const std::string& text) {
    return AccessTo(sources, ParseReference(text).value_or(Reference())).named;
  };
  Write("home/.docker/config.json", R"({"credsStore":"desktop"})");
  EXPECT_EQ(named("127.0.0.1:5000/p/x:v1"), std::vector<std::string>());
  EXPECT_TRUE(UsesCredentials(sources, "127.0.0.1:5000/p/x:v1"));  // it may have credentials
  Write(
      "home/.docker/config.json",
      R"({"credsStore":"desktop","auths":{"127.0.0.1:5000":{}},"credHelpers":{"127.0.0.1:5001":"gcloud"}})");
  EXPECT_EQ(named("127.0.0.1:5000/p/x:v1"), std::vector<std::string>{"127.0.0.1:5000"});
  EXPECT_EQ(named("127.0.0.1:5001/p/x:v1"), std::vector<std::string>{"127.0.0.1:5001"});
  EXPECT_EQ(named("127.0.0.1:5002/p/x:v1"), std::vector<std::string>());
  Write("registries/auth.json", R"({"auths":{"127.0.0.1:5002":{"auth":"dXNlcjpwYXNz"}}})");
  EXPECT_EQ(named("127.0.0.1:5002/p/x:v1"), std::vector<std::string>{"127.0.0.1:5002"});
}

TEST_F(Credentials, DamagedFilesKnowNothing) {
  Write("registries/auth.json", "{");
  Write("home/.docker/config.json", R"({"auths":[],"credsStore":7})");
  EXPECT_EQ(Find("r.io/x"), "");
  EXPECT_TRUE(KnownRegistries(folder_.path() / "registries").empty());
}

}  // namespace
}  // namespace trainyard::image
