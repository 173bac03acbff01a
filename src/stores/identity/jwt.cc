#include "stores/identity/jwt.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/ascii.h"
#include "base/number.h"
#include "base/text/base64.h"
#include "base/text/hex.h"
#include "base/text/json_string.h"
#include "base/wire/json_tree.h"
#include "stores/identity/token_text.h"

namespace trainyard::identity {
namespace {

using wire::JsonValue;

constexpr int kDots = 2;
constexpr std::int64_t kSecondsMax = std::int64_t{1} << 40;  // so that sums and differences cannot overflow

std::unexpected<Error> Malformed(std::string why) {
  return std::unexpected(InvalidArgument("", std::move(why)));
}

/// In its only valid spelling: the unused bits of the last letter must be zero.
std::optional<std::string> FromBase64Url(std::string_view text) {
  std::optional<std::string> bytes = text::FromBase64(text, text::Base64Form::kUrlBare);
  if (bytes && text::Base64(*bytes, text::Base64Form::kUrlBare) != text) return std::nullopt;
  return bytes;
}

Result<JsonValue> PartObject(std::string_view part, const std::string& name) {
  const std::optional<std::string> decoded = FromBase64Url(part);
  if (!decoded) return Malformed("its " + name + " is not base64url without padding");
  Result<JsonValue> object = wire::ParseJsonTree(*decoded, kJwtValuesMax);
  if (!object || object->kind != JsonValue::Kind::kObject)
    return Malformed("its " + name + " is not a JSON object of at most " + std::to_string(kJwtValuesMax) +
                     " values");
  std::set<std::string_view> names;
  for (const JsonValue& member : object->children) {
    if (!names.insert(member.name).second) return Malformed("its " + name + " has a member twice");
  }
  return object;
}

const JsonValue* Find(const JsonValue& object, std::string_view name) {
  const auto found = std::ranges::find(object.children, name, &JsonValue::name);
  return found == object.children.end() ? nullptr : &*found;
}

Status ReadText(const JsonValue& object, std::string_view name, std::optional<std::string>& text) {
  const JsonValue* value = Find(object, name);
  if (value == nullptr) return {};
  if (value->kind != JsonValue::Kind::kString) return Malformed(std::string(name) + " must be a text");
  text = value->text;
  return {};
}

Status ReadTime(const JsonValue& object, std::string_view name, std::optional<std::int64_t>& time) {
  const JsonValue* value = Find(object, name);
  if (value == nullptr) return {};
  const std::int64_t number = WholeNumber<std::int64_t>(value->text).value_or(-1);
  if (value->kind != JsonValue::Kind::kNumber || number < 0 || number > kSecondsMax)
    return Malformed(std::string(name) + " must be whole seconds since 1970");
  time = number;
  return {};
}

Status ReadHeader(const JsonValue& header, Jwt& jwt) {
  std::optional<std::string> algorithm;
  std::optional<std::string> type;
  std::optional<std::string> key_id;
  TY_RETURN_IF_ERROR(ReadText(header, "alg", algorithm));
  TY_RETURN_IF_ERROR(ReadText(header, "typ", type));
  TY_RETURN_IF_ERROR(ReadText(header, "kid", key_id));
  if (algorithm != "RS256") return Malformed("alg must be RS256");
  if (type && !EqualsIgnoringCase(*type, "JWT")) return Malformed("typ must be JWT");
  if (Find(header, "crit") != nullptr) return Malformed("critical extensions (crit) are not supported");
  jwt.key_id = key_id.value_or("");
  return {};
}

Status ReadClaims(const JsonValue& claims, Jwt& jwt) {
  std::optional<std::string> issuer;
  TY_RETURN_IF_ERROR(ReadText(claims, "iss", issuer));
  if (!issuer || issuer->empty()) return Malformed("iss is missing");
  jwt.issuer = *std::move(issuer);
  TY_RETURN_IF_ERROR(ReadText(claims, "sub", jwt.subject));
  TY_RETURN_IF_ERROR(ReadText(claims, "aud", jwt.audience));
  TY_RETURN_IF_ERROR(ReadText(claims, "target_audience", jwt.target_audience));
  TY_RETURN_IF_ERROR(ReadText(claims, "jti", jwt.id));
  TY_RETURN_IF_ERROR(ReadTime(claims, "iat", jwt.issued_at));
  TY_RETURN_IF_ERROR(ReadTime(claims, "nbf", jwt.not_before));
  return ReadTime(claims, "exp", jwt.expires_at);
}

using std::chrono::seconds;

constexpr std::string_view kScheme = "https://";
constexpr std::string_view kGoogle = ".googleapis.com";

/// The URLs that clients take for Google's token endpoint. Source: spec access.md sections 3 and 7;
/// oauth2client.
constexpr std::array<std::string_view, 4> kGoogleTokenUrls{
    "https://oauth2.googleapis.com/token", "https://www.googleapis.com/oauth2/v4/token",
    "https://www.googleapis.com/oauth2/v3/token", "https://accounts.google.com/o/oauth2/token"};
constexpr std::array<std::string_view, 4> kTokenPaths{"/token", "/v1/token", "", "/"};

std::unexpected<Error> Refuse(std::string why) {
  return std::unexpected(InvalidArgument("", std::move(why)));
}

/// The part after "scheme://host" of a URL.
std::string_view PathOf(std::string_view url) {
  const std::size_t scheme = url.find("://");
  if (scheme == std::string_view::npos) return {};
  const std::size_t slash = url.find('/', scheme + 3);
  return slash == std::string_view::npos ? std::string_view() : url.substr(slash);
}

std::string_view OriginOf(std::string_view url) { return url.substr(0, url.size() - PathOf(url).size()); }

bool IsLabel(std::string_view label) {
  return !label.empty() && std::ranges::all_of(label, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

bool MatchesOrigin(std::string_view origin, std::string_view own) {
  const std::size_t star = own.find("*.");
  if (star == std::string_view::npos) return origin == own;
  const std::string_view before = own.substr(0, star);
  const std::string_view after = own.substr(star + 1);
  if (origin.size() <= before.size() + after.size()) return false;
  return origin.starts_with(before) && origin.ends_with(after) &&
         IsLabel(origin.substr(before.size(), origin.size() - before.size() - after.size()));
}

bool IsOurs(std::string_view url, OwnAudiences own) {
  return std::ranges::any_of(own, [&](const std::string& one) { return MatchesOrigin(OriginOf(url), one); });
}

bool IsTokenUrl(std::string_view url, OwnAudiences own) {
  if (std::ranges::find(kGoogleTokenUrls, url) != kGoogleTokenUrls.end()) return true;
  return std::ranges::find(kTokenPaths, PathOf(url)) != kTokenPaths.end() && IsOurs(url, own);
}

bool IsGoogleService(std::string_view url) {
  const std::string_view origin = OriginOf(url);
  return origin.starts_with(kScheme) && origin.ends_with(kGoogle) &&
         IsLabel(origin.substr(kScheme.size(), origin.size() - kScheme.size() - kGoogle.size()));
}

Status CheckTimes(const Jwt& jwt, SysTime now) {
  if (!jwt.issued_at) return Refuse("iat is missing");
  if (!jwt.expires_at) return Refuse("exp is missing");
  if (*jwt.expires_at <= *jwt.issued_at || *jwt.expires_at - *jwt.issued_at > kJwtLifeMax.count())
    return Refuse("exp must be after iat, by an hour at most");
  const std::int64_t second = std::chrono::floor<seconds>(now).time_since_epoch().count();
  if (IsOver(jwt, now))
    return Refuse("it has expired: exp is in the past; check this machine's clock, or make a new one");
  const std::int64_t from = std::max(*jwt.issued_at, jwt.not_before.value_or(0));
  if (from - kClockSkewMax.count() > second)
    return Refuse("iat or nbf is in the future: check this machine's clock");
  return {};
}

constexpr std::chrono::seconds kIdTokenLife{3'600};
constexpr std::size_t kKeyIdBytes = 20;

void AddText(std::string& json, const char* name, std::string_view value) {
  json.append(",\"").append(name).append("\":").append(text::QuoteJson(value));
}

}  // namespace

bool LooksLikeJwt(std::string_view text) noexcept { return std::ranges::count(text, '.') == kDots; }

Result<Jwt> ParseJwt(std::string_view text) {
  if (text.size() > kJwtBytesMax)
    return Malformed("it is longer than " + std::to_string(kJwtBytesMax) + " bytes");
  if (!LooksLikeJwt(text)) return Malformed("it does not have three parts separated by dots");
  const std::size_t first = text.find('.');
  const std::size_t second = text.find('.', first + 1);
  Jwt jwt;
  TY_TRY(const JsonValue header, PartObject(text.substr(0, first), "header"));
  TY_RETURN_IF_ERROR(ReadHeader(header, jwt));
  TY_TRY(const JsonValue claims, PartObject(text.substr(first + 1, second - first - 1), "payload"));
  TY_RETURN_IF_ERROR(ReadClaims(claims, jwt));
  std::optional<std::string> signature = FromBase64Url(text.substr(second + 1));
  if (!signature || signature->empty()) return Malformed("its signature is not base64url without padding");
  jwt.signed_text = text.substr(0, second);
  jwt.signature = *std::move(signature);
  return jwt;
}

std::string SignJwt(const RsaPrivateKey& key, std::string_view key_id, std::string_view claims) {
  const std::string header = R"({"alg":"RS256","typ":"JWT","kid":)" + text::QuoteJson(key_id) + "}";
  std::string text = text::Base64(header, text::Base64Form::kUrlBare);
  text.append(".").append(text::Base64(claims, text::Base64Form::kUrlBare));
  const std::string signature = text::Base64(key.Sign(text), text::Base64Form::kUrlBare);
  return text.append(".").append(signature);
}

Status CheckAssertionClaims(const Jwt& jwt, OwnAudiences own, SysTime now) {
  if (!jwt.audience) return Refuse("aud is missing");
  if (!IsTokenUrl(*jwt.audience, own)) return Refuse("aud is not this server's token endpoint");
  if (jwt.subject && *jwt.subject != jwt.issuer)
    return Refuse("sub must be iss: a service account cannot ask for another's token");
  return CheckTimes(jwt, now);
}

Status CheckBearerClaims(const Jwt& jwt, OwnAudiences own, SysTime now) {
  if (jwt.subject != jwt.issuer) return Refuse("sub must be iss");
  if (jwt.target_audience) return Refuse("it asks for an identity token and is no credential itself");
  if (jwt.audience) {
    // A token meant only for the token endpoint must not be accepted elsewhere.
    const bool for_tokens = std::ranges::find(kGoogleTokenUrls, *jwt.audience) != kGoogleTokenUrls.end();
    if (for_tokens || !(IsGoogleService(*jwt.audience) || IsOurs(*jwt.audience, own)))
      return Refuse("aud is another server");
  }
  return CheckTimes(jwt, now);
}

bool IsOver(const Jwt& jwt, SysTime now) { return jwt.expires_at && AcceptedUntil(jwt) <= now; }

SysTime AcceptedUntil(const Jwt& jwt) { return SysTime(seconds(jwt.expires_at.value_or(0))) + kClockSkewMax; }

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
