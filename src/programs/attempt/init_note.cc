#include "programs/attempt/init_note.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <utility>

#include "base/async/file.h"
#include "base/number.h"
#include "base/process/kernel_calls.h"

namespace trainyard::replica {

namespace {

std::string_view TakeUntil(std::string_view& text, char end) {
  const std::size_t size = text.find(end);
  const std::string_view taken = text.substr(0, size);
  text.remove_prefix(size == std::string_view::npos ? text.size() : size + 1);
  return taken;
}

std::optional<std::uint64_t> StartTime(pid_t pid) {
  const auto stat = ReadFile("/proc/" + std::to_string(pid) + "/stat");
  return stat ? StartTimeFromStat(*stat) : std::nullopt;
}

}  // namespace

std::optional<std::uint64_t> StartTimeFromStat(std::string_view stat) noexcept {
  constexpr int kFieldsBetween = 19;              // from the third, the state, to the 22nd
  const std::size_t name_end = stat.rfind(") ");  // the name may contain anything, even ") "
  if (name_end == std::string_view::npos) return std::nullopt;
  stat.remove_prefix(name_end + 2);
  for (int i = 0; i < kFieldsBetween; ++i) TakeUntil(stat, ' ');
  return WholeNumber<std::uint64_t>(TakeUntil(stat, ' '));
}

std::string PrintInitNote(const InitNote& note) {
  std::string text = std::to_string(note.init.pid) + " " + std::to_string(note.init.start_time) + " " +
                     note.init.boot_id + (note.preparing ? " preparing" : "") + "\n";
  for (const std::string& group : note.groups) text += group + "\n";
  return text;
}

std::optional<InitNote> ParseInitNote(std::string_view text) {
  if (!text.ends_with('\n')) return std::nullopt;
  std::string_view first = TakeUntil(text, '\n');
  const auto pid = WholeNumber<pid_t>(TakeUntil(first, ' '));
  const auto start_time = WholeNumber<std::uint64_t>(TakeUntil(first, ' '));
  if (!start_time || pid.value_or(0) <= 0) return std::nullopt;
  InitNote note{
      .init = {.pid = *pid, .start_time = *start_time, .boot_id = std::string(TakeUntil(first, ' '))}};
  note.preparing = first == "preparing";
  if (note.init.boot_id.empty()) return std::nullopt;
  while (!text.empty()) note.groups.emplace_back(TakeUntil(text, '\n'));
  return note;
}

Status NoteInit(const AttemptDir& dir, pid_t init, std::vector<std::string> groups, bool preparing) {
  const auto start_time = StartTime(init);
  if (!start_time) return std::unexpected(Error{Code::kNotFound, "the sandbox's init process is gone", {}});
  const InitNote note{.init = {.pid = init, .start_time = *start_time, .boot_id = BootId()},
                      .preparing = preparing,
                      .groups = std::move(groups)};
  TY_TRY(const UniqueFd file, OpenFile(dir.Init(), O_WRONLY | O_CREAT | O_TRUNC, 0600));
  return WriteAll(file.get(), PrintInitNote(note));
}

std::optional<InitNote> ReadInitNote(const AttemptDir& dir) {
  const auto text = ReadFile(dir.Init());
  return text ? ParseInitNote(*text) : std::nullopt;
}

UniqueFd OpenProcess(const ProcessMark& mark) {
  if (mark.boot_id != BootId()) return {};
  UniqueFd pidfd = OpenPidfd(mark.pid);
  if (!pidfd || StartTime(mark.pid) != mark.start_time) return {};
  // It has not ended now, so what we have just read belongs to this process, and not to one that reused its
  // pid.
  pollfd ended{.fd = pidfd.get(), .events = POLLIN, .revents = 0};
  if (poll(&ended, 1, 0) != 0) return {};
  return pidfd;
}

}  // namespace trainyard::replica
