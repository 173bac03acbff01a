#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace trainyard::control {

/// Service accounts as jobs know them: an e-mail can be a deleted account's and later another one's, which
/// their unique ids tell apart. Loop thread.
struct Accounts {
  /// Its unique id, or what means that there is none of that e-mail now. Null: ids are not kept.
  std::function<std::string(std::string_view email)> id_of{};
  /// Whether the account that had this id is still there. Empty: a record from before ids were kept. Null:
  /// always.
  std::function<bool(std::string_view email, std::string_view id)> is{};

  /// The id that is kept of a principal or a policy's member; empty: it is no service account.
  [[nodiscard]] std::string IdOf(std::string_view member) const;
  /// The member, or what Google writes of an account that is gone: "deleted:serviceAccount:E?uid=ID". It is
  /// nobody.
  [[nodiscard]] std::string Shown(const std::string& member, std::string_view id) const;
  /// As Shown, of an e-mail that a job runs as.
  [[nodiscard]] std::string ShownEmail(const std::string& email, std::string_view id) const;
};

}  // namespace trainyard::control
