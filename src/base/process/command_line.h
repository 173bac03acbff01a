#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace trainyard {

/// Whether SetCommandLine knows what it needs. Call it before fork, so that the child need not find that out.
[[nodiscard]] bool KnowsMemoryLayout();

/// Makes these the command line and the variables of this process, as others see them (/proc/PID/cmdline and
/// environ, ps). For a child that fork made, and that then runs another command of this program. Call it in a
/// process with one thread. kUnimplemented: the kernel does not allow it. Source: prctl(2), PR_SET_MM_MAP.
[[nodiscard]] Status SetCommandLine(const std::vector<std::string>& words,
                                    const std::vector<std::string>& variables);

}  // namespace trainyard
