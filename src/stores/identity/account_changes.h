#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "stores/identity/directory.h"

/// What methods on service accounts and their keys change. Pure: any thread; random values and time are
/// arguments. Source: iam v1, projects.serviceAccounts; spec access.md section 8.
namespace trainyard::identity {

inline constexpr int kServiceAccountsMax = 100;      ///< per project. Source: iam quotas
inline constexpr std::size_t kDescriptionMax = 256;  ///< bytes. Source: as above, description
inline constexpr std::size_t kDisplayNameMax = 100;  ///< bytes. Source: iam v1, ServiceAccount.displayName

struct NewAccount {
  std::string project;
  std::string account_id;
  std::string display_name;
  std::string description;
  std::string unique_id;  ///< not used by another account
};
/// kInvalidArgument: the id (iam::ServiceAccountEmail) or the display name; kAlreadyExists;
/// kResourceExhausted.
[[nodiscard]] Result<AccessChange> AccountCreated(const Directory& known, const NewAccount& wanted);

/// Changes to an account; absent members stay as they are.
struct AccountEdit {
  std::optional<bool> disabled;
  std::optional<std::string> display_name;
  std::optional<std::string> description;
};
/// kNotFound; kInvalidArgument; kFailedPrecondition: nobody could administer the installation any more.
[[nodiscard]] Result<AccessChange> AccountChanged(const Directory& known, std::string_view email,
                                                  const AccountEdit& edit);

/// Deletes an account with its keys, its tokens, its policy and its bindings in other policies. `etag`: for
/// each policy that changes. Errors as AccountChanged.
[[nodiscard]] Result<AccessChange> AccountDeleted(const Directory& known, std::string_view email,
                                                  std::string_view etag);

/// kNotFound; kFailedPrecondition: the account is disabled; kResourceExhausted: Identities::kKeysMax.
[[nodiscard]] Result<AccessChange> KeyCreated(const Directory& known, std::string_view email,
                                              const std::string& key_id, const RsaPublicKey& key,
                                              SysTime now);
/// kNotFound.
[[nodiscard]] Result<AccessChange> KeySetDisabled(const Directory& known, std::string_view email,
                                                  std::string_view key_id, bool disabled);
/// Also deletes the tokens that were obtained with it. kNotFound.
[[nodiscard]] Result<AccessChange> KeyDeleted(const Directory& known, std::string_view email,
                                              std::string_view key_id);

/// As Identities::AccountId.
[[nodiscard]] std::string IdOfAccount(const Directory& known, std::string_view email);
/// An id that no account has.
inline constexpr std::string_view kNoAccount = "0";

[[nodiscard]] Error NoSuchAccount(std::string_view email);
[[nodiscard]] Error NoSuchKey(std::string_view email, std::string_view key_id);

/// The value of Token::issuer for tokens obtained with a key: "key K".
[[nodiscard]] std::string KeyIssuer(std::string_view key_id);
/// The key in such an issuer; empty: another kind of issuer.
[[nodiscard]] std::string_view KeyOfIssuer(std::string_view issuer);

}  // namespace trainyard::identity
