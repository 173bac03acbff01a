#include "programs/lines/line_splitter.h"

#include "base/wire/utf8.h"

namespace trainyard::replica {

namespace {

std::string_view WithoutReturn(std::string_view line) {
  return line.ends_with('\r') ? line.substr(0, line.size() - 1) : line;
}

}  // namespace

bool LineSplitter::NextLine(std::string_view& bytes, std::string_view& line) {
  const std::size_t end = bytes.find('\n');
  const std::size_t piece = end == std::string_view::npos ? bytes.size() : end;
  const std::size_t total = rest_.size() + piece;
  const bool room_for_return = piece == 0 ? rest_.ends_with('\r') : bytes[piece - 1] == '\r';
  const bool undecided = total == line_bytes_max_ + 1 && (room_for_return || end == std::string_view::npos);
  if (total > line_bytes_max_ && !undecided) {
    const std::size_t wanted = line_bytes_max_ + 4 > rest_.size() ? line_bytes_max_ + 4 - rest_.size() : 0;
    const std::size_t moved = wanted < piece ? wanted : piece;
    rest_.append(bytes.substr(0, moved));
    bytes.remove_prefix(moved);
    taken_ = wire::Utf8Prefix(rest_, line_bytes_max_);
    line = std::string_view(rest_).substr(0, taken_);
    return true;
  }
  if (end == std::string_view::npos) {
    rest_.append(bytes);
    bytes = {};
    return false;
  }
  if (rest_.empty()) {
    line = WithoutReturn(bytes.substr(0, end));
  } else {
    rest_.append(bytes.substr(0, end));
    taken_ = rest_.size();
    line = WithoutReturn(rest_);
  }
  bytes.remove_prefix(end + 1);
  return true;
}

bool LineSplitter::LastLine(std::string_view& line) {
  if (rest_.ends_with('\r')) rest_.pop_back();
  if (rest_.empty()) return false;
  taken_ = wire::Utf8Prefix(rest_, line_bytes_max_);
  line = std::string_view(rest_).substr(0, taken_);
  return true;
}

void LineSplitter::DropTaken() {
  rest_.erase(0, taken_);
  taken_ = 0;
}

}  // namespace trainyard::replica
