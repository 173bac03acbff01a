#include "control/testing/simulation_workers.h"

#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "base/check.h"
#include "control/testing/isolated_run.h"
#include "control/testing/simulation.h"

namespace trainyard::control {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kWorkersMax = 64;
constexpr std::chrono::minutes kReportInterval{1};

/// In memory that all workers and their parent share. Everything is zero at first.
struct Board {
  std::atomic<std::uint64_t> taken;  ///< schedules that were given to a worker
  std::atomic<std::uint64_t> done;
  std::atomic<std::uint64_t> failures;
  struct Failure {
    std::uint64_t seed;
    std::array<char, 240> what;  ///< ends with a zero
  };
  std::array<Failure, SimulationReport::kFailuresMax> failed;  ///< each written by one process
  std::array<std::atomic<std::uint64_t>, kWorkersMax> seeds;   ///< that each worker tries
  std::array<Coverage, kWorkersMax> coverage;                  ///< written by one worker each

  void NoteFailure(std::uint64_t seed, const std::string& what) {
    const std::uint64_t place = failures++;
    if (place >= failed.size()) return;
    failed[place].seed = seed;
    what.copy(failed[place].what.data(), failed[place].what.size() - 1);
  }
};

struct Unmap {
  void operator()(Board* board) const noexcept { ::munmap(board, sizeof(Board)); }
};
using SharedBoard = std::unique_ptr<Board, Unmap>;

SharedBoard MakeBoard() {
  void* const memory =
      ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  TY_CHECK(memory != MAP_FAILED);
  return SharedBoard(new (memory) Board);
}

bool IsOver(const SimulationPlan& plan) { return plan.deadline && Clock::now() >= *plan.deadline; }

void Work(const SimulationPlan& plan, const std::filesystem::path& scratch, std::size_t worker,
          Board& board) {
  SimulationGround ground(scratch);
  while (!IsOver(plan)) {
    const std::uint64_t place = board.taken++;
    if (place >= plan.schedules) return;
    const std::uint64_t seed = plan.first_seed + place;
    board.seeds[worker] = seed;
    LimitProcessorTime();
    Simulation simulation(ground, MakeSchedule(seed, plan.actions), {.coverage = &board.coverage[worker]});
    const std::vector<std::string> violations = simulation.Run();
    if (!violations.empty()) board.NoteFailure(seed, violations.front());
    ++board.done;
  }
}

/// A worker and the reading end of a pipe that is closed when the worker ends.
struct Worker {
  pid_t process = -1;
  int alive = -1;
};

Worker StartWorker(const SimulationPlan& plan, const std::filesystem::path& scratch, std::size_t place,
                   Board& board) {
  std::array<int, 2> ends{};
  TY_CHECK(::pipe(ends.data()) == 0);
  std::fflush(nullptr);
  const pid_t process = ::fork();
  TY_CHECK(process >= 0);
  if (process == 0) {
    ::close(ends[0]);
    RedirectErrors(scratch / ("errors-" + std::to_string(place)));
    Work(plan, scratch, place, board);
    std::exit(0);  // so that a sanitizer looks for leaks
  }
  ::close(ends[1]);
  return {.process = process, .alive = ends[0]};
}

/// Waits for the worker that has ended. Returns whether it was done with its work.
bool Reap(const Worker& worker, std::size_t place, Board& board) {
  ::close(worker.alive);
  int status = 0;
  while (::waitpid(worker.process, &status, 0) < 0 && errno == EINTR) {
  }
  if (status == 0) return true;
  board.NoteFailure(board.seeds[place], DescribeEnd(status));
  ++board.done;
  return false;
}

SimulationReport ReportOf(const Board& board) {
  SimulationReport report{.schedules = board.done, .failures = board.failures};
  const auto failures = std::min<std::size_t>(report.failures, board.failed.size());
  for (std::size_t i = 0; i < failures; ++i)
    report.failed.push_back({.seed = board.failed[i].seed, .what = board.failed[i].what.data()});
  std::ranges::sort(report.failed, {}, &SimulationReport::Failure::seed);
  for (const Coverage& coverage : board.coverage) report.coverage.Add(coverage);
  return report;
}

}  // namespace

SimulationReport RunSchedules(const SimulationPlan& plan, const std::filesystem::path& scratch,
                              const std::function<void(const SimulationReport&)>& on_minute) {
  const SharedBoard board = MakeBoard();
  std::vector<Worker> workers;
  const std::size_t count = std::clamp<std::size_t>(static_cast<std::size_t>(plan.workers), 1, kWorkersMax);
  for (std::size_t place = 0; place < count; ++place)
    workers.push_back(StartWorker(plan, scratch, place, *board));
  auto next_report = Clock::now() + kReportInterval;
  for (std::size_t left = count; left > 0;) {
    std::vector<pollfd> waits;
    for (const Worker& worker : workers)
      waits.push_back({.fd = worker.alive, .events = POLLIN, .revents = 0});
    const auto pause = std::chrono::ceil<std::chrono::milliseconds>(next_report - Clock::now());
    ::poll(waits.data(), waits.size(), static_cast<int>(std::max<std::int64_t>(pause.count(), 0)));
    for (std::size_t place = 0; place < count; ++place) {
      if (waits[place].revents == 0) continue;
      // A crash may be one that every worker ends with: without a schedule that is left, none is started.
      const bool is_done =
          Reap(workers[place], place, *board) || board->taken >= plan.schedules || IsOver(plan);
      workers[place] = is_done ? Worker{} : StartWorker(plan, scratch, place, *board);
      if (is_done) --left;
    }
    if (Clock::now() < next_report) continue;
    next_report += kReportInterval;
    if (on_minute) on_minute(ReportOf(*board));
  }
  return ReportOf(*board);
}

}  // namespace trainyard::control
