#include "rules/measurement/record_reader.h"

#include <algorithm>

#include "base/crc32c.h"

namespace trainyard::measurement {

std::string_view RecordReader::Cut(std::string_view& bytes, std::uint64_t wanted) {
  const std::string_view piece = bytes.substr(0, std::min<std::uint64_t>(wanted, bytes.size()));
  bytes.remove_prefix(piece.size());
  return piece;
}

void RecordReader::Feed(std::string_view bytes, const Take& take) {
  offset_ += bytes.size();
  while (!bytes.empty() && !lost_) {
    if (head_.size() < kLengthBytes + kCrcBytes) {
      head_ += Cut(bytes, kLengthBytes + kCrcBytes - head_.size());
      if (head_.size() == kLengthBytes + kCrcBytes) BeginRecord();
    } else if (remaining_ > 0) {
      const std::string_view piece = Cut(bytes, remaining_);
      remaining_ -= piece.size();
      crc_ = Crc32c(piece, crc_);
      if (is_kept_) contents_ += piece;
    } else {
      tail_ += Cut(bytes, kCrcBytes - tail_.size());
      if (tail_.size() == kCrcBytes) EndRecord(take);
    }
  }
}

void RecordReader::BeginRecord() {
  const std::string_view head = head_;
  lost_ =
      LoadFrom<std::uint32_t>(head.substr(kLengthBytes)) != MaskedCrc(Crc32c(head.substr(0, kLengthBytes)));
  remaining_ = LoadFrom<std::uint64_t>(head);
  is_kept_ = remaining_ <= kRecordBytesMax;
  crc_ = 0;
}

void RecordReader::EndRecord(const Take& take) {
  if (LoadFrom<std::uint32_t>(tail_) != MaskedCrc(crc_)) {
    ++damaged_;
  } else if (is_kept_) {
    take(contents_);
  }
  head_.clear();
  tail_.clear();
  contents_.clear();
  if (contents_.capacity() > (1U << 20)) contents_.shrink_to_fit();
}

}  // namespace trainyard::measurement
