#include "stores/identity/credential_check.h"

#include <utility>

#include "base/wire/time.h"
#include "rules/iam/principal.h"
#include "rules/iam/refusal.h"
#include "stores/identity/account_changes.h"
#include "stores/identity/directory.h"
#include "stores/identity/token_changes.h"

namespace trainyard::identity {
namespace {

constexpr std::string_view kImpersonation = "iam.serviceAccounts.getAccessToken";

std::unexpected<Error> Refuse(std::string why, std::string_view reason = iam::kTokenUnsupported) {
  return std::unexpected(iam::Unauthenticated(std::move(why), reason));
}

Status CheckEnabled(const Directory& known, std::string_view principal) {
  if (!principal.starts_with(iam::kServiceAccountPrefix)) return {};
  const Directory::Account* account = known.FindAccount(iam::EmailOf(principal));
  if (account == nullptr || !account->record.disabled()) return {};  // null: a project's service agent
  return Refuse("Service account " + account->record.email() + " is disabled.", iam::kAccountStateInvalid);
}

Status CheckKey(const Directory& known, std::string_view owner, std::string_view key_id,
                const v1::Token& token) {
  const Directory::Account* account = known.FindAccount(iam::EmailOf(owner));
  if (account != nullptr) {
    const auto key = account->keys.find(key_id);
    if (key != account->keys.end() && !key->second.record.disabled()) return {};
  }
  return Refuse(
      "Key " + std::string(key_id) + " that asked for token " + token.id() + " is disabled or deleted.",
      iam::kAccountStateInvalid);
}

/// For a token that its issuer made to impersonate an account: checks that the issuer still may.
Status CheckImpersonation(const Directory& known, const v1::Token& token) {
  TY_RETURN_IF_ERROR(CheckEnabled(known, token.issuer()));
  // The project of the account is looked up.
  const auto account = iam::Resource::ServiceAccount("", std::string(iam::EmailOf(token.principal())));
  if (Grants(known, token.issuer(), kImpersonation, account)) return {};
  return Refuse(
      token.issuer() + ", who made token " + token.id() + ", may not be " + token.principal() + " any more.",
      iam::kAccountStateInvalid);
}

Status CheckUse(const v1::Token& token, ShownAs as) {
  if (token.browser() == (as == ShownAs::kCookie)) return {};
  if (token.browser())
    return Refuse("Token " + token.id() + " is a browser's session: it counts as its cookie alone.");
  return Refuse("Token " + token.id() + " is not a browser's session: log in with it.");
}

std::string CredentialOf(const v1::Token& token) {
  const std::string_view key_id = KeyOfIssuer(token.issuer());
  if (key_id.empty()) return "token " + token.id();
  return "token " + token.id() + " by key " + std::string(key_id) + " of " +
         std::string(iam::EmailOf(token.principal()));
}

/// For a token that a program in a replica made, directly or indirectly: notes the attempt, and the account
/// as which it ran.
void NoteAttempt(const Directory& known, const v1::Token& token, Login& login) {
  constexpr std::string_view kAttempt = "attempt ";
  const v1::Token* next = &token;
  while (next != nullptr) {  // ends: a token is younger than what it was made from
    const std::string_view behind = CredentialBehind(*next);
    if (behind.starts_with(kAttempt)) {
      login.attempt_id = behind.substr(kAttempt.size());
      login.attempt_principal = next->issuer();
      return;
    }
    const StoredToken* parent = known.FindTokenById(TokenOfIssuer(behind));
    next = parent == nullptr ? nullptr : &parent->record;
  }
}

/// The same answer for an unknown account, an unknown key and a wrong signature, so that it does not reveal
/// which exist.
std::unexpected<Error> NobodySigned() {
  return Refuse("The JWT is refused: no key of its issuer (iss) verifies its signature.");
}

}  // namespace

Status CheckWorth(const Directory& known, const v1::Token& token) {
  for (const v1::Token* next = &token;;) {  // ends: a token is younger than what it was made from
    TY_RETURN_IF_ERROR(CheckEnabled(known, next->principal()));
    const bool is_through = !next->through().empty();
    if (is_through) TY_RETURN_IF_ERROR(CheckImpersonation(known, *next));
    const std::string_view behind = CredentialBehind(*next);
    if (const std::string_view key = KeyOfIssuer(behind); !key.empty())
      return CheckKey(known, is_through ? next->issuer() : next->principal(), key, token);
    const std::string_view parent_id = TokenOfIssuer(behind);
    if (parent_id.empty()) return {};
    const StoredToken* parent = known.FindTokenById(parent_id);
    if (parent == nullptr) {
      return Refuse("Token " + std::string(parent_id) + ", which token " + token.id() +
                    " was made from, was revoked: log in again.");
    }
    next = &parent->record;
  }
}

Result<Login> CheckOpaqueToken(const Directory& known, std::string_view text, const TokenHash& hash,
                               ShownAs as, SysTime now) {
  if (!IsTokenText(text)) return Refuse("The token is mistyped or cut: its checksum does not match.");
  const StoredToken* token = known.FindToken(hash);
  if (token == nullptr)
    return Refuse("The token is unknown: it was revoked, or it belongs to another server.");
  const v1::Token& record = token->record;
  TY_RETURN_IF_ERROR(CheckUse(record, as));
  Login login{.principal = record.principal(),
              .credential = CredentialOf(record),
              .expires = std::nullopt,
              .token_id = record.id()};
  if (record.has_expire_time()) {
    login.expires = wire::FromProto(record.expire_time());
    if (*login.expires <= now)
      return Refuse("Token " + record.id() + " expired at " + wire::PrintTime(*login.expires) + ".",
                    iam::kTokenExpired);
  }
  TY_RETURN_IF_ERROR(CheckWorth(known, record));
  NoteAttempt(known, record, login);
  return login;
}

bool StillProves(const Directory& known, const Login& login) {
  if (!login.token_id.empty()) {
    const StoredToken* token = known.FindTokenById(login.token_id);
    return token != nullptr && CheckWorth(known, token->record).has_value();
  }
  if (login.key_id.empty()) return true;
  const Directory::Account* account = known.FindAccount(iam::EmailOf(login.principal));
  if (account == nullptr || account->record.disabled()) return false;
  const auto key = account->keys.find(login.key_id);
  return key != account->keys.end() && !key->second.record.disabled();
}

Result<ShownJwt> ReadJwt(const Directory& known, std::string_view text) {
  Result<Jwt> jwt = ParseJwt(text);
  if (!jwt) return Refuse("The JWT is refused: " + jwt.error().message + ".");
  const Directory::Account* account = known.FindAccount(jwt->issuer);
  if (account == nullptr || account->record.email() != jwt->issuer) return NobodySigned();
  ShownJwt shown{.jwt = *std::move(jwt), .email = account->record.email(), .keys = {}};
  for (const auto& [id, key] : account->keys) {
    if (shown.jwt.key_id.empty() || shown.jwt.key_id == id) shown.keys.emplace(id, key.public_key);
  }
  if (shown.keys.empty()) return NobodySigned();
  return shown;
}

std::string SignerOf(const ShownJwt& shown) {
  for (const auto& [id, key] : shown.keys) {
    if (shown.jwt.IsSignedBy(key)) return id;
  }
  return {};
}

Result<SignedJwt> SignedBy(const Directory& known, ShownJwt shown, const std::string& key_id) {
  const Directory::Account* account = known.FindAccount(shown.email);
  if (account == nullptr || !account->keys.contains(key_id)) return NobodySigned();
  if (account->keys.at(key_id).record.disabled())
    return Refuse("Key " + key_id + " of " + shown.email + " is disabled.", iam::kAccountStateInvalid);
  if (account->record.disabled())
    return Refuse("Service account " + shown.email + " is disabled.", iam::kAccountStateInvalid);
  return SignedJwt{.jwt = std::move(shown.jwt), .email = std::move(shown.email), .key_id = key_id};
}

const Login* VerifiedJwts::Find(const TokenHash& hash, SysTime now) {
  const auto place = places_.find(hash);
  if (place == places_.end()) return nullptr;
  if (place->second->login.expires <= now) {
    entries_.erase(place->second);
    places_.erase(place);
    return nullptr;
  }
  entries_.splice(entries_.begin(), entries_, place->second);
  return &entries_.front().login;
}

void VerifiedJwts::Remember(const TokenHash& hash, Login login) {
  if (places_.contains(hash)) return;
  if (entries_.size() == kEntriesMax) {
    places_.erase(entries_.back().hash);
    entries_.pop_back();
  }
  entries_.push_front({.hash = hash, .login = std::move(login)});
  places_[hash] = entries_.begin();
}

void VerifiedJwts::Forget() {
  entries_.clear();
  places_.clear();
}

bool UsedAssertions::Use(const TokenHash& id, SysTime until, SysTime now) {
  const auto used = until_.find(id);
  if (used != until_.end() && used->second > now) return false;
  if (until_.size() >= kEntriesMax)
    std::erase_if(until_, [&](const auto& entry) { return entry.second <= now; });
  if (until_.size() >= kEntriesMax) return false;
  until_[id] = until;
  return true;
}

}  // namespace trainyard::identity
