#pragma once

#include "base/result.h"
#include "programs/runtimes/program_source.h"
#include "replica/supervisor/background_work.h"

namespace trainyard::replica {

/// Whether an error of http::Client means that there is no server, or that its answer is late or cut, so that
/// trying again is worth it.
[[nodiscard]] bool MeansNoServer(Code code);

/// Prepares what the manifest's program runs in. Its packages come from the server, for which it waits as
/// long as it is away. Blocks: for BackgroundWork.
[[nodiscard]] Status PrepareProgram(ProgramSource& source, const v1::Manifest& manifest,
                                    BackgroundReporter& reporter);

}  // namespace trainyard::replica
