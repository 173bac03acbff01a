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

std::string_view FileWindow::At(std::uint64_t offset, std::size_t wanted) {
  const bool inside = offset >= begin_ && offset <= begin_ + size_;
  if (!inside || begin_ + size_ - offset < wanted) Fill(offset, std::min(wanted, kBytesMax));
  if (offset < begin_ || offset > begin_ + size_) return {};
  return std::string_view(buffer_.data(), size_).substr(offset - begin_);
}

void FileWindow::Fill(std::uint64_t offset, std::size_t wanted) {
  const bool goes_on = offset >= begin_ && offset <= begin_ + size_ && size_ > 0;
  const std::size_t kept = goes_on ? begin_ + size_ - offset : 0;
  if (kept > 0)
    std::copy_n(buffer_.begin() + static_cast<std::ptrdiff_t>(size_ - kept), kept, buffer_.begin());
  next_bytes_ = goes_on ? std::min(next_bytes_ * 2, kBytesMax) : kBytesFirst;
  const std::size_t target = std::max(wanted, std::min(kept + next_bytes_, kBytesMax));
  if (buffer_.size() < target) buffer_.resize(target);
  begin_ = offset;
  size_ = kept;
  while (size_ < target) {
    const std::size_t got = read_at_(begin_ + size_, std::span(buffer_).subspan(size_, target - size_));
    size_ += got;
    bytes_read_ += got;
    if (got == 0 || size_ >= wanted) break;
  }
}

bool WindowStream::Next(const void** data, int* size) {
  if (at_ >= end_ || window_.bytes_read() >= read_end_) return false;
  const std::string_view bytes = window_.At(at_, 1);
  if (bytes.empty()) return false;
  const std::uint64_t given = std::min<std::uint64_t>(bytes.size(), end_ - at_);
  *data = bytes.data();
  *size = static_cast<int>(given);
  at_ += given;
  return true;
}

bool WindowStream::Skip(int count) {
  const auto wanted = static_cast<std::uint64_t>(count);
  const bool inside = wanted <= end_ - at_;
  at_ = inside ? at_ + wanted : end_;
  return inside;
}

}  // namespace trainyard::measurement
