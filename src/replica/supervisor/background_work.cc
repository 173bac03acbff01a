#include "replica/supervisor/background_work.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <string>
#include <utility>

#include "base/async/file.h"
#include "base/process/kernel_calls.h"
#include "base/result.h"
#include "programs/sandbox/required_isolation.h"
#include "replica/supervisor/user_process.h"

namespace trainyard::replica {

namespace {

/// Messages of the working process: a letter, then the content. Progress is a v1::Progress, a failure the
/// error's code as one byte and its message.
enum Message : char { kInfo = 'i', kError = 'e', kProgress = 'p', kDone = 'd', kFailed = 'f' };

/// No cgroup for a replica without limits, or if this machine has none.
Result<Cgroup> MakeLimits(const v1::Manifest& manifest) {
  const v1::Manifest::Limits& limits = manifest.limits();
  const CgroupLimits wanted{limits.memory_bytes(), limits.cpus(), limits.pids()};
  if (!wanted.any()) return Cgroup();
  return MakeReplicaCgroup(manifest, wanted);
}

/// A PID namespace ends it as a whole, if creating one needs no user namespace. Only our own code runs here;
/// code of packages is isolated separately.
Isolation IsolationOf(const v1::Manifest& manifest) {
  const Isolation required = ReadIsolation(manifest.places().program_isolation()).isolation;
  return required == Isolation::kNamespaces ? Isolation::kNamespaces : Isolation::kNone;
}

int Report(const BackgroundWork::Function& function) {
  BackgroundReporter reporter;
  return reporter.End(function(reporter));
}

}  // namespace

void BackgroundReporter::Send(char kind, std::string_view content) {
  std::string frame;
  AppendFrame(std::string(1, kind).append(content), frame);
  pipe_.With([&frame](int& pipe) {
    if (!WriteAll(pipe, frame)) _exit(1);  // the supervisor has ended
  });
}

void BackgroundReporter::Line(bool is_error, std::string_view line) { Send(is_error ? kError : kInfo, line); }

void BackgroundReporter::Progress(const environment::Progress& progress) {
  const auto now = std::chrono::steady_clock::now();
  const bool is_due = said_.With([&](LastReport& said) {
    if (said.what == progress.what && now < said.time + BackgroundWork::kProgressInterval) return false;
    said = {.what = progress.what, .time = now};
    return true;
  });
  if (!is_due) return;
  v1::Progress message;
  message.set_what(progress.what);
  message.set_done(progress.done);
  message.set_total(progress.total);
  message.set_unit(progress.unit);
  Send(kProgress, message.SerializeAsString());
}

int BackgroundReporter::End(const Status& outcome) {
  if (outcome) {
    Send(kDone, "");
    return 0;
  }
  Send(kFailed, std::string(1, static_cast<char>(outcome.error().code)) + outcome.error().message);
  return 1;
}

Result<BackgroundWork> BackgroundWork::Start(Function function, const v1::Manifest& manifest, int lock_fd,
                                             Observer& observer, std::string_view name) {
  TY_TRY(Pipe pipe, MakePipe());
  fcntl(pipe.read.get(), F_SETFL, O_NONBLOCK);
  TY_TRY(Cgroup cgroup, MakeLimits(manifest));
  SandboxPlan plan{.function = [function = std::move(function)] { return Report(function); },
                   .isolation = IsolationOf(manifest),
                   .stdout_fd = STDERR_FILENO,
                   .stderr_fd = STDERR_FILENO,
                   .result_fd = pipe.write.get(),
                   .procs_fds = cgroup.ProcsFds(),
                   .cgroup_directory = cgroup.directory(),
                   .lock_fd = lock_fd,
                   .function_holds_lock = true};  // so that tools that pull images have it, too
  EndGroup end_group = Mark({manifest.places().attempt_dir()}, manifest.attempt_id(), cgroup, plan, true);
  TY_TRY(Sandbox sandbox, Sandbox::Start(plan));
  return BackgroundWork(name, std::move(cgroup), std::move(end_group), std::move(sandbox),
                        std::move(pipe.read), observer);
}

void BackgroundWork::Take(std::string_view message) {
  if (message.empty()) return;
  const std::string_view content = message.substr(1);
  switch (message.front()) {
    case kInfo: observer_->OnLine(false, content); return;
    case kError: observer_->OnLine(true, content); return;
    case kProgress: {
      v1::Progress progress;
      if (progress.ParseFromArray(content.data(), static_cast<int>(content.size())))
        observer_->OnProgress(std::move(progress));
      return;
    }
    case kDone: outcome_ = Status(); return;
    case kFailed:
      if (!content.empty())
        outcome_ =
            std::unexpected(Error{static_cast<Code>(content.front()), std::string(content.substr(1)), {}});
      return;
    default: return;
  }
}

std::optional<Status> BackgroundWork::OnReadable() {
  std::array<char, 16 << 10> buffer;  // NOLINT(*-member-init): filled by read
  const ssize_t size = read(pipe_.get(), buffer.data(), buffer.size());
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return std::nullopt;
  if (size > 0) {
    frames_.Feed({buffer.data(), static_cast<std::size_t>(size)});
    std::string_view message;
    while (frames_.Next(message).value_or(false)) Take(message);
    return std::nullopt;
  }
  Status outcome =
      outcome_ ? *std::move(outcome_)
               : Status(std::unexpected(Error{Code::kAborted, std::string(name_) + " was killed", {}}));
  // It would need as much memory the next time.
  if (!outcome && outcome.error().code == Code::kAborted && cgroup_.OomKills() > 0)
    outcome = std::unexpected(FailedPrecondition(
        outcome.error().message + ": it needed more memory than the replica or its machine has"));
  return outcome;
}

}  // namespace trainyard::replica
