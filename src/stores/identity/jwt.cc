#include "stores/identity/jwt.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "base/ascii.h"
#include "base/text/base64.h"
#include "base/text/json_string.h"
#include "base/wire/json_tree.h"

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
  std::int64_t number = -1;
  const std::string& text = value->text;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (value->kind != JsonValue::Kind::kNumber || !whole || number < 0 || number > kSecondsMax)
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
  if (Find(header, "crit") != nullptr) return Malformed("critical extensions (crit) are not known here");
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

}  // namespace

bool LooksLikeJwt(std::string_view text) noexcept { return std::ranges::count(text, '.') == kDots; }

Result<Jwt> ParseJwt(std::string_view text) {
  if (text.size() > kJwtBytesMax)
    return Malformed("it is longer than " + std::to_string(kJwtBytesMax) + " bytes");
  if (!LooksLikeJwt(text)) return Malformed("it has not three parts with dots between them");
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

}  // namespace trainyard::identity
