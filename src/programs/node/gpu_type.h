#pragma once

#include <string>
#include <string_view>

namespace trainyard::node {

/// The type of a GPU from the name that its driver gives it, as flags spell types: "nvidia-tesla-t4" for
/// "Tesla T4", "nvidia-tesla-a100" for "NVIDIA A100-SXM4-40GB" (the six types of the original), else the name
/// itself: "nvidia-h200" for "NVIDIA H200". Pure.
[[nodiscard]] std::string GpuType(std::string_view name);

}  // namespace trainyard::node
