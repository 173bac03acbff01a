#include "identity/credential_check.h"

#include <utility>

#include "iam/principal.h"
#include "iam/refusal.h"
#include "identity/account_changes.h"
#include "identity/token_changes.h"
#include "wire/time.h"

namespace trainyard::identity {
namespace {

constexpr std::string_view kServiceAccount = "serviceAccount:";

std::unexpected<Error> Refuse(std::string why, std::string_view reason = iam::kTokenUnsupported) {
  return std::unexpected(iam::Unauthenticated(std::move(why), reason));
}

/// The key that asked for the token, or for the one that it was exchanged for, and so on; empty: none.
std::string_view KeyBehind(const Directory& known, const v1::Token& token) {
  const v1::Token* asked = &token;
  for (;;) {  // ends: a token is younger than the one that it was exchanged for
    if (const std::string_view key = KeyOfIssuer(asked->issuer()); !key.empty()) return key;
    const KeptToken* parent = known.FindTokenById(TokenOfIssuer(asked->issuer()));
    if (parent == nullptr) return {};
    asked = &parent->record;
  }
}

Status CheckAccount(const Directory& known, const v1::Token& token) {
  if (!token.principal().starts_with(kServiceAccount)) return {};
  const Directory::Account* account = known.FindAccount(iam::EmailOf(token.principal()));
  if (account == nullptr) return {};  // a project's own account
  if (account->record.disabled())
    return Refuse("Service account " + account->record.email() + " is disabled.", iam::kAccountStateInvalid);
  const std::string_view key_id = KeyBehind(known, token);
  if (key_id.empty()) return {};
  const auto key = account->keys.find(key_id);
  if (key == account->keys.end() || key->second.record.disabled())
    return Refuse(
        "Key " + std::string(key_id) + " that asked for token " + token.id() + " is disabled or deleted.",
        iam::kAccountStateInvalid);
  return {};
}

Status CheckUse(const v1::Token& token, ShownAs as) {
  if (token.browser() == (as == ShownAs::kCookie)) return {};
  if (token.browser())
    return Refuse("Token " + token.id() + " is a browser's session: it counts as its cookie alone.");
  return Refuse("Token " + token.id() + " is no browser's session: log in with it.");
}

std::string CredentialOf(const v1::Token& token) {
  const std::string_view key_id = KeyOfIssuer(token.issuer());
  if (key_id.empty()) return "token " + token.id();
  return "token " + token.id() + " by key " + std::string(key_id) + " of " +
         std::string(iam::EmailOf(token.principal()));
}

Result<SignedJwt> Verified(const Directory::Account& account, const KeptKey& key, Jwt jwt) {
  if (key.record.disabled())
    return Refuse("Key " + key.id + " of " + key.email + " is disabled.", iam::kAccountStateInvalid);
  if (account.record.disabled())
    return Refuse("Service account " + key.email + " is disabled.", iam::kAccountStateInvalid);
  return SignedJwt{.jwt = std::move(jwt), .email = key.email, .key_id = key.id};
}

}  // namespace

Result<Login> CheckOpaqueToken(const Directory& known, std::string_view text, const TokenHash& hash,
                               ShownAs as, SysTime now) {
  if (!IsTokenText(text)) return Refuse("The token is mistyped or cut: its checksum does not fit.");
  const KeptToken* token = known.FindToken(hash);
  if (token == nullptr)
    return Refuse("The token is not known here: it was revoked, or it is another server's.");
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
  TY_RETURN_IF_ERROR(CheckAccount(known, record));
  return login;
}

bool StillProves(const Directory& known, const Login& login) {
  if (!login.token_id.empty()) {
    const KeptToken* token = known.FindTokenById(login.token_id);
    return token != nullptr && CheckAccount(known, token->record).has_value();
  }
  if (login.key_id.empty()) return true;
  const Directory::Account* account = known.FindAccount(iam::EmailOf(login.principal));
  if (account == nullptr || account->record.disabled()) return false;
  const auto key = account->keys.find(login.key_id);
  return key != account->keys.end() && !key->second.record.disabled();
}

Result<SignedJwt> VerifyJwt(const Directory& known, std::string_view text) {
  Result<Jwt> jwt = ParseJwt(text);
  if (!jwt) return Refuse("The JWT is refused: " + jwt.error().message + ".");
  const Directory::Account* account = known.FindAccount(jwt->issuer);
  if (account != nullptr && account->record.email() == jwt->issuer) {
    for (const auto& [id, key] : account->keys) {
      if (!jwt->key_id.empty() && jwt->key_id != id) continue;
      if (jwt->IsSignedBy(key.public_key)) return Verified(*account, key, *std::move(jwt));
    }
  }
  // One answer for an unknown account, an unknown key and a wrong signature: it tells nobody which there are.
  return Refuse("The JWT is refused: no key of its issuer (iss) verifies its signature.");
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
