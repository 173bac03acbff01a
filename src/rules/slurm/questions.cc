#include "rules/slurm/questions.h"

#include <algorithm>
#include <iterator>

namespace trainyard::slurm {

std::optional<SysTime> Questions::ListAt(bool waiting) const {
  if (under_way_) return std::nullopt;
  if (!asked_) return SysTime();
  const SysTime::duration pause = soon_ ? kListPauseMin : waiting ? kListPause : kQuietPause;
  return *asked_ + std::max(pause, std::min<SysTime::duration>(kListPauseFactor * took_, kQuietPause));
}

bool Questions::TakeList(bool waiting, SysTime now) {
  const std::optional<SysTime> at = ListAt(waiting);
  if (!at || *at > now) return false;
  under_way_ = true;
  soon_ = false;
  asked_ = now;
  return true;
}

void Questions::WantOne(const Submission& submission) {
  wanted_.push_back(submission);
  if (std::ssize(wanted_) > kAskingOneMax) AskSoon();
}

void Questions::OnOneDone(bool told) noexcept {
  asking_for_one_ = std::max(0, asking_for_one_ - 1);
  if (!told) AskSoon();
}

std::optional<Submission> Questions::TakeOne() {
  if (wanted_.empty() || asking_for_one_ >= kAskingOneMax) return std::nullopt;
  const Submission next = wanted_.front();
  wanted_.pop_front();
  return next;
}

}  // namespace trainyard::slurm
