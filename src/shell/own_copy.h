#pragma once

#include "base/result.h"

namespace trainyard::shell {

/// Runs this program again from a sealed copy of itself in memory, with the same words; returns at once where
/// it is that copy. Whoever enters a container needs it: a program of the container that says
/// `#!/proc/self/exe` would otherwise be given the machine's own file, which root inside could overwrite
/// (CVE-2019-5736). `arguments`: of main, with a null pointer behind the last. Errors: no such copy can be
/// made or run.
[[nodiscard]] Status RunFromOwnCopy(char* const* arguments);

}  // namespace trainyard::shell
