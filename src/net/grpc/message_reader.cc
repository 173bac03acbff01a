#include "net/grpc/message_reader.h"

#include <algorithm>
#include <array>
#include <span>

#include "net/http/gzip.h"

namespace trainyard::grpc {

namespace {

Error TooLarge(std::size_t bytes_max) {
  return ResourceExhausted("the message is larger than the server accepts (" + std::to_string(bytes_max) +
                           " bytes)");
}

Result<std::string> Decompress(std::string_view bytes, std::size_t bytes_max) {
  http::GzipDecoder decoder;
  std::string message;
  std::array<std::byte, 16'384> buffer{};
  while (!decoder.done()) {
    TY_TRY(const auto step, decoder.Decode(bytes, buffer));
    if (step.consumed == 0 && step.produced == 0)
      return std::unexpected(Internal("the compressed message is incomplete"));
    bytes.remove_prefix(step.consumed);
    message.append(reinterpret_cast<const char*>(buffer.data()), step.produced);
    if (message.size() > bytes_max) return std::unexpected(TooLarge(bytes_max));
  }
  if (!bytes.empty()) return std::unexpected(Internal("bytes follow the compressed message"));
  return message;
}

}  // namespace

Status MessageReader::Add(std::string_view bytes) {
  Status checked = Check(bytes);
  if (!checked) message_ = {};
  return checked;
}

Status MessageReader::Check(std::string_view bytes) {
  if (!prefix_) {
    const std::size_t count = std::min(kPrefixBytes - start_.size(), bytes.size());
    start_.append(bytes.substr(0, count));
    bytes.remove_prefix(count);
    if (start_.size() < kPrefixBytes) return {};
    prefix_ = ParsePrefix(start_);
    if (!prefix_) return std::unexpected(Internal("the body of the request is no gRPC message"));
    if (prefix_->size > bytes_max_) return std::unexpected(TooLarge(bytes_max_));
  }
  if (bytes.size() > prefix_->size - message_.size())
    return std::unexpected(Internal("the request has more than one message; only unary calls are answered"));
  message_.append(bytes);
  return {};
}

Result<std::string> MessageReader::Take(std::string_view encoding) {
  if (!prefix_ || message_.size() < prefix_->size)
    return std::unexpected(Internal("the request ended before its message was complete"));
  std::string message = std::move(message_);
  message_ = {};
  if (!prefix_->is_compressed) return message;
  if (encoding == "gzip") {
    Result<std::string> decompressed = Decompress(message, bytes_max_);
    if (!decompressed && decompressed.error().code == Code::kInvalidArgument)
      return std::unexpected(Internal("the message cannot be decompressed"));
    return decompressed;
  }
  if (encoding.empty() || encoding == "identity")
    return std::unexpected(Internal("the message is marked as compressed, but grpc-encoding is not set"));
  return std::unexpected(Error{Code::kUnimplemented,
                               "the server does not know the compression of the message (grpc-encoding); it "
                               "accepts identity and gzip",
                               ""});
}

}  // namespace trainyard::grpc
