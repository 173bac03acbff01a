#include "net/grpc/call_head.h"

#include "net/grpc/grpc_text.h"

namespace trainyard::grpc {

namespace {

constexpr std::size_t kFieldBytes = 32;  // what RFC 9113 adds for each field
constexpr std::string_view kTimeoutField = "grpc-timeout";

CallRefusal NoCall(int http_status, std::string why) {
  return {.http_status = http_status, .error = InvalidArgument("", std::move(why))};
}

}  // namespace

void CallHead::Add(std::string_view name, std::string_view value) {
  bytes_ += name.size() + value.size() + kFieldBytes;
  if (bytes_ > bytes_max_) return;
  if (name == ":method") {
    method_ = value;
  } else if (name == ":path") {
    path_ = value;
  } else if (name == ":authority") {
    authority_ = value;
  } else if (!name.starts_with(':')) {
    fields_.Add(std::string(name), std::string(value));
  }
}

std::optional<CallRefusal> CallHead::Check() const {
  if (bytes_ > bytes_max_) {
    return CallRefusal{.error =
                           ResourceExhausted("the metadata of the call is larger than the server accepts (" +
                                             std::to_string(bytes_max_) + " bytes)")};
  }
  if (!IsGrpc(fields_.Get("content-type"))) {
    return NoCall(415,
                  "Only gRPC calls (content-type application/grpc) are answered over HTTP/2. Use HTTP/1.1 "
                  "for other requests.\n");
  }
  if (method_ != "POST") return NoCall(405, "A gRPC call is a POST request.\n");
  if (fields_.Has(kTimeoutField) && !Timeout())
    return CallRefusal{.error = InvalidArgument("", "the value of grpc-timeout is malformed")};
  return std::nullopt;
}

std::string_view CallHead::authority() const noexcept {
  return authority_.empty() ? fields_.Get("host") : std::string_view(authority_);
}

std::optional<std::chrono::nanoseconds> CallHead::Timeout() const noexcept {
  return ParseTimeout(fields_.Get(kTimeoutField));
}

}  // namespace trainyard::grpc
