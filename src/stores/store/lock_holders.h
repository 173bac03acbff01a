#pragma once

#include <sys/types.h>
#include <string>
#include <vector>

namespace trainyard::store {

/// The processes that have the file open, as far as this account can see. Blocking: reads /proc.
[[nodiscard]] std::vector<pid_t> ProcessesWith(const std::string& file);

/// "process 12 (python3) and process 14 (cat)"; "a process of another account" if none is visible.
[[nodiscard]] std::string DescribeHolders(const std::vector<pid_t>& holders);

}  // namespace trainyard::store
