#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace trainyard::http {

/// Takes the header of a gzip member apart, however the bytes are cut, and drops its contents. (isa-l's own
/// reader fails when an extra field is cut.) Pure: one object per member. Source: RFC 1952, 2.3.
class GzipHeader {
 public:
  /// How many bytes belong to the header; all of them while it is not done. kInvalidArgument: not gzip, or a
  /// flag that is reserved.
  [[nodiscard]] Result<std::size_t> Take(std::string_view in);
  [[nodiscard]] bool done() const noexcept { return part_ == Part::kDone; }

 private:
  enum class Part { kFixed, kExtraLength, kExtra, kName, kComment, kChecksum, kDone };

  Status TakeByte(std::uint8_t byte);
  void Enter(Part part);

  Part part_ = Part::kFixed;
  std::size_t count_ = 0;  ///< bytes of the part so far
  std::uint8_t flags_ = 0;
  std::size_t extra_size_ = 0;
};

}  // namespace trainyard::http
