#include "stores/identity/token_changes.h"

#include <algorithm>
#include <set>

#include "base/wire/time.h"
#include "rules/iam/principal.h"
#include "stores/identity/account_changes.h"
#include "stores/identity/credential_check.h"

namespace trainyard::identity {
namespace {

constexpr std::string_view kToken = "token ";

std::string TokenIssuer(std::string_view id) { return std::string(kToken).append(id); }

bool HasExpired(const v1::Token& token, SysTime now) {
  return token.has_expire_time() && wire::FromProto(token.expire_time()) <= now;
}

Status CheckOwner(const Directory& known, std::string_view principal) {
  if (!principal.starts_with(iam::kServiceAccountPrefix)) return {};
  const std::string_view email = iam::EmailOf(principal);
  const Directory::Account* account = known.FindAccount(email);
  if (account == nullptr && known.ProjectOfAgent(email) == nullptr)
    return std::unexpected(NoSuchAccount(email));
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

/// The credentials from which a token was made, the last one first: "token T", "token S", "key K". Empty:
/// none.
std::vector<std::string_view> LineOf(const Directory& known, const v1::Token& token) {
  std::vector<std::string_view> line;
  const v1::Token* next = &token;
  while (next != nullptr && IsExchanged(*next)) {  // ends: a token is younger than what it was made from
    line.push_back(CredentialBehind(*next));
    const StoredToken* parent = known.FindTokenById(TokenOfIssuer(line.back()));
    next = parent == nullptr ? nullptr : &parent->record;
  }
  return line;
}

/// The first of these credentials: a token that was not exchanged, or a key; empty: none.
std::string_view RootOf(const Directory& known, const v1::Token& token) {
  const std::vector<std::string_view> line = LineOf(known, token);
  return line.empty() ? std::string_view() : line.back();
}

bool IsOlder(const StoredToken* one, const StoredToken* other) {
  return std::pair(wire::FromProto(one->record.create_time()), one->record.id()) <
         std::pair(wire::FromProto(other->record.create_time()), other->record.id());
}

/// Drops the principal's expired tokens if it has too many. Exchanged ones count separately for each first
/// credential, and the oldest is dropped: so a holder of one credential of a principal can neither lock it
/// out nor end tokens made from its other credentials.
Status MakeRoom(const Directory& known, const v1::Token& wanted, SysTime now, AccessChange& change) {
  const std::vector<const StoredToken*> tokens = known.TokensOf(wanted.principal());
  if (tokens.size() < std::min(Identities::kTokensMax, Identities::kExchangedMax)) return {};
  const std::vector<std::string_view> line = LineOf(known, wanted);
  const std::string_view root = line.empty() ? std::string_view() : line.back();
  std::vector<const StoredToken*> same;  // they count together
  for (const StoredToken* token : tokens) {
    if (HasExpired(token->record, now))
      change.tokens_dropped.push_back(token->record.id());
    else if (RootOf(known, token->record) == root)
      same.push_back(token);
  }
  if (root.empty() && same.size() >= Identities::kTokensMax) {
    return std::unexpected(ResourceExhausted(wanted.principal() + " has " +
                                             std::to_string(Identities::kTokensMax) +
                                             " valid tokens, which is the limit: revoke some, or wait until "
                                             "they expire"));
  }
  if (root.empty() || same.size() < Identities::kExchangedMax) return {};
  std::erase_if(same, [&line](const StoredToken* token) {  // keep those from which the new one is made
    return std::ranges::find(line, TokenIssuer(token->record.id())) != line.end();
  });
  change.tokens_dropped.push_back((*std::ranges::min_element(same, IsOlder))->record.id());
  DropExchanged(known, change.tokens_dropped);
  return {};
}

}  // namespace

Result<AccessChange> TokenMade(const Directory& known, const Identities::NewToken& wanted,
                               const std::string& id, const TokenHash& hash, SysTime now) {
  TY_TRY(const std::string principal, iam::ParsePrincipal(wanted.principal));
  TY_RETURN_IF_ERROR(CheckForm(wanted));
  TY_RETURN_IF_ERROR(CheckOwner(known, principal));
  AccessChange change;
  StoredToken& token = change.tokens.emplace_back();
  token.hash = hash;
  token.record.set_id(id);
  token.record.set_principal(principal);
  token.record.set_description(wanted.description);
  token.record.set_issuer(wanted.issuer);
  token.record.set_through(wanted.through);
  token.record.set_browser(wanted.browser);
  const SysTime second = std::chrono::floor<std::chrono::seconds>(now);
  *token.record.mutable_create_time() = wire::ToProto(second);
  // Rounded up to the second, so that a life is never shorter than promised.
  if (wanted.life)
    *token.record.mutable_expire_time() =
        wire::ToProto(SysTime(std::chrono::ceil<std::chrono::seconds>(now + *wanted.life)));
  TY_RETURN_IF_ERROR(CheckWorth(known, token.record));
  if (LineOf(known, token.record).size() > kExchangesMax) {
    return std::unexpected(FailedPrecondition("The token was exchanged " + std::to_string(kExchangesMax) +
                                              " times already: exchange the one that it was made from"));
  }
  TY_RETURN_IF_ERROR(MakeRoom(known, token.record, now, change));
  return change;
}

Result<AccessChange> TokenRevoked(const Directory& known, const std::string& id) {
  const StoredToken* token = known.FindTokenById(id);
  if (token == nullptr) return std::unexpected(NotFound("Token " + id + " does not exist."));
  AccessChange change;
  change.tokens_dropped.push_back(id);
  DropExchanged(known, change.tokens_dropped);
  return change;
}

std::string_view TokenOfIssuer(std::string_view issuer) {
  return issuer.starts_with(kToken) ? issuer.substr(kToken.size()) : std::string_view();
}

bool IsExchanged(const v1::Token& token) {
  return !token.through().empty() || !TokenOfIssuer(token.issuer()).empty() ||
         !KeyOfIssuer(token.issuer()).empty();
}

void DropExchanged(const Directory& known, std::vector<std::string>& dropped) {
  for (std::size_t next = 0; next < dropped.size(); ++next) {  // grows: exchanged tokens can be exchanged
    const std::set<std::string>& made = known.TokensMadeFrom(TokenIssuer(dropped[next]));
    dropped.insert(dropped.end(), made.begin(), made.end());
  }
}

AccessChange ExpiredTokensDropped(const Directory& known, SysTime now) {
  AccessChange change;
  for (const StoredToken* token : known.AllTokens()) {
    if (HasExpired(token->record, now - kExpiredKept)) change.tokens_dropped.push_back(token->record.id());
  }
  return change;
}

}  // namespace trainyard::identity
