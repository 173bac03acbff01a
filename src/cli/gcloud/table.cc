#include "cli/gcloud/table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace trainyard::cli {
namespace {

constexpr std::array<std::pair<std::string_view, Colour>, 16> kStates{{
    {"SUCCEEDED", Colour::kGreen},
    {"COMPLETED", Colour::kGreen},
    {"FAILED", Colour::kRed},
    {"INFEASIBLE", Colour::kRed},
    {"CANCELLED", Colour::kYellow},
    {"CANCELLING", Colour::kYellow},
    {"STOPPED", Colour::kYellow},
    {"QUEUED", Colour::kYellow},
    {"PREPARING", Colour::kBlue},
    {"RUNNING", Colour::kBlue},
    {"ACTIVE", Colour::kBlue},
    {"WARNING", Colour::kYellow},
    {"ERROR", Colour::kRed},
    {"CRITICAL", Colour::kRed},
    {"ALERT", Colour::kRed},
    {"EMERGENCY", Colour::kRed},
}};

std::string_view CodeOf(Colour colour) {
  switch (colour) {
    case Colour::kNone: return "";
    case Colour::kBold: return "1";
    case Colour::kRed: return "31";
    case Colour::kGreen: return "32";
    case Colour::kYellow: return "33";
    case Colour::kBlue: return "34";
  }
  return "";
}

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

constexpr std::size_t kGap = 2;
constexpr std::size_t kColumnMin = 6;

/// The first `width` characters, the last of them "…" if there were more.
std::string Shortened(std::string_view text, std::size_t width) {
  if (Width(text) <= width) return std::string(text);
  std::size_t end = 0;
  for (std::size_t characters = 0; end < text.size(); ++end)
    if ((static_cast<unsigned char>(text[end]) & 0xc0) != 0x80 && ++characters == width) break;
  return width == 0 ? "" : std::string(text.substr(0, end)) + "…";
}

/// Makes columns narrower until a line fits, as far as their least width allows; then leaves out the last
/// ones, so that there is room for the mark that says so.
void Fit(std::vector<std::size_t>& widths, std::size_t columns) {
  std::size_t all = kGap * (widths.size() - 1);
  for (std::size_t width : widths) all += width;
  for (std::size_t first : {1U, 0U}) {
    while (all > columns && first < widths.size()) {
      auto widest =
          std::ranges::max_element(widths.begin() + static_cast<std::ptrdiff_t>(first), widths.end());
      if (*widest <= kColumnMin) break;
      --*widest;
      --all;
    }
  }
  if (all <= columns) return;
  while (widths.size() > 1 && all + kGap + 1 > columns) {
    all -= widths.back() + kGap;
    widths.pop_back();
  }
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

std::string Painted(std::string_view text, Colour colour) {
  if (colour == Colour::kNone || text.empty()) return std::string(text);
  return "\x1b[" + std::string(CodeOf(colour)) + "m" + std::string(text) + "\x1b[0m";
}

Colour ColourOfCell(std::string_view cell) {
  if (cell.ends_with("(best)")) return Colour::kGreen;
  const std::string_view word = cell.substr(0, cell.find(' '));
  for (const auto& [state, colour] : kStates)
    if (word == state) return colour;
  return Colour::kNone;
}

std::string PrintTable(const Rows& rows, const TableView& view) {
  std::vector<std::size_t> widths = ColumnWidths(rows);
  if (view.columns > 0) Fit(widths, view.columns);
  std::string out;
  for (const auto& row : rows) {
    std::string line;
    const bool whole = widths.size() == row.size();
    std::size_t end = widths.size();
    while (whole && end > 0 && row[end - 1].empty()) --end;  // no spaces at the end
    for (std::size_t i = 0; i < end; ++i) {
      const std::string cell = Shortened(row[i], widths[i]);
      const Colour colour = !view.colours           ? Colour::kNone
                            : &row == &rows.front() ? Colour::kBold
                                                    : ColourOfCell(row[i]);
      line += (i == 0 ? "" : std::string(kGap, ' ')) + Painted(cell, colour);
      if (!whole || i + 1 < end) line += std::string(widths[i] - std::min(widths[i], Width(cell)), ' ');
    }
    if (!whole) line += std::string(kGap, ' ') + "…";
    out += line + "\n";
  }
  return out;
}

std::string RoundedNumber(const std::string& text) {
  constexpr std::ptrdiff_t kDigits = 4;
  constexpr double kWholeMin = 1e4;
  constexpr double kWholeMax = 1e9;
  const std::string digits = text.substr(0, text.find_first_of("eE"));
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const std::size_t first = digits.find_first_of("123456789");
  if (first == std::string::npos || text.find_first_of(".eE") == std::string::npos ||
      std::ranges::count_if(digits.substr(first), is_digit) <= kDigits)
    return text;
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (*end != '\0' || !std::isfinite(value)) return text;
  const bool is_large = std::abs(value) >= kWholeMin && std::abs(value) < kWholeMax;
  std::array<char, 32> out{};
  std::snprintf(out.data(), out.size(), is_large ? "%.0f" : "%.4g", value);
  return out.data();
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
