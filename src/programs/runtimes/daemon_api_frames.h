#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace trainyard::replica {

/// Takes the stream of an attached container apart: frames of a byte with the stream's number, three zeros,
/// the length (four bytes, big-endian) and so many bytes of output. Bytes are handed on as they come, also of
/// a frame that is not complete yet. Pure. Source: Docker Engine API, "Stream format".
class DaemonFrames {
 public:
  /// Where output goes: the stream (1 or 2) and some of its bytes. An error ends the feeding.
  template <class Sink>
  [[nodiscard]] Status Feed(std::string_view bytes, const Sink& sink) {
    while (!bytes.empty()) {
      if (left_ == 0) {
        const std::size_t wanted = kHeadBytes - head_.size();
        head_.append(bytes.substr(0, wanted));
        bytes.remove_prefix(wanted < bytes.size() ? wanted : bytes.size());
        if (head_.size() < kHeadBytes) return {};
        TY_RETURN_IF_ERROR(TakeHead());
        continue;
      }
      const std::string_view output = bytes.substr(0, left_);
      TY_RETURN_IF_ERROR(sink(stream_, output));
      left_ -= static_cast<std::uint32_t>(output.size());
      bytes.remove_prefix(output.size());
    }
    return {};
  }

  /// Whether a frame was cut.
  [[nodiscard]] bool in_frame() const noexcept { return left_ > 0 || !head_.empty(); }

 private:
  static constexpr std::size_t kHeadBytes = 8;

  /// kDataLoss: not such a stream (a terminal's has no frames).
  [[nodiscard]] Status TakeHead() {
    const int stream = static_cast<unsigned char>(head_[0]);
    if (stream > 2 || head_.compare(1, 3, std::string_view("\0\0\0", 3)) != 0)
      return std::unexpected(Error{Code::kDataLoss, "the container's output is not in frames", {}});
    left_ = 0;
    for (std::size_t i = 4; i < kHeadBytes; ++i) left_ = left_ << 8 | static_cast<unsigned char>(head_[i]);
    stream_ = stream == 2 ? 2 : 1;
    head_.clear();
    return {};
  }

  std::string head_;
  int stream_ = 1;
  std::uint32_t left_ = 0;
};

}  // namespace trainyard::replica
