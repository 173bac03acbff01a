#include "programs/lines/output_tail.h"

#include <algorithm>

#include "base/wire/utf8.h"

namespace trainyard::replica {

void OutputTail::Add(std::string_view line, bool is_error) noexcept {
  if (line.ends_with('\n')) line.remove_suffix(1);
  if (const std::size_t end = line.rfind('\n'); end != std::string_view::npos) line.remove_prefix(end + 1);
  if (line.empty()) return;
  Slot& slot = slots_[count_++ % kLinesMax];
  const std::size_t size = line.size() <= kLineBytesMax ? line.size() : wire::Utf8Prefix(line, kLineBytesMax);
  std::copy_n(line.data(), size, slot.bytes.data());
  slot.size = static_cast<std::uint16_t>(size);
  slot.is_error = is_error;
}

std::vector<diagnosis::OutputLine> OutputTail::Lines() const {
  std::vector<diagnosis::OutputLine> lines;
  for (std::size_t i = count_ - std::min(count_, kLinesMax); i < count_; ++i) {
    const Slot& slot = slots_[i % kLinesMax];
    lines.push_back({{slot.bytes.data(), slot.size}, slot.is_error});
  }
  return lines;
}

}  // namespace trainyard::replica
