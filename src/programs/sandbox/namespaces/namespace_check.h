#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

/// Whether this machine lets an account that is not root have what isolates its replicas: tries it, and names
/// what forbids it. Before there are other threads, a few ms each; kFailedPrecondition with a sentence for
/// the operator.
namespace trainyard::replica {

/// What the machine says about user namespaces; nothing: it has no such setting.
struct NamespaceSettings {
  std::optional<std::int64_t>
      apparmor_restricts;                     ///< kernel.apparmor_restrict_unprivileged_userns (Ubuntu 23.10)
  std::optional<std::int64_t> clone_allowed;  ///< kernel.unprivileged_userns_clone (Debian)
  std::optional<std::int64_t> count_max;      ///< user.max_user_namespaces
  std::optional<std::int64_t> networks_max;   ///< user.max_net_namespaces
};

[[nodiscard]] NamespaceSettings ReadNamespaceSettings();

/// Whether a setting (user.max_*_namespaces) allows no namespace at all of a kind that replicas have.
[[nodiscard]] bool AllowsNoNamespaces();

/// What to do where namespaces of users or networks are refused; one clause, as "as root: sysctl ...". Pure.
[[nodiscard]] std::string NamespaceAdvice(const NamespaceSettings& settings);

/// Why connections cannot be led elsewhere, by ConnectDoors' errno. Pure.
[[nodiscard]] Error DoorsRefused(int error);

/// User and mount namespaces with a view of the files of their own.
[[nodiscard]] Status CheckUserNamespaces();
/// A view with a root of its own (file_view.cc), with the namespaces that we have.
[[nodiscard]] Status CheckOwnRoot();
/// That connections can be led elsewhere (connect_doors.h).
[[nodiscard]] Status CheckConnectDoors();

}  // namespace trainyard::replica
