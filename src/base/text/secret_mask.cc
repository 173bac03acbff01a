#include "base/text/secret_mask.h"

#include <algorithm>

namespace trainyard::text {

std::vector<std::string> MaskedPieces(std::string_view value) {
  std::vector<std::string> pieces;
  while (!value.empty()) {
    const std::size_t end = std::min(value.find('\n'), value.size());
    std::string_view line = value.substr(0, end);
    value.remove_prefix(std::min(end + 1, value.size()));
    while (line.ends_with('\r')) line.remove_suffix(1);
    if (line.size() >= kMaskedBytesMin) pieces.emplace_back(line);
  }
  return pieces;
}

SecretMask::SecretMask(const std::vector<std::string>& values) {
  for (const std::string& value : values) {
    for (std::string& piece : MaskedPieces(value)) pieces_.push_back(std::move(piece));
  }
  std::ranges::sort(pieces_);
  const auto doubled = std::ranges::unique(pieces_);
  pieces_.erase(doubled.begin(), doubled.end());
}

std::vector<SecretMask::Range> SecretMask::Find(std::string_view text) const {
  std::vector<Range> found;
  for (const std::string& piece : pieces_) {
    for (std::size_t at = text.find(piece); at != std::string_view::npos; at = text.find(piece, at + 1))
      found.push_back({at, at + piece.size()});
  }
  std::ranges::sort(found, {}, &Range::begin);
  std::vector<Range> merged;
  for (const Range& range : found) {
    if (merged.empty() || range.begin >= merged.back().end)
      merged.push_back(range);
    else
      merged.back().end = std::max(merged.back().end, range.end);
  }
  return merged;
}

std::size_t SecretMask::OpenBytes(std::string_view text) const {
  std::size_t open = 0;
  for (const std::string& piece : pieces_) {
    for (std::size_t size = std::min(piece.size() - 1, text.size()); size > open; --size) {
      if (text.ends_with(std::string_view(piece).substr(0, size))) open = size;
    }
  }
  return open;
}

std::string SecretMask::Apply(std::string_view text) const {
  MaskedStream stream;
  std::string shown = stream.Feed(*this, text);
  return shown += stream.Finish(*this);
}

std::string MaskedStream::Feed(const SecretMask& mask, std::string_view bytes) {
  held_ += bytes;
  return Pass(mask, mask.OpenBytes(held_));
}

std::string MaskedStream::Finish(const SecretMask& mask) { return Pass(mask, 0); }

/// Returns all but the last `keep` bytes. If a value reaches into these, kMask is returned now and the rest
/// of the value is dropped later.
std::string MaskedStream::Pass(const SecretMask& mask, std::size_t keep) {
  const std::size_t end = held_.size() - keep;
  std::string shown;
  std::size_t next = hidden_;  // the first byte that is not in the output yet, neither itself nor as kMask
  for (const SecretMask::Range& range : mask.Find(held_)) {
    const bool goes_on = range.begin < next;
    if (range.begin >= end && !goes_on) break;
    if (!goes_on) shown.append(held_, next, range.begin - next).append(kMask);
    next = std::max(next, range.end);
  }
  if (next < end) shown.append(held_, next, end - next);
  hidden_ = next > end ? next - end : 0;
  held_.erase(0, end);
  return shown;
}

}  // namespace trainyard::text
