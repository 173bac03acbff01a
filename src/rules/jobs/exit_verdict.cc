#include "rules/jobs/exit_verdict.h"

namespace trainyard::jobs {
namespace {

using replica::v1::ExitRecord;

Verdict JudgeStatus(int exit_code) {
  constexpr int kUserError = 1;
  constexpr int kUsageError = 2;
  constexpr int kNotExecutable = 126;
  constexpr int kNotFound = 127;
  switch (exit_code) {
    case 0: return Verdict::kDone;
    case kUserError:
    case kUsageError:
    case kNotExecutable:
    case kNotFound: return Verdict::kPermanent;
    default: return Verdict::kTransient;
  }
}

}  // namespace

Verdict JudgeExit(const ExitRecord& exit) {
  if (exit.shortage()) return Verdict::kTransient;
  switch (exit.cause()) {
    case ExitRecord::EXITED: return JudgeStatus(exit.exit_code());
    case ExitRecord::OUT_OF_MEMORY:
    case ExitRecord::PREPARATION_FAILED: return Verdict::kPermanent;
    default:
      return Verdict::kTransient;  // SIGNALED, LOST, SHUT_DOWN; STOPPED if this server did not request it
  }
}

bool RanUserCode(const ExitRecord& exit) {
  switch (exit.cause()) {
    case ExitRecord::EXITED:
    case ExitRecord::SIGNALED:
    case ExitRecord::OUT_OF_MEMORY: return true;
    default: return exit.has_start_time();
  }
}

}  // namespace trainyard::jobs
