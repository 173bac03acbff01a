#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/command_session.h"

namespace trainyard::cli {

/// The addresses of a server, for clients that are not made for it.
struct ClientEnvironment {
  std::string url;      ///< http://127.0.0.1:8470, or https://yard.example:8443 of another machine
  std::string tls_url;  ///< https://127.0.0.1:8471; empty: there is none
  std::string ca_file;  ///< the certificate to trust there; empty: it is not known, or not needed
  std::string project;
  std::string data_dir;     ///< empty: it is not known
  std::string boto_file;    ///< gsutil's settings; empty: there are none
  std::string credentials;  ///< replace the user's own; empty: they have none
  /// The token that gcloud sends; empty: the server asks nobody who they are. With it, STORAGE_EMULATOR_HOST
  /// is left alone, whose users send no token.
  std::string token_file{};
  /// A metadata server for gcloud that names Google's universe; empty: the server's own, at `url`.
  std::string gcloud_metadata{};
};

/// CLOUDSDK_API_ENDPOINT_OVERRIDES_NAME: gcloud's APIs that the server has, and where it has them.
inline constexpr std::string_view kGcloudOverride = "CLOUDSDK_API_ENDPOINT_OVERRIDES_";
inline constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kGcloudApis{
    {{"ML", "/"},
     {"AIPLATFORM", "/aiplatform/"},
     {"STORAGE", "/storage/v1/"},
     {"LOGGING", "/"},
     {"IAM", "/"},
     {"IAMCREDENTIALS", "/"},
     {"CLOUDRESOURCEMANAGER", "/"},
     {"SERVICEUSAGE", "/"},
     {"COMPUTE", "/compute/v1/"}}};

/// Variables to set, in order; one without a value is to be removed.
using VariableList = std::vector<std::pair<std::string, std::optional<std::string>>>;

/// "localhost:8471": the universe domain of a server on this machine that has TLS; empty: it has none.
[[nodiscard]] std::string OwnUniverse(const std::string& url, const std::string& tls_url);

/// Every variable that points gcloud, gsutil, Google's Python and Node clients and STORAGE_EMULATOR_HOST
/// users at the server. Pure. Source: docs/spec "Pointing the clients": gcloud by its endpoint overrides;
/// gsutil by a boto file; Python's discovery.build('ml', 'v1') by a universe domain of our own, whose hosts
/// ml.localhost and storage.localhost answer on the TLS port; credentials from the metadata server on the
/// plain port, or those that replace the user's own, which name another universe.
[[nodiscard]] VariableList ClientVariables(const ClientEnvironment& environment);

/// NO_PROXY and no_proxy with the hosts added, where a variable names a proxy; else nothing. Pure.
[[nodiscard]] VariableList WithoutProxies(const SettingSources& sources,
                                          const std::vector<std::string>& hosts);

/// Lines for sh that make the changes. The former value of a variable is in TRAINYARD_REPLACED_NAME after
/// them, and the names in TRAINYARD_ENV, however often they run. Pure.
[[nodiscard]] std::string PrintSettings(const VariableList& variables, const SettingSources& sources);

/// The sources as they were before those lines: a setting of theirs is what it had replaced. Pure.
[[nodiscard]] SettingSources BeforeSettings(const SettingSources& sources);

/// Lines for sh that take back what those lines did, by the variables that they left. Pure.
[[nodiscard]] std::string PrintUnset(const SettingSources& sources);

/// `env`: prints variables that lead clients to a server. Needs no CommandSession: it asks the server itself.
[[nodiscard]] ExitStatus PrintClientEnvironment(const LocalSession& session);

}  // namespace trainyard::cli
