#include "rules/cluster/machine_fit.h"

#include <cstdint>
#include <vector>

#include "base/text/suggestion.h"

namespace trainyard::cluster {
namespace {

void Append(std::string_view name, std::string& names) {
  names.append(names.empty() ? "" : ", ").append(name);
}

}  // namespace

std::string MachineTypeHint(std::string_view unknown) {
  const std::string_view series = unknown.substr(0, unknown.rfind('-') + 1);
  std::vector<std::string_view> names;
  std::string same;
  for (const MachineType& machine : MachineTypes()) {
    names.push_back(machine.name);
    if (!series.empty() && machine.name.starts_with(series)) Append(machine.name, same);
  }
  return same.empty() ? text::DidYouMean(unknown, names) : "There are: " + same + ".";
}

std::string AllowedCounts(std::string_view machine_type, AcceleratorConfig::Type type) {
  constexpr std::int64_t kCountMax = 16;
  std::string counts;
  for (std::int64_t count = 1; count <= kCountMax; ++count)
    if (GpusAllowed(machine_type, {type, count})) Append(std::to_string(count), counts);
  return counts;
}

std::string MachineTypesWith(const Accelerators& accelerators) {
  std::string names;
  for (const MachineType& machine : MachineTypes())
    if (GpusAllowed(machine.name, accelerators)) Append(machine.name, names);
  return names.empty() ? "none" : names;
}

std::string FitsOf(AcceleratorConfig::Type type) {
  std::string fits;
  for (const MachineType& machine : MachineTypes()) {
    const std::string counts = AllowedCounts(machine.name, type);
    if (!counts.empty()) Append(std::string(machine.name).append(" (").append(counts).append(")"), fits);
  }
  return fits;
}

}  // namespace trainyard::cluster
