#pragma once

#include <string>

#include "base/result.h"

namespace trainyard::control {

/// What is wrong with the disk of a data directory.
struct DiskTrouble {
  bool answers = true;
  bool is_read_only = false;
  bool is_full = false;
};
/// Asks the kernel. Blocking.
[[nodiscard]] DiskTrouble LookForDiskTrouble(const std::string& data);

/// The error with what an operator can do about the disk, where that may be the reason. Pure.
[[nodiscard]] Error WithDiskAdvice(Error error, const DiskTrouble& trouble, const std::string& data);

}  // namespace trainyard::control
