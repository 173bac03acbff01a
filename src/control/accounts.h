#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "rules/cluster/project_number.h"
#include "rules/iam/resource.h"
#include "stores/identity/identities.h"
#include "trainyard/control/v1/record.pb.h"

namespace trainyard::control {

/// What jobs need to know of service accounts: a deleted account's e-mail can later belong to a new one,
/// which has another unique id. Loop thread.
struct Accounts {
  /// The account's unique id, or a value for "there is no account of that e-mail now". Null: ids are not
  /// stored.
  std::function<std::string(std::string_view email)> id_of{};
  /// Whether the account that had this id still exists. Empty id: a record from before ids were stored. Null:
  /// always.
  std::function<bool(std::string_view email, std::string_view id)> is{};

  /// Whether there is an account of that e-mail now. Null: always.
  std::function<bool(std::string_view email)> exists{};
  /// Whether policies give the account the permission on the resource. Null: always.
  std::function<bool(std::string_view email, std::string_view permission, const iam::Resource& resource)>
      may{};

  /// The id to store for a principal or a policy's member; empty: not a service account.
  [[nodiscard]] std::string IdOf(std::string_view member) const;
  /// The member, or Google's notation for a deleted account: "deleted:serviceAccount:E?uid=ID". That one has
  /// no rights.
  [[nodiscard]] std::string Shown(const std::string& member, std::string_view id) const;
  /// As Shown, for the e-mail that a job runs as.
  [[nodiscard]] std::string ShownEmail(const std::string& email, std::string_view id) const;
};

[[nodiscard]] Accounts AccountsOf(const identity::Identities& identities);

[[nodiscard]] cluster::NumberOf NumbersOf(identity::Identities& identities);

/// The account whose rights a job's programs have, as an e-mail; if it was deleted, a text that names no
/// account, even if a new account has its e-mail.
[[nodiscard]] std::function<std::string(const control::v1::JobRecord& job)> RightsAccount(
    identity::Identities& identities);

}  // namespace trainyard::control
