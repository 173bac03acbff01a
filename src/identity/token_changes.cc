#include "identity/token_changes.h"

#include "iam/principal.h"
#include "identity/account_changes.h"
#include "identity/grants.h"
#include "wire/time.h"

namespace trainyard::identity {
namespace {

constexpr std::string_view kServiceAccount = "serviceAccount:";

bool HasExpired(const v1::Token& token, SysTime now) {
  return token.has_expire_time() && wire::FromProto(token.expire_time()) <= now;
}

Status CheckOwner(const Directory& known, std::string_view principal) {
  if (!principal.starts_with(kServiceAccount)) return {};
  const std::string_view email = iam::EmailOf(principal);
  const Directory::Account* account = known.FindAccount(email);
  if (account == nullptr && !ProjectOfAgent(known, email)) return std::unexpected(NoSuchAccount(email));
  if (account != nullptr && account->record.disabled())
    return std::unexpected(FailedPrecondition("Service account " + std::string(email) + " is disabled"));
  return {};
}

Status CheckForm(const Identities::NewToken& wanted) {
  if (wanted.life && (*wanted.life <= std::chrono::seconds(0) || *wanted.life > kTokenLifeMax))
    return std::unexpected(InvalidArgument("lifetime", "The life must be from 1 s to ten years"));
  if (wanted.description.size() > kTokenDescriptionMax) {
    return std::unexpected(InvalidArgument(
        "description",
        "The description must have at most " + std::to_string(kTokenDescriptionMax) + " bytes"));
  }
  return {};
}

/// Drops the principal's expired ones if it has too many.
Status MakeRoom(const Directory& known, const std::string& principal, SysTime now, AccessChange& change) {
  const std::vector<const KeptToken*> tokens = known.TokensOf(principal);
  if (tokens.size() < Identities::kTokensMax) return {};
  for (const KeptToken* token : tokens) {
    if (HasExpired(token->record, now)) change.tokens_dropped.push_back(token->record.id());
  }
  if (tokens.size() - change.tokens_dropped.size() < Identities::kTokensMax) return {};
  return std::unexpected(Error{Code::kResourceExhausted,
                               principal + " has " + std::to_string(Identities::kTokensMax) +
                                   " valid tokens, the most that one can have: revoke some, or wait until "
                                   "they expire",
                               {}});
}

}  // namespace

Result<AccessChange> TokenMade(const Directory& known, const Identities::NewToken& wanted,
                               const std::string& id, const TokenHash& hash, SysTime now) {
  TY_TRY(const std::string principal, iam::ParsePrincipal(wanted.principal));
  TY_RETURN_IF_ERROR(CheckForm(wanted));
  TY_RETURN_IF_ERROR(CheckOwner(known, principal));
  AccessChange change;
  TY_RETURN_IF_ERROR(MakeRoom(known, principal, now, change));
  KeptToken& token = change.tokens.emplace_back();
  token.hash = hash;
  token.record.set_id(id);
  token.record.set_principal(principal);
  token.record.set_description(wanted.description);
  token.record.set_issuer(wanted.issuer);
  token.record.set_browser(wanted.browser);
  const SysTime second = std::chrono::floor<std::chrono::seconds>(now);
  *token.record.mutable_create_time() = wire::ToProto(second);
  // Up to the second, so that a life is never shorter than promised.
  if (wanted.life)
    *token.record.mutable_expire_time() =
        wire::ToProto(SysTime(std::chrono::ceil<std::chrono::seconds>(now + *wanted.life)));
  return change;
}

Result<AccessChange> TokenRevoked(const Directory& known, const std::string& id) {
  const KeptToken* token = known.FindTokenById(id);
  if (token == nullptr) return std::unexpected(NotFound("Token " + id + " does not exist."));
  AccessChange change;
  change.tokens_dropped.push_back(id);
  DropExchanged(known, token->record.principal(), change.tokens_dropped);
  return change;
}

std::string_view TokenOfIssuer(std::string_view issuer) {
  constexpr std::string_view kToken = "token ";
  return issuer.starts_with(kToken) ? issuer.substr(kToken.size()) : std::string_view();
}

void DropExchanged(const Directory& known, std::string_view principal, std::vector<std::string>& dropped) {
  const std::vector<const KeptToken*> tokens = known.TokensOf(principal);
  for (std::size_t next = 0; next < dropped.size(); ++next) {  // grows: what was exchanged can be exchanged
    const std::string parent = dropped[next];
    for (const KeptToken* token : tokens) {
      if (TokenOfIssuer(token->record.issuer()) == parent) dropped.push_back(token->record.id());
    }
  }
}

AccessChange ExpiredTokensDropped(const Directory& known, SysTime now) {
  AccessChange change;
  for (const KeptToken* token : known.AllTokens()) {
    if (HasExpired(token->record, now - kExpiredKept)) change.tokens_dropped.push_back(token->record.id());
  }
  return change;
}

}  // namespace trainyard::identity
