#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/async/unique_fd.h"
#include "base/result.h"
#include "programs/attempt/attempt_dir.h"

/// The note that a supervisor writes about the sandbox that it has started, before any program of the user
/// runs in it. The lock alone does not prove that everything has ended: the kernel closes the files of a
/// killed process before it ends the PID namespace whose first process that was.
namespace trainyard::replica {

/// Identifies a process so that no other one of this machine is ever mistaken for it.
struct ProcessMark {
  pid_t pid = 0;
  std::uint64_t start_time = 0;  ///< in clock ticks since the machine's start (proc(5), stat, field 22)
  std::string boot_id;           ///< identifies the machine's boot
  friend bool operator==(const ProcessMark&, const ProcessMark&) = default;
};

struct InitNote {
  ProcessMark init;                 ///< the sandbox's first process
  bool preparing = false;           ///< the sandbox runs the preparation of the program, and not the program
  std::vector<std::string> groups;  ///< directories of further cgroups of the attempt, besides Cgroup()
  friend bool operator==(const InitNote&, const InitNote&) = default;
};

/// Field 22 of /proc/PID/stat; empty if the text is something else. Pure: any thread.
[[nodiscard]] std::optional<std::uint64_t> StartTimeFromStat(std::string_view stat) noexcept;

/// "1234 567890 BOOT-ID\nGROUP\n...", with " preparing" behind the BOOT-ID. Pure: any thread.
[[nodiscard]] std::string PrintInitNote(const InitNote& note);
/// Empty if the text is no complete note. Pure: any thread.
[[nodiscard]] std::optional<InitNote> ParseInitNote(std::string_view text);

/// Writes the note, replacing that of an earlier sandbox. It is not durable, since a crash of the machine
/// ends the attempt anyway. kNotFound: the process is gone.
[[nodiscard]] Status NoteInit(const AttemptDir& dir, pid_t init, std::vector<std::string> groups,
                              bool preparing = false);
/// Empty if there is no complete note: then no program of the user has run in a sandbox.
[[nodiscard]] std::optional<InitNote> ReadInitNote(const AttemptDir& dir);

/// A pidfd of that process; empty if it has ended, also as a zombie.
[[nodiscard]] UniqueFd OpenProcess(const ProcessMark& mark);

}  // namespace trainyard::replica
