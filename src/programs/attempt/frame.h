#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace google::protobuf {
class MessageLite;
}

namespace trainyard::replica {

/// The largest frame between server and supervisor; a peer that sends a larger one is broken.
inline constexpr std::size_t kFrameBytesMax = std::size_t{16} << 20;

/// Appends a frame: the message's size as a varint, then the message.
void AppendFrame(const google::protobuf::MessageLite& message, std::string& out);

/// Appends a frame whose content is already serialized.
void AppendFrame(std::string_view content, std::string& out);

/// Appends FromReplica{log: chunk} for a serialized LogChunk, without unpacking it.
void AppendLogFrame(std::string_view chunk, std::string& out);

/// Splits a stream of bytes into frames. Pure; one thread.
class FrameReader {
 public:
  /// Sets the limit for frames from now on; at most kFrameBytesMax.
  void SetBytesMax(std::size_t bytes_max) noexcept { bytes_max_ = bytes_max; }
  void Feed(std::string_view bytes) { buffer_.append(bytes); }
  /// Returns true and the next complete frame's content, which is valid until the next call; false if more
  /// bytes are needed. kInvalidArgument: the size is over the limit or no varint; the rest of the stream is
  /// useless.
  [[nodiscard]] Result<bool> Next(std::string_view& content);

 private:
  std::string buffer_;
  std::size_t taken_ = 0;
  std::size_t bytes_max_ = kFrameBytesMax;
};

}  // namespace trainyard::replica
