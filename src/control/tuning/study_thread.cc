#include "control/tuning/study_thread.h"

#include <exception>

#include "base/async/on_pool.h"
#include "base/check.h"
#include "rules/tuning/early_stopping.h"
#include "rules/tuning/tuner.h"

namespace trainyard::control {

struct StudyThread::Study {
  explicit Study(tuning::StudySpec spec) : tuner(std::move(spec)) {}

  /// If an exception interrupts the changes, the next call applies the rest.
  void Apply() {
    for (; !changes.empty(); changes.pop_front()) {
      auto& [position, trial] = changes.front();
      TY_CHECK(position <= trials.size());
      if (position == trials.size()) trials.emplace_back();
      trials[position] = std::move(trial);
    }
  }

  std::string Judge(std::size_t position) const {
    tuning::StoppingVerdict verdict = tuning::JudgeTrial(tuner.spec(), trials, trials.at(position),
                                                         tuning::StoppingRule::kMedianOrCurve, false);
    return verdict.stop ? std::move(verdict.reason) : "";
  }

  tuning::Tuner tuner;
  Changes changes;  ///< received, not applied yet
  std::vector<tuning::Trial> trials;
};

StudyThread::StudyThread(boost::asio::thread_pool& pool, tuning::StudySpec spec)
    : pool_(pool), study_(std::make_shared<Study>(std::move(spec))) {}

void StudyThread::PutTrial(std::size_t position, tuning::Trial trial) {
  changes_.emplace_back(position, std::move(trial));
}

template <class F>
auto StudyThread::Think(F with_study) -> boost::asio::awaitable<Result<std::invoke_result_t<F, Study&>>> {
  using Answer = Result<std::invoke_result_t<F, Study&>>;
  auto think = [study = study_, changes = std::exchange(changes_, {}), with_study]() mutable -> Answer {
    study->changes.splice(study->changes.end(), changes);
    try {
      study->Apply();
      return with_study(*study);
    } catch (const std::exception& problem) {
      return std::unexpected(Internal(problem.what()));
    }
  };
  co_return co_await OnPool(pool_, std::move(think));
}

boost::asio::awaitable<Result<std::vector<tuning::Point>>> StudyThread::Suggest(int count) {
  co_return co_await Think([count](Study& study) { return study.tuner.Suggest(study.trials, count); });
}

boost::asio::awaitable<Result<std::string>> StudyThread::JudgeTrial(std::size_t position) {
  co_return co_await Think([position](Study& study) { return study.Judge(position); });
}

}  // namespace trainyard::control
