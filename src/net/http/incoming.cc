#include "net/http/incoming.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "base/wire/host_name.h"
#include "net/http/text.h"
#include "net/http/uri.h"

namespace trainyard::http {

namespace {

constexpr std::size_t kFormBytesMax = std::size_t{256} << 10;

}  // namespace

std::expected<Request, HeadError> MakeRequest(RequestHead head, std::string_view scheme) {
  const std::optional<Method> method = ParseMethod(head.method);
  if (!method) return std::unexpected(HeadError{405, "the method " + head.method + " is unknown"});
  Request request;
  request.method = *method;
  request.scheme = scheme;
  request.target = std::move(head.target);
  request.headers = std::move(head.headers);
  request.host = request.headers.Get("Host");
  const Target target = SplitTarget(request.target);
  if (!target.authority.empty()) request.host = target.authority;  // RFC 9112 section 3.2.2
  if (!request.host.empty() && !wire::HostNameOf(request.host))
    return std::unexpected(
        HeadError{400, "the Host field, or the host in the request's target, is malformed"});
  request.path = target.path;
  auto query = ParseQuery(target.query);
  if (!query) return std::unexpected(HeadError{400, std::move(query).error().message});
  request.query = *std::move(query);
  return request;
}

std::expected<std::unique_ptr<BodyReader>, HeadError> DecodeBody(const Request& request, BodyReader& raw) {
  const std::string_view coding = request.headers.Get("Content-Encoding");
  if (coding.empty() || EqualsIgnoringCase(coding, "identity")) return nullptr;
  if (EqualsIgnoringCase(coding, "gzip") || EqualsIgnoringCase(coding, "x-gzip")) return InflateBody(raw);
  return std::unexpected(HeadError{415, "the only content coding known is gzip"});
}

asio::awaitable<Status> ApplyMethodOverride(Request& request) {
  const std::string_view name = request.headers.Get("X-HTTP-Method-Override");
  if (name.empty() || request.method != Method::kPost) co_return Status();
  const std::optional<Method> method = ParseMethod(name);
  if (!method) co_return std::unexpected(InvalidArgument("", "X-HTTP-Method-Override names no known method"));
  request.method = *method;
  const bool is_form = request.headers.Get("Content-Type").starts_with("application/x-www-form-urlencoded");
  if (*method != Method::kGet || !is_form) co_return Status();
  TY_CO_TRY(const std::string form, co_await request.body->ReadAll(kFormBytesMax));
  TY_CO_TRY(auto pairs, ParseQuery(form));
  std::ranges::move(pairs, std::back_inserter(request.query));
  co_return Status();
}

}  // namespace trainyard::http
