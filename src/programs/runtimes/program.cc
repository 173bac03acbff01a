#include "programs/runtimes/program.h"

#include "programs/runtimes/container_program.h"
#include "programs/runtimes/daemon_program.h"
#include "programs/runtimes/module_program.h"

namespace trainyard::replica {

Result<std::unique_ptr<Program>> MakeProgram(const v1::Manifest& manifest, Prepared prepared) {
  if (auto* environment = std::get_if<environment::Environment>(&prepared))
    return std::make_unique<ModuleProgram>(manifest, std::move(*environment));
  if (auto* image = std::get_if<DaemonImage>(&prepared))
    return DaemonProgram::Make(manifest, std::move(*image));
  return ContainerProgram::Make(manifest, std::move(std::get<image::Image>(prepared)));
}

}  // namespace trainyard::replica
