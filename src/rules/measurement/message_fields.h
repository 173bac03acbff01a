#pragma once

#include <cstdint>
#include <string_view>

namespace trainyard::measurement {

/// The fields of a protobuf message, one after the other. Pure.
class MessageFields {
 public:
  explicit MessageFields(std::string_view bytes) : rest_(bytes) {}

  std::uint64_t number = 0;  ///< of the field
  std::uint64_t value = 0;   ///< of a varint
  std::string_view bytes{};  ///< of a field with a length

  /// False: at the end, or malformed.
  bool Next() {
    std::uint64_t key = 0;
    if (!Varint(key)) return false;
    constexpr std::uint64_t kWireBits = 3;
    number = key >> kWireBits;
    bytes = {};
    switch (key & 7U) {
      case 0: return Varint(value);
      case 1: return Cut(8);
      case 2: {
        std::uint64_t length = 0;
        return Varint(length) && Cut(length);
      }
      case 5: return Cut(4);
      default: return false;
    }
  }

 private:
  bool Cut(std::uint64_t length) {
    if (length > rest_.size()) return false;
    bytes = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return true;
  }
  bool Varint(std::uint64_t& result) {
    result = 0;
    constexpr unsigned kBits = 7;
    for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += kBits) {
      const auto byte = static_cast<std::uint8_t>(rest_.front());
      rest_.remove_prefix(1);
      result |= std::uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80U) return true;
    }
    return false;
  }

  std::string_view rest_;
};

}  // namespace trainyard::measurement
