#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard::cli {

/// A table as rows of cells; the first row is the heading. UTF-8; a character counts as one column.
using Rows = std::vector<std::vector<std::string>>;

/// What the table is printed on. The default is a pipe or a file: all values whole, no colours.
struct TableView {
  std::size_t columns = 0;  ///< of a terminal; 0: lines may have any length
  bool colours = false;
};

/// gcloud's plain table: columns two spaces apart, no trailing spaces. If it is wider than the view, cells
/// are shortened to "long va…": the widest column first, the first column last, because names are copied from
/// it. If that is not enough, the last columns are left out, and each line ends with "…". Pure: any thread.
[[nodiscard]] std::string PrintTable(const Rows& rows, const TableView& view = {});

/// A number as people read it in a table: 4 significant digits, whole numbers and other text unchanged.
[[nodiscard]] std::string RoundedNumber(const std::string& text);

/// gcloud's box table: a frame, a centred title and centred headings; cells may have several lines. Each line
/// begins with `indent` spaces.
[[nodiscard]] std::string PrintBoxTable(const std::string& title, const Rows& rows, std::size_t indent);

enum class Colour { kNone, kBold, kRed, kGreen, kYellow, kBlue };

/// The text in a colour, as terminals read it (ECMA-48); unchanged for kNone. Pure: any thread.
[[nodiscard]] std::string Painted(std::string_view text, Colour colour);

/// Returns the colour of a table cell or of the first word of a log line: states of jobs and trials,
/// "(best)" and severities have one.
[[nodiscard]] Colour ColourOfCell(std::string_view cell);

}  // namespace trainyard::cli
