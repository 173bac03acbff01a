#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <cstdint>
#include <iterator>
#include <limits>
#include <utility>

#include "base/check.h"
#include "rules/kubernetes/pod.h"
#include "rules/kubernetes/pod_request.h"
#include "rules/kubernetes/pod_script.h"

namespace trainyard::kubernetes {

namespace {

namespace json = boost::json;

constexpr std::string_view kSharedMemory = "/dev/shm";
/// A volume for the home of the user of a job's own container, which may not write anywhere else.
constexpr std::string_view kHome = "/home/trainyard";
constexpr std::string_view kTicketKey = "ticket";
/// Our containers ask for this much of a pod that also has the job's container. That one gets the rest.
constexpr std::int64_t kAgentMillis = 100;
constexpr std::int64_t kAgentMib = 256;
/// The limit of their memory: more than they ask for, since builds and buffers come and go.
constexpr std::int64_t kAgentMibMax = 2'048;
/// The node's kubelet waits this long after SIGTERM, so that replicas can be stopped and handed over.
constexpr std::chrono::seconds kGracePeriod{120};
/// A silent node is given up after this. Kubernetes' own default is 300 s.
constexpr std::chrono::seconds kSilenceMax{30};
/// The largest deadline that Kubernetes accepts.
constexpr std::chrono::seconds kDeadlineMax{std::numeric_limits<std::int32_t>::max()};

/// Kubernetes replaces $(NAME) and $$ in a command.
std::string ForCommand(std::string_view script) {
  std::string escaped;
  for (const char c : script) escaped += c == '$' ? std::string("$$") : std::string(1, c);
  return escaped;
}

// The parts of the objects.

json::object TextsOf(const std::map<std::string, std::string>& texts) {
  json::object object;
  for (const auto& [name, text] : texts) object[name] = text;
  return object;
}

json::object LabelsOf(const Batch& batch) {
  return {{kInstallationLabel, batch.installation},
          {kGangLabel, GangLabel(batch.submission)},
          {"app.kubernetes.io/managed-by", "trainyard"}};
}

json::object AnnotationsOf(const Batch& batch) {
  json::object annotations;
  if (!batch.job_id.empty()) annotations["trainyard.dev/job"] = batch.job_id;
  return annotations;
}

/// Makes Kueue place the pods as one group, whose pods are not replaced one by one.
void PutQueue(const Batch& batch, std::size_t pods, const std::string& queue, json::object& labels,
              json::object& annotations) {
  labels[kQueueLabel] = queue;
  labels["kueue.x-k8s.io/pod-group-name"] = SecretName(batch.installation, batch.submission);
  annotations["kueue.x-k8s.io/pod-group-total-count"] = std::to_string(pods);
  annotations["kueue.x-k8s.io/retriable-in-group"] = "false";
}

/// The Secret takes all other objects of the submission with it.
json::array OwnersOf(const Batch& batch, std::string_view secret_uid) {
  json::object owner{
      {"apiVersion", "v1"}, {"kind", "Secret"},    {"name", SecretName(batch.installation, batch.submission)},
      {"uid", secret_uid},  {"controller", false}, {"blockOwnerDeletion", false}};
  return {std::move(owner)};
}

json::object MetadataOf(const Batch& batch, const PodsRequest& request, int slot,
                        const KubernetesSettings& settings, std::string_view secret_uid) {
  json::object labels = LabelsOf(batch);
  json::object annotations = AnnotationsOf(batch);
  // Autoscalers must not remove a node to save money while a job runs there.
  annotations["cluster-autoscaler.kubernetes.io/safe-to-evict"] = "false";
  annotations["karpenter.sh/do-not-disrupt"] = "true";
  if (!settings.queue.empty()) PutQueue(batch, request.slots.size(), settings.queue, labels, annotations);
  return {{"name", PodName(batch.installation, batch.submission, slot)},
          {"labels", std::move(labels)},
          {"annotations", std::move(annotations)},
          {"ownerReferences", OwnersOf(batch, secret_uid)}};
}

json::array TolerationsOf(const SlotRequest& slot) {
  json::array tolerations;
  for (const char* taint : {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"})
    tolerations.push_back(json::object{{"key", taint},
                                       {"operator", "Exists"},
                                       {"effect", "NoExecute"},
                                       {"tolerationSeconds", kSilenceMax.count()}});
  // Clusters keep other pods away from devices by a taint of the resource's name.
  if (slot.devices > 0)
    tolerations.push_back(
        json::object{{"key", slot.device_resource}, {"operator", "Exists"}, {"effect", "NoSchedule"}});
  return tolerations;
}

/// No limit for CPUs: idle ones may be used, and nothing is throttled.
json::object ResourcesOf(const SlotRequest& slot) {
  json::object limits;
  if (slot.memory_mib > 0) limits["memory"] = std::to_string(slot.memory_mib) + "Mi";
  if (slot.devices > 0) limits[slot.device_resource] = std::to_string(slot.devices);
  json::object requests = limits;
  requests["cpu"] = std::to_string(slot.cpu_millis) + "m";
  json::object resources{{"requests", std::move(requests)}};
  if (!limits.empty()) resources["limits"] = std::move(limits);
  return resources;
}

/// The account has no line in an image's /etc/passwd: programs look for its name and home here.
void PutAccount(const std::string& home, json::array& variables) {
  for (const auto& [name, value] : {std::pair{"HOME", home}, std::pair{"USER", std::string("trainyard")},
                                    std::pair{"LOGNAME", std::string("trainyard")}})
    variables.push_back(json::object{{"name", name}, {"value", value}});
}

/// The variables of our containers.
json::array OwnVariables() {
  const std::string volume(kVolume);
  json::array variables;
  PutAccount(volume + "/home", variables);
  variables.push_back(json::object{{"name", "TMPDIR"}, {"value", volume + "/tmp"}});
  return variables;
}

json::array VariablesOf(const Batch& batch) {
  const std::string secret = SecretName(batch.installation, batch.submission);
  const json::object ticket{{"secretKeyRef", json::object{{"name", secret}, {"key", kTicketKey}}}};
  const json::object node{{"fieldRef", json::object{{"fieldPath", "spec.nodeName"}}}};
  json::array variables = OwnVariables();
  variables.push_back(json::object{{"name", "TRAINYARD_TICKET"}, {"valueFrom", ticket}});
  variables.push_back(json::object{{"name", "TRAINYARD_NODE"}, {"valueFrom", node}});
  return variables;
}

/// The resources of our containers in a pod that also has the job's container: at most half of the slot.
SlotRequest AgentPart(const SlotRequest& slot) {
  SlotRequest part{.cpu_millis = std::min(kAgentMillis, slot.cpu_millis / 2), .memory_mib = kAgentMib};
  if (slot.memory_mib > 0) part.memory_mib = std::min(kAgentMib, slot.memory_mib / 2);
  return part;
}

/// The resources of the job's container: the rest of the slot.
SlotRequest JobPart(SlotRequest slot) {
  const SlotRequest part = AgentPart(slot);
  slot.cpu_millis -= part.cpu_millis;
  if (slot.memory_mib > 0) slot.memory_mib -= part.memory_mib;
  return slot;
}

json::object AgentResources(const SlotRequest& slot) {
  const SlotRequest part = AgentPart(slot);
  return {{"requests", json::object{{"memory", std::to_string(part.memory_mib) + "Mi"},
                                    {"cpu", std::to_string(part.cpu_millis) + "m"}}},
          {"limits", json::object{{"memory", std::to_string(kAgentMibMax) + "Mi"}}}};
}

json::object Mount(std::string_view volume, std::string_view path) {
  return {{"name", volume}, {"mountPath", path}};
}

/// The user of all containers; where the job's own may run as its image says, each other one says its own.
json::object AccountOf() {
  return {{"runAsNonRoot", true}, {"runAsUser", kAccount}, {"runAsGroup", kAccount}};
}

void Put(json::object& object, const json::object& more) {
  for (const auto& member : more) object.insert_or_assign(member.key(), member.value());
}

/// Lets processes get no more rights than they begin with, and with a user of their own none of root's.
json::object RightsOf(std::optional<int> user) {
  json::object security{{"allowPrivilegeEscalation", false}};
  if (user && *user != 0) security["capabilities"] = json::object{{"drop", json::array{"ALL"}}};
  return security;
}

/// A container of ours.
json::object OwnContainer(std::string_view name, std::string_view script,
                          const KubernetesSettings& settings) {
  return {{"name", name},
          {"image", settings.image},
          {"command", json::array{"bash", "-c", ForCommand(script)}},
          {"securityContext", RightsOf(kAccount)}};
}

/// The agent of a pod that runs Python packages, or beside the job's own container.
json::object AgentOf(const Batch& batch, const SlotRequest& slot, int number,
                     const KubernetesSettings& settings) {
  json::object container =
      OwnContainer(kAgentContainer, AgentScript(batch, slot, number, settings), settings);
  container["env"] = VariablesOf(batch);
  json::array mounts{Mount("agent", kVolume)};
  if (slot.image.empty()) {
    container["resources"] = ResourcesOf(slot);
    mounts.push_back(Mount("shm", kSharedMemory));
    if (!settings.cache.empty()) mounts.push_back(Mount("cache", kCache));
  } else {
    container["resources"] = AgentResources(slot);
    Put(container["securityContext"].as_object(), AccountOf());
    mounts.push_back(Mount("pod", kPodFolder));
  }
  container["volumeMounts"] = std::move(mounts);
  return container;
}

/// Puts the starter into the volume before the job's own container starts.
json::object PrepareOf(const Batch& batch, const SlotRequest& slot, const KubernetesSettings& settings) {
  json::object container = OwnContainer("prepare", PrepareScript(batch), settings);
  container["env"] = OwnVariables();
  container["resources"] = AgentResources(slot);
  container["volumeMounts"] = json::array{Mount("agent", kVolume), Mount("pod", kPodFolder)};
  Put(container["securityContext"].as_object(), AccountOf());
  return container;
}

/// The container of the job's own image.
json::object JobContainer(const SlotRequest& slot, const KubernetesSettings& settings) {
  json::object container{{"name", kJobContainer},
                         {"image", slot.image},
                         {"command", json::array{kStarter, kStarterSocket}},
                         {"resources", ResourcesOf(JobPart(slot))},
                         {"volumeMounts", json::array{Mount("pod", kPodFolder), Mount("shm", kSharedMemory),
                                                      Mount("home", kHome)}}};
  json::object security = RightsOf(settings.container_user);
  if (settings.container_user) {
    security["runAsUser"] = *settings.container_user;
    security["runAsNonRoot"] = *settings.container_user != 0;
    PutAccount(std::string(kHome), container["env"].emplace_array());
  }
  container["securityContext"] = std::move(security);
  return container;
}

json::array ContainersOf(const Batch& batch, const SlotRequest& slot, int number,
                         const KubernetesSettings& settings) {
  json::array containers;
  if (!slot.image.empty()) containers.push_back(JobContainer(slot, settings));
  containers.push_back(AgentOf(batch, slot, number, settings));
  return containers;
}

bool HasUserOfImage(const SlotRequest& slot, const KubernetesSettings& settings) {
  return !slot.image.empty() && !settings.container_user;
}

/// Volumes belong to the group, so every container may write into them.
json::object SecurityOf(bool has_user_of_image) {
  json::object security;
  if (!has_user_of_image) security = AccountOf();
  security["fsGroup"] = kAccount;
  security["seccompProfile"] = json::object{{"type", "RuntimeDefault"}};
  return security;
}

/// The runtime's own /dev/shm has 64 MB. What is written there counts as memory of the container and stays
/// when the program has been killed for it, so the agent keeps some.
json::object SharedMemoryOf(const SlotRequest& slot) {
  json::object volume{{"medium", "Memory"}};
  const std::int64_t mib = (slot.image.empty() ? slot : JobPart(slot)).memory_mib;
  if (mib > 0) volume["sizeLimit"] = std::to_string(mib - std::min(kAgentMib, mib / 2)) + "Mi";
  return volume;
}

json::array VolumesOf(const SlotRequest& slot, const KubernetesSettings& settings) {
  json::array volumes{json::object{{"name", "agent"}, {"emptyDir", json::object()}},
                      json::object{{"name", "shm"}, {"emptyDir", SharedMemoryOf(slot)}}};
  if (slot.image.empty()) {
    if (!settings.cache.empty())
      volumes.push_back(json::object{{"name", "cache"},
                                     {"persistentVolumeClaim", json::object{{"claimName", settings.cache}}}});
    return volumes;
  }
  for (const char* name : {"pod", "home"})
    volumes.push_back(json::object{{"name", name}, {"emptyDir", json::object()}});
  return volumes;
}

/// Lets the agent answer to Google's names: an ordinary user may listen on every port of this pod.
void PutFront(const std::vector<std::string>& names, json::object& spec) {
  spec["hostAliases"] = json::array{
      json::object{{"ip", kFrontAddress}, {"hostnames", json::array(names.begin(), names.end())}}};
  spec["securityContext"].as_object()["sysctls"] =
      json::array{json::object{{"name", "net.ipv4.ip_unprivileged_port_start"}, {"value", "0"}}};
}

void PutGiven(json::object& object, std::string_view name, const std::string& value) {
  if (!value.empty()) object[name] = value;
}

json::object SpecOf(const Batch& batch, const SlotRequest& slot, int number,
                    const KubernetesSettings& settings) {
  json::object spec{{"restartPolicy", "Never"},
                    {"terminationGracePeriodSeconds", kGracePeriod.count()},
                    {"automountServiceAccountToken", false},
                    {"enableServiceLinks", false},
                    {"securityContext", SecurityOf(HasUserOfImage(slot, settings))},
                    {"tolerations", TolerationsOf(slot)},
                    {"containers", ContainersOf(batch, slot, number, settings)},
                    {"volumes", VolumesOf(slot, settings)}};
  if (!slot.image.empty()) spec["initContainers"] = json::array{PrepareOf(batch, slot, settings)};
  if (!batch.front_names.empty()) PutFront(batch.front_names, spec);
  // It counts from when the node has the pod, so the image is pulled in this time. The agent ends before.
  if (batch.running_limit)
    spec["activeDeadlineSeconds"] =
        std::min(RunMax(*batch.running_limit, settings) + settings.pull_max, kDeadlineMax).count();
  if (!slot.selector.empty()) spec["nodeSelector"] = TextsOf(slot.selector);
  if (batch.has_pod_group)
    spec["schedulingGroup"] =
        json::object{{"podGroupName", SecretName(batch.installation, batch.submission)}};
  PutGiven(spec, "priorityClassName", settings.priority_class);
  PutGiven(spec, "serviceAccountName", settings.service_account);
  if (!settings.pull_secret.empty())
    spec["imagePullSecrets"] = json::array{json::object{{"name", settings.pull_secret}}};
  return spec;
}

}  // namespace

std::string SecretJson(const Batch& batch, std::string_view ticket) {
  const json::object secret{
      {"apiVersion", "v1"},
      {"kind", "Secret"},
      {"metadata", json::object{{"name", SecretName(batch.installation, batch.submission)},
                                {"labels", LabelsOf(batch)},
                                {"annotations", AnnotationsOf(batch)}}},
      {"type", "Opaque"},
      {"immutable", true},
      {"stringData", json::object{{kTicketKey, ticket}}}};
  return json::serialize(secret);
}

std::string PodGroupJson(const Batch& batch, const PodsRequest& request, const KubernetesSettings& settings,
                         std::string_view secret_uid) {
  // A gang that has lost a pod is of no use, so all of it makes way, or nothing does.
  json::object spec{
      {"schedulingPolicy", json::object{{"gang", json::object{{"minCount", request.slots.size()}}}}},
      {"disruptionMode", json::object{{"all", json::object()}}}};
  PutGiven(spec, "priorityClassName", settings.priority_class);
  const json::object group{
      {"apiVersion", "scheduling.k8s.io/v1beta1"},
      {"kind", "PodGroup"},
      {"metadata", json::object{{"name", SecretName(batch.installation, batch.submission)},
                                {"labels", LabelsOf(batch)},
                                {"annotations", AnnotationsOf(batch)},
                                {"ownerReferences", OwnersOf(batch, secret_uid)}}},
      {"spec", std::move(spec)}};
  return json::serialize(group);
}

std::string PodJson(const Batch& batch, const PodsRequest& request, int slot,
                    const KubernetesSettings& settings, std::string_view secret_uid) {
  TY_CHECK(slot >= 0 && slot < std::ssize(request.slots));
  const SlotRequest& own = request.slots[static_cast<std::size_t>(slot)];
  const json::object pod{{"apiVersion", "v1"},
                         {"kind", "Pod"},
                         {"metadata", MetadataOf(batch, request, slot, settings, secret_uid)},
                         {"spec", SpecOf(batch, own, slot, settings)}};
  return json::serialize(pod);
}

}  // namespace trainyard::kubernetes
