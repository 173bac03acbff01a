#include "api/metadata/metadata_handlers.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

namespace trainyard::api {
namespace {

namespace json = boost::json;

control::Instance Machine() {
  return {.project = "p",
          .zone = "us-central1-b",
          .name = "cmle-training-master-0123456789-0",
          .id = 9'223'372'036'854'775'807U,
          .machine_type = "n1-standard-4",
          .address = "127.0.0.7",
          .runtime_version = "2.15",
          .tpu = control::Instance::Tpu{.node_name = "cmle-training-0-tpu", .accelerator_type = "v2-8"}};
}

MetadataFacts Facts() {
  return {.project = "p",
          .project_number = 992'253'321'583,
          .universe_domain = "googleapis.com",
          .instance = Machine()};
}

std::string Read(std::string_view path, const MetadataQuery& query = {},
                 const MetadataFacts& facts = Facts()) {
  const auto page = ReadMetadata(MetadataTree(facts), path, query);
  return page ? page->body : "not found";
}

struct Row {
  std::string name;
  std::string path;
  std::string text;
};
class Pages : public testing::TestWithParam<Row> {};

TEST_P(Pages, AreAsTheOriginals) { EXPECT_EQ(Read(GetParam().path), GetParam().text); }

INSTANTIATE_TEST_SUITE_P(
    Paths, Pages,
    testing::Values(
        Row{"root", "", "instance/\nproject/\nuniverse/\n"},
        Row{"instance", "instance/",
            "attributes/\nhostname\nid\nmachine-type\nmaintenance-event\nname\nnetwork-interfaces/"
            "\npreempted\n"
            "service-accounts/\nzone\n"},
        Row{"zone", "instance/zone", "projects/992253321583/zones/us-central1-b"},
        Row{"machine_type", "instance/machine-type", "projects/992253321583/machineTypes/n1-standard-4"},
        Row{"name", "instance/name", "cmle-training-master-0123456789-0"},
        Row{"hostname", "instance/hostname", "cmle-training-master-0123456789-0.us-central1-b.c.p.internal"},
        Row{"id", "instance/id", "9223372036854775807"},
        Row{"interfaces", "instance/network-interfaces/", "0/\n"},
        Row{"interface", "instance/network-interfaces/0/", "ip\nnetwork\n"},
        Row{"ip", "instance/network-interfaces/0/ip", "127.0.0.7"},
        Row{"attributes", "instance/attributes/", "accelerator-type\nagent-worker-number\n"},
        Row{"attribute", "instance/attributes/accelerator-type", "v2-8"},
        Row{"other_attribute", "instance/attributes/cluster-name", "not found"},
        Row{"maintenance", "instance/maintenance-event", "NONE"},
        Row{"preempted", "instance/preempted", "FALSE"},
        Row{"accounts", "instance/service-accounts/", "default/\ntrainyard@localhost/\n"},
        Row{"account", "instance/service-accounts/default/", "aliases\nemail\nscopes\ntoken\n"},
        Row{"email", "instance/service-accounts/default/email", "trainyard@localhost"},
        Row{"scopes", "instance/service-accounts/trainyard@localhost/scopes",
            "https://www.googleapis.com/auth/cloud-platform\n"},
        Row{"project", "project/", "attributes/\nnumeric-project-id\nproject-id\n"},
        Row{"project_attributes", "project/attributes/", ""}, Row{"project_id", "project/project-id", "p"},
        Row{"project_number", "project/numeric-project-id", "992253321583"},
        Row{"universe", "universe/universe-domain", "googleapis.com"},
        Row{"value_as_directory", "instance/zone/", "not found"},
        Row{"below_a_value", "instance/zone/x", "not found"}, Row{"nothing", "oslogin/", "not found"}),
    [](const auto& row) { return row.param.name; });

TEST(MetadataTree, RecursiveIsJsonInCamelCase) {
  const json::value all = json::parse(Read("", {.recursive = true}));
  EXPECT_EQ(all.at_pointer("/instance/machineType"), "projects/992253321583/machineTypes/n1-standard-4");
  EXPECT_EQ(all.at_pointer("/instance/networkInterfaces/0/ip"), "127.0.0.7");
  EXPECT_EQ(all.at_pointer("/instance/id"), 9'223'372'036'854'775'807);
  EXPECT_EQ(all.at_pointer("/instance/attributes/accelerator-type"), "v2-8") << "names of users stay";
  EXPECT_EQ(all.at_pointer("/instance/serviceAccounts/default"),
            json::parse(R"({"aliases": ["default"], "email": "trainyard@localhost",
                            "scopes": ["https://www.googleapis.com/auth/cloud-platform"]})"))
      << "no token";
  EXPECT_EQ(all.at_pointer("/project/numericProjectId"), 992'253'321'583);
  EXPECT_EQ(json::parse(Read("project/", {.recursive = true})), all.at_pointer("/project"));
}

TEST(MetadataTree, TheFormThatIsAskedFor) {
  EXPECT_EQ(Read("instance/name", {.alt = "json"}), "\"cmle-training-master-0123456789-0\"");
  EXPECT_EQ(Read("instance/id", {.alt = "json"}), "9223372036854775807");
  EXPECT_EQ(Read("instance/name", {.alt = "text"}), Read("instance/name"));
  EXPECT_EQ(Read("instance/service-accounts/", {.recursive = true, .alt = "text"}),
            "default/aliases default\ndefault/email trainyard@localhost\n"
            "default/scopes https://www.googleapis.com/auth/cloud-platform\n"
            "trainyard@localhost/aliases default\ntrainyard@localhost/email trainyard@localhost\n"
            "trainyard@localhost/scopes https://www.googleapis.com/auth/cloud-platform\n");
  EXPECT_FALSE(ReadMetadata(MetadataTree(Facts()), "instance/name", {})->is_json);
  EXPECT_TRUE(ReadMetadata(MetadataTree(Facts()), "instance/", {.recursive = true})->is_json);
  EXPECT_TRUE(ReadMetadata(MetadataTree(Facts()), "instance", {})->is_directory);
}

TEST(MetadataTree, WhoIsNoReplicaHasAnAccountAndNoMachine) {
  const MetadataFacts nobody{.project = "p", .universe_domain = "localhost:8443"};
  EXPECT_EQ(Read("instance/", {}, nobody), "maintenance-event\npreempted\nservice-accounts/\n");
  EXPECT_EQ(Read("instance/zone", {}, nobody), "not found");
  MetadataFacts without_tpu = Facts();
  without_tpu.instance->tpu.reset();
  EXPECT_EQ(Read("instance/attributes/", {}, without_tpu), "");
}

}  // namespace
}  // namespace trainyard::api
