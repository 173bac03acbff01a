#include <gmock/gmock.h>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "base/wire/json_members.h"
#include "rules/kubernetes/pod_request.h"

namespace trainyard::kubernetes::pod_objects_test {
namespace {

namespace json = boost::json;
using testing::HasSubstr;
using testing::Not;

Batch BatchOf() {
  return {.installation = "1f3a",
          .submission = {.gang = {.job_uid = 17, .try_number = 1}, .number = 2},
          .job_id = "census_1",
          .boot = {.server_host = "10.0.0.1",
                   .server_port = 7443,
                   .certificate_sha256 = "c0ffee",
                   .program_sha256 = "beef"}};
}

PodsRequest RequestOfTwo() {
  return {.slots = {{.cpu_millis = 3'900, .memory_mib = 2'000},
                    {.cpu_millis = 500,
                     .memory_mib = 1'000,
                     .device_resource = "nvidia.com/gpu",
                     .devices = 2,
                     .selector = {{"nvidia.com/gpu.product", "Tesla-T4"}}}}};
}

json::object PodOf(const Batch& batch, int slot, const KubernetesSettings& settings = {}) {
  return wire::ParseJsonObject(PodJson(batch, RequestOfTwo(), slot, settings, "uid-1"))
      .value_or(json::object());
}

json::object& Container(json::object& pod) { return pod.at("spec").at("containers").at(0).as_object(); }

/// The script of the pod, as its shell gets it: Kubernetes makes one dollar of two.
std::string ScriptOf(json::object pod) {
  const std::string command(Container(pod).at("command").at(2).as_string());
  std::string script;
  for (std::size_t i = 0; i < command.size(); ++i) {
    script += command[i];
    if (command[i] == '$') EXPECT_EQ(command[++i], '$') << "Kubernetes replaces $(...)";
  }
  return script;
}

TEST(PodObjects, APodGroupIsPlacedAsAWhole) {
  Batch batch = BatchOf();
  batch.has_pod_group = true;
  const json::object group =
      wire::ParseJsonObject(PodGroupJson(batch, RequestOfTwo(), {.priority_class = "low"}, "17"))
          .value_or(json::object());
  const std::string name = SecretName(batch.installation, batch.submission);
  EXPECT_EQ(group.at("apiVersion"), "scheduling.k8s.io/v1beta1");
  EXPECT_EQ(group.at("metadata").at("name").as_string(), name);
  EXPECT_EQ(group.at("metadata").at("ownerReferences").at(0).at("uid"), "17");
  EXPECT_EQ(
      json::serialize(group.at("spec")),
      R"({"schedulingPolicy":{"gang":{"minCount":2}},"disruptionMode":{"all":{}},"priorityClassName":"low"})");
  EXPECT_EQ(PodOf(batch, 0).at("spec").at("schedulingGroup").at("podGroupName").as_string(), name);
  EXPECT_FALSE(PodOf(BatchOf(), 0).at("spec").as_object().contains("schedulingGroup"));
}

TEST(SecretJson, IsImmutableAndHasTheTicket) {
  EXPECT_EQ(json::parse(SecretJson(BatchOf(), "t1cket")), json::parse(R"({
    "apiVersion": "v1", "kind": "Secret",
    "metadata": {"name": "ty-1f3a-17-1-2",
      "labels": {"trainyard.dev/installation": "1f3a", "trainyard.dev/gang": "17-1-2",
                 "app.kubernetes.io/managed-by": "trainyard"},
      "annotations": {"trainyard.dev/job": "census_1"}},
    "type": "Opaque", "immutable": true, "stringData": {"ticket": "t1cket"}})"));
}

TEST(PodJson, IsWhatPodSecurityRestrictedAllows) {
  json::object pod = PodOf(BatchOf(), 0);
  ASSERT_FALSE(pod.empty());
  Container(pod).at("command").as_array().resize(2);  // the script is tested below
  EXPECT_EQ(json::value(pod), json::parse(R"({
    "apiVersion": "v1", "kind": "Pod",
    "metadata": {"name": "ty-1f3a-17-1-2-0",
      "labels": {"trainyard.dev/installation": "1f3a", "trainyard.dev/gang": "17-1-2",
                 "app.kubernetes.io/managed-by": "trainyard"},
      "annotations": {"trainyard.dev/job": "census_1",
                      "cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
                      "karpenter.sh/do-not-disrupt": "true"},
      "ownerReferences": [{"apiVersion": "v1", "kind": "Secret", "name": "ty-1f3a-17-1-2", "uid": "uid-1",
                           "controller": false, "blockOwnerDeletion": false}]},
    "spec": {"restartPolicy": "Never", "terminationGracePeriodSeconds": 120,
      "automountServiceAccountToken": false, "enableServiceLinks": false,
      "securityContext": {"runAsNonRoot": true, "runAsUser": 1000, "runAsGroup": 1000, "fsGroup": 1000,
                          "seccompProfile": {"type": "RuntimeDefault"}},
      "tolerations": [
        {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute",
         "tolerationSeconds": 30},
        {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute",
         "tolerationSeconds": 30}],
      "containers": [{"name": "agent", "image": "docker.io/library/python:3.11-slim-bookworm",
        "command": ["bash", "-c"],
        "env": [
          {"name": "HOME", "value": "/var/lib/trainyard-agent/home"},
          {"name": "USER", "value": "trainyard"}, {"name": "LOGNAME", "value": "trainyard"},
          {"name": "TMPDIR", "value": "/var/lib/trainyard-agent/tmp"},
          {"name": "TRAINYARD_TICKET",
           "valueFrom": {"secretKeyRef": {"name": "ty-1f3a-17-1-2", "key": "ticket"}}},
          {"name": "TRAINYARD_NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}],
        "resources": {"requests": {"memory": "2000Mi", "cpu": "3900m"}, "limits": {"memory": "2000Mi"}},
        "volumeMounts": [{"name": "agent", "mountPath": "/var/lib/trainyard-agent"},
                         {"name": "shm", "mountPath": "/dev/shm"}],
        "securityContext": {"allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}}}],
      "volumes": [{"name": "agent", "emptyDir": {}}, {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "1744Mi"}}]}})"));
}

TEST(PodJson, AsksForDevices) {
  json::object pod = PodOf(BatchOf(), 1);
  EXPECT_EQ(Container(pod).at("resources"), json::parse(R"({
    "limits": {"memory": "1000Mi", "nvidia.com/gpu": "2"},
    "requests": {"memory": "1000Mi", "nvidia.com/gpu": "2", "cpu": "500m"}})"));
  const json::object& spec = pod.at("spec").as_object();
  EXPECT_EQ(spec.at("nodeSelector"), json::parse(R"({"nvidia.com/gpu.product": "Tesla-T4"})"));
  EXPECT_EQ(spec.at("tolerations").as_array().back(),
            json::parse(R"({"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"})"));
}

TEST(PodJson, HasTheOperatorsNames) {
  const json::object pod = PodOf(BatchOf(), 0,
                                 {.image = "reg.lab/trainyard:1",
                                  .pull_secret = "reg",
                                  .service_account = "jobs",
                                  .priority_class = "low",
                                  .queue = "team-a"});
  const json::object& spec = pod.at("spec").as_object();
  EXPECT_EQ(spec.at("containers").at(0).at("image"), "reg.lab/trainyard:1");
  EXPECT_EQ(spec.at("imagePullSecrets"), json::parse(R"([{"name": "reg"}])"));
  EXPECT_EQ(spec.at("serviceAccountName"), "jobs");
  EXPECT_EQ(spec.at("priorityClassName"), "low");
  const json::object& metadata = pod.at("metadata").as_object();
  EXPECT_EQ(metadata.at("labels").at("kueue.x-k8s.io/queue-name"), "team-a");
  EXPECT_EQ(metadata.at("labels").at("kueue.x-k8s.io/pod-group-name"), "ty-1f3a-17-1-2");
  EXPECT_EQ(metadata.at("annotations").at("kueue.x-k8s.io/pod-group-total-count"), "2");
}

TEST(PodJson, TheAgentEndsBeforeThePodsDeadline) {
  Batch batch = BatchOf();
  EXPECT_FALSE(PodOf(batch, 0).at("spec").as_object().contains("activeDeadlineSeconds"));
  EXPECT_THAT(ScriptOf(PodOf(batch, 0)), Not(HasSubstr("TRAINYARD_UNTIL")));
  batch.running_limit = std::chrono::seconds(3'600);
  const json::object pod = PodOf(batch, 0, {.pull_max = std::chrono::seconds(600)});
  EXPECT_EQ(pod.at("spec").at("activeDeadlineSeconds"), 3'600 + 300 + 2 * 600)
      << "images are pulled in it, too";
  EXPECT_THAT(ScriptOf(pod), HasSubstr("export TRAINYARD_UNTIL=$(($(date +%s) + 4500))\n"));
}

TEST(PodJson, TheScriptStartsTheAgent) {
  const std::string script = ScriptOf(PodOf(BatchOf(), 0));
  EXPECT_THAT(script, HasSubstr("dir=/var/lib/trainyard-agent/node\n"));
  EXPECT_THAT(script, HasSubstr("\nslot=0 node=$TRAINYARD_NODE\n"));
  EXPECT_THAT(script,
              HasSubstr("program=/usr/local/lib/trainyard/trainyard-beef\nif ! [[ -x $program ]]; then\n"));
  EXPECT_THAT(script, HasSubstr("\nexec \"$program\" agent --server=10.0.0.1:7443 --fingerprint=c0ffee"));
  EXPECT_THAT(script, HasSubstr("part=$program.$node.$slot.$$\n"));
  EXPECT_THAT(script, Not(HasSubstr("SLURM")));
  EXPECT_THAT(script, HasSubstr("\ngpus=\n")) << "whatever the image says";
}

json::object PodOfImage(const KubernetesSettings& settings = {}) {
  PodsRequest request = RequestOfTwo();
  for (SlotRequest& slot : request.slots) slot.image = "reg.lab/mine@sha256:1";
  return wire::ParseJsonObject(PodJson(BatchOf(), request, 1, settings, "uid-1")).value_or(json::object());
}

TEST(PodJson, AJobsImageIsAContainerOfItsOwn) {
  const json::object pod = PodOfImage();
  const json::object& spec = pod.at("spec").as_object();
  EXPECT_EQ(spec.at("containers").at(0), json::parse(R"({
    "name": "job", "image": "reg.lab/mine@sha256:1",
    "command": ["/run/trainyard-pod/starter", "/run/trainyard-pod/socket"],
    "resources": {"limits": {"memory": "744Mi", "nvidia.com/gpu": "2"},
                  "requests": {"memory": "744Mi", "nvidia.com/gpu": "2", "cpu": "400m"}},
    "volumeMounts": [{"name": "pod", "mountPath": "/run/trainyard-pod"},
                     {"name": "shm", "mountPath": "/dev/shm"},
                     {"name": "home", "mountPath": "/home/trainyard"}],
    "env": [{"name": "HOME", "value": "/home/trainyard"}, {"name": "USER", "value": "trainyard"},
            {"name": "LOGNAME", "value": "trainyard"}],
    "securityContext": {"allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]},
                        "runAsUser": 1000, "runAsNonRoot": true}})"));
  EXPECT_EQ(spec.at("containers").at(1).at("name"), "agent");
  EXPECT_EQ(spec.at("containers").at(1).at("resources"), json::parse(R"({
    "requests": {"memory": "256Mi", "cpu": "100m"}, "limits": {"memory": "2048Mi"}})"));
  EXPECT_EQ(spec.at("containers").at(1).at("volumeMounts"), json::parse(R"([
    {"name": "agent", "mountPath": "/var/lib/trainyard-agent"},
    {"name": "pod", "mountPath": "/run/trainyard-pod"}])"));
  EXPECT_EQ(spec.at("initContainers").at(0).at("name"), "prepare");
  EXPECT_EQ(spec.at("volumes").as_array().size(), 4U);
  EXPECT_EQ(spec.at("securityContext").at("runAsNonRoot"), true);
}

TEST(PodJson, ASmallPodIsSharedWithTheAgent) {
  const PodsRequest request{.slots = {{.cpu_millis = 100, .memory_mib = 300, .image = "i"}}};
  const json::object pod =
      wire::ParseJsonObject(PodJson(BatchOf(), request, 0, {.cache = "c"}, "u")).value_or(json::object());
  const json::array& containers = pod.at("spec").at("containers").as_array();
  EXPECT_EQ(containers.at(0).at("resources").at("requests"),
            json::parse(R"({"memory": "150Mi", "cpu": "50m"})"));
  EXPECT_EQ(containers.at(1).at("resources").at("requests"),
            json::parse(R"({"memory": "150Mi", "cpu": "50m"})"));
  EXPECT_THAT(ScriptOf(json::object{{"spec", json::object{{"containers", json::array{containers.at(1)}}}}}),
              HasSubstr(" --cache=\"$dir/nodes/$node\" "))
      << "it builds no environment";
}

/// The script of a container, as its shell gets it.
std::string CommandOf(const json::value& container) {
  json::object pod{{"spec", json::object{{"containers", json::array{container}}}}};
  return ScriptOf(std::move(pod));
}

TEST(PodJson, TheAgentWaitsForTheJobsContainer) {
  const json::object pod = PodOfImage();
  const json::object& spec = pod.at("spec").as_object();
  EXPECT_THAT(CommandOf(spec.at("initContainers").at(0)),
              HasSubstr("\nexec \"$program\" agent --write-starter=/run/trainyard-pod/starter\n"));
  const std::string script = CommandOf(spec.at("containers").at(1));
  EXPECT_THAT(script, HasSubstr("\nuntil [[ -S /run/trainyard-pod/socket ]]; do sleep 0.1; done\nexec "));
  EXPECT_THAT(script, HasSubstr(" --starter=/run/trainyard-pod/socket\n"));
}

TEST(PodJson, AnImageMayChooseItsUser) {
  const json::object pod = PodOfImage({.container_user = std::nullopt});
  const json::object& spec = pod.at("spec").as_object();
  EXPECT_EQ(spec.at("securityContext"),
            json::parse(R"({"fsGroup": 1000, "seccompProfile": {"type": "RuntimeDefault"}})"));
  EXPECT_EQ(spec.at("containers").at(0).at("securityContext"),
            json::parse(R"({"allowPrivilegeEscalation": false})"));
  for (const json::value& own : {spec.at("initContainers").at(0), spec.at("containers").at(1)})
    EXPECT_EQ(own.at("securityContext"), json::parse(R"({
      "allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]},
      "runAsNonRoot": true, "runAsUser": 1000, "runAsGroup": 1000})"));
}

TEST(PodJson, GooglesNamesLeadToTheAgent) {
  Batch batch = BatchOf();
  batch.front_names = {"storage.googleapis.com", "www.googleapis.com"};
  const json::object pod = PodOf(batch, 0);
  const json::object& spec = pod.at("spec").as_object();
  EXPECT_EQ(spec.at("hostAliases"), json::parse(R"([
    {"ip": "127.71.67.80", "hostnames": ["storage.googleapis.com", "www.googleapis.com"]}])"));
  EXPECT_EQ(spec.at("securityContext").at("sysctls"), json::parse(R"([
    {"name": "net.ipv4.ip_unprivileged_port_start", "value": "0"}])"));
  EXPECT_THAT(ScriptOf(pod), HasSubstr(" --front=127.71.67.80\n"));
}

TEST(PodJson, EnvironmentsAreSharedInTheOperatorsVolume) {
  EXPECT_THAT(ScriptOf(PodOf(BatchOf(), 0)), HasSubstr(" --cache=\"$dir/nodes/$node\"\n"));
  const json::object pod = PodOf(BatchOf(), 0, {.cache = "environments"});
  const json::object& spec = pod.at("spec").as_object();
  EXPECT_EQ(spec.at("volumes").at(2),
            json::parse(R"({"name": "cache", "persistentVolumeClaim": {"claimName": "environments"}})"));
  EXPECT_EQ(spec.at("containers").at(0).at("volumeMounts").at(2),
            json::parse(R"({"name": "cache", "mountPath": "/var/cache/trainyard"})"));
  EXPECT_THAT(ScriptOf(pod), HasSubstr(" --cache=/var/cache/trainyard\n"));
}

TEST(PodJson, TheScriptFindsTheGpus) {
  EXPECT_THAT(ScriptOf(PodOf(BatchOf(), 1)),
              HasSubstr("gpus=${NVIDIA_VISIBLE_DEVICES-}\n"
                        "case $gpus in ''|all|none|void|/*) gpus=0,1;; esac\n"));
}

}  // namespace
}  // namespace trainyard::kubernetes::pod_objects_test
