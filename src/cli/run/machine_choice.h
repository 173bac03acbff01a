#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

/// The machine type of a run, by what it needs. Pure: any thread.
namespace trainyard::cli {

/// "512M", "16G", "1T", also with B or iB behind: units of 1,024. Nothing: another text.
[[nodiscard]] std::optional<std::int64_t> ParseBytes(std::string_view text);
/// A flag's check.
[[nodiscard]] Status CheckBytes(std::string_view text);

struct MachineNeeds {
  int cpus = 0;                   ///< 0: any
  std::int64_t memory_bytes = 0;  ///< 0: any
  int gpus = 0;
};

/// The smallest machine type that has so much, of those to which the GPUs may be attached; the usual one of a
/// run if nothing is needed but GPUs. kInvalidArgument: there is none so large.
[[nodiscard]] Result<std::string> ChooseMachine(const MachineNeeds& needs);

/// A run asks for this accelerator type; it gets GPUs of the machine, of whatever type they are.
inline constexpr std::string_view kRunGpuType = "NVIDIA_TESLA_V100";

}  // namespace trainyard::cli
