#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

/// Checks whether this machine allows an account that is not root the namespaces that isolate its replicas:
/// tries them, and names the setting that forbids them. Call the checks before there are other threads; each
/// takes a few ms. kFailedPrecondition with a sentence for the operator.
namespace trainyard::replica {

/// The machine's settings about user namespaces; empty: it has no such setting.
struct NamespaceSettings {
  std::optional<std::int64_t>
      apparmor_restricts;                     ///< kernel.apparmor_restrict_unprivileged_userns (Ubuntu 23.10)
  std::optional<std::int64_t> clone_allowed;  ///< kernel.unprivileged_userns_clone (Debian)
  std::optional<std::int64_t> count_max;      ///< user.max_user_namespaces
  std::optional<std::int64_t> networks_max;   ///< user.max_net_namespaces
};

[[nodiscard]] NamespaceSettings ReadNamespaceSettings();

/// Whether a setting (user.max_*_namespaces) allows no namespaces at all of a kind that replicas need.
[[nodiscard]] bool AllowsNoNamespaces();

/// What to do if user or network namespaces are forbidden; one clause, such as "as root: sysctl ...". Pure.
[[nodiscard]] std::string NamespaceAdvice(const NamespaceSettings& settings);

/// Why connections cannot be redirected, from ConnectDoors' errno. Pure.
[[nodiscard]] Error DoorsRefused(int error);

/// Checks user and mount namespaces with a separate view of the files.
[[nodiscard]] Status CheckUserNamespaces();
/// Checks a view with a separate root (file_view.cc), with the namespaces that this account can use.
[[nodiscard]] Status CheckOwnRoot();
/// Checks that connections can be redirected (connect_doors.h).
[[nodiscard]] Status CheckConnectDoors();

}  // namespace trainyard::replica
