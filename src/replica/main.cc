#include "replica/main.h"

#include "environment/environment.h"
#include "replica/preparation.h"

namespace trainyard::replica {

int RunReplica(int argc, char** argv) {
  const EnvironmentSource source{.find = environment::FindEnvironment,
                                 .prepare = environment::PrepareEnvironment};
  return RunReplica(argc, argv, source);
}

}  // namespace trainyard::replica
