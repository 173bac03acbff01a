// YAML of configurations: what is loaded is a tree within the limits, whatever its aliases are, and can be
// walked; a refusal has a reason.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/wire/yaml.h"

namespace {

using namespace trainyard::wire;

/// The nodes below, aliases written out.
std::size_t Count(const YAML::Node& node, std::size_t depth) {
  TY_CHECK(depth <= kYamlDepthMax);
  std::size_t count = 1;
  if (node.IsSequence()) {
    for (const YAML::Node& element : node) count += Count(element, depth + 1);
  } else if (node.IsMap()) {
    for (const auto& member : node) count += Count(member.first, depth + 1) + Count(member.second, depth + 1);
  }
  return count;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto loaded = LoadYaml({reinterpret_cast<const char*>(data), size});
  if (loaded)
    TY_CHECK(Count(*loaded, 0) <= kYamlNodesMax + 1);
  else
    TY_CHECK(!loaded.error().message.empty());
  return 0;
}
