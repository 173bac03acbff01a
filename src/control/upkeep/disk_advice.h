#pragma once

#include <string>

#include "base/result.h"

namespace trainyard::control {

/// Problems with the disk of a data directory.
struct DiskTrouble {
  bool answers = true;
  bool is_read_only = false;
  bool is_full = false;
};
/// Asks the kernel. Blocking.
[[nodiscard]] DiskTrouble LookForDiskTrouble(const std::string& data);

/// Adds to the error what an operator can do about the disk, if that may be the reason. Pure.
[[nodiscard]] Error WithDiskAdvice(Error error, const DiskTrouble& trouble, const std::string& data);

}  // namespace trainyard::control
