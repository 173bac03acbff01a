#include "net/http/client_request.h"

#include <algorithm>

#include "net/http/text.h"

namespace trainyard::http {

Result<Endpoint> Endpoint::Parse(std::string_view url) {
  Endpoint endpoint;
  if (url.starts_with("unix:")) {
    endpoint.transport = Transport::kUnix;
    endpoint.host = "localhost";
    endpoint.socket_path = url.substr(5);
    if (!endpoint.socket_path.is_absolute())
      return std::unexpected(InvalidArgument("", "unix: needs an absolute path"));
    return endpoint;
  }
  const bool tls = url.starts_with("https://");
  const Error bad = InvalidArgument(
      "", "'" + std::string(url) + "' is not http://HOST:PORT, https://HOST:PORT or unix:/PATH");
  if (!tls && !url.starts_with("http://")) return std::unexpected(bad);
  endpoint.transport = tls ? Transport::kTls : Transport::kTcp;
  endpoint.port = tls ? 443 : 80;
  std::string_view authority = url.substr(tls ? 8 : 7);
  if (authority.ends_with('/')) authority.remove_suffix(1);
  const std::size_t bracket = authority.starts_with('[') ? authority.find(']') : 0;
  if (bracket == std::string_view::npos) return std::unexpected(bad);
  const std::size_t colon = authority.find(':', bracket);
  if (colon != std::string_view::npos) {
    const auto port = ParseDecimal(authority.substr(colon + 1));
    if (!port || *port == 0 || *port > 65535) return std::unexpected(bad);
    endpoint.port = static_cast<std::uint16_t>(*port);
  }
  std::string_view host = authority.substr(0, colon);
  if (bracket > 0) host = host.substr(1, bracket - 1);
  if (host.empty() || host.find_first_of("/?#@ ") != std::string_view::npos) return std::unexpected(bad);
  endpoint.host = host;
  return endpoint;
}

std::string Endpoint::Authority() const {
  std::string text = host.find(':') == std::string::npos ? host : "[" + host + "]";
  const std::uint16_t own = transport == Transport::kTls ? 443 : 80;
  if (transport != Transport::kUnix && port != own) text += ":" + std::to_string(port);
  return text;
}

std::string PrintHead(const Endpoint& endpoint, const ClientRequest& request) {
  const auto* upload = std::get_if<UploadBody>(&request.body);
  const std::uint64_t length =
      upload != nullptr ? upload->length : std::get<std::string>(request.body).size();
  std::string head(MethodName(request.method));
  head.append(" ")
      .append(request.target)
      .append(" HTTP/1.1\r\nHost: ")
      .append(endpoint.Authority())
      .append("\r\n");
  for (const auto& [name, value] : request.headers.fields()) {
    head.append(name).append(": ").append(value).append("\r\n");
  }
  const bool may_have_body = request.method != Method::kGet && request.method != Method::kHead;
  if (may_have_body || length > 0)
    head.append("Content-Length: ").append(std::to_string(length)).append("\r\n");
  return head.append("\r\n");
}

Status CheckRequest(const ClientRequest& request) {
  for (const auto& [name, value] : request.headers.fields()) {
    if (!IsToken(name) || !IsFieldValue(value)) {
      return std::unexpected(InvalidArgument("", "the header field '" + name + "' cannot be sent"));
    }
  }
  const bool printable = std::ranges::all_of(request.target, [](char c) { return c > 0x20 && c < 0x7f; });
  if (!request.target.starts_with('/') || !printable) {
    return std::unexpected(InvalidArgument("", "the target '" + request.target + "' cannot be sent"));
  }
  return {};
}

}  // namespace trainyard::http
