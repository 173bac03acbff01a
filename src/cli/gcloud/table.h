#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace trainyard::cli {

/// A table as rows of cells; the first row is the heading. UTF-8; a character counts as one column.
using Rows = std::vector<std::vector<std::string>>;

/// gcloud's plain table: columns two spaces apart, no trailing spaces. Pure: any thread.
[[nodiscard]] std::string PrintTable(const Rows& rows);

/// gcloud's box table: a frame, a centred title and centred headings; cells may have several lines. Each line
/// begins with `indent` spaces.
[[nodiscard]] std::string PrintBoxTable(const std::string& title, const Rows& rows, std::size_t indent);

}  // namespace trainyard::cli
