#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/grpc/grpc_text.h"

namespace trainyard::grpc {

/// Takes the one message of a unary request from the bytes of its body, as they arrive. Pure; one thread.
class MessageReader {
 public:
  /// `bytes_max`: of the message, before and after decompression.
  explicit MessageReader(std::size_t bytes_max) noexcept : bytes_max_(bytes_max) {}

  /// Adds the next bytes of the body. kResourceExhausted: the message is too large. kInternal: the bytes are
  /// no message, or more than one. After an error the reader holds no bytes and must not be used any more.
  [[nodiscard]] Status Add(std::string_view bytes);
  /// The message, once the body has ended. `encoding` is the value of `grpc-encoding`, empty if there is
  /// none. kInternal: the body is not exactly one message. kUnimplemented: its compression is not known here.
  /// kResourceExhausted: it is too large when it is decompressed.
  [[nodiscard]] Result<std::string> Take(std::string_view encoding);
  /// The bytes that are held in memory.
  [[nodiscard]] std::size_t held_bytes() const noexcept { return message_.size(); }

 private:
  [[nodiscard]] Status Check(std::string_view bytes);

  std::size_t bytes_max_;
  std::string start_;  ///< of the prefix, until it is complete
  std::optional<MessagePrefix> prefix_;
  std::string message_;
};

}  // namespace trainyard::grpc
