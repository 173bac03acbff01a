#include "replica/program.h"

#include "replica/module_program.h"

namespace trainyard::replica {

Result<std::unique_ptr<Program>> MakeProgram(const v1::Manifest& manifest, Prepared prepared) {
  if (auto* environment = std::get_if<environment::Environment>(&prepared))
    return std::make_unique<ModuleProgram>(manifest, std::move(*environment));
  return std::unexpected(FailedPrecondition("containers cannot be run yet"));
}

}  // namespace trainyard::replica
