#include "cli/client_settings.h"

#include <gtest/gtest.h>

#include <map>

#include "cli/jobs/staging.h"
#include "cli/storage/storage_objects.h"

namespace trainyard::cli {
namespace {

using Map = std::map<std::string, std::string>;

SettingSources Make(Map variables, Map files) {
  auto find = [](const Map& map, const std::string& key) -> std::optional<std::string> {
    auto found = map.find(key);
    if (found == map.end()) return std::nullopt;
    return found->second;
  };
  return {[=](const char* name) { return find(variables, name); },
          [=](const std::string& path) { return find(files, path); }};
}

const Map kHome{{"HOME", "/h"}};
const char* const kNotePath = "/h/.local/share/trainyard/run/server.json";
const char* const kNote =
    R"({"url":"http://127.0.0.1:1","tls_url":"https://localhost:2","ca_file":"/ca","project":"noted","pid":7})";

TEST(FindServer, TakesTheNearest) {
  SettingSources noted = Make(kHome, {{kNotePath, kNote}});
  EXPECT_EQ(FindServer(noted, "http://f").value, "http://f");
  EXPECT_EQ(
      FindServer(Make({{"HOME", "/h"}, {"TRAINYARD_SERVER", "http://e"}}, {{kNotePath, kNote}}), {}).source,
      "TRAINYARD_SERVER");
  EXPECT_EQ(FindServer(noted, {}).value, "http://127.0.0.1:1");
  EXPECT_EQ(FindServer(Make(kHome, {}), {}).value, "http://127.0.0.1:8470");
  for (const char* broken : {"", "{", "[]", "{}", R"({"url":7})"}) {
    ClientSetting server = FindServer(Make(kHome, {{kNotePath, broken}}), {});
    EXPECT_TRUE(server.value == "http://127.0.0.1:8470" || server.value == "7") << broken;
  }
}

TEST(ReadServerNote, KnowsTheBucketsElsewhere) {
  const SettingSources sources =
      Make(kHome, {{"/d/run/server.json", R"({"url": "http://h", "bucket_dirs": {"models": "/disk/m"}})"}});
  EXPECT_EQ(ReadServerNote(sources, "/d")->bucket_dirs,
            (std::map<std::string, std::string>{{"models", "/disk/m"}}));
}

constexpr const char* kServer = "https://yard:1";

TEST(FindProject, TakesTheNearest) {
  std::string ini = "[core]\nproject = from-file\n[compute]\nregion=eu\n";
  Map files{{"/h/.config/gcloud/configurations/config_default", ini}};
  EXPECT_EQ(FindProject(Make(kHome, files), "f", {}, kServer).source, "--project");
  EXPECT_EQ(FindProject(
                Make({{"HOME", "/h"}, {"CLOUDSDK_CORE_PROJECT", "e"}, {"GOOGLE_CLOUD_PROJECT", "g"}}, files),
                {}, {}, kServer)
                .value,
            "e");
  EXPECT_EQ(FindProject(Make({{"HOME", "/h"}, {"GOOGLE_CLOUD_PROJECT", "g"}}, files), {}, {}, kServer).value,
            "from-file");
  EXPECT_EQ(FindProject(Make({{"HOME", "/h"}, {"GOOGLE_CLOUD_PROJECT", "g"}}, {}), {}, {}, kServer).value,
            "g");
  EXPECT_EQ(FindProject(Make(kHome, {{kNotePath, kNote}}), {}, {}, kServer).value, "noted");
  EXPECT_EQ(FindProject(Make(kHome, {}), {}, {}, kServer).value, "trainyard");
  files["/h/.config/gcloud/active_config"] = "work\n";
  files["/h/.config/gcloud/configurations/config_work"] = "[core]\nproject: w";
  EXPECT_EQ(FindProject(Make(kHome, files), {}, {}, kServer).value, "w");
  EXPECT_EQ(FindProject(Make(kHome, files), {}, "default", kServer).value, "from-file");
}

TEST(FindProject, TheLoginToThisServerHasOne) {
  const std::string login =
      R"({"active":"https://yard:1","logins":[{"server":"https://yard:1","token":"ty_1","project":"vision"}]})";
  const Map files{{"/h/.config/trainyard/credentials.json", login},
                  {"/h/.config/gcloud/configurations/config_default", "[core]\nproject = of-gcloud"}};
  EXPECT_EQ(FindProject(Make(kHome, files), {}, {}, kServer).value, "vision");
  EXPECT_EQ(FindProject(Make(kHome, files), {}, "default", kServer).value, "of-gcloud") << "it is named";
  EXPECT_EQ(FindProject(Make(kHome, files), {}, {}, "https://other:1").value, "of-gcloud");
  const Map set{{"HOME", "/h"}, {"CLOUDSDK_CORE_PROJECT", "e"}};
  EXPECT_EQ(FindProject(Make(set, files), {}, {}, kServer).value, "e");
}

TEST(DefaultDataDir, IsTheServicesIfNoServerRanInItsOwn) {
  const char* const service = "/var/lib/trainyard/run/server.json";
  Map files{{service, kNote}};
  EXPECT_EQ(DefaultDataDir(Make(kHome, files)), "/var/lib/trainyard");
  EXPECT_EQ(FindServer(Make(kHome, files), {}).source, service);
  EXPECT_EQ(DefaultDataDir(Make({{"HOME", "/h"}, {"TRAINYARD_DATA", "/d"}}, files)), "/d");
  EXPECT_EQ(DefaultDataDir(Make(kHome, {})), "/h/.local/share/trainyard");
  files["/h/.config/trainyard/credentials.json"] =
      R"({"active":"https://yard:1","logins":[{"server":"https://yard:1","token":"ty_1"}]})";
  EXPECT_EQ(FindServer(Make(kHome, files), {}).value, "https://yard:1") << "a login was chosen";
  const Map named{{"HOME", "/h"}, {"TRAINYARD_DATA", "/var/lib/trainyard"}};
  EXPECT_EQ(FindServer(Make(named, files), {}).source, service) << "the directory was chosen";
  files[kNotePath] = kNote;
  EXPECT_EQ(DefaultDataDir(Make(kHome, files)), "/h/.local/share/trainyard");
  EXPECT_EQ(FindServer(Make(kHome, files), {}).source, kNotePath);
}

TEST(IniValue, ReadsSections) {
  const char* text = "# c\n[a]\nx = 1\n[b]\nx=2\n y : 3 \n; z = 4\n[a]\nx = 5";
  EXPECT_EQ(IniValue(text, "a", "x"), "5");
  EXPECT_EQ(IniValue(text, "b", "y"), "3");
  EXPECT_EQ(IniValue(text, "b", "z"), std::nullopt);
  EXPECT_EQ(IniValue("x = 1", "a", "x"), std::nullopt);
}

TEST(Staging, FollowsTheFlags) {
  EXPECT_EQ(FindStaging("gs://s/", "gs://b/d", "j"), (StagingLocation{"s", "j"}));
  EXPECT_EQ(FindStaging({}, "gs://b/d//", "j"), (StagingLocation{"b", "d/packages"}));
  EXPECT_EQ(FindStaging({}, "gs://b", "j"), (StagingLocation{"b", "packages"}));
  EXPECT_EQ(FindStaging({}, {}, "j"), std::nullopt);
  EXPECT_EQ(StagedName({"b", "d/packages"}, "abc", "/x/y.whl"), "d/packages/abc/y.whl");
  EXPECT_EQ(NormalJobDir("gs://b"), "gs://b/");
  PackageList packages = SortPackages({"gs://bucket/a.whl", "gs://b/a.whl", "gs://bucket", "a.whl"});
  EXPECT_EQ(packages.remote, std::vector<std::string>{"gs://bucket/a.whl"});
  EXPECT_EQ(packages.local, (std::vector<std::string>{"gs://b/a.whl", "gs://bucket", "a.whl"}));
  EXPECT_FALSE(CheckFileNames({"a/x", "b/x"}).has_value());
}

TEST(CopyTarget, NamesAsGsutilDoes) {
  CopySource file{"d/a.txt", "a.txt", ""};
  CopySource below{"d/s/a.txt", "s/a.txt", "d"};
  EXPECT_EQ(CopyTarget(file, "gs://b/n", false), "gs://b/n");
  EXPECT_EQ(CopyTarget(file, "gs://b/n/", true), "gs://b/n/a.txt");
  EXPECT_EQ(CopyTarget(below, "gs://b/n", false), "gs://b/n/s/a.txt");
  EXPECT_EQ(CopyTarget(below, "gs://b", true), "gs://b/d/s/a.txt");
  EXPECT_EQ(CopyTarget(file, ".", true), "./a.txt");
  EXPECT_EQ(CopyTarget(file, "/", true), "/a.txt");
}

TEST(StaysBelow, RefusesWaysOut) {
  for (const char* good : {"a", "a/b", "a..b/.c", "..."}) EXPECT_TRUE(StaysBelow(good)) << good;
  for (const char* bad : {"", "/a", "a//b", "..", "a/../b", "a/..", "./a", "a/"})
    EXPECT_FALSE(StaysBelow(bad)) << bad;
}

}  // namespace
}  // namespace trainyard::cli
