#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "base/configuration/testing/commented_file.h"
#include "server/options/flag.h"
#include "server/options/settings_layers.h"

namespace trainyard::server {
namespace {

constexpr char kPreamble[] =
    R"(# The settings of the service. The keys are the flags of `trainyard serve` without "--".
#
# Remove the # from a line, change the value, and run:
#
#     trainyard config check && systemctl restart trainyard
#
# `trainyard config show` prints the effective settings. Do not put secrets here: name a file that
# contains them.
)";

/// The settings of the installed service that differ from the defaults.
std::vector<configuration::Setting> ActiveSettings() {
  return {
      {.key = "auth", .values = {{.text = "on"}}},
      {.key = "data", .values = {{.text = "/var/lib/trainyard"}}},
  };
}

/// The configuration file that is installed with the service: every key with its default and its help, and
/// the values that a service needs.
std::string PackagedConfiguration() {
  return PrintCommented(kPreamble, ConfigurationKeys(), ActiveSettings());
}

/// The values of each key, from the file or by default.
std::map<std::string, std::vector<std::string>> ValuesOf(const std::string& text) {
  const ConfigurationFile file{.path = "config.yaml", .text = text, .warning = ""};
  const auto layered = LayerSettings({}, &file);
  std::map<std::string, std::vector<std::string>> values;
  if (!layered) {
    for (const configuration::Mistake& mistake : layered.error().in_file)
      ADD_FAILURE() << Describe(mistake, "f");
    return values;
  }
  for (const configuration::Effective& setting : layered->effective)
    for (const configuration::Value& value : setting.values) values[setting.key.name].push_back(value.text);
  return values;
}

/// Uncomments every "#key: value"; the first key whose default depends on this machine stays a comment.
std::string Uncommented(const std::string& text) {
  std::string out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line); out += line + "\n")
    if (line.starts_with('#') && !line.starts_with("# ") && line != "#" && !line.ends_with(':'))
      line.erase(0, 1);
  return out;
}

TEST(PackagedConfigurationTest, IsTheFile) {
  const std::string written = PackagedConfiguration();
  if (std::getenv("TRAINYARD_UPDATE_GOLDEN") != nullptr)
    std::ofstream(TRAINYARD_PACKAGED_CONFIGURATION) << written;
  std::ifstream file(TRAINYARD_PACKAGED_CONFIGURATION);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), written)
      << "run TRAINYARD_UPDATE_GOLDEN=1 ctest --preset dev -R '^server$' and look at the diff";
}

TEST(PackagedConfigurationTest, NamesEveryKeyAndItsDefault) {
  const std::string text = PackagedConfiguration();
  for (const configuration::Key& key : ConfigurationKeys()) {
    const std::string start = key.name + ":";
    EXPECT_TRUE(text.contains("\n" + start) || text.contains("\n#" + start)) << key.name;
  }
  const auto packaged = ValuesOf(text);
  EXPECT_EQ(packaged.at("data"), (std::vector<std::string>{"/var/lib/trainyard"}));
  EXPECT_EQ(ValuesOf(Uncommented(text)), packaged) << "a default is not what the flag takes";
}

}  // namespace
}  // namespace trainyard::server
