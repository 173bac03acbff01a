#include "programs/environment/layout.h"

#include "programs/environment/content_hash.h"

namespace trainyard::environment {

std::filesystem::path Layout::Layer(const RuntimeVersion& runtime,
                                    const std::vector<EnvironmentRequest::Package>& packages) const {
  const auto name_in = [&packages](auto add) {
    // The file's name is part of the hash: pip takes a wheel's name, version and tags from it.
    for (const auto& package : packages) {
      add(std::filesystem::path(package.uri).filename().string());
      add(package.checksum);
    }
  };
  if (AreByContent(packages)) {
    ContentHash hash;
    hash.AddPart("layer 2").AddPart(RuntimeFolder(runtime));
    name_in([&hash](const std::string& part) { hash.AddPart(part); });
    return root / "layers" / hash.Hex();
  }
  NameHash hash;
  hash.Add("layer 1").Add(RuntimeFolder(runtime));
  name_in([&hash](const std::string& part) { hash.Add(part); });
  return root / "layers" / hash.Hex();
}

}  // namespace trainyard::environment
