#include "stores/identity/jwt_rules.h"

#include <algorithm>
#include <array>

namespace trainyard::identity {
namespace {

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

}  // namespace

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

}  // namespace trainyard::identity
