#include "control/study_thread.h"

#include <span>

#include "async/on_pool.h"
#include "base/check.h"
#include "tuning/early_stopping.h"
#include "tuning/tuner.h"

namespace trainyard::control {

struct StudyThread::Study {
  explicit Study(tuning::StudySpec spec) : tuner(std::move(spec)) {}

  void Take(Changes changes) {
    for (auto& [position, trial] : changes) {
      TY_CHECK(position <= trials.size());
      if (position == trials.size()) trials.emplace_back();
      trials[position] = std::move(trial);
    }
  }

  /// The others are shown in the order that they have, but for the last one, which takes this one's place.
  std::string Judge(std::size_t position) {
    std::swap(trials.at(position), trials.back());
    const std::span<const tuning::Trial> others(trials.data(), trials.size() - 1);
    tuning::StoppingVerdict verdict =
        tuning::JudgeTrial(tuner.spec(), others, trials.back(), tuning::StoppingRule::kMedianOrCurve, false);
    std::swap(trials.at(position), trials.back());
    return verdict.stop ? std::move(verdict.reason) : "";
  }

  tuning::Tuner tuner;
  std::vector<tuning::Trial> trials;
};

StudyThread::StudyThread(boost::asio::thread_pool& pool, tuning::StudySpec spec)
    : pool_(pool), study_(std::make_shared<Study>(std::move(spec))) {}

void StudyThread::Put(std::size_t position, tuning::Trial trial) {
  changes_.emplace_back(position, std::move(trial));
}

boost::asio::awaitable<std::vector<tuning::Point>> StudyThread::Suggest(int count) {
  auto think = [study = study_, changes = std::exchange(changes_, {}), count]() mutable {
    study->Take(std::move(changes));
    return study->tuner.Suggest(study->trials, count);
  };
  co_return co_await OnPool(pool_, std::move(think));
}

boost::asio::awaitable<std::string> StudyThread::Judge(std::size_t position) {
  auto think = [study = study_, changes = std::exchange(changes_, {}), position]() mutable {
    study->Take(std::move(changes));
    return study->Judge(position);
  };
  co_return co_await OnPool(pool_, std::move(think));
}

}  // namespace trainyard::control
