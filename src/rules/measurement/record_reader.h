#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>

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

}  // namespace trainyard::measurement
