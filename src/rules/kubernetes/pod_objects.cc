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

namespace trainyard::kubernetes {

namespace {

namespace json = boost::json;
using namespace std::chrono_literals;

/// A volume of the pod, for everything that the agent and its attempts write.
constexpr std::string_view kVolume = "/var/lib/trainyard-agent";
/// Our images have the agent's program here, under its digest: nothing is copied or downloaded then.
constexpr std::string_view kImagePrograms = "/usr/local/lib/trainyard";
constexpr int kAccount = 1000;  ///< PodSecurity "restricted": not root
constexpr std::string_view kTicketKey = "ticket";
/// The node's kubelet waits this long after SIGTERM, so that replicas can be stopped and handed over.
constexpr std::chrono::seconds kGracePeriod{120};
/// A silent node is given up after this. Kubernetes' own default is 300 s.
constexpr std::chrono::seconds kSilenceMax{30};
/// The server ends a job at its limit; an agent whose server is away does so this much later.
constexpr std::chrono::seconds kLimitSlack = 5min;
/// The largest deadline that Kubernetes accepts.
constexpr std::chrono::seconds kDeadlineMax{std::numeric_limits<std::int32_t>::max()};

// The script of the container.

/// "0,1,2"
std::string IndexesOf(std::int64_t devices) {
  std::string indexes;
  for (std::int64_t i = 0; i < devices; ++i) indexes += (i == 0 ? "" : ",") + std::to_string(i);
  return indexes;
}

/// Sets $gpus. An image may set NVIDIA_VISIBLE_DEVICES, too, so it counts only if devices were asked for. It
/// names none if the plugin passes them in another way ("void": CDI; a path: volumes).
std::string FindGpus(const SlotRequest& slot) {
  if (slot.devices == 0) return "gpus=\n";
  return "gpus=${NVIDIA_VISIBLE_DEVICES-}\n"
         "case $gpus in ''|all|none|void|/*) gpus=" +
         IndexesOf(slot.devices) + ";; esac\n";
}

/// How long the agent may run from its start. Pods of one gang may start as far apart as their images take.
std::chrono::seconds RunMax(std::chrono::seconds running_limit, const KubernetesSettings& settings) {
  return running_limit + kLimitSlack + settings.pull_max;
}

std::string ScriptOf(const Batch& batch, const SlotRequest& slot, int number,
                     const KubernetesSettings& settings) {
  std::string script;
  if (batch.running_limit)
    script += "export TRAINYARD_UNTIL=$(($(date +%s) + " +
              std::to_string(RunMax(*batch.running_limit, settings).count()) + "))\n";
  // As the first process of its container, a shell ignores SIGTERM unless it is told otherwise.
  script += "trap 'exit 143' TERM\numask 077\n";
  // A folder in the volume: the volume itself belongs to root.
  script += "dir=" + std::string(kVolume) + "/node slot=" + std::to_string(number) +
            " node=$TRAINYARD_NODE mine=\n";
  script += "unset TRAINYARD_NODE\n" + FindGpus(slot);
  script +=
      "mkdir -p \"$dir\" \"$HOME\" \"$TMPDIR\" || exit " + std::to_string(placement::kExitNoDirectory) + "\n";
  script += "program=" + std::string(kImagePrograms) + "/trainyard-" + batch.boot.program_sha256 + "\n";
  script += "if ! [[ -x $program ]]; then\n" + placement::FindAgentScript(batch.boot) + "fi\n";
  return script + placement::ExecAgentScript(batch.boot);
}

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
  labels["kueue.x-k8s.io/queue-name"] = queue;
  labels["kueue.x-k8s.io/pod-group-name"] = SecretName(batch.installation, batch.submission);
  annotations["kueue.x-k8s.io/pod-group-total-count"] = std::to_string(pods);
  annotations["kueue.x-k8s.io/retriable-in-group"] = "false";
}

json::object MetadataOf(const Batch& batch, const PodsRequest& request, int slot,
                        const KubernetesSettings& settings, std::string_view secret_uid) {
  json::object labels = LabelsOf(batch);
  json::object annotations = AnnotationsOf(batch);
  // Autoscalers must not remove a node to save money while a job runs there.
  annotations["cluster-autoscaler.kubernetes.io/safe-to-evict"] = "false";
  annotations["karpenter.sh/do-not-disrupt"] = "true";
  if (!settings.queue.empty()) PutQueue(batch, request.slots.size(), settings.queue, labels, annotations);
  json::object owner{
      {"apiVersion", "v1"}, {"kind", "Secret"},    {"name", SecretName(batch.installation, batch.submission)},
      {"uid", secret_uid},  {"controller", false}, {"blockOwnerDeletion", false}};
  return {{"name", PodName(batch.installation, batch.submission, slot)},
          {"labels", std::move(labels)},
          {"annotations", std::move(annotations)},
          {"ownerReferences", json::array{std::move(owner)}}};
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

json::array VariablesOf(const Batch& batch) {
  const std::string secret = SecretName(batch.installation, batch.submission);
  const json::object ticket{{"secretKeyRef", json::object{{"name", secret}, {"key", kTicketKey}}}};
  const json::object node{{"fieldRef", json::object{{"fieldPath", "spec.nodeName"}}}};
  json::array variables{json::object{{"name", "TRAINYARD_TICKET"}, {"valueFrom", ticket}},
                        json::object{{"name", "TRAINYARD_NODE"}, {"valueFrom", node}}};
  // The account has no line in the image's /etc/passwd: programs look for its name and home here.
  const std::string volume(kVolume);
  for (const auto& [name, value] :
       {std::pair{"HOME", volume + "/home"}, std::pair{"TMPDIR", volume + "/tmp"},
        std::pair{"USER", std::string("trainyard")}, std::pair{"LOGNAME", std::string("trainyard")}})
    variables.push_back(json::object{{"name", name}, {"value", value}});
  return variables;
}

json::object ContainerOf(const Batch& batch, const SlotRequest& slot, int number,
                         const KubernetesSettings& settings) {
  const std::string script = ForCommand(ScriptOf(batch, slot, number, settings));
  return {{"name", kAgentContainer},
          {"image", settings.image},
          {"command", json::array{"bash", "-c", script}},
          {"env", VariablesOf(batch)},
          {"resources", ResourcesOf(slot)},
          {"volumeMounts", json::array{json::object{{"name", "agent"}, {"mountPath", kVolume}},
                                       json::object{{"name", "shm"}, {"mountPath", "/dev/shm"}}}},
          {"securityContext", json::object{{"allowPrivilegeEscalation", false},
                                           {"capabilities", json::object{{"drop", json::array{"ALL"}}}}}}};
}

json::object SecurityOf() {
  return {{"runAsNonRoot", true},
          {"runAsUser", kAccount},
          {"runAsGroup", kAccount},
          {"fsGroup", kAccount},
          {"seccompProfile", json::object{{"type", "RuntimeDefault"}}}};
}

/// Without a size of its own, /dev/shm may be as large as the pod's memory; the runtime's has 64 MB.
json::array VolumesOf() {
  return {json::object{{"name", "agent"}, {"emptyDir", json::object()}},
          json::object{{"name", "shm"}, {"emptyDir", json::object{{"medium", "Memory"}}}}};
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
                    {"securityContext", SecurityOf()},
                    {"tolerations", TolerationsOf(slot)},
                    {"containers", json::array{ContainerOf(batch, slot, number, settings)}},
                    {"volumes", VolumesOf()}};
  // It counts from when the node has the pod, so the image is pulled in this time. The agent ends before.
  if (batch.running_limit)
    spec["activeDeadlineSeconds"] =
        std::min(RunMax(*batch.running_limit, settings) + settings.pull_max, kDeadlineMax).count();
  if (!slot.selector.empty()) spec["nodeSelector"] = TextsOf(slot.selector);
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
