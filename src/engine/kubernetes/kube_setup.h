#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "engine/kubernetes/kube_client.h"
#include "rules/kubernetes/pod_gang.h"
#include "rules/kubernetes/settings.h"

namespace trainyard::engine {

struct KubernetesParts {
  std::unique_ptr<KubeClient> client;  ///< null: no job goes to Kubernetes
  std::string server_host{};           ///< of the API server: a name or an address
  kubernetes::GangScheduler scheduler = kubernetes::GangScheduler::kTurns;
};

/// Makes the client that the settings choose, without a request. kInvalidArgument, kFailedPrecondition: the
/// kubeconfig cannot be used, and why.
/// `clock` outlives the client.
[[nodiscard]] Result<KubernetesParts> MakeKubeClient(const kubernetes::KubernetesSettings& settings,
                                                     const Clock& clock);

/// Checks that this account may do what the engine needs. kFailedPrecondition: it may not; the message says
/// what is missing and the command that gives it. An API server that does not answer now is no error: a
/// warning says so. Blocks for up to some seconds.
[[nodiscard]] Status CheckKubernetes(const KubeClient& client);

/// Finds out who places gangs: the queue of the settings, else the cluster's scheduler if it can, else this
/// server. If the API server does not answer, this server does it, and a warning says so. Blocks for up to
/// some seconds.
[[nodiscard]] kubernetes::GangScheduler FindGangScheduler(const KubeClient& client,
                                                          const kubernetes::KubernetesSettings& settings);

}  // namespace trainyard::engine
