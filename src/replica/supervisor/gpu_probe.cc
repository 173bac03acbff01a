#include "replica/supervisor/gpu_probe.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <utility>

#include "base/async/file.h"
#include "programs/node/nvml_usage.h"

namespace trainyard::replica {

namespace {

/// The looking process: nothing of the supervisor's but the pipe, the attempt's lock above all.
[[noreturn]] void Look(int pipe, const std::vector<std::string>& gpus) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_NAME, "trainyard-gpu");
  constexpr int kPipe = 3;
  if (pipe != kPipe) dup2(pipe, kPipe);
  close_range(kPipe + 1, ~0U, 0);
  v1::Usage usage;
  if (const auto answer = node::AskNvmlUsage(NvmlLibrary(), gpus)) {
    for (const node::GpuUsage& one : *answer) {
      v1::Usage::Gpu& gpu = *usage.add_gpus();
      gpu.set_id(one.id);
      gpu.set_utilization(one.utilization);
      gpu.set_memory_bytes(one.memory_bytes);
      gpu.set_memory_total_bytes(one.memory_total_bytes);
    }
  }
  _exit(WriteAll(kPipe, usage.SerializeAsString()) ? 0 : 1);
}

}  // namespace

Result<GpuProbe> GpuProbe::Start(const std::vector<std::string>& gpus) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return std::unexpected(ErrnoError(errno, "pipe"));
  UniqueFd ours(ends[0]);
  const UniqueFd theirs(ends[1]);
  fcntl(ours.get(), F_SETFL, O_NONBLOCK);
  const pid_t pid = fork();  // we are single-threaded: the child may go on using the heap
  if (pid < 0) return std::unexpected(ErrnoError(errno, "fork"));
  if (pid == 0) Look(theirs.get(), gpus);
  return GpuProbe(pid, std::move(ours));
}

GpuProbe::GpuProbe(GpuProbe&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      pipe_(std::move(other.pipe_)),
      bytes_(std::move(other.bytes_)),
      answered_(other.answered_) {}

GpuProbe::~GpuProbe() {
  if (pid_ <= 0) return;
  if (!answered_) kill(pid_, SIGKILL);
  // One that hangs in the driver cannot even be killed: it is not waited for.
  while (waitpid(pid_, nullptr, answered_ ? 0 : WNOHANG) < 0 && errno == EINTR) {
  }
}

std::optional<v1::Usage> GpuProbe::Read() {
  std::array<char, 4096> buffer;  // NOLINT(*-member-init): filled by read
  ssize_t size = 0;
  while ((size = read(pipe_.get(), buffer.data(), buffer.size())) > 0)
    bytes_.append(buffer.data(), static_cast<std::size_t>(size));
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return std::nullopt;
  answered_ = true;
  v1::Usage usage;
  if (!usage.ParseFromString(bytes_)) usage.Clear();
  return usage;
}

std::string NvmlLibrary() {
  const char* path = std::getenv("TRAINYARD_NVML");
  return path != nullptr ? path : "libnvidia-ml.so.1";
}

}  // namespace trainyard::replica
