#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

/// How the API server is reached, from a kubeconfig file. Pure: any thread. Source: spec kubernetes.md
/// section 6, "Client"; Kubernetes' documentation, "Organizing Cluster Access Using kubeconfig Files".
namespace trainyard::kubernetes {

/// A PEM text, or the file that has it; both empty: none. A file is read again for each connection.
struct Pem {
  std::string text{};
  std::string file{};  ///< absolute
  [[nodiscard]] bool is_set() const noexcept { return !text.empty() || !file.empty(); }
  friend bool operator==(const Pem&, const Pem&) = default;
};

/// A program that prints credentials: an ExecCredential.
struct ExecPlugin {
  std::string command;
  std::vector<std::string> arguments{};
  std::map<std::string, std::string> variables{};  ///< besides this process's
  std::string api_version{};                       ///< "client.authentication.k8s.io/v1"
  std::string install_hint{};
  bool wants_cluster = false;  ///< provideClusterInfo
  friend bool operator==(const ExecPlugin&, const ExecPlugin&) = default;
};

struct Access {
  std::string server;             ///< "https://10.0.0.1:6443"
  Pem authority{};                ///< not set: the system's
  std::string tls_server_name{};  ///< empty: the host of `server`
  std::string proxy{};            ///< proxy-url; empty: none
  std::string name_space{};       ///< of the context; empty: none
  std::string context{};          ///< its name, for messages
  // How this server logs in: the first of the next three that is set, and the certificate if it is set.
  std::string token{};
  std::string token_file{};  ///< absolute; read again each minute, since tokens rotate
  std::optional<ExecPlugin> plugin{};
  Pem certificate{};  ///< of the client
  Pem key{};
};

/// Reads a kubeconfig in block or flow style. `folder`: its own, to which relative paths in it refer.
/// `context`: empty for its current one. kInvalidArgument: a mistake in the file, with its line if there is
/// one; kFailedPrecondition: there is no such context, or it uses what is not supported (auth-provider,
/// username and password, insecure-skip-tls-verify), and what to do.
[[nodiscard]] Result<Access> ParseKubeconfig(std::string_view text, const std::string& folder,
                                             const std::string& context);

/// The credentials that an exec plugin has printed.
struct ExecCredential {
  std::string token{};
  std::string certificate{};  ///< PEM
  std::string key{};          ///< PEM
  std::string expiration{};   ///< RFC 3339; empty: until the server refuses it
};
/// kFailedPrecondition: it is no ExecCredential with a token or a certificate.
[[nodiscard]] Result<ExecCredential> ParseExecCredential(std::string_view json);

}  // namespace trainyard::kubernetes
