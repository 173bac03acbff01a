#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "engine/kubernetes/kube_client.h"

/// Reads the API server's answers to the requests of KubeHttp. Pure: any thread. kDataLoss: it is not such an
/// answer. Source: Kubernetes' API reference, "API Concepts".
namespace trainyard::engine {

/// A page of a list.
struct KubePage {
  std::vector<std::string> items;  ///< as JSON
  std::string version;             ///< resourceVersion of the list
  std::string next;                ///< for `continue`; empty: it is the last page
};
[[nodiscard]] Result<KubePage> ParseKubePage(std::string_view body);

/// metadata.name and metadata.uid of an object.
struct KubeIdentity {
  std::string name;
  std::string uid;
};
[[nodiscard]] Result<KubeIdentity> ParseKubeIdentity(std::string_view body);

/// The version up to which a watch has reported everything.
struct KubeBookmark {
  std::string version;
};
/// A change, with the version at which it happened.
struct KubeChange {
  PodEvent event;
  std::string version;
};
/// A line of a watch of pods; a Refusal: the watch has failed.
using KubeWatchLine = std::variant<KubeBookmark, KubeChange, kubernetes::Refusal>;
[[nodiscard]] Result<KubeWatchLine> ParseWatchLine(std::string_view line);

/// The events of a list that KubeClient::WarningsOf returns, the newest first.
[[nodiscard]] Result<std::vector<std::string>> ParseWarnings(std::string_view body);

/// Why Kueue has not admitted a Workload (kueue.x-k8s.io/v1beta1), in its words; empty: it has, or does not
/// say.
[[nodiscard]] Result<std::string> ParseQueueWords(std::string_view body);

/// Whether a group of the API (an APIResourceList) has the resource: "podgroups".
[[nodiscard]] Result<bool> ParseHasResource(std::string_view body, std::string_view name);

/// `status.allowed` of a SelfSubjectAccessReview.
[[nodiscard]] Result<bool> ParseIsAllowed(std::string_view body);

}  // namespace trainyard::engine
