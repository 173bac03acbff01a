#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <string_view>

#include "rules/measurement/record_reader.h"

namespace trainyard::measurement {

struct RawValue;
enum class Plugin : std::uint8_t;

/// A range of bytes in a file.
struct Extent {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  friend bool operator==(const Extent&, const Extent&) = default;
};

/// One value that a program summarized.
struct SummaryValue {
  enum class Kind { kScalar, kImage, kText, kHistogram, kHistogramTensor };
  Kind kind = Kind::kScalar;
  std::string tag;
  std::string run{};  ///< below the file's folder; of a file with several runs
  std::int64_t step = 0;
  double time_s = 0;  ///< since 1970
  double value = 0;   ///< of a scalar
  Extent extent{};    ///< of the encoded image, of the text, or of the histogram's message
  int width = 0;      ///< of an image, as written in the summary
  int height = 0;
  std::string beginning{};  ///< of a text: its first kTextShownBytes, unchanged
  friend bool operator==(const SummaryValue&, const SummaryValue&) = default;
};

inline constexpr std::size_t kTextShownBytes = 1'000;
/// Longer records (images, graphs) are parsed without reading everything: data other than scalars is skipped,
/// and the CRC of the contents is not checked.
inline constexpr std::uint64_t kRecordCheckedMax = std::uint64_t{64} << 10;
/// Still longer records are skipped completely.
inline constexpr std::uint64_t kRecordWalkedMax = std::uint64_t{1} << 30;
/// Limits of the values in one record, and of the tags in one file whose kind is remembered.
inline constexpr std::size_t kRecordValuesMax = 10'000;
inline constexpr std::size_t kFileTagsMax = 10'000;
/// Longer tags are truncated.
inline constexpr std::size_t kTagShownBytes = 1'000;

/// Reads the values of one event file, which may grow: scalars of TensorFlow 1 and 2, images (TensorFlow 1's
/// `image`, and tensors of the plugin "images"), texts (the plugin "text") and histograms (TensorFlow 1's
/// `histo`, and tensors of the plugin "histograms"). Does not read the bytes
/// between them. Pure: the bytes come from the caller. One thread at a time. Source: spec
/// hyperparameter-tuning.md section 6; TensorFlow's event.proto, summary.proto, tensor.proto.
class EventReader {
 public:
  using Take = std::function<void(const SummaryValue& value)>;

  /// Continues reading, complete records only, up to offset `size`, and stops after about `bytes_max`. True:
  /// there is more.
  bool Read(std::uint64_t size, std::uint64_t bytes_max, const FileWindow::ReadAt& read_at, const Take& take);

  /// The memory for tags, in bytes, and its limit. Beyond the limit, the kind of a new tag's value is only
  /// known if the value itself has it.
  [[nodiscard]] std::size_t memory_bytes() const noexcept { return memory_bytes_; }
  void LimitMemory(std::size_t bytes_max) noexcept { memory_max_ = bytes_max; }

  /// Everything before this offset was read.
  [[nodiscard]] std::uint64_t offset() const noexcept { return offset_; }
  /// The number of records whose contents did not match their CRC, or were not events.
  [[nodiscard]] std::int64_t damaged() const noexcept { return damaged_; }
  /// Whether a record's length did not match its CRC: this is not an event file, or not any more. Nothing
  /// more is read.
  [[nodiscard]] bool lost() const noexcept { return lost_; }

 private:
  bool ReadRecord(FileWindow& window, std::uint64_t length, const Take& take);
  bool Classify(SummaryValue& value, const RawValue& raw);
  Plugin PluginOf(const RawValue& raw);

  std::uint64_t offset_ = 0;
  std::int64_t damaged_ = 0;
  bool lost_ = false;
  std::map<std::string, Plugin, std::less<>> plugins_;  ///< by tag, from its first value in the file
  std::size_t memory_bytes_ = 0;
  std::size_t memory_max_ = std::numeric_limits<std::size_t>::max();
};

}  // namespace trainyard::measurement
