#include "engine/kubernetes/kube_setup.h"

#include <cstdlib>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "base/async/diagnostics.h"
#include "engine/kubernetes/kube_http.h"
#include "net/http/client_request.h"

namespace trainyard::engine {

namespace {

constexpr const char* kVariables[] = {"KUBECONFIG", "HOME", "KUBERNETES_SERVICE_HOST",
                                      "KUBERNETES_SERVICE_PORT"};

std::map<std::string, std::string> OwnVariables() {
  std::map<std::string, std::string> variables;
  for (const char* name : kVariables)
    if (const char* value = std::getenv(name)) variables.emplace(name, value);
  return variables;
}

std::string Joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "" : ", ") + line;
  return text;
}

std::string CreateRole(const std::string& name_space, const std::string& name, const std::string& rights) {
  return "kubectl create role " + name + " -n " + name_space + " " + rights + "; ";
}

/// For an operator to run: the roles of docs/kubernetes.md. Whom to bind them to only they know.
std::string RoleCommands(const std::string& name_space) {
  return CreateRole(name_space, "trainyard", "--verb=create,list,watch --resource=pods") +
         CreateRole(name_space, "trainyard-secrets", "--verb=create,get,delete --resource=secrets") +
         CreateRole(name_space, "trainyard-events", "--verb=list --resource=events") +
         "and for each of them: kubectl create rolebinding ROLE -n " + name_space +
         " --role=ROLE --user=USER or --serviceaccount=NAMESPACE:NAME";
}

}  // namespace

Result<KubernetesParts> MakeKubeClient(const kubernetes::KubernetesSettings& settings, const Clock& clock) {
  KubeHttpOptions options{
      .places = {.kubeconfig = settings.kubeconfig, .context = settings.context, .variables = OwnVariables()},
      .name_space = settings.name_space};
  auto client = KubeHttp::Make(std::move(options), clock);
  if (!client) {
    Error& error = client.error();
    error.message = "--engine kubernetes: " + error.message;
    if (error.code == Code::kNotFound) error = FailedPrecondition(std::move(error.message));
    return std::unexpected(std::move(error));
  }
  KubernetesParts parts;
  if (const auto endpoint = http::Endpoint::Parse((*client)->server())) parts.server_host = endpoint->host;
  parts.client = *std::move(client);
  return parts;
}

Status CheckKubernetes(const KubeClient& client) {
  const KubeAnswer<std::vector<std::string>> missing = client.MissingRights();
  if (!missing && missing.error().failure == kubernetes::Failure::kMistake)
    return std::unexpected(FailedPrecondition("--engine kubernetes: " + missing.error().words));
  if (!missing) {
    Diagnose(DiagnosticLevel::kWarning, missing.error().words + " Jobs wait until then.");
    return {};
  }
  if (missing->empty()) return {};
  return std::unexpected(FailedPrecondition(
      "--engine kubernetes: this account lacks rights in the namespace " + client.name_space() + ": " +
      Joined(*missing) + ". Give them with: " + RoleCommands(client.name_space())));
}

kubernetes::GangScheduler FindGangScheduler(const KubeClient& client,
                                            const kubernetes::KubernetesSettings& settings) {
  if (!settings.queue.empty()) return kubernetes::GangScheduler::kQueue;
  const KubeAnswer<PodGroups> groups = client.FindPodGroups();
  if (!groups) {
    Diagnose(DiagnosticLevel::kWarning,
             groups.error().words + " Until this server is restarted, gangs get nodes one after the other.");
  } else if (*groups == PodGroups::kUsable) {
    Diagnose(DiagnosticLevel::kInfo, "the cluster's scheduler places gangs, as PodGroups");
    return kubernetes::GangScheduler::kPodGroups;
  } else if (*groups == PodGroups::kNoRight) {
    Diagnose(
        DiagnosticLevel::kInfo,
        "the cluster's scheduler can place gangs, but this account may not create PodGroups, so gangs get "
        "nodes one after the other. Give it the right with: " +
            CreateRole(client.name_space(), "trainyard-podgroups",
                       "--verb=create --resource=podgroups.scheduling.k8s.io"));
  }
  return kubernetes::GangScheduler::kTurns;
}

}  // namespace trainyard::engine
