#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/run/wheel.h"

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

/// What Python is started with for a notebook.
inline constexpr std::string_view kNotebookProgram = "trainyard_notebook.py";

/// The script, the notebook `file`, and kNotebookProgram, which runs the cells of the script one after the
/// other and writes their outputs into the notebook (notebook_runner.py). Pure: any thread.
[[nodiscard]] std::vector<ProgramFile> NotebookFiles(const std::string& file, std::string_view json,
                                                     const NotebookScript& script);

}  // namespace trainyard::cli
