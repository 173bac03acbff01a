#include "cli/gcloud/table.h"

#include <algorithm>
#include <string_view>

namespace trainyard::cli {
namespace {

std::size_t Width(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::vector<std::string_view> Lines(std::string_view cell) {
  std::vector<std::string_view> lines;
  for (std::size_t start = 0; start <= cell.size();) {
    std::size_t end = std::min(cell.find('\n', start), cell.size());
    lines.push_back(cell.substr(start, end - start));
    start = end + 1;
  }
  return lines;
}

std::vector<std::size_t> ColumnWidths(const Rows& rows) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i)
      for (std::string_view line : Lines(row[i])) widths[i] = std::max(widths[i], Width(line));
  return widths;
}

std::string Pad(std::string_view text, std::size_t width) {
  return std::string(text) + std::string(width - std::min(width, Width(text)), ' ');
}

/// Python's str.center.
std::string Center(std::string_view text, std::size_t width) {
  std::size_t missing = width - std::min(width, Width(text));
  std::size_t left = missing / 2 + (missing & width & 1);
  return std::string(left, ' ') + std::string(text) + std::string(missing - left, ' ');
}

std::string Repeat(std::string_view text, std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += text;
  return out;
}

std::string Rule(const std::vector<std::size_t>& widths, std::string_view left, std::string_view middle,
                 std::string_view right) {
  std::string out(left);
  for (std::size_t i = 0; i < widths.size(); ++i) {
    if (i > 0) out += middle;
    out += Repeat("─", widths[i] + 2);
  }
  return out + std::string(right) + "\n";
}

std::string BoxRow(const std::vector<std::string>& row, const std::vector<std::size_t>& widths,
                   const std::string& margin) {
  std::size_t height = 1;
  for (const std::string& cell : row) height = std::max(height, Lines(cell).size());
  std::string out;
  for (std::size_t k = 0; k < height; ++k) {
    out += margin;
    for (std::size_t i = 0; i < row.size(); ++i) {
      std::vector<std::string_view> lines = Lines(row[i]);
      out += "│ " + Pad(k < lines.size() ? lines[k] : std::string_view(), widths[i]) + " ";
    }
    out += "│\n";
  }
  return out;
}

}  // namespace

std::string PrintTable(const Rows& rows) {
  std::vector<std::size_t> widths = ColumnWidths(rows);
  std::string out;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) line += (i == 0 ? "" : "  ") + Pad(row[i], widths[i]);
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

std::string PrintBoxTable(const std::string& title, const Rows& rows, std::size_t indent) {
  std::vector<std::size_t> widths = ColumnWidths(rows);
  std::size_t content = 0;
  for (std::size_t width : widths) content += width;
  if (content < Width(title)) {  // all columns are widened by the same amount until the title fits
    std::size_t more = (Width(title) + widths.size() - 1) / widths.size();
    for (std::size_t& width : widths) width += more;
    content += more * widths.size();
  }
  std::string margin(indent, ' ');
  std::size_t inside = content + 3 * widths.size() - 1;
  std::string out = margin + "┌" + Repeat("─", inside) + "┐\n" + margin + "│" + Center(title, inside) + "│\n";
  out += margin + Rule(widths, "├", "┬", "┤") + margin;
  for (std::size_t i = 0; i < widths.size(); ++i) out += "│ " + Center(rows.front()[i], widths[i]) + " ";
  out += "│\n" + margin + Rule(widths, "├", "┼", "┤");
  for (std::size_t i = 1; i < rows.size(); ++i) out += BoxRow(rows[i], widths, margin);
  return out + margin + Rule(widths, "└", "┴", "┘");
}

}  // namespace trainyard::cli
