#include "supervisor/main.h"

#include "runtimes/program_source.h"

namespace trainyard::replica {

int RunReplica(int argc, char** argv) {
  InstalledPrograms source;
  return RunReplica(argc, argv, source);
}

}  // namespace trainyard::replica
