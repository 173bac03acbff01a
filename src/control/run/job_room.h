#pragma once

#include <optional>

#include "base/async/event.h"
#include "control/collaborators.h"
#include "rules/jobs/decide.h"
#include "rules/placement/wait.h"
#include "trainyard/control/v1/record.pb.h"

namespace trainyard::control {

/// The resources of one job: asks for them, and notes in the observation what is granted or taken back. Loop
/// thread only. The destructor returns the resources of a job that was never stored; else they stay the
/// job's.
class JobRoom {
 public:
  /// All outlive it. `wake` is set after something new.
  JobRoom(Collaborators& outside, const v1::JobRecord& job, jobs::Observation& seen, Event& wake)
      : outside_(outside), job_(job), seen_(seen), wake_(wake) {}
  ~JobRoom();
  JobRoom(const JobRoom&) = delete;
  JobRoom& operator=(const JobRoom&) = delete;

  /// Asks for resources for this try; those of an earlier one are given up.
  void Ask(int try_number);
  /// For a job that is not stored yet. False, and nothing is asked: the job does not ask for resources next,
  /// or asking could not be undone.
  bool AskEarly();
  /// The job is stored. The resources in its record are its own: they are asked for at once, before others
  /// can get them.
  void Keep();
  /// Nothing of the job runs any more.
  void Release() { outside_.admissions.Release(Key(seen_.asked_try)); }
  /// No attempt of the job is left.
  void Prove() { outside_.admissions.Prove(Key(seen_.asked_try)); }

  /// Why and where the job waits for resources; nothing if it does not.
  [[nodiscard]] std::optional<placement::Wait> Wait() const {
    return outside_.admissions.WaitOf(Key(seen_.asked_try));
  }

 private:
  [[nodiscard]] engine::ReservationKey Key(int try_number) const {
    return {.job_uid = job_.uid(), .try_number = try_number};
  }
  void Reserve(int try_number, std::optional<engine::Grant> granted);
  void GiveUp(int former_try);

  Collaborators& outside_;
  const v1::JobRecord& job_;
  jobs::Observation& seen_;
  Event& wake_;
  bool is_stored_ = false;
};

}  // namespace trainyard::control
