#include "replica/supervisor/preparation.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <string>
#include <thread>
#include <utility>

#include "base/async/file.h"
#include "base/async/guarded.h"
#include "base/process/kernel_calls.h"
#include "base/result.h"
#include "base/text/percent.h"
#include "base/wire/error_body.h"
#include "base/wire/resource_name.h"
#include "net/http/client.h"
#include "programs/sandbox/required_isolation.h"
#include "replica/supervisor/user_process.h"

namespace trainyard::replica {

namespace {

/// The source of packages.
struct DownloadSource {
  std::string replica_socket;  ///< the server's: the API for replicas
};

constexpr int kOk = 200;

/// If there is no server, or its answer is late or cut, the download is worth retrying.
Error Explain(Error error) {
  switch (error.code) {
    case Code::kNotFound:          // the socket's file is missing
    case Code::kPermissionDenied:  // for the connection
    case Code::kDeadlineExceeded:
    case Code::kDataLoss: return Unavailable(std::move(error).message);
    default: return error;
  }
}

/// Downloads gs://BUCKET/OBJECT from the server's storage API into a file. Blocks. Errors: kNotFound: no such
/// object; kInvalidArgument: not such a URI; kUnavailable: the server does not answer or closed the
/// connection (worth retrying); others as returned by the server.
Status Download(const DownloadSource& source, const std::string& uri, const std::string& path) {
  TY_TRY(const wire::ObjectUri object, wire::ObjectUri::Parse(uri));
  TY_TRY(const UniqueFd file, OpenFile(path, O_WRONLY | O_CREAT | O_TRUNC, 0600));
  http::Client client({.transport = http::Endpoint::Transport::kUnix,
                       .host = "localhost",
                       .socket_path = source.replica_socket});
  http::ClientRequest request{.target = "/storage/v1/b/" + text::PercentEncode(object.bucket) + "/o/" +
                                        text::PercentEncode(object.object) + "?alt=media",
                              .download_descriptor = file.get()};
  request.headers.Add("Connection", "close");
  const auto response = client.Send(std::move(request));
  if (!response) return std::unexpected(Explain(response.error()));
  if (response->status == kOk) return {};
  return std::unexpected(wire::ParseErrorBody(response->status, response->body));
}

constexpr std::chrono::milliseconds kDownloadPauseMin{200};
constexpr std::chrono::milliseconds kDownloadPauseMax{5'000};

/// Messages of the preparing process: a letter, then the content. Progress is a v1::Progress, a failure the
/// error's code as one byte and its message.
enum Message : char { kInfo = 'i', kError = 'e', kProgress = 'p', kDone = 'd', kFailed = 'f' };

/// The preparing process's end of the pipe. PrepareEnvironment may call its hooks from another thread.
class Reporter {
 public:
  void Send(Message kind, std::string_view content) {
    std::string frame;
    AppendFrame(std::string(1, kind).append(content), frame);
    pipe_.With([&frame](int& pipe) {
      if (!WriteAll(pipe, frame)) _exit(1);  // the supervisor has ended
    });
  }

  /// Drops messages that come too soon.
  void SendProgress(const environment::Progress& progress) {
    const auto now = std::chrono::steady_clock::now();
    const bool is_due = said_.With([&](LastReport& said) {
      if (said.what == progress.what && now < said.time + Preparation::kProgressInterval) return false;
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

 private:
  struct LastReport {
    std::string what;
    std::chrono::steady_clock::time_point time;
  };
  Guarded<int> pipe_{kResultFd};
  Guarded<LastReport> said_{LastReport{}};
};

/// Retries for as long as the server is away: it may be restarting.
Status DownloadPatiently(const DownloadSource& source, Reporter& reporter, const std::string& uri,
                         const std::string& path) {
  std::chrono::milliseconds pause = kDownloadPauseMin;
  for (bool first = true;; first = false) {
    const Status done = Download(source, uri, path);
    if (done || done.error().code != Code::kUnavailable) return done;
    if (first)
      reporter.Send(kInfo, "Cannot download " + uri + " now (" + done.error().message + "); trying again.");
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, kDownloadPauseMax);
  }
}

int Prepare(ProgramSource& source, const v1::Manifest& manifest) {
  Reporter reporter;
  const DownloadSource packages{.replica_socket = manifest.places().replica_socket()};
  const PreparationHooks hooks{
      .info = [&reporter](std::string_view line) { reporter.Send(kInfo, line); },
      .error = [&reporter](std::string_view line) { reporter.Send(kError, line); },
      .progress = [&reporter](const environment::Progress& progress) { reporter.SendProgress(progress); },
      .download = [&](const std::string& uri,
                      const std::string& path) { return DownloadPatiently(packages, reporter, uri, path); }};
  const Status made = source.Prepare(manifest, hooks);
  if (!made) {
    reporter.Send(kFailed, std::string(1, static_cast<char>(made.error().code)) + made.error().message);
    return 1;
  }
  reporter.Send(kDone, "");
  return 0;
}

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

}  // namespace

Result<Preparation> Preparation::Start(ProgramSource& source, const v1::Manifest& manifest, int lock_fd,
                                       Observer& observer) {
  TY_TRY(Pipe pipe, MakePipe());
  fcntl(pipe.read.get(), F_SETFL, O_NONBLOCK);
  TY_TRY(Cgroup cgroup, MakeLimits(manifest));
  SandboxPlan plan{.function = [&source, &manifest] { return Prepare(source, manifest); },
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
  return Preparation(std::move(cgroup), std::move(end_group), std::move(sandbox), std::move(pipe.read),
                     observer);
}

void Preparation::Take(std::string_view message) {
  if (message.empty()) return;
  const std::string_view content = message.substr(1);
  switch (message.front()) {
    case kInfo: observer_->OnPreparationLine(false, content); return;
    case kError: observer_->OnPreparationLine(true, content); return;
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

std::optional<Status> Preparation::OnReadable() {
  std::array<char, 16 << 10> buffer;  // NOLINT(*-member-init): filled by read
  const ssize_t size = read(pipe_.get(), buffer.data(), buffer.size());
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return std::nullopt;
  if (size > 0) {
    frames_.Feed({buffer.data(), static_cast<std::size_t>(size)});
    std::string_view message;
    while (frames_.Next(message).value_or(false)) Take(message);
    return std::nullopt;
  }
  Status outcome = outcome_
                       ? *std::move(outcome_)
                       : Status(std::unexpected(Error{Code::kAborted, "the preparation was killed", {}}));
  // It would need as much memory the next time.
  if (!outcome && outcome.error().code == Code::kAborted && cgroup_.OomKills() > 0)
    outcome = std::unexpected(FailedPrecondition(
        outcome.error().message + ": it needed more memory than the replica or its machine has"));
  return outcome;
}

}  // namespace trainyard::replica
