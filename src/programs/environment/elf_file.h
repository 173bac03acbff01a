#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace trainyard::environment {

/// The parts of a program or library that the dynamic loader reads: 64-bit ELF, little endian. A value.
struct ElfFile {
  std::string loader;               ///< PT_INTERP; empty for a library
  std::vector<std::string> needed;  ///< DT_NEEDED: "libssl.so.1.1"
  std::string run_path;             ///< DT_RPATH or DT_RUNPATH as it is written; empty: none
  friend bool operator==(const ElfFile&, const ElfFile&) = default;
};

/// kInvalidArgument for anything else, also for a file that ends too early, that has no dynamic part or names
/// of more than 4096 bytes. Pure.
[[nodiscard]] Result<ElfFile> ReadElf(std::string_view file);

/// Returns the file with `run_path` as its DT_RPATH and no DT_RUNPATH: the loader then looks there first for
/// all libraries that a program and its modules need, whatever LD_LIBRARY_PATH says. The new strings and the
/// new dynamic section are in a new segment at the end of the file, whose program header replaces that of a
/// note. kInvalidArgument as ReadElf, and for a file without a note or one whose parts overlap. Pure. Source:
/// the ELF specification, ld.so(8).
[[nodiscard]] Result<std::string> WithRunPath(std::string file, std::string_view run_path);

}  // namespace trainyard::environment
