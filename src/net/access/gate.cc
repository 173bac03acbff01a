#include "net/access/gate.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "base/ascii.h"
#include "base/wire/host_name.h"
#include "net/access/forwarded_rules.h"
#include "net/http/text.h"

namespace trainyard::access {

namespace {

constexpr std::string_view kJson = "application/json";
constexpr std::string_view kYaml = "application/yaml";
constexpr std::string_view kForm = "application/x-www-form-urlencoded";

/// "Application/JSON ; charset=utf-8" -> "Application/JSON"
std::string_view TypeOf(std::string_view content_type) {
  return TrimSpace(content_type.substr(0, content_type.find(';')));
}

constexpr std::string_view kHttp = "http://";
constexpr std::string_view kHttps = "https://";

std::string_view WithoutPort(std::string_view authority, std::string_view port) {
  if (authority.ends_with(port)) authority.remove_suffix(port.size());
  return authority;
}

/// Whether the Origin field names the authority of the Host field. Browsers omit the scheme's default port in
/// both.
bool IsOwnOrigin(std::string_view origin, std::string_view host) {
  for (const auto& [scheme, port] : {std::pair(kHttp, ":80"), std::pair(kHttps, ":443")}) {
    if (!origin.starts_with(scheme)) continue;
    const std::string_view authority = origin.substr(scheme.size());
    return !authority.empty() && EqualsIgnoringCase(WithoutPort(authority, port), WithoutPort(host, port));
  }
  return false;
}

using boost::asio::awaitable;
using http::Method;
using http::Request;

PageFacts PageFactsOf(const Request& request) {
  const bool is_read = request.method == Method::kGet || request.method == Method::kHead;
  return {.is_read = is_read && !request.headers.Has("Upgrade"),
          .path = request.path,
          .host = request.host,
          .has_origin = request.headers.Has("Origin"),
          .origin = request.headers.Get("Origin"),
          .sec_fetch_site = request.headers.Get("Sec-Fetch-Site")};
}

BodyFacts BodyFactsOf(const Request& request, const std::string& xml_storage_host) {
  bool has_chunks = false;
  http::ForEachElement(request.headers.Get("Transfer-Encoding"), [&](std::string_view coding) {
    has_chunks = has_chunks || EqualsIgnoringCase(coding, "chunked");
  });
  return {.path = request.path,
          .content_type = request.headers.Get("Content-Type"),
          .has_body = has_chunks || request.content_length.value_or(0) > 0,
          .overrides_get =
              request.method == Method::kPost && request.headers.Get("X-HTTP-Method-Override") == "GET",
          .is_xml_storage = !xml_storage_host.empty() && wire::HostNameOf(request.host) == xml_storage_host};
}

}  // namespace

bool TakesAnyBody(const BodyFacts& facts) noexcept {
  constexpr std::array<std::string_view, 2> kUploads = {"/upload/", "/resumable/"};
  constexpr std::array<std::string_view, 3> kForms = {"/token", "/v1/token", "/v1/introspect"};
  const auto leads = [&](std::string_view folder) { return facts.path.starts_with(folder); };
  if (std::ranges::any_of(kUploads, leads)) return true;
  if (facts.is_xml_storage && !facts.path.starts_with("/storage/")) return true;
  return facts.path == "/batch" || facts.path.starts_with("/batch/") ||
         std::ranges::find(kForms, facts.path) != kForms.end();
}

Status CheckBodyType(const BodyFacts& facts) {
  if (!facts.has_body || TakesAnyBody(facts)) return {};
  const std::string_view type = TypeOf(facts.content_type);
  if (facts.path.ends_with(":validate") && EqualsIgnoringCase(type, kYaml)) return {};
  if (EqualsIgnoringCase(type, kJson) || (facts.overrides_get && EqualsIgnoringCase(type, kForm))) return {};
  return std::unexpected(InvalidArgument(
      "", std::string("This method requires a JSON body with Content-Type: application/json; ") +
              (type.empty() ? "the request has no Content-Type" : "the request has another Content-Type")));
}

Status CheckMetadataFlavor(std::string_view path, std::string_view flavor) {
  if (!path.starts_with("/computeMetadata") || flavor == "Google") return {};
  return std::unexpected(Error{Code::kPermissionDenied, "Missing Metadata-Flavor:Google header", ""});
}

bool IsForeignPage(const PageFacts& facts) {
  if (facts.has_origin && !IsOwnOrigin(facts.origin, facts.host)) return true;
  return !facts.sec_fetch_site.empty() && facts.sec_fetch_site != "same-origin" &&
         facts.sec_fetch_site != "none";
}

bool IsPublicPath(std::string_view path) noexcept {
  return path == "/" || path == "/healthz" || path == "/$discovery/rest" || path == "/ui" ||
         path.starts_with("/ui/") || path.starts_with("/discovery/v1/apis");
}

Status CheckPage(const PageFacts& facts) {
  if (!IsForeignPage(facts) || (facts.is_read && IsPublicPath(facts.path))) return {};
  return std::unexpected(Error{
      Code::kPermissionDenied,
      "This request comes from a web page of another origin, as its field Origin or Sec-Fetch-Site shows. "
      "Such pages may not use this server. Send the request from a program, without these fields",
      ""});
}

Status CheckHost(std::string_view host_field, const AllowedHosts& allowed) {
  const std::optional<std::string> name = wire::HostNameOf(host_field);
  if (!name) {
    return std::unexpected(
        Error{Code::kPermissionDenied,
              "The Host field is missing or malformed. Use the server's address, such as localhost", ""});
  }
  if (wire::IsLoopbackName(*name) || std::ranges::find(allowed.names, *name) != allowed.names.end())
    return {};
  const auto ends_name = [&](const std::string& suffix) { return name->ends_with(suffix); };
  if (std::ranges::any_of(allowed.suffixes, ends_name)) return {};
  return std::unexpected(Error{Code::kPermissionDenied,
                               "This server does not accept requests for the name '" + *name +
                                   "', because any web page could point a name at its address. Use "
                                   "localhost, or start the server with --host-name " +
                                   *name,
                               ""});
}

http::Admit Gate::Admit() const {
  return [this](const Request& request) { return Check(*this, request); };
}

awaitable<Status> Gate::Check(const Gate& gate, const Request& request) {
  TY_CO_RETURN_IF_ERROR(co_await gate.CheckAccount(request));
  co_return gate.CheckRequest(request);
}

awaitable<Status> Gate::CheckAccount(const Request& request) const {
  if (options_.asks_tokens) co_return Status();
  if (IsForwarded(request, options_.proxies)) co_return std::unexpected(ForwardedRefusal());
  if (options_.accounts.local_users) co_return Status();
  if (!request.peer->uid) request.peer->uid = uids_.Find(*request.peer);
  const std::optional<std::uint32_t> uid = request.peer->uid;
  bool is_answered = uid && IsAnswered(*uid, options_.accounts);
  if (uid && !is_answered && options_.is_attempt_uid != nullptr)
    is_answered = co_await options_.is_attempt_uid(*uid);
  if (!is_answered) co_return std::unexpected(AccountRefusal(uid, options_.accounts));
  if (options_.has_owner == nullptr) co_return Status();
  const bool is_owned = co_await options_.has_owner(*request.peer);
  if (!is_owned) co_return std::unexpected(AccountRefusal(std::nullopt, options_.accounts));
  co_return Status();
}

Status Gate::CheckRequest(const Request& request) const {
  if (request.peer->kind != http::Peer::Kind::kUnix)
    TY_RETURN_IF_ERROR(CheckHost(request.host, options_.hosts));
  TY_RETURN_IF_ERROR(CheckPage(PageFactsOf(request)));
  TY_RETURN_IF_ERROR(CheckMetadataFlavor(request.path, request.headers.Get("Metadata-Flavor")));
  return CheckBodyType(BodyFactsOf(request, options_.xml_storage_host));
}

}  // namespace trainyard::access
