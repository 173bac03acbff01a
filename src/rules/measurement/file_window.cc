#include "rules/measurement/file_window.h"

#include <algorithm>

namespace trainyard::measurement {

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
