#include "cli/run/machine_choice.h"

#include <limits>
#include <tuple>

#include "base/ascii.h"
#include "cli/gcloud/flag_values.h"
#include "rules/cluster/machine_type.h"

namespace trainyard::cli {

namespace {

using cluster::MachineType;

constexpr std::string_view kUsual = "n1-standard-4";
constexpr std::string_view kUsualWithGpus = "n1-standard-8";

bool Has(const MachineType& machine, const MachineNeeds& needs) {
  const cluster::Accelerators gpus{.type = cluster::AcceleratorConfig::NVIDIA_TESLA_V100,
                                   .count = needs.gpus};
  return machine.category == MachineType::Category::kComputeEngine && machine.accelerators.count == 0 &&
         machine.vcpus >= needs.cpus && machine.memory_bytes() >= needs.memory_bytes &&
         (needs.gpus == 0 || cluster::GpusAllowed(machine.name, gpus));
}

}  // namespace

std::optional<std::int64_t> ParseBytes(std::string_view text) {
  constexpr std::string_view kUnits = "kmgt";
  constexpr int kUnitBits = 10;
  for (const std::string_view suffix : {"iB", "B"}) {
    if (text.ends_with(suffix)) {
      text.remove_suffix(suffix.size());
      break;
    }
  }
  if (text.empty()) return std::nullopt;
  const std::size_t unit = kUnits.find(ToLower(text.back()));
  if (unit == std::string_view::npos) return std::nullopt;
  const auto number = ParseNumber(text.substr(0, text.size() - 1));
  const int bits = kUnitBits * (static_cast<int>(unit) + 1);
  if (!number || *number < 1 || *number > (std::numeric_limits<std::int64_t>::max() >> bits))
    return std::nullopt;
  return *number << bits;
}

Status CheckBytes(std::string_view text) {
  if (ParseBytes(text)) return {};
  return std::unexpected(
      InvalidArgument("", "'" + std::string(text) + "' is not a size, such as 512M, 16G or 16GiB"));
}

Result<std::string> ChooseMachine(const MachineNeeds& needs) {
  if (needs.cpus == 0 && needs.memory_bytes == 0)
    return std::string(needs.gpus > 0 ? kUsualWithGpus : kUsual);
  const MachineType* chosen = nullptr;
  const auto size = [](const MachineType& machine) {
    return std::tuple(machine.is_of_vertex, machine.vcpus, machine.memory_gb);
  };
  for (const MachineType& machine : cluster::MachineTypes())
    if (Has(machine, needs) && (chosen == nullptr || size(machine) < size(*chosen))) chosen = &machine;
  if (chosen != nullptr) return std::string(chosen->name);
  return std::unexpected(InvalidArgument(
      "", "No machine type has so many CPUs, so much memory" +
              std::string(needs.gpus > 0 ? " and so many GPUs together" : "") +
              ". The types are listed in docs/compatibility.md; ask for less in each replica."));
}

}  // namespace trainyard::cli
