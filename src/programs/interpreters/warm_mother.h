#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/async/unique_fd.h"
#include "programs/attempt/attempt_dir.h"
#include "programs/environment/environment.h"

/// A replica's side of warm interpreters. The server keeps what there is in a directory of its own
/// (engine/local/mothers.h); without it programs start fresh, and nothing is learned.
namespace trainyard::replica {

/// An interpreter that will become one program.
struct WarmMother {
  UniqueFd connection;
  std::string line;  ///< for the job's log, if the program starts in it
};

/// The warm interpreter for a program with these variables; nothing if there is none, or if the program could
/// tell the difference. Never waits.
[[nodiscard]] std::optional<WarmMother> FindWarmMother(const AttemptDir& dir,
                                                       const environment::Environment& environment,
                                                       const std::vector<std::string>& variables);

/// Takes the note about its modules that the program left (environment/site/sitecustomize.py), and adds it to
/// what is known about its runtime version. `channels`: the variables that are the same for every job
/// (CommonChannelVariables). Call it when the program has ended.
void LearnModules(const AttemptDir& dir, const environment::Environment& environment,
                  const std::map<std::string, std::string>& channels);

}  // namespace trainyard::replica
