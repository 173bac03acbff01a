#include "programs/lines/line_splitter.h"

#include "base/wire/utf8.h"

namespace trainyard::replica {

namespace {

std::string_view WithoutReturn(std::string_view line) {
  return line.ends_with('\r') ? line.substr(0, line.size() - 1) : line;
}

}  // namespace

std::size_t LineSplitter::BytesMax(std::string_view bytes) const noexcept {
  const bool is_object = rest_.empty() ? bytes.starts_with('{') : rest_.front() == '{';
  return is_object && !was_cut_ ? object_bytes_max_ : line_bytes_max_;
}

bool LineSplitter::NextLine(std::string_view& bytes, std::string_view& line) {
  const std::size_t bytes_max = BytesMax(bytes);
  const std::size_t end = bytes.find('\n');
  const std::size_t piece = end == std::string_view::npos ? bytes.size() : end;
  const std::size_t total = rest_.size() + piece;
  const bool room_for_return = piece == 0 ? rest_.ends_with('\r') : bytes[piece - 1] == '\r';
  const bool undecided = total == bytes_max + 1 && (room_for_return || end == std::string_view::npos);
  if (total > bytes_max && !undecided) {
    const std::size_t wanted = bytes_max + 4 > rest_.size() ? bytes_max + 4 - rest_.size() : 0;
    const std::size_t moved = wanted < piece ? wanted : piece;
    rest_.append(bytes.substr(0, moved));
    bytes.remove_prefix(moved);
    taken_ = wire::Utf8Prefix(rest_, bytes_max);
    line = std::string_view(rest_).substr(0, taken_);
    was_cut_ = true;
    return true;
  }
  if (end == std::string_view::npos) {
    rest_.append(bytes);
    bytes = {};
    return false;
  }
  was_cut_ = false;
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
  taken_ = wire::Utf8Prefix(rest_, BytesMax({}));
  was_cut_ = taken_ < rest_.size();
  line = std::string_view(rest_).substr(0, taken_);
  return true;
}

void LineSplitter::DropTaken() {
  rest_.erase(0, taken_);
  taken_ = 0;
}

}  // namespace trainyard::replica
