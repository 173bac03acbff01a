// The flags about Kubernetes: docs/kubernetes.md.
#include <algorithm>
#include <cmath>

#include "base/number.h"
#include "rules/cluster/machine_type.h"
#include "rules/kubernetes/pod_request.h"
#include "server/options/flag.h"
#include "server/options/rule_texts.h"

namespace trainyard::server {
namespace {

using engine::EngineOptions;
using kubernetes::AcceleratorOptions;
using kubernetes::KubernetesSettings;
template <auto... kPath>
using Kube = At<&ServeOptions::engine, &EngineOptions::kubernetes, kPath...>;

constexpr int kPodCpusMax = 100'000;
constexpr std::int64_t kTurnMin = 2;
constexpr std::int64_t kTurnMax = 3'600;
constexpr std::int64_t kPullMin = 10;
constexpr std::int64_t kPullMax = 86'400;

/// Parses one "NAME:VALUE" of a machine type.
Status ReadPodKey(std::string_view pair, kubernetes::PodMachine& machine) {
  const std::size_t colon = pair.find(':');
  const std::string_view key = pair.substr(0, colon);
  const std::string value(colon == std::string_view::npos ? "" : pair.substr(colon + 1));
  const auto refuse = [pair](const std::string& why) { return Refuse("'" + std::string(pair) + "' " + why); };
  if (value.empty()) return refuse("is not NAME:VALUE");
  if (key == "node") return AddLabel(value, machine.selector);
  if (key == "cpus") {
    const double millis = 1e3 * kubernetes::ParseQuantity(value).value_or(0);
    if (millis < 1 || millis > 1e3 * kPodCpusMax)
      return refuse("is not a number of CPUs such as 4, 0.5 or 500m");
    machine.cpu_millis = std::llround(millis);
    return {};
  }
  if (key != "memory") return refuse("must begin with cpus, memory or node");
  machine.memory_mib = ReadMebibytes(value);
  return machine.memory_mib ? Status() : refuse("is not a size such as 16G or 500M");
}

/// Calls `read` for each part of "A,B,C".
template <class Read>
Status ForEachPart(std::string_view text, Read read) {
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    TY_RETURN_IF_ERROR(read(part));
  }
  return {};
}

/// Adds "n1-standard-8=cpus:4,memory:16G,node:pool=big".
Status AddPodMachine(const std::string& text, std::map<std::string, kubernetes::PodMachine>& machines) {
  TY_TRY(const auto rule, SplitRule(text));
  if (!cluster::FindMachineType(rule.first)) return Refuse("'" + rule.first + "' is not a machine type");
  kubernetes::PodMachine machine;
  TY_RETURN_IF_ERROR(
      ForEachPart(rule.second, [&machine](std::string_view part) { return ReadPodKey(part, machine); }));
  if (machines.emplace(rule.first, std::move(machine)).second) return {};
  return Refuse("'" + rule.first + "' is given twice");
}

/// Adds "nvidia-tesla-t4=nvidia.com/gpu,nvidia.com/gpu.product=Tesla-T4".
Status AddPodAccelerator(const std::string& text, std::map<std::string, AcceleratorOptions>& accelerators) {
  TY_TRY(const auto rule, SplitRule(text));
  AcceleratorOptions options{.resource = {}};
  TY_RETURN_IF_ERROR(ForEachPart(rule.second, [&options](std::string_view part) -> Status {
    if (part.contains('=')) return AddLabel(std::string(part), options.selector);
    if (!options.resource.empty()) return Refuse("'" + std::string(part) + "' is a second resource");
    options.resource = part;
    return {};
  }));
  if (options.resource.empty()) options.resource = AcceleratorOptions().resource;
  if (accelerators.emplace(rule.first, std::move(options)).second) return {};
  return Refuse("'" + rule.first + "' is given twice");
}

/// "image": that of the image.
Result<std::optional<int>> ReadUser(const std::string& text) {
  if (text == "image") return std::nullopt;
  constexpr std::int64_t kUserMax = 2'147'483'647;
  const auto user = WholeNumber<std::int64_t>(text);
  if (!user || *user < 0 || *user > kUserMax)
    return std::unexpected(InvalidArgument("", "'" + text + "' is neither a user id nor 'image'"));
  return static_cast<int>(*user);
}

std::string PrintUser(std::optional<int> user) { return user ? std::to_string(*user) : "image"; }

constexpr Flag kKubernetesFlags[] = {
    {"--kubeconfig", "FILE",
     "The kubeconfig of the cluster. Default: $KUBECONFIG, ~/.kube/config, or in a pod its service account.",
     kAbsolutePath<Kube<&KubernetesSettings::kubeconfig>>},
    {"--kubernetes-context", "NAME", "Context of the kubeconfig. Default: its current context.",
     kText<Kube<&KubernetesSettings::context>>},
    {"--kubernetes-namespace", "NAME", "Namespace of all pods. Default: the context's.",
     kText<Kube<&KubernetesSettings::name_space>>},
    {"--kubernetes-image", "REFERENCE",
     "Image of the pods that run Python packages. It needs bash, coreutils and a C library as new as Debian "
     "12's.",
     kText<Kube<&KubernetesSettings::image>>},
    {"--kubernetes-container-user", "UID|image",
     "User of the containers of jobs with their own image. image: the image's USER, which may be root.",
     kPrinted<Kube<&KubernetesSettings::container_user>, ReadUser, PrintUser>},
    {"--kubernetes-pull-secret", "NAME", "Secret with the credentials of the images' registries.",
     kText<Kube<&KubernetesSettings::pull_secret>>},
    {"--kubernetes-cache", "CLAIM",
     "PersistentVolumeClaim in which all pods share the environments of Python packages. Default: each pod "
     "builds its own.",
     kText<Kube<&KubernetesSettings::cache>>},
    {"--kubernetes-service-account", "NAME",
     "Service account of the pods. Its token is not mounted. Default: the namespace's default account.",
     kText<Kube<&KubernetesSettings::service_account>>},
    {"--kubernetes-priority-class", "NAME", "Priority class of the pods. Default: the cluster's.",
     kText<Kube<&KubernetesSettings::priority_class>>},
    {"--kubernetes-queue", "NAME", "LocalQueue of Kueue that the pods wait in. Default: Kueue is not used.",
     kText<Kube<&KubernetesSettings::queue>>},
    {"--kubernetes-node", "LABEL=VALUE", "Label that the nodes of all pods must have. Can be repeated.",
     kRules<Kube<&KubernetesSettings::selector>, AddLabel>},
    {"--kubernetes-machine", "TYPE=NAME:VALUE,...",
     "What a machine type requests from Kubernetes: n1-standard-8=cpus:4,memory:16G,node:pool=big. Can be "
     "repeated.",
     kRules<Kube<&KubernetesSettings::machine_types>, AddPodMachine>},
    {"--kubernetes-accelerator", "TYPE=RESOURCE,LABEL=VALUE,...",
     "Resource and node labels of an accelerator type: "
     "nvidia-tesla-t4=nvidia.com/gpu,pool=t4. Can be repeated. Default: nvidia.com/gpu on any node.",
     kRules<Kube<&KubernetesSettings::accelerators>, AddPodAccelerator>},
    {"--kubernetes-sizes", "fit|strict",
     "fit: a machine type that is larger than the largest node gets the size of that node. strict: the job "
     "waits.",
     kChoice<Kube<&KubernetesSettings::sizes>, kubernetes::Sizes::kFit, kubernetes::Sizes::kStrict>},
    {"--kubernetes-turn", "SECONDS",
     "How long the pods of a distributed job may wait for nodes before they are deleted and another job has "
     "its turn.",
     kWhole<Kube<&KubernetesSettings::turn>, kTurnMin, kTurnMax>},
    {"--kubernetes-pull-max", "SECONDS",
     "How long a pod may need for its image before its job fails with the registry's words.",
     kWhole<Kube<&KubernetesSettings::pull_max>, kPullMin, kPullMax>},
};

}  // namespace

std::span<const Flag> KubernetesFlags() { return kKubernetesFlags; }

}  // namespace trainyard::server
