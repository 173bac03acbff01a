#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace trainyard::cli {

/// A notebook as a program.
struct NotebookScript {
  std::string source;
  std::vector<std::string> requirements;  ///< of its "!pip install"
  friend bool operator==(const NotebookScript&, const NotebookScript&) = default;
};

/// The code cells in order. Magics that only concern the page (%matplotlib, %autoreload, %%time, cells of
/// HTML) are left out, `%pip install` becomes requirements, `display` prints. kInvalidArgument for everything
/// else that only a notebook can do (`!ls`, `%cd`, `%%bash`), with the number of the cell as the page counts
/// code cells, and for what is no notebook of Python. Pure: any thread.
[[nodiscard]] Result<NotebookScript> ReadNotebook(std::string_view json);

}  // namespace trainyard::cli
