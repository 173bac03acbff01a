#include "http/gzip_header.h"

#include <array>

namespace trainyard::http {

namespace {

constexpr std::array<std::uint8_t, 3> kStart = {0x1f, 0x8b, 8};  // and the only method
constexpr std::size_t kFixedSize = 10;
constexpr std::size_t kFlagsAt = 3;

enum Flag : std::uint8_t {
  kHasChecksum = 2,
  kHasExtra = 4,
  kHasName = 8,
  kHasComment = 16,
  kReserved = 0xe0
};

}  // namespace

Result<std::size_t> GzipHeader::Take(std::string_view in) {
  std::size_t taken = 0;
  while (taken < in.size() && !done()) TY_RETURN_IF_ERROR(TakeByte(static_cast<std::uint8_t>(in[taken++])));
  return taken;
}

Status GzipHeader::TakeByte(std::uint8_t byte) {
  const std::size_t at = count_++;
  switch (part_) {
    case Part::kFixed:
      if (at == kFlagsAt) flags_ = byte;
      if ((at < kStart.size() && byte != kStart[at]) || (flags_ & kReserved) != 0)
        return std::unexpected(InvalidArgument("", "the body is not valid gzip"));
      if (count_ == kFixedSize) Enter(Part::kExtraLength);
      return {};
    case Part::kExtraLength:
      extra_size_ |= std::size_t{byte} << (8 * at);
      if (count_ == 2) Enter(Part::kExtra);
      return {};
    case Part::kExtra:
      if (count_ == extra_size_) Enter(Part::kName);
      return {};
    case Part::kName:
      if (byte == 0) Enter(Part::kComment);
      return {};
    case Part::kComment:
      if (byte == 0) Enter(Part::kChecksum);
      return {};
    case Part::kChecksum:
      if (count_ == 2) Enter(Part::kDone);
      return {};
    case Part::kDone: return {};
  }
  return {};
}

/// The part, or the first after it that is there.
void GzipHeader::Enter(Part part) {
  count_ = 0;
  const bool extra = (flags_ & kHasExtra) != 0;
  if (part == Part::kExtraLength && !extra) part = Part::kExtra;
  if (part == Part::kExtra && extra_size_ == 0) part = Part::kName;
  if (part == Part::kName && (flags_ & kHasName) == 0) part = Part::kComment;
  if (part == Part::kComment && (flags_ & kHasComment) == 0) part = Part::kChecksum;
  if (part == Part::kChecksum && (flags_ & kHasChecksum) == 0) part = Part::kDone;
  part_ = part;
}

}  // namespace trainyard::http
