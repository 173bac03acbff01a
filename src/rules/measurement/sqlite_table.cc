#include "rules/measurement/sqlite_table.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "base/ascii.h"

namespace trainyard::measurement {

namespace {

constexpr std::string_view kMagic("SQLite format 3\0", 16);
constexpr std::uint8_t kLeaf = 0x0D;
constexpr std::uint8_t kInterior = 0x05;
constexpr std::size_t kLeafHeadBytes = 8;
constexpr std::size_t kInteriorHeadBytes = 12;
constexpr std::size_t kColumnsMax = 100;
/// No tree has more pages that are known and not yet visited: that is four levels of the largest pages.
constexpr std::size_t kWaitingMax = 40'000;

/// A big-endian number of so many bytes at the beginning, which must be there.
std::uint64_t Number(std::string_view bytes, std::size_t count) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < count; ++i) number = number << 8U | static_cast<std::uint8_t>(bytes[i]);
  return number;
}

/// Takes SQLite's number of variable length: seven bits a byte, eight of the ninth. False: it is cut.
bool TakeVarint(std::string_view& bytes, std::uint64_t& number) {
  constexpr std::size_t kBytesMax = 9;
  number = 0;
  for (std::size_t i = 0; i < kBytesMax && i < bytes.size(); ++i) {
    const auto byte = static_cast<std::uint8_t>(bytes[i]);
    const bool is_last = i + 1 == kBytesMax;
    number = is_last ? number << 8U | byte : number << 7U | (byte & 0x7FU);
    if (!is_last && byte >= 0x80U) continue;
    bytes.remove_prefix(i + 1);
    return true;
  }
  return false;
}

/// The bytes of a value by its type in the record.
std::uint64_t BytesOf(std::uint64_t type) {
  constexpr std::array<std::uint64_t, 10> kFixed = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0};
  if (type < kFixed.size()) return kFixed[type];
  return type < 12 ? 0 : (type - 12) / 2;
}

SqliteTable::Value ValueOf(std::uint64_t type, std::string_view bytes) {
  constexpr std::uint64_t kFloat = 7;
  if (type == 0 || type == 10 || type == 11) return std::monostate();
  if (type == 8 || type == 9) return static_cast<std::int64_t>(type - 8);
  if (type >= 12) return bytes;
  const std::uint64_t number = Number(bytes, bytes.size());
  if (type == kFloat) return std::bit_cast<double>(number);
  const auto shift = static_cast<unsigned>(64 - 8 * bytes.size());  // its sign is that of its first byte
  return static_cast<std::int64_t>(number << shift) >> shift;
}

/// nullopt: it is damaged.
std::optional<SqliteTable::Row> RowOf(std::string_view record) {
  std::string_view types = record;
  std::uint64_t head = 0;
  if (!TakeVarint(types, head) || head > record.size() || head < record.size() - types.size())
    return std::nullopt;
  std::string_view values = record.substr(head);
  types = types.substr(0, head - (record.size() - types.size()));
  SqliteTable::Row row;
  while (!types.empty()) {
    std::uint64_t type = 0;
    if (!TakeVarint(types, type) || row.size() >= kColumnsMax) return std::nullopt;
    const std::uint64_t bytes = BytesOf(type);
    if (bytes > values.size()) return std::nullopt;
    row.push_back(ValueOf(type, values.substr(0, bytes)));
    values.remove_prefix(bytes);
  }
  return row;
}

std::string_view TextAt(const SqliteTable::Row& row, std::size_t column) {
  const auto* text = column < row.size() ? std::get_if<std::string_view>(&row[column]) : nullptr;
  return text == nullptr ? std::string_view() : *text;
}

/// The name that a part of a definition begins with, without its quotes; empty: it is a condition.
std::string ColumnName(std::string_view part) {
  part = TrimSpace(part);
  const char quote = part.empty() ? ' ' : part.front();
  if (quote == '"' || quote == '`' || quote == '[')
    return std::string(part.substr(1, part.find(quote == '[' ? ']' : quote, 1) - 1));
  const std::string_view word = part.substr(0, part.find_first_of(" \t\r\n("));
  constexpr std::array<std::string_view, 5> kConditions = {"CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK",
                                                           "FOREIGN"};
  const auto is_word = [word](std::string_view other) { return EqualsIgnoringCase(word, other); };
  return std::ranges::any_of(kConditions, is_word) ? std::string() : std::string(word);
}

/// The columns of "CREATE TABLE name (a INT, b TEXT, ...)".
std::vector<std::string> ColumnsOf(std::string_view sql) {
  std::vector<std::string> columns;
  const std::size_t open = sql.find('(');
  if (open == std::string_view::npos) return columns;
  int depth = 0;
  std::size_t begin = open + 1;
  for (std::size_t at = begin; at < sql.size() && columns.size() < kColumnsMax; ++at) {
    if (sql[at] == '(') ++depth;
    const bool is_end = sql[at] == ')' && depth-- == 0;
    if (!is_end && (sql[at] != ',' || depth != 0)) continue;
    if (std::string name = ColumnName(sql.substr(begin, at - begin)); !name.empty())
      columns.push_back(std::move(name));
    begin = at + 1;
    if (is_end) break;
  }
  return columns;
}

}  // namespace

std::optional<std::size_t> SqliteTable::ColumnOf(std::string_view name) const {
  const auto found = std::ranges::find(columns_, name);
  if (found == columns_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - columns_.begin());
}

/// False: it is no SQLite file.
bool SqliteTable::Begin(FileWindow& window, std::uint64_t size) {
  const std::string_view head = window.At(0, kHeadBytes);
  if (head.size() < kHeadBytes || !head.starts_with(kMagic)) return false;
  page_bytes_ = Number(head.substr(16), 2);
  if (page_bytes_ == 1) page_bytes_ = 65'536;
  constexpr std::uint64_t kPageBytesMin = 512;
  const auto reserved = static_cast<std::uint8_t>(head[20]);
  constexpr std::uint64_t kUtf8 = 1;
  if (page_bytes_ < kPageBytesMin || !std::has_single_bit(page_bytes_) || Number(head.substr(56), 4) != kUtf8)
    return false;
  usable_bytes_ = page_bytes_ - reserved;
  pages_left_ = size / page_bytes_;
  waiting_ = {1};
  return true;
}

void SqliteTable::TakeDefinition(const Row& row) {
  const auto* root = row.size() > 3 ? std::get_if<std::int64_t>(&row[3]) : nullptr;
  if (root == nullptr || *root <= 1 || TextAt(row, 0) != "table" || TextAt(row, 1) != name_) return;
  root_ = static_cast<std::uint32_t>(*root);
  columns_ = ColumnsOf(TextAt(row, 4));
}

void SqliteTable::VisitCell(std::string_view page, std::size_t at, bool is_leaf, const Take& take) {
  constexpr std::size_t kChildBytes = 4;
  if (at >= page.size()) return;
  std::string_view cell = page.substr(at);
  if (!is_leaf) {
    if (cell.size() >= kChildBytes) waiting_.push_back(static_cast<std::uint32_t>(Number(cell, kChildBytes)));
    return;
  }
  std::uint64_t bytes = 0;
  std::uint64_t row_id = 0;
  constexpr std::uint64_t kCellHeadBytes = 35;  // a longer record goes on in other pages
  if (!TakeVarint(cell, bytes) || !TakeVarint(cell, row_id) || bytes > usable_bytes_ - kCellHeadBytes ||
      bytes > cell.size())
    return;
  if (const auto row = RowOf(cell.substr(0, bytes))) take(*row);
}

void SqliteTable::VisitPage(FileWindow& window, std::uint32_t number, const Take& take) {
  if (number == 0) return;
  const std::string_view whole = window.At((number - 1) * page_bytes_, page_bytes_);
  if (whole.size() < page_bytes_) return;
  const std::string page(whole.substr(0, usable_bytes_));  // the window's bytes go with the next page
  const std::size_t begin = number == 1 ? kHeadBytes : 0;
  const std::string_view head = std::string_view(page).substr(begin);
  const auto type = static_cast<std::uint8_t>(head[0]);
  if (type != kLeaf && type != kInterior) return;
  const bool is_leaf = type == kLeaf;
  const std::size_t head_bytes = is_leaf ? kLeafHeadBytes : kInteriorHeadBytes;
  if (!is_leaf) waiting_.push_back(static_cast<std::uint32_t>(Number(head.substr(8), 4)));
  const std::uint64_t cells = Number(head.substr(3), 2);
  for (std::uint64_t i = cells; i-- > 0;) {
    const std::size_t place = head_bytes + 2 * i;
    if (place + 2 <= head.size()) VisitCell(page, Number(head.substr(place), 2), is_leaf, take);
  }
}

bool SqliteTable::Read(std::uint64_t size, std::uint64_t bytes_max, const FileWindow::ReadAt& read_at,
                       const Take& take) {
  FileWindow window(read_at);
  if (page_bytes_ == 0) lost_ = lost_ || !Begin(window, size);
  const Take take_definition = [this](const Row& row) { TakeDefinition(row); };
  // Pages of a circle are read once and visited again and again: they count each time.
  for (std::uint64_t visited = 0; !lost_ && std::max(visited, window.bytes_read()) < bytes_max;) {
    if (waiting_.empty() || pages_left_ == 0) {
      waiting_ = std::vector<std::uint32_t>();  // a file that was read needs no memory
      if (std::exchange(in_table_, true)) return false;
      lost_ = root_ == 0 || columns_.empty();
      waiting_ = {root_};
      pages_left_ = size / page_bytes_;
      continue;
    }
    --pages_left_;
    const std::uint32_t number = waiting_.back();
    waiting_.pop_back();
    VisitPage(window, number, in_table_ ? take : take_definition);
    visited += page_bytes_;
    lost_ = waiting_.size() > kWaitingMax;
  }
  if (lost_) waiting_ = std::vector<std::uint32_t>();
  return !lost_;
}

}  // namespace trainyard::measurement
