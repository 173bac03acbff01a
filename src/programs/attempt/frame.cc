#include "programs/attempt/frame.h"

#include <google/protobuf/message_lite.h>

#include <cstdint>

#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::replica {

namespace {

void AppendVarint(std::uint64_t value, std::string& out) {
  while (value >= 0x80) {
    out += static_cast<char>(value | 0x80);
    value >>= 7;
  }
  out += static_cast<char>(value);
}

std::size_t VarintSize(std::uint64_t value) {
  std::size_t size = 1;
  while (value >= 0x80) {
    value >>= 7;
    ++size;
  }
  return size;
}

constexpr char kLogTag = (v1::FromReplica::kLogFieldNumber << 3) | 2;

}  // namespace

void AppendFrame(const google::protobuf::MessageLite& message, std::string& out) {
  AppendVarint(message.ByteSizeLong(), out);
  message.AppendToString(&out);
}

void AppendFrame(std::string_view content, std::string& out) {
  AppendVarint(content.size(), out);
  out.append(content);
}

void AppendLogFrame(std::string_view chunk, std::string& out) {
  AppendVarint(1 + VarintSize(chunk.size()) + chunk.size(), out);
  out += kLogTag;
  AppendVarint(chunk.size(), out);
  out.append(chunk);
}

Result<bool> FrameReader::Next(std::string_view& content) {
  buffer_.erase(0, taken_);
  taken_ = 0;
  std::uint64_t size = 0;
  std::size_t at = 0;
  for (;; ++at) {
    if (at == 4) return std::unexpected(InvalidArgument("", "a frame's size is no varint or over the limit"));
    if (at == buffer_.size()) return false;
    const auto byte = static_cast<unsigned char>(buffer_[at]);
    size |= std::uint64_t{byte & 0x7FU} << (7 * at);
    if (byte < 0x80) break;
  }
  ++at;
  if (size > bytes_max_) return std::unexpected(InvalidArgument("", "a frame's size is over the limit"));
  if (buffer_.size() - at < size) return false;
  content = std::string_view(buffer_).substr(at, size);
  taken_ = at + size;
  return true;
}

}  // namespace trainyard::replica
