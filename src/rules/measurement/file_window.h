#pragma once

#include <google/protobuf/io/zero_copy_stream.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace trainyard::measurement {

/// Reads a file that others may be writing, from front to back; skipped bytes are not read. Pure: the bytes
/// come from the caller. One thread at a time.
class FileWindow {
 public:
  /// Fills the buffer from the offset on; returns the number of bytes, 0: no more (now).
  using ReadAt = std::function<std::size_t(std::uint64_t offset, std::span<char> buffer)>;

  /// The maximum that At() returns, and the first read after a skip; later reads are larger.
  static constexpr std::size_t kBytesMax = std::size_t{256} << 10;
  static constexpr std::size_t kBytesFirst = std::size_t{4} << 10;

  /// `read_at` outlives it.
  explicit FileWindow(const ReadAt& read_at) : read_at_(read_at) {}

  /// The bytes from `offset` on: at least `wanted` (at most kBytesMax), unless the file ends before. Valid
  /// until the next call.
  [[nodiscard]] std::string_view At(std::uint64_t offset, std::size_t wanted);
  [[nodiscard]] std::uint64_t bytes_read() const noexcept { return bytes_read_; }

 private:
  void Fill(std::uint64_t offset, std::size_t wanted);

  const ReadAt& read_at_;
  std::vector<char> buffer_;
  std::uint64_t begin_ = 0;
  std::size_t size_ = 0;
  std::size_t next_bytes_ = kBytesFirst;
  std::uint64_t bytes_read_ = 0;
};

/// A part of the file as an input stream for protobuf. Skipped bytes are not read. The window outlives it.
class WindowStream final : public google::protobuf::io::ZeroCopyInputStream {
 public:
  /// The maximum number of bytes read from a part; skipped bytes do not count.
  static constexpr std::uint64_t kReadMax = std::uint64_t{16} << 20;

  WindowStream(FileWindow& window, std::uint64_t begin, std::uint64_t end)
      : window_(window), begin_(begin), end_(end), at_(begin), read_end_(window.bytes_read() + kReadMax) {}

  bool Next(const void** data, int* size) override;
  void BackUp(int count) override { at_ -= static_cast<std::uint64_t>(count); }
  bool Skip(int count) override;
  [[nodiscard]] google::protobuf::int64 ByteCount() const override {
    return static_cast<google::protobuf::int64>(at_ - begin_);
  }

 private:
  FileWindow& window_;
  std::uint64_t begin_;
  std::uint64_t end_;
  std::uint64_t at_;
  std::uint64_t read_end_;
};

}  // namespace trainyard::measurement
