#include "net/access/gate.h"

#include "base/ascii.h"
#include "base/wire/host_name.h"
#include "net/access/body_rules.h"
#include "net/access/forwarded.h"
#include "net/access/page_rules.h"
#include "net/http/text.h"

namespace trainyard::access {

namespace {

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
