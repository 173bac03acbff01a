#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/async/guarded.h"
#include "base/clock.h"
#include "base/result.h"
#include "engine/kubernetes/exec_plugin.h"
#include "rules/kubernetes/kubeconfig.h"

namespace trainyard::engine {

/// The files and variables that may say how a cluster is reached.
struct KubePlaces {
  std::string kubeconfig{};  ///< path of the operator's setting; empty: none
  std::string context{};     ///< empty: the kubeconfig's current one
  /// The variables KUBECONFIG, HOME, KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT of this process.
  std::map<std::string, std::string> variables{};
  /// The account of a pod: the files `token`, `ca.crt` and `namespace`.
  std::string account_folder = "/var/run/secrets/kubernetes.io/serviceaccount";
};

/// How the API server is reached. Looked for in this order: the setting, the first file of $KUBECONFIG that
/// exists (unlike kubectl, several files are not merged), ~/.kube/config, the account of the pod in which
/// this program runs. kNotFound: none of them, or the file that is named does not exist; other errors: those
/// of ParseKubeconfig, with the file's name. Blocks; any thread.
[[nodiscard]] Result<kubernetes::Access> FindAccess(const KubePlaces& places);

/// The text of a PEM; empty if it is not set. Errors: the file system's. Blocks; any thread.
[[nodiscard]] Result<std::string> ReadPem(const kubernetes::Pem& pem);

/// The credentials that a request to the API server carries.
struct KubeLogin {
  std::string token{};        ///< for "Authorization: Bearer"; empty: none
  std::string certificate{};  ///< of the client, PEM; empty: none
  std::string key{};          ///< its key, PEM
  friend bool operator==(const KubeLogin&, const KubeLogin&) = default;
};

/// The current credentials. Files are read again each minute, since tokens rotate; what an exec plugin
/// printed is used until shortly before it expires, or until the server refuses it. Any thread; `clock`
/// outlives it.
class KubeCredentials {
 public:
  static constexpr std::chrono::minutes kFileKept{1};
  static constexpr std::chrono::seconds kEarly{10};  ///< before a plugin's credentials expire

  /// Looks for the access again after the server has refused it: a token in a kubeconfig may have been
  /// renewed. May be empty.
  using LookAgain = std::function<Result<kubernetes::Access>()>;

  KubeCredentials(kubernetes::Access access, PluginSurroundings surroundings, const Clock& clock,
                  LookAgain look_again = {})
      : surroundings_(std::move(surroundings)),
        clock_(clock),
        look_again_(std::move(look_again)),
        state_(State{.access = std::move(access)}) {}

  /// Blocks while files are read and while a plugin runs; threads that ask meanwhile get the same answer.
  /// Errors: those of the files and of RunExecPlugin.
  [[nodiscard]] Result<KubeLogin> Get();
  /// The server has refused these credentials: they are not used again.
  void Refuse(const KubeLogin& refused);

 private:
  struct Kept {
    KubeLogin login;
    SysTime until;
  };
  struct State {
    kubernetes::Access access{};
    bool is_refused = false;  ///< the access has to be looked for again
    std::optional<Kept> kept{};
    std::shared_future<Result<KubeLogin>> asked{};  ///< valid while a thread fetches them
  };
  [[nodiscard]] Result<Kept> Fetch(const kubernetes::Access& access, SysTime now) const;

  const PluginSurroundings surroundings_;
  const Clock& clock_;
  const LookAgain look_again_;
  Guarded<State> state_;
};

}  // namespace trainyard::engine
