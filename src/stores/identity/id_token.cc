#include "stores/identity/id_token.h"

#include "base/text/hex.h"
#include "base/text/json_string.h"
#include "stores/identity/jwt.h"
#include "stores/identity/token_text.h"

namespace trainyard::identity {
namespace {

constexpr std::chrono::seconds kIdTokenLife{3'600};
constexpr std::size_t kKeyIdBytes = 20;

void AddText(std::string& json, const char* name, std::string_view value) {
  json.append(",\"").append(name).append("\":").append(text::QuoteJson(value));
}

}  // namespace

Result<std::string> IdTokenClaims(const v1::ServiceAccount& account, const Identities::IdToken& wanted,
                                  SysTime now) {
  if (wanted.audience.empty() || wanted.audience.size() > Identities::kAudienceMax) {
    return std::unexpected(InvalidArgument(
        "audience", "The audience must have 1 to " + std::to_string(Identities::kAudienceMax) + " bytes"));
  }
  if (account.disabled())
    return std::unexpected(FailedPrecondition("Service account " + account.email() + " is disabled"));
  const std::int64_t second = std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count();
  std::string json =
      "{\"iat\":" + std::to_string(second) + ",\"exp\":" + std::to_string(second + kIdTokenLife.count());
  AddText(json, "iss", wanted.issuer);
  AddText(json, "aud", wanted.audience);
  AddText(json, "sub", account.unique_id());
  AddText(json, "azp", account.unique_id());
  if (wanted.include_email) {
    AddText(json, "email", account.email());
    json.append(",\"email_verified\":true");
  }
  return json + "}";
}

Result<RsaPrivateKey> FirstSigningKey(AccessStore& store, const RsaPrivateKey& made) {
  TY_TRY(const std::optional<std::string> stored, store.SigningKey());
  if (stored) return RsaPrivateKey::FromPem(*stored);
  TY_RETURN_IF_ERROR(store.PutSigningKey(made.Pem()));
  return made;
}

Result<std::string> SignIdToken(const RsaPrivateKey& key, const std::string& claims) {
  const TokenHash hash = HashOf(key.Public().der());
  return SignJwt(key, text::Hex(hash.data(), kKeyIdBytes), claims);
}

}  // namespace trainyard::identity
