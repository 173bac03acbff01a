#pragma once

#include <google/protobuf/io/zero_copy_stream.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard::measurement {

// TensorFlow's record framing: length, its masked CRC32C, the contents, their masked CRC32C; little-endian.
// Pure. Source: spec hyperparameter-tuning.md section 6.

static_assert(std::endian::native == std::endian::little);
inline constexpr std::size_t kLengthBytes = 8;
inline constexpr std::size_t kCrcBytes = 4;

[[nodiscard]] constexpr std::uint32_t MaskedCrc(std::uint32_t crc) noexcept {
  return std::rotr(crc, 15) + 0xA282EAD8U;
}

/// The value at the beginning of `bytes`, which must be long enough.
template <class T>
[[nodiscard]] T LoadFrom(std::string_view bytes) noexcept {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

/// Longer records (graphs, images) are checked and skipped.
inline constexpr std::uint64_t kRecordBytesMax = std::uint64_t{16} << 20;

/// TensorFlow's record framing: length, masked CRC32C of the length, contents, masked CRC32C of the contents;
/// little-endian. Feed it a file's bytes as they arrive; incomplete records are kept until the rest arrives.
/// Pure; one thread at a time. Source: spec hyperparameter-tuning.md section 6.
class RecordReader {
 public:
  /// Called for each complete record with correct CRCs.
  using Take = std::function<void(std::string_view record)>;

  /// Processes the next bytes. After a wrong length no more records can be found: the rest is skipped.
  void Feed(std::string_view bytes, const Take& take);

  /// The number of bytes so far.
  [[nodiscard]] std::uint64_t offset() const noexcept { return offset_; }
  /// The number of records whose contents did not match their CRC.
  [[nodiscard]] std::int64_t damaged() const noexcept { return damaged_; }
  /// Whether a record's length did not match its CRC: this is not an event file, or not any more.
  [[nodiscard]] bool lost() const noexcept { return lost_; }

 private:
  [[nodiscard]] std::string_view Cut(std::string_view& bytes, std::uint64_t wanted);
  void BeginRecord();
  void EndRecord(const Take& take);

  std::uint64_t offset_ = 0;
  std::int64_t damaged_ = 0;
  bool lost_ = false;
  std::string head_;             ///< of the record
  std::uint64_t remaining_ = 0;  ///< bytes of the contents that have not arrived
  bool is_kept_ = false;
  std::string contents_;
  std::uint32_t crc_ = 0;  ///< of the contents so far
  std::string tail_;
};

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
