#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace trainyard::cli {

/// A table as rows of cells; the first row is the heading. UTF-8; a character counts as one column.
using Rows = std::vector<std::vector<std::string>>;

/// Columns two spaces apart, no spaces at line ends: gcloud's plain table. Pure: any thread.
[[nodiscard]] std::string PrintTable(const Rows& rows);

/// With a frame, a centred title and centred headings; cells may have several lines. Each line begins with
/// `indent` spaces.
[[nodiscard]] std::string PrintBoxTable(const std::string& title, const Rows& rows, std::size_t indent);

}  // namespace trainyard::cli
