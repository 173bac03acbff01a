#include "engine/local/preparation_output.h"

#include "programs/runtimes/program_source.h"

namespace trainyard::engine {

std::string PreparationOutput(const replica::v1::Manifest& manifest) {
  return replica::PreparationOutput(manifest);
}

}  // namespace trainyard::engine
