#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/async/guarded.h"
#include "base/clock.h"
#include "base/result.h"
#include "engine/kubernetes/kube_answers.h"
#include "engine/kubernetes/kube_client.h"
#include "engine/kubernetes/kube_credentials.h"
#include "net/http/client.h"
#include "net/http/client_stream.h"

namespace trainyard::engine {

struct KubeHttpOptions {
  KubePlaces places;
  std::string name_space{};                    ///< of all objects; empty: the context's, else "default"
  std::chrono::milliseconds wait_max{20'000};  ///< for each wait of a request
  PluginSurroundings plugin{};                 ///< of the kubeconfig's exec plugin
};

/// Talks to the API server by HTTP/1.1. Keeps some connections, so that many requests do not need a handshake
/// each. A request that the server refuses with 401 is sent a second time with new credentials. A POST whose
/// connection was lost is not repeated here: kNoAnswer. Any thread.
class KubeHttp final : public KubeClient {
 public:
  /// The maximum of connections that are kept without a request, and for how long.
  static constexpr std::size_t kIdleMax = 8;
  static constexpr std::chrono::seconds kIdleFor{60};

  /// Finds the access; sends nothing. Errors: those of FindAccess; kFailedPrecondition: a proxy-url that is
  /// not http://HOST:PORT. `clock` outlives it.
  [[nodiscard]] static Result<std::unique_ptr<KubeHttp>> Make(KubeHttpOptions options, const Clock& clock);

  [[nodiscard]] KubeAnswer<std::string> CreateSecret(const std::string& json) const override;
  [[nodiscard]] KubeAnswer<std::string> FindSecret(const std::string& name) const override;
  [[nodiscard]] KubeAnswer<void> DeleteSecret(const std::string& name) const override;
  [[nodiscard]] KubeAnswer<void> CreatePod(const std::string& json) const override;
  [[nodiscard]] KubeAnswer<PodGroups> FindPodGroups() const override;
  [[nodiscard]] KubeAnswer<void> CreatePodGroup(const std::string& json) const override;
  [[nodiscard]] KubeAnswer<void> DeleteWorkload(const std::string& name) const override;
  [[nodiscard]] KubeAnswer<std::string> QueueWords(const std::string& name) const override;
  [[nodiscard]] KubeAnswer<PodList> ListPods(const std::string& selector) const override;
  /// Returns also when the connection is lost or silent for some minutes: a watch from the version that it
  /// returns misses nothing.
  [[nodiscard]] KubeAnswer<std::string> WatchPods(const std::string& selector, std::string version,
                                                  const OnEvent& on_event,
                                                  const std::function<bool()>& is_over) const override;
  [[nodiscard]] KubeAnswer<std::vector<kubernetes::KubeNode>> Nodes() const override;
  [[nodiscard]] KubeAnswer<std::vector<std::string>> WarningsOf(const std::string& pod) const override;
  [[nodiscard]] KubeAnswer<std::vector<std::string>> MissingRights() const override;
  [[nodiscard]] const std::string& name_space() const noexcept override { return name_space_; }
  /// The address of the API server without its path: "https://10.0.0.1:6443".
  [[nodiscard]] const std::string& server() const noexcept { return server_; }

 private:
  /// A connection that is kept for the next request, with what it showed in its handshake.
  struct Idle {
    http::Client client;
    http::ClientTls tls;
    std::chrono::steady_clock::time_point since;
  };
  struct Question {
    http::Method method = http::Method::kGet;
    std::string target;
    std::string body{};
    std::string accept = "application/json";
  };

  /// The address in a kubeconfig: "https://host:6443/k8s/clusters/c-1".
  struct Address {
    std::string server;
    std::string path{};
  };
  [[nodiscard]] static Address Split(std::string_view url);
  KubeHttp(kubernetes::Access access, http::Endpoint endpoint, KubeHttpOptions options, const Clock& clock);
  /// Creates an object, or deletes it; one that does not exist needs no deletion.
  [[nodiscard]] KubeAnswer<void> Post(std::string target, const std::string& json) const;
  [[nodiscard]] KubeAnswer<void> Delete(std::string target) const;
  /// A right in the namespace.
  struct Right {
    std::string_view verb;
    std::string_view resource;
    std::string_view group{};  ///< of the API; empty: the core's
  };
  [[nodiscard]] KubeAnswer<bool> IsAllowed(const Right& right) const;
  /// "/api/v1/namespaces/NAMESPACE/" and the rest.
  [[nodiscard]] std::string TargetOf(std::string_view rest) const;
  /// The path of a Workload of Kueue.
  [[nodiscard]] std::string WorkloadTarget(std::string_view name) const;
  [[nodiscard]] http::ClientRequest RequestOf(const Question& question, const KubeLogin& login) const;
  [[nodiscard]] http::Endpoint EndpointFor(const KubeLogin& login) const;
  [[nodiscard]] Result<http::ClientResponse> SendOnce(const Question& question, const KubeLogin& login) const;
  /// The body of a successful answer.
  [[nodiscard]] KubeAnswer<std::string> Ask(const Question& question) const;
  using OnPage = std::function<Status(std::string_view body, const KubePage& page)>;
  /// Reads a list page by page; returns its version.
  [[nodiscard]] KubeAnswer<std::string> ForEachPage(const Question& question, const OnPage& each) const;
  [[nodiscard]] KubeAnswer<http::ClientStream> OpenStream(const Question& question) const;

  const std::string server_;
  const std::string prefix_;       ///< the path in the server's address
  const http::Endpoint endpoint_;  ///< without the client's certificate
  const std::string name_space_;
  const std::chrono::milliseconds wait_max_;
  mutable KubeCredentials credentials_;
  mutable Guarded<std::vector<Idle>> idle_;  ///< the one used last is at the end
};

}  // namespace trainyard::engine
