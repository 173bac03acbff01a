#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What the operator says of Slurm: the flags of `serve` that begin with --slurm. Values. docs/slurm.md.
namespace trainyard::slurm {

/// What jobs of one partition, or with one machine type, ask sbatch for.
struct Options {
  std::string partition{};           ///< empty: Slurm's default
  std::string account{};             ///< empty: Slurm's default
  std::string qos{};                 ///< empty: Slurm's default
  std::string constraint{};          ///< empty: none
  std::vector<std::string> lines{};  ///< further options of sbatch, as "--exclusive"
  friend bool operator==(const Options&, const Options&) = default;
};

/// The engine's, where the machine type's say nothing else; lines are added. Pure: any thread.
[[nodiscard]] Options WithOptionsOf(Options options, const Options& machine);

/// What a machine type becomes. What is absent is as the original's machine has it.
struct MachineOptions {
  std::optional<int> cpus{};
  std::optional<std::int64_t> memory_mib{};
  Options options{};  ///< each one that is given replaces the engine's; lines are added
  friend bool operator==(const MachineOptions&, const MachineOptions&) = default;
};

enum class Sizes {
  kFit,     ///< a replica gets at most what the largest node has, and the job's log says so
  kStrict,  ///< a machine type that no node can be never starts
};

/// In place of a type of Slurm's GPUs: whatever type.
inline constexpr std::string_view kAnyGpu = "any";

struct SlurmSettings {
  Options options{};
  /// Partitions of regions that have one of their own: "us-central1" -> "gpu".
  std::map<std::string, std::string> regions{};
  std::map<std::string, MachineOptions> machine_types{};  ///< by name of the original
  /// "nvidia-tesla-k80" -> "a100", a type of Slurm's GPUs; "any": of whatever type. Absent: GPUs of that
  /// name, or else any.
  std::map<std::string, std::string> accelerators{};
  Sizes sizes = Sizes::kFit;
  /// What a job of priority 0 gets as --nice; one of priority 1000 gets 0. It may be 0: priorities mean
  /// nothing to Slurm.
  int nice = 100;
};

}  // namespace trainyard::slurm
