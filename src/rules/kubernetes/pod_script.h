#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "rules/kubernetes/pod_request.h"

namespace trainyard::kubernetes {

/// A volume of the pod, for everything that the agent and its attempts write.
inline constexpr std::string_view kVolume = "/var/lib/trainyard-agent";
/// The volume of the operator's claim.
inline constexpr std::string_view kCache = "/var/cache/trainyard";
/// A volume of the agent and the job's own container, with the starter and its socket, and the files for
/// Google's names (engine/agent, node_provision.h).
inline constexpr std::string_view kPodFolder = "/run/trainyard-pod";
inline constexpr std::string_view kStarter = "/run/trainyard-pod/starter";
inline constexpr std::string_view kStarterSocket = "/run/trainyard-pod/socket";
/// The address at which the agent answers to Google's names, on ports 443 and 80 of the pod's own loopback.
inline constexpr std::string_view kFrontAddress = "127.71.67.80";

/// How long the agent may run from its start. Pods of one gang may start as far apart as their images take.
[[nodiscard]] std::chrono::seconds RunMax(std::chrono::seconds running_limit,
                                          const KubernetesSettings& settings);

/// The script of the container that runs before a job's own one: it writes the starter into kPodFolder.
[[nodiscard]] std::string PrepareScript(const Batch& batch);

/// The script of the agent's container: it finds or downloads the agent's program and becomes it. The agent
/// waits until the job's own container runs, if there is one: a node may have to pull its image first.
/// @param number  the slot's.
[[nodiscard]] std::string AgentScript(const Batch& batch, const SlotRequest& slot, int number,
                                      const KubernetesSettings& settings);

}  // namespace trainyard::kubernetes
