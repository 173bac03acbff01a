#include "rules/measurement/event_reader.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "base/crc32c.h"
#include "rules/measurement/event_scalars.h"
#include "rules/measurement/record_reader.h"
#include "trainyard/tensorflow/event.pb.h"

namespace trainyard::measurement {

/// The plugin of a summary, as far as it matters here.
enum class Plugin : std::uint8_t { kNotSaid, kScalars, kImages, kText, kHistograms, kOther };

/// A summary's value as it is in the file.
struct RawValue {
  std::string tag;
  std::optional<double> number;  ///< the simple value, or of a tensor of one number
  bool simple = false;
  bool image = false;  ///< TensorFlow 1's
  int width = 0;
  int height = 0;
  Extent encoded;
  Extent histogram;  ///< TensorFlow 1's
  Extent tensor;
  std::int64_t dtype = 0;
  Plugin plugin = Plugin::kNotSaid;
  /// The first texts of a tensor of texts.
  struct Text {
    std::string beginning;
    Extent extent;
  };
  std::vector<Text> texts;
};

namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

constexpr std::uint64_t kHeadBytes = kLengthBytes + kCrcBytes;
constexpr std::uint64_t kTailBytes = kCrcBytes;
constexpr int kNumberBytesMax = 1'024;  ///< of a tensor of one number
constexpr std::size_t kTextsMax = 3;    ///< width, height, the first image
constexpr std::int64_t kStringType = 7;
constexpr std::int64_t kDoubleType = 2;
constexpr std::size_t kPluginBytes = 16;  ///< longer names do not matter here
/// The memory of a remembered tag in addition to its text: a map's node, with the allocator's overhead.
constexpr std::size_t kTagNodeBytes = 100;

Plugin PluginNamed(std::string_view name) {
  if (name.empty()) return Plugin::kNotSaid;
  if (name == "scalars") return Plugin::kScalars;
  if (name == "images") return Plugin::kImages;
  if (name == "histograms") return Plugin::kHistograms;
  return name == "text" ? Plugin::kText : Plugin::kOther;
}

/// A stream of a part of the file, and where that part begins.
struct Source {
  CodedInputStream& in;
  std::uint64_t base;

  [[nodiscard]] std::uint64_t Position() const {
    return base + static_cast<std::uint64_t>(in.CurrentPosition());
  }
};

enum class Wire : std::uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };
constexpr std::uint32_t Field(std::uint32_t number, Wire wire) {
  return (number << 3U) | static_cast<std::uint32_t>(wire);
}

/// Calls `take` with each field's tag; it reads the field and returns whether that succeeded, or nullopt for
/// an unknown field.
template <class F>
bool Fields(CodedInputStream& in, F take) {
  while (const std::uint32_t tag = in.ReadTag()) {
    const std::optional<bool> read = take(tag);
    if (read ? !*read : !WireFormatLite::SkipField(&in, tag)) return false;
  }
  return in.ConsumedEntireMessage();  // and not a tag 0
}

/// Whether this many bytes are within the enclosing message; if its end is not known, reading will tell.
bool HasRoom(CodedInputStream& in, int length) {
  const int left = in.BytesUntilLimit();
  return left < 0 || length <= left;
}

/// Like Fields for a nested message, which begins with its length.
template <class F>
bool Inside(CodedInputStream& in, F take) {
  int length = 0;
  if (!in.ReadVarintSizeAsInt(&length) || !HasRoom(in, length)) return false;
  const CodedInputStream::Limit limit = in.PushLimit(length);
  const bool read = Fields(in, take) && in.BytesUntilLimit() == 0;
  in.PopLimit(limit);
  return read;
}

template <class T>
bool ReadInt(CodedInputStream& in, T& value) {
  std::uint64_t number = 0;
  if (!in.ReadVarint64(&number)) return false;
  value = static_cast<T>(number);
  return true;
}

/// The first bytes of a text; the rest is skipped.
bool ReadBeginning(CodedInputStream& in, std::size_t bytes_max, std::string& text) {
  int length = 0;
  if (!in.ReadVarintSizeAsInt(&length)) return false;
  const int shown = std::min(length, static_cast<int>(bytes_max));
  return in.ReadString(&text, shown) && in.Skip(length - shown);
}

bool ReadExtent(const Source& source, Extent& extent) {
  int length = 0;
  if (!source.in.ReadVarintSizeAsInt(&length)) return false;
  extent = {.offset = source.Position(), .length = static_cast<std::uint64_t>(length)};
  return source.in.Skip(length);
}

/// summary.proto: Summary.Image.
bool ReadImage(const Source& source, RawValue& raw) {
  raw.image = true;
  return Inside(source.in, [&](std::uint32_t tag) -> std::optional<bool> {
    switch (tag) {
      case Field(1, Wire::kVarint): return ReadInt(source.in, raw.height);
      case Field(2, Wire::kVarint): return ReadInt(source.in, raw.width);
      case Field(4, Wire::kBytes): return ReadExtent(source, raw.encoded);
      default: return std::nullopt;
    }
  });
}

bool ReadText(const Source& source, RawValue& raw) {
  if (raw.texts.size() >= kTextsMax) {
    Extent skipped;
    return ReadExtent(source, skipped);
  }
  int length = 0;
  if (!source.in.ReadVarintSizeAsInt(&length)) return false;
  RawValue::Text text{.beginning = {},
                      .extent = {.offset = source.Position(), .length = static_cast<std::uint64_t>(length)}};
  const int shown = std::min(length, static_cast<int>(kTextShownBytes));
  if (!source.in.ReadString(&text.beginning, shown) || !source.in.Skip(length - shown)) return false;
  raw.texts.push_back(std::move(text));
  return true;
}

/// tensor.proto: the needed fields of a tensor of texts.
bool ReadTextTensor(const Source& source, RawValue& raw) {
  return Fields(source.in, [&](std::uint32_t tag) -> std::optional<bool> {
    switch (tag) {
      case Field(1, Wire::kVarint): return ReadInt(source.in, raw.dtype);
      case Field(8, Wire::kBytes): return ReadText(source, raw);
      default: return std::nullopt;
    }
  });
}

bool ReadTensor(const Source& source, RawValue& raw) {
  int length = 0;
  if (!source.in.ReadVarintSizeAsInt(&length) || !HasRoom(source.in, length)) return false;
  const std::uint64_t begin = source.Position();
  raw.tensor = {.offset = begin, .length = static_cast<std::uint64_t>(length)};
  if (length > kNumberBytesMax) {
    const CodedInputStream::Limit limit = source.in.PushLimit(length);
    const bool read = ReadTextTensor(source, raw) && source.in.BytesUntilLimit() == 0;
    source.in.PopLimit(limit);
    return read;
  }
  std::string bytes;
  if (!source.in.ReadString(&bytes, length)) return false;
  CodedInputStream inside(reinterpret_cast<const std::uint8_t*>(bytes.data()), length);
  if (!ReadTextTensor({inside, begin}, raw)) return false;
  tensorflow::Tensor tensor;
  if (raw.dtype != kStringType && tensor.ParseFromString(bytes)) raw.number = NumberOf(tensor);
  return true;
}

/// summary.proto: SummaryMetadata, its plugin_data.plugin_name.
bool ReadMetadata(CodedInputStream& in, RawValue& raw) {
  return Inside(in, [&](std::uint32_t tag) -> std::optional<bool> {
    if (tag != Field(1, Wire::kBytes)) return std::nullopt;
    return Inside(in, [&](std::uint32_t inner) -> std::optional<bool> {
      if (inner != Field(1, Wire::kBytes)) return std::nullopt;
      std::string name;
      const bool read = ReadBeginning(in, kPluginBytes, name);
      raw.plugin = PluginNamed(name);
      return read;
    });
  });
}

bool ReadSimpleValue(CodedInputStream& in, RawValue& raw) {
  std::uint32_t bits = 0;
  if (!in.ReadLittleEndian32(&bits)) return false;
  raw.number = std::bit_cast<float>(bits);
  raw.simple = true;
  return true;
}

/// summary.proto: Summary.Value, whose oneof "value" is fields 2 to 6 and 8: the last one of them counts.
bool ReadValue(const Source& source, RawValue& raw) {
  const auto another = [&raw] {
    raw = {.tag = std::move(raw.tag), .plugin = raw.plugin};
    return &raw;
  };
  return Inside(source.in, [&](std::uint32_t tag) -> std::optional<bool> {
    switch (tag) {
      case Field(1, Wire::kBytes): return ReadBeginning(source.in, kTagShownBytes, raw.tag);
      case Field(2, Wire::kFixed32): return ReadSimpleValue(source.in, *another());
      case Field(3, Wire::kBytes):
      case Field(6, Wire::kBytes): another(); return std::nullopt;
      case Field(5, Wire::kBytes): return ReadExtent(source, another()->histogram);
      case Field(4, Wire::kBytes): return ReadImage(source, *another());
      case Field(8, Wire::kBytes): return ReadTensor(source, *another());
      case Field(9, Wire::kBytes): return ReadMetadata(source.in, raw);
      default: return std::nullopt;
    }
  });
}

struct RawEvent {
  double time_s = 0;
  std::int64_t step = 0;
  std::vector<RawValue> values;
};

/// event.proto: Event, its summary's values.
bool ReadEvent(const Source& source, RawEvent& event) {
  return Fields(source.in, [&](std::uint32_t tag) -> std::optional<bool> {
    switch (tag) {
      case Field(1, Wire::kFixed64): {
        std::uint64_t bits = 0;
        if (!source.in.ReadLittleEndian64(&bits)) return false;
        event.time_s = std::bit_cast<double>(bits);
        return true;
      }
      case Field(2, Wire::kVarint): return ReadInt(source.in, event.step);
      case Field(5, Wire::kBytes):
        return Inside(source.in, [&](std::uint32_t inner) -> std::optional<bool> {
          if (inner != Field(1, Wire::kBytes) || event.values.size() >= kRecordValuesMax) return std::nullopt;
          return ReadValue(source, event.values.emplace_back());
        });
      default: return std::nullopt;
    }
  });
}

int SizeIn(std::string_view text) {
  int size = 0;
  std::from_chars(text.data(), text.data() + text.size(), size);
  return size;
}

}  // namespace

bool EventReader::Read(std::uint64_t size, std::uint64_t bytes_max, const FileWindow::ReadAt& read_at,
                       const Take& take) {
  FileWindow window(read_at);
  while (!lost_ && window.bytes_read() < bytes_max) {
    if (size < offset_ || size - offset_ < kHeadBytes + kTailBytes) return false;
    const std::string_view head = window.At(offset_, kHeadBytes).substr(0, kHeadBytes);
    if (head.size() < kHeadBytes) return false;
    lost_ =
        LoadFrom<std::uint32_t>(head.substr(kLengthBytes)) != MaskedCrc(Crc32c(head.substr(0, kLengthBytes)));
    const auto length = LoadFrom<std::uint64_t>(head);
    if (lost_ || length > size - offset_ - kHeadBytes - kTailBytes) return false;
    if (!ReadRecord(window, length, take)) ++damaged_;
    offset_ += kHeadBytes + length + kTailBytes;
  }
  return !lost_;
}

/// False: it is damaged.
bool EventReader::ReadRecord(FileWindow& window, std::uint64_t length, const Take& take) {
  const std::uint64_t begin = offset_ + kHeadBytes;
  RawEvent event;
  if (length <= kRecordCheckedMax) {
    const std::string_view bytes = window.At(begin, length + kTailBytes);
    if (bytes.size() < length + kTailBytes) return false;
    const std::string_view contents = bytes.substr(0, length);
    if (LoadFrom<std::uint32_t>(bytes.substr(length)) != MaskedCrc(Crc32c(contents))) return false;
    CodedInputStream in(reinterpret_cast<const std::uint8_t*>(contents.data()), static_cast<int>(length));
    if (!ReadEvent({in, begin}, event)) return false;
  } else if (length <= kRecordWalkedMax) {
    WindowStream stream(window, begin, begin + length);
    CodedInputStream in(&stream);
    if (!ReadEvent({in, begin}, event)) return false;
  }
  for (const RawValue& raw : event.values) {
    SummaryValue value{.tag = raw.tag, .step = event.step, .time_s = event.time_s};
    if (Classify(value, raw)) take(value);
  }
  return true;
}

/// The plugin from the value, or from an earlier value of its tag.
Plugin EventReader::PluginOf(const RawValue& raw) {
  const auto known = plugins_.find(raw.tag);
  if (raw.plugin == Plugin::kNotSaid) return known == plugins_.end() ? Plugin::kNotSaid : known->second;
  const std::size_t bytes = kTagNodeBytes + raw.tag.size();
  const bool has_room = plugins_.size() < kFileTagsMax && memory_bytes_ + bytes <= memory_max_;
  if (known == plugins_.end() && has_room) {
    plugins_.emplace(raw.tag, raw.plugin);
    memory_bytes_ += bytes;
  }
  return raw.plugin;
}

/// False: it is none of the kinds that are shown. Writers that set the plugin do so at least once per
/// file and tag; others never do.
bool EventReader::Classify(SummaryValue& value, const RawValue& raw) {
  if (raw.simple && raw.number) {
    value.value = *raw.number;
    return true;
  }
  if (raw.image) {
    value.kind = SummaryValue::Kind::kImage;
    value.extent = raw.encoded;
    value.width = raw.width;
    value.height = raw.height;
    return raw.encoded.length > 0;
  }
  const Plugin plugin = PluginOf(raw);
  const bool is_tensor = plugin == Plugin::kHistograms && raw.dtype == kDoubleType;
  if (is_tensor || raw.histogram.length > 0) {
    value.kind = is_tensor ? SummaryValue::Kind::kHistogramTensor : SummaryValue::Kind::kHistogram;
    value.extent = is_tensor ? raw.tensor : raw.histogram;
    return true;
  }
  if (raw.number && (plugin == Plugin::kNotSaid || plugin == Plugin::kScalars)) {
    value.value = *raw.number;
    return true;
  }
  if (raw.dtype != kStringType || raw.texts.empty()) return false;
  if (plugin == Plugin::kImages && raw.texts.size() >= kTextsMax) {
    value.kind = SummaryValue::Kind::kImage;
    value.width = SizeIn(raw.texts[0].beginning);
    value.height = SizeIn(raw.texts[1].beginning);
    value.extent = raw.texts[2].extent;
    return true;
  }
  if (plugin != Plugin::kText) return false;
  value.kind = SummaryValue::Kind::kText;
  value.extent = raw.texts[0].extent;
  value.beginning = raw.texts[0].beginning;
  return true;
}

}  // namespace trainyard::measurement
