#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trainyard::cli {

/// Name of the built file, as wheels are named.
inline constexpr std::string_view kWheelName = "trainyard_program-0-py3-none-any.whl";

struct ProgramFile {
  std::string path;  ///< relative to the program's folder: "data/train.csv"
  std::string bytes;
  bool executable = false;
};

/// A program with the files around it.
struct PackagedProgram {
  std::vector<std::string> command;  ///< of Python: {"train.py"}, {"-m", "pkg.task"}
  std::vector<ProgramFile> files;
  std::vector<std::string> requirements;
};

/// A wheel whose module wire::kProgramModule puts the files into the working directory and becomes `python
/// COMMAND ARGS`: the program sees its files, its modules and its own name as where it was written. The same
/// program gives the same bytes, so that the server installs it once. Pure: any thread. Source: the binary
/// distribution format (PEP 427), docs/adr/0035.
[[nodiscard]] std::string MakeWheel(const PackagedProgram& program);

}  // namespace trainyard::cli
