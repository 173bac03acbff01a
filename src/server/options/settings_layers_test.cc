#include "server/options/settings_layers.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "server/options/flag.h"

namespace trainyard::server {
namespace {

using Lines = std::vector<std::string>;
using Words = std::vector<std::string>;

auto Layer(const std::string& text, const Words& words = {}) {
  const ConfigurationFile file{.path = "f", .text = text, .warning = ""};
  return LayerSettings(words, &file);
}

/// "VALUE VALUE (SOURCE)".
std::string Shown(const LayeredSettings& layered, std::string_view name) {
  for (const configuration::Effective& setting : layered.effective) {
    if (setting.key.name != name) continue;
    std::string text;
    for (const configuration::Value& value : setting.values) text += value.text + " ";
    return text + "(" + setting.source + ")";
  }
  return "no such key";
}

struct Row {
  const char* name;
  const char* text;
  Lines mistakes;
};
class FileRefused : public testing::TestWithParam<Row> {};
TEST_P(FileRefused, InTheWordsOfTheFlag) {
  const auto layered = Layer(GetParam().text);
  ASSERT_FALSE(layered);
  Lines mistakes;
  for (const configuration::Mistake& mistake : layered.error().in_file)
    mistakes.push_back(Describe(mistake, "f"));
  EXPECT_EQ(mistakes, GetParam().mistakes);
}
INSTANTIATE_TEST_SUITE_P(
    Rules, FileRefused,
    testing::Values(
        Row{"choice",
            "network: isolate",
            {"f:1: network: Invalid choice: 'isolate'. Did you mean 'isolated'? Valid choices are [host, "
             "isolated]."}},
        Row{"range", "stop-grace: 9999", {"f:1: stop-grace: Value 9999 not in range 0 to 3600"}},
        Row{"number", "stop-grace: soon", {"f:1: stop-grace: Value soon not in range 0 to 3600"}},
        Row{"address", "listen: here", {"f:1: listen: 'here' is not HOST:PORT"}},
        Row{"entry_of_a_list",
            "bucket-dir:\n- good=/x\n- bad\n- b: x\n",
            {"f:3: bucket-dir: 'bad' is not NAME=PATH with an absolute path",
             "f:4: bucket-dir: 'b=x' is not NAME=PATH with an absolute path"}},
        Row{"second_of_a_list",
            "bucket-dir:\n- bucket=/x\n- other=/y\n- bucket=/z\n- third=/x\n",
            {"f:4: bucket-dir: 'bucket=/z' names a bucket that is given twice"}},
        Row{"between_keys",
            "real-bucket: [bucket]\n\nbucket-dir: {bucket: /x}",
            {"f:3: bucket-dir: 'bucket=/x' names a bucket that --real-bucket also names"}},
        Row{"between_options",
            "network: isolated\ngoogle-front: no\n",
            {"f:2: google-front: --google-front off needs --network host: a replica in an isolated network "
             "can only reach this server"}},
        Row{"half_of_a_pair",
            "verbose: true\ntls-key: /y\n",
            {"f:2: tls-key: --tls-certificate and --tls-key must be given together"}},
        Row{"regions",
            "regions:\n  us-central1: gpu\n  mars: local\n  us-east1: 'slurm:'\n",
            {"f:3: regions: 'mars' is not a region of Google Cloud",
             "f:4: regions: 'slurm:' must be local, slurm, slurm:PARTITION, kubernetes, "
             "kubernetes:LABEL=VALUE or PARTITION"}},
        Row{"quota_of_an_engine",
            "regions: {us-central1: local}\nquota: {'project:*:gpus@slurm': 4}\n",
            {"f:2: quota: 'project:*:gpus@slurm=4': no job runs on the engine slurm with this --engine and "
             "--regions"}},
        Row{"all_by_lines",
            "verbos: 1\nlisten: x\nstop-grace: -1\nnetwork: [host]\n",
            {"f:1: verbos: there is no such key. Did you mean 'verbose'?",
             "f:2: listen: 'x' is not HOST:PORT", "f:3: stop-grace: Value -1 not in range 0 to 3600",
             "f:4: network: it must be one value, host|isolated, not a list"}},
        Row{"another_file", "config: /x", {"f:1: config: there is no such key. Did you mean 'kubeconfig'?"}}),
    [](const auto& row) { return row.param.name; });

TEST(LayerSettingsTest, FlagBeforeFileBeforeDefault) {
  const std::string text =
      "listen: 127.0.0.1:1\nhost-name: [a, b]\ncreate-buckets: false\nverbose: true\naccelerators: "
      "{nvidia-tesla-t4: 2}\n";
  const auto file = Layer(text);
  ASSERT_TRUE(file);
  EXPECT_EQ(file->file_keys, 5U);
  EXPECT_EQ(file->options.port, 1);
  EXPECT_EQ(file->options.host_names, (Words{"a", "b"}));
  EXPECT_FALSE(file->options.create_buckets);
  EXPECT_TRUE(file->options.verbose);
  EXPECT_EQ(file->options.accelerators->size(), 2U);
  EXPECT_EQ(Shown(*file, "host-name"), "a b (f:2)");
  EXPECT_EQ(Shown(*file, "capacity"), "share (default)");

  const auto both = Layer(text, {"--listen", "127.0.0.1:2", "--host-name=c", "--no-create-buckets=false",
                                 "--verbose=false", "--capacity=STRICT"});
  ASSERT_TRUE(both);
  EXPECT_EQ(both->options.port, 2);
  EXPECT_EQ(both->options.host_names, (Words{"c"}));
  EXPECT_TRUE(both->options.create_buckets);
  EXPECT_FALSE(both->options.verbose);
  EXPECT_EQ(Shown(*both, "listen"), "127.0.0.1:2 (flag)");
  EXPECT_EQ(Shown(*both, "host-name"), "c (flag)");
  EXPECT_EQ(Shown(*both, "create-buckets"), "true (flag)");
  EXPECT_EQ(Shown(*both, "verbose"), "false (flag)");
  EXPECT_EQ(Shown(*both, "capacity"), "STRICT (flag)");
}

TEST(LayerSettingsTest, KeysMayNeedEachOther) {
  EXPECT_TRUE(Layer("tls-certificate: /x\ntls-key: /y\n"));
  EXPECT_TRUE(Layer("slurm-rest-token-file: /t\nslurm-rest: unix:/s\n"));
  EXPECT_TRUE(Layer("tls-key: /y\n", {"--tls-certificate=/x"}));
}

TEST(LayerSettingsTest, RegionsAreAMapping) {
  const auto file =
      Layer("regions: {us-central1: gpu, europe-west1: local}\nquota: {'project:*:gpus@slurm': 4}\n");
  ASSERT_TRUE(file) << Describe(file.error().in_file.front(), "f");
  EXPECT_EQ(file->options.engine.slurm.regions, (std::map<std::string, std::string>{{"us-central1", "gpu"}}));
  EXPECT_EQ(Shown(*file, "regions"), "us-central1=gpu europe-west1=local (f:1)");
}

TEST(LayerSettingsTest, NamesTheEnvironment) {
  const char* const before = std::getenv("TRAINYARD_DATA");
  const std::optional<std::string> kept = before ? std::optional<std::string>(before) : std::nullopt;
  ::setenv("TRAINYARD_DATA", "/srv/t", 1);
  const auto none = LayerSettings({}, nullptr);
  const auto file = Layer("data: /var/lib/t");
  kept ? ::setenv("TRAINYARD_DATA", kept->c_str(), 1) : ::unsetenv("TRAINYARD_DATA");
  ASSERT_TRUE(none && file);
  EXPECT_EQ(Shown(*none, "data"), "/srv/t (environment: TRAINYARD_DATA)");
  EXPECT_EQ(Shown(*file, "data"), "/var/lib/t (f:1)");
  EXPECT_EQ(file->options.data_dir, "/var/lib/t");
}

TEST(LayerSettingsTest, BlamesTheFlagThatWasGiven) {
  const auto layered = Layer("real-bucket: bucket", {"--bucket-dir", "bucket=/x"});
  ASSERT_FALSE(layered);
  EXPECT_TRUE(layered.error().in_file.empty());
  EXPECT_EQ(layered.error().in_flags->field, "--bucket-dir");
  EXPECT_FALSE(Layer("listen: x", {"--listen", "127.0.0.1:0"}))
      << "the file is wrong, whatever the flags are";
}

TEST(LayerSettingsTest, ShownSettingsAreAFileThatSaysTheSame) {
  const Words words{"--bucket-dir=a-bucket=/x y",
                    "--bucket-dir=b-bucket=/z",
                    "--accelerator-map=nvidia-tesla-t4=none",
                    "--engine-socket=unix:///run/a b",
                    "--host-name=lab",
                    "--no-create-buckets",
                    "--stop-grace=5",
                    "--container-runtime=",
                    "crun"};
  const auto first = LayerSettings(words, nullptr);
  ASSERT_TRUE(first) << first.error().in_flags->message;
  const auto second = Layer(PrintEffective(first->effective));
  ASSERT_TRUE(second) << Describe(second.error().in_file.front(), "f");
  ASSERT_EQ(first->effective.size(), second->effective.size());
  for (std::size_t i = 0; i < first->effective.size(); ++i) {
    ASSERT_EQ(first->effective[i].values.size(), second->effective[i].values.size());
    for (std::size_t j = 0; j < first->effective[i].values.size(); ++j)
      EXPECT_EQ(first->effective[i].values[j].text, second->effective[i].values[j].text);
  }
  EXPECT_EQ(second->options.bucket_dirs, first->options.bucket_dirs);
  EXPECT_EQ(second->options.containers.choice.engine_socket, "/run/a b");
  EXPECT_EQ(second->options.stop_grace, std::chrono::seconds(5));
}

TEST(ConfigurationKeysTest, AreTheFlags) {
  std::set<std::string> names;
  for (const configuration::Key& key : ConfigurationKeys()) {
    EXPECT_TRUE(names.insert(key.name).second) << key.name;
    EXPECT_FALSE(key.help.empty()) << key.name;
    EXPECT_TRUE(key.kind == configuration::Key::Kind::kSwitch || !key.metavar.empty()) << key.name;
    for (const char* secret : {"TOKEN", "PASSWORD", "SECRET", "KEY"})  // `config show` prints every value
      EXPECT_FALSE(key.metavar.contains(secret)) << key.name << " takes a secret: take a FILE that has it";
  }
  EXPECT_EQ(names.size() + 2, DescribeServeFlags().size()) << "all but --config and --help";
  EXPECT_TRUE(names.contains("create-buckets") && names.contains("data") && names.contains("real-bucket"));
}

}  // namespace
}  // namespace trainyard::server
