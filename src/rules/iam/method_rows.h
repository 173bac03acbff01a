#pragma once

#include <span>
#include <string_view>

#include "rules/iam/method_table.h"

/// What method_table.h makes its table of: one file per family of routes. Pure.
namespace trainyard::iam {

[[nodiscard]] std::span<const MethodRule> MlRows();        ///< ml v1 and what stands beside it
[[nodiscard]] std::span<const MethodRule> StorageRows();   ///< storage v1 and its XML form
[[nodiscard]] std::span<const MethodRule> IdentityRows();  ///< who is who: iam, resourcemanager, tokens
[[nodiscard]] std::span<const MethodRule> OwnRows();       ///< Trainyard's own, and what is no API

/// Answered to whoever may connect. The line above a row says why.
constexpr MethodRule Public(std::string_view route) { return {.route = route, .access = Access::kPublic}; }

constexpr MethodRule LoggedIn(std::string_view route, std::string_view method_name = {}) {
  return {.route = route, .access = Access::kAuthenticated, .method_name = method_name};
}

constexpr MethodRule InHandler(std::string_view route, std::string_view permission,
                               std::string_view method_name, AuditKind audit) {
  return {.route = route,
          .access = Access::kInHandler,
          .permission = permission,
          .method_name = method_name,
          .audit = audit};
}

constexpr MethodRule Ask(Scope scope, std::string_view route, std::string_view permission,
                         std::string_view method_name, AuditKind audit) {
  return {.route = route,
          .access = Access::kPermission,
          .permission = permission,
          .scope = scope,
          .method_name = method_name,
          .audit = audit};
}

}  // namespace trainyard::iam
