#include "environment/layout.h"

#include "environment/name_hash.h"

namespace trainyard::environment {

std::filesystem::path Layout::Layer(const RuntimeVersion& runtime,
                                    const std::vector<EnvironmentRequest::Package>& packages) const {
  NameHash hash;
  hash.Add("layer 1").Add(RuntimeFolder(runtime));
  // The file's name counts: pip takes a wheel's name, version and tags from it.
  for (const auto& package : packages)
    hash.Add(std::filesystem::path(package.uri).filename().string()).Add(package.checksum);
  return root / "layers" / hash.Hex();
}

}  // namespace trainyard::environment
