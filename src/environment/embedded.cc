#include "environment/embedded.h"

#include "environment/python_files.h"

namespace trainyard::environment {

std::string_view EmbeddedSiteCustomize() noexcept { return python::Files()[0].bytes; }

std::string_view EmbeddedLayerProbe() noexcept { return python::Files()[1].bytes; }

}  // namespace trainyard::environment
