#include "cli/clients/client_environment.h"

#include <gtest/gtest.h>

#include <map>

namespace trainyard::cli {
namespace {

using Map = std::map<std::string, std::string>;

SettingSources Having(Map variables) {
  return {.variable = [=](const char* name) -> std::optional<std::string> {
            const auto found = variables.find(name);
            return found == variables.end() ? std::nullopt : std::optional(found->second);
          },
          .read_file = [](const std::string&) { return std::optional<std::string>(); },
          .forbidden_by = nullptr};
}

Map ByName(const ClientEnvironment& environment) {
  Map set;
  for (const auto& [name, value] : ClientVariables(environment)) set[name] = value.value_or("(removed)");
  return set;
}

TEST(ClientVariables, LeaveOutTlsWithoutItsCertificate) {
  const Map plain = ByName({.url = "http://h:1", .tls_url = "https://localhost:2", .project = "p"});
  EXPECT_EQ(plain.at("CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE"), "http://h:1/storage/v1/");
  for (const char* name : {"GCE_METADATA_HOST", "GCE_METADATA_ROOT", "GCE_METADATA_IP"})
    EXPECT_EQ(plain.at(name), "h:1");
  for (const char* name :
       {"GOOGLE_CLOUD_UNIVERSE_DOMAIN", "BOTO_CONFIG", "GOOGLE_APPLICATION_CREDENTIALS", "TRAINYARD_DATA"})
    EXPECT_FALSE(plain.contains(name)) << name;
}

TEST(ClientVariables, LeadPastGooglesCredentials) {
  ClientEnvironment environment{.url = "http://h:1",
                                .tls_url = "https://localhost:2",
                                .ca_file = "/ca",
                                .project = "p",
                                .data_dir = "/d",
                                .boto_file = "/d/run/client-boto.cfg"};
  Map set = ByName(environment);
  EXPECT_EQ(set.at("GOOGLE_CLOUD_UNIVERSE_DOMAIN"), "localhost:2");
  EXPECT_EQ(set.at("BOTO_CONFIG"), "/d/run/client-boto.cfg");
  EXPECT_EQ(set.at("TRAINYARD_DATA"), "/d");
  EXPECT_EQ(set.at("CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE"), "/ca");
  EXPECT_EQ(set.at("GOOGLE_APPLICATION_CREDENTIALS"), "(removed)");
  environment.credentials = "/d/run/client-credentials.json";
  EXPECT_EQ(ByName(environment).at("GOOGLE_APPLICATION_CREDENTIALS"), "/d/run/client-credentials.json");
}

TEST(ClientVariables, GcloudHasAMetadataServerOfItsOwn) {
  const Map set = ByName({.url = "http://h:1", .project = "p", .gcloud_metadata = "127.64.0.1:80"});
  EXPECT_EQ(set.at("GCE_METADATA_ROOT"), "127.64.0.1:80");
  EXPECT_EQ(set.at("GCE_METADATA_HOST"), "h:1");
  EXPECT_EQ(set.at("CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE"), "http://h:1/compute/v1/");
}

TEST(ClientVariables, LogInWhereTheServerAsks) {
  ClientEnvironment environment{.url = "http://h:1", .project = "p"};
  EXPECT_EQ(ByName(environment).at("CLOUDSDK_AUTH_DISABLE_CREDENTIALS"), "true");
  EXPECT_EQ(ByName(environment).at("STORAGE_EMULATOR_HOST"), "http://h:1");
  environment.token_file = "/c/client-token";
  environment.credentials = "/c/client-account.json";
  const Map set = ByName(environment);
  EXPECT_EQ(set.at("CLOUDSDK_AUTH_ACCESS_TOKEN_FILE"), "/c/client-token");
  EXPECT_EQ(set.at("GOOGLE_APPLICATION_CREDENTIALS"), "/c/client-account.json");
  EXPECT_EQ(set.at("API_ENDPOINT_OVERRIDE"), "http://h:1");
  for (const char* name : {"CLOUDSDK_AUTH_DISABLE_CREDENTIALS", "STORAGE_EMULATOR_HOST"})
    EXPECT_FALSE(set.contains(name)) << name;
}

TEST(ClientVariables, ForAnotherMachineHaveItsAuthorityAndNoMetadata) {
  ClientEnvironment environment{
      .url = "https://yard:8443", .ca_file = "/ca", .project = "p", .boto_file = "/boto"};
  environment.credentials = "/account.json";
  environment.token_file = "/token";
  const Map set = ByName(environment);
  EXPECT_EQ(set.at("REQUESTS_CA_BUNDLE"), "/ca");
  EXPECT_EQ(set.at("CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE"), "/ca");
  EXPECT_EQ(set.at("CLOUDSDK_API_ENDPOINT_OVERRIDES_CLOUDRESOURCEMANAGER"), "https://yard:8443/");
  EXPECT_EQ(set.at("CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE"), "https://yard:8443/storage/v1/");
  EXPECT_EQ(set.at("GOOGLE_APPLICATION_CREDENTIALS"), "/account.json");
  EXPECT_EQ(set.at("BOTO_CONFIG"), "/boto");
  for (const char* name : {"GOOGLE_CLOUD_UNIVERSE_DOMAIN", "GCE_METADATA_HOST", "STORAGE_EMULATOR_HOST"})
    EXPECT_FALSE(set.contains(name)) << name;
}

TEST(OwnUniverse, IsOfServersAtLoopbackAlone) {
  EXPECT_EQ(OwnUniverse("http://127.0.0.1:1", "https://localhost:2"), "localhost:2");
  EXPECT_EQ(OwnUniverse("http://127.0.0.1:1", "https://yard:2"), "");
  EXPECT_EQ(OwnUniverse("http://127.0.0.1:1", ""), "");
  EXPECT_EQ(OwnUniverse("https://yard:2", ""), "");
}

TEST(BeforeSettings, SeeWhatTheyReplaced) {
  const SettingSources before = BeforeSettings(Having(
      {{"TRAINYARD_ENV", "A B"}, {"A", "new"}, {"TRAINYARD_REPLACED_A", "old"}, {"B", "b"}, {"C", "c"}}));
  EXPECT_EQ(before.variable("A"), "old");
  EXPECT_EQ(before.variable("B"), std::nullopt);
  EXPECT_EQ(before.variable("C"), "c");
}

TEST(WithoutProxies, AddsTheHostsOnceWhereThereIsAProxy) {
  EXPECT_EQ(WithoutProxies(Having({{"NO_PROXY", "a"}}), {"b"}), VariableList());
  EXPECT_EQ(WithoutProxies(Having({{"https_proxy", "http://x"}}), {"b", "c"}),
            (VariableList{{"NO_PROXY", "b,c"}, {"no_proxy", "b,c"}}));
  EXPECT_EQ(WithoutProxies(Having({{"HTTP_PROXY", "http://x"}, {"no_proxy", "a,b"}}), {"b", "c"}),
            (VariableList{{"NO_PROXY", "a,b,c"}, {"no_proxy", "a,b,c"}}));
}

TEST(PrintSettings, KeepsWhatItReplaces) {
  const VariableList variables = {{"A", "it's $x"}, {"B", std::nullopt}, {"C", std::nullopt}, {"D", "d"}};
  EXPECT_EQ(PrintSettings(variables, Having({{"A", "old"}, {"B", "key"}, {"D", "d"}})),
            "export TRAINYARD_REPLACED_A='old'\nexport A='it'\\''s $x'\n"
            "export TRAINYARD_REPLACED_B='key'\nunset B\n"
            "export TRAINYARD_REPLACED_D='d'\nexport D='d'\nexport TRAINYARD_ENV='A B D'\n");
}

TEST(PrintSettings, KeepsTheFirstValueHoweverOftenItRuns) {
  EXPECT_EQ(PrintSettings({{"A", "newer"}, {"E", "e"}},
                          Having({{"A", "new"}, {"TRAINYARD_REPLACED_A", "old"}, {"TRAINYARD_ENV", "A"}})),
            "export A='newer'\nexport E='e'\nexport TRAINYARD_ENV='A E'\n");
}

TEST(PrintUnset, TakesBackWhatWasSetAndNothingElse) {
  EXPECT_EQ(PrintUnset(Having({})), "");
  EXPECT_EQ(PrintUnset(Having({{"TRAINYARD_ENV", "A B X;reboot"}, {"TRAINYARD_REPLACED_A", "it's"}})),
            "export A='it'\\''s'\nunset TRAINYARD_REPLACED_A\nunset B\nunset TRAINYARD_ENV\n");
}

}  // namespace
}  // namespace trainyard::cli
