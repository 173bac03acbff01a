#include "http/client_head.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <variant>

#include "http/text.h"

namespace trainyard::http {

namespace {

std::string_view MethodName(Method method) {
  switch (method) {
    case Method::kGet: return "GET";
    case Method::kHead: return "HEAD";
    case Method::kPost: return "POST";
    case Method::kPut: return "PUT";
    case Method::kPatch: return "PATCH";
    case Method::kDelete: return "DELETE";
    case Method::kOptions: return "OPTIONS";
  }
  return "";
}

}  // namespace

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
